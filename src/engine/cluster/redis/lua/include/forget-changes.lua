-- Removes changes at or before the floor: the store has them.
local function forget_changes(meta)
	for _, field in ipairs(redis.call('HKEYS', meta)) do
		if string.sub(field, 1, 2) == 'b:' then
			redis.call('HDEL', meta, field)
		end
	end
end
