--[[
Brings a copy of a user's read state up to date. A copy is identified by the stamp of its newest change, by the length of the user's
activity (which grows without a stamp), and by its `base`: the state gets a new one
whenever it is loaded from the store.

KEYS[1]  HASH of the user's state
KEYS[2]  STRING of recently changed fields, written by set-if-unchanged-2.lua
ARGV[1]  stamp of the copy; - for none
ARGV[2]  length of its activity
ARGV[3]  its base

Result   {} the copy is current; {-1} the state is not loaded;
         {'d', base, field, value ('' for none), field…} changes of the copy; {'w', base, field, value…} the whole state
]]
local state = redis.call('HMGET', KEYS[1], 'stamp', 'base', 'recorded')
local stamp, base = state[1], state[2] or '0'
if not stamp then
	return { -1 }
end
local length = redis.call('HSTRLEN', KEYS[1], 'activity')
local has_same_activity = tostring(length) == ARGV[2]
if stamp == ARGV[1] and base == ARGV[3] and has_same_activity then
	return {}
end

-- Names of the fields that changed since; nil if unknown.
local function changed()
	if ARGV[1] == '-' or base ~= ARGV[3] then
		return nil
	end
	if stamp == ARGV[1] then
		return {}
	end
	local all = state[3] == stamp and redis.call('GET', KEYS[2])
	local known = tonumber(ARGV[1])
	if not all or known < tonumber(string.match(all, '^%d+')) then
		return nil
	end
	local names, is_named = {}, {}
	for at, name in string.gmatch(all, ' (%d+);(%S+)') do
		if tonumber(at) > known and not is_named[name] then
			names[#names + 1] = name
			is_named[name] = true
		end
	end
	return names
end

local names = changed()
if not names then
	local result = redis.call('HGETALL', KEYS[1])
	table.insert(result, 1, base)
	table.insert(result, 1, 'w')
	return result
end
names[#names + 1] = 'stamp'
if not has_same_activity then
	names[#names + 1] = 'activity'
end
local result = { 'd', base }
for _, name in ipairs(names) do
	result[#result + 1] = name
	result[#result + 1] = redis.call('HGET', KEYS[1], name) or ''
end
return result
