-- What was changed at or before the floor is not needed any more, because the store has it.
local function forget_changes(meta)
	for _, field in ipairs(redis.call('HKEYS', meta)) do
		if string.sub(field, 1, 2) == 'b:' then
			redis.call('HDEL', meta, field)
		end
	end
end
