--[[
Compare and set: changes fields of a user's state together, if all of them have the values that the caller read. Every change raises
the state's stamp, even if the clock that stamped it is behind, so that copies can tell which state is newer.

KEYS[1]  HASH of the user's state
KEYS[2]  STRING of recently changed fields, for copies: the stamp it starts after and then, separated by blanks, stamp;field
         of each change. It is complete if the state's `recorded` equals its stamp
ARGV[1]  seconds until it expires
ARGV[2]  stamp of the change; 0 for one that affects no count
ARGV[3…] field, value as read ('' for none), new value ('' to remove it), field…

Result   {stamp before, stamp after}; {} if a field has another value, or the state is not loaded
]]
local ttl = ARGV[1]
-- Lua limits how many values `unpack` can return; pairs stay together.
local CHUNK = 1000
local function in_chunks(command, values)
	local results = {}
	for from = 1, #values, CHUNK do
		local last = from + CHUNK - 1
		if last > #values then
			last = #values
		end
		local result = redis.call(command, KEYS[1], unpack(values, from, last))
		if command == 'HMGET' then
			for _, value in ipairs(result) do
				results[#results + 1] = value
			end
		end
	end
	return results
end

local names = { 'stamp', 'recorded' }
for index = 3, #ARGV, 3 do
	names[#names + 1] = ARGV[index]
end
local state = in_chunks('HMGET', names)
local stamp = state[1]
if not stamp then
	return {}
end
-- Fields to set, each followed by its value.
local fields, removed = {}, {}
for index = 3, #ARGV, 3 do
	if (state[2 + index / 3] or '') ~= ARGV[index + 1] then
		return {}
	end
	if ARGV[index + 2] == '' then
		removed[#removed + 1] = ARGV[index]
	else
		fields[#fields + 1] = ARGV[index]
		fields[#fields + 1] = ARGV[index + 2]
	end
end
local after = stamp
if tonumber(ARGV[2]) > tonumber(stamp) then
	after = ARGV[2]
elseif ARGV[2] ~= '0' and #ARGV > 2 then
	after = string.format('%.0f', tonumber(stamp) + 1)
end

-- Keeps the newest changes; copies that are further behind are read again as a whole.
local MAX_BYTES, TRIMMED_BYTES = 1024, 512
local function record_changes()
	local all = state[2] == stamp and redis.call('GET', KEYS[2]) or stamp
	for index = 3, #ARGV, 3 do
		all = all .. ' ' .. after .. ';' .. ARGV[index]
	end
	if #all > MAX_BYTES then
		local cut = string.find(all, ' ', #all - TRIMMED_BYTES, true) or #all
		local since = string.match(string.sub(all, 1, cut - 1), '(%d+);[^ ]*$')
		all = since .. string.sub(all, cut)
	end
	redis.call('SET', KEYS[2], all, 'EX', ttl)
	for _, value in ipairs({ 'stamp', after, 'recorded', after }) do
		fields[#fields + 1] = value
	end
end
if after ~= stamp then
	record_changes()
end
in_chunks('HDEL', removed)
in_chunks('HSET', fields)
redis.call('EXPIRE', KEYS[1], ttl)
return { stamp, after }
