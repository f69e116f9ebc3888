--[[
Compare and set: changes fields of a user's state together if all of them are as the caller read them. With every change the
state's stamp rises, also where the change was stamped by a clock that is behind: what is told of it says which is newer.

KEYS[1]  HASH of the user's state
KEYS[2]  string that tells which fields changed, for copies: the stamp since when, and then, with blanks in between, stamp;field
         of each change. It is complete where the state's `told` is its stamp
ARGV[1]  seconds until it expires
ARGV[2]  stamp of the change; 0 for one that no count tells of
ARGV[3…] field, value as read ('' for none), new value ('' to remove it), field…

Result   {stamp before, stamp after}; {} where one of them is another by now, or the state is not loaded
]]
local ttl = ARGV[1]
-- Lua hands over so many values at once; pairs stay together.
local AT_ONCE = 1000
local function in_parts(command, values)
	local results = {}
	for from = 1, #values, AT_ONCE do
		local last = from + AT_ONCE - 1
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

local names = { 'stamp', 'told' }
for index = 3, #ARGV, 3 do
	names[#names + 1] = ARGV[index]
end
local state = in_parts('HMGET', names)
local stamp = state[1]
if not stamp then
	return {}
end
-- Fields to set, each before its value.
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

-- Copies that are further behind than what is kept of it are taken again.
local MOST_TOLD, KEPT_TOLD = 1024, 512
local function tell()
	local all = state[2] == stamp and redis.call('GET', KEYS[2]) or stamp
	for index = 3, #ARGV, 3 do
		all = all .. ' ' .. after .. ';' .. ARGV[index]
	end
	if #all > MOST_TOLD then
		local cut = string.find(all, ' ', #all - KEPT_TOLD, true) or #all
		local since = string.match(string.sub(all, 1, cut - 1), '(%d+);[^ ]*$')
		all = since .. string.sub(all, cut)
	end
	redis.call('SET', KEYS[2], all, 'EX', ttl)
	for _, value in ipairs({ 'stamp', after, 'told', after }) do
		fields[#fields + 1] = value
	end
end
if after ~= stamp then
	tell()
end
in_parts('HDEL', removed)
in_parts('HSET', fields)
redis.call('EXPIRE', KEYS[1], ttl)
return { stamp, after }
