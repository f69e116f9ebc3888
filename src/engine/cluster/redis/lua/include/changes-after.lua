-- Of entries that changed at or before the floor, those after a ts: ts, entry, ts, entry…
local function changes_after(after, meta)
	local changes = {}
	local fields = redis.call('HGETALL', meta)
	for index = 1, #fields, 2 do
		local ts = string.match(fields[index], '^b:(%d+)$')
		if ts and tonumber(ts) > tonumber(after) then
			changes[#changes + 1] = ts
			changes[#changes + 1] = fields[index + 1]
		end
	end
	return changes
end
