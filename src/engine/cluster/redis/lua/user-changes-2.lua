#!lua flags=allow-cross-slot-keys,allow-oom,no-writes
--[[
Returns what a copy of a user's state lacks.

KEYS[1]  HASH of the fields that have changed lately
KEYS[2]  ZSET of their names, by the version that changed them last
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  version of the copy; - if it has the state of the store

Result   {} the copy is current; {'w'} the copy has to be loaded from the store again;
         {'d', version, field, value, field…} the fields that have changed
]]
-- include only-in-epoch
local state = redis.call('HMGET', KEYS[1], 'version', 'since')
local version, since, known = state[1] or '-', state[2], ARGV[3]
if version == known then
	return {}
end
local result
if known == '-' then
	result = redis.call('HGETALL', KEYS[1])
elseif version == '-' or tonumber(known) < tonumber(since) then
	return { 'w' }
else
	result = {}
	for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. known, '+inf')) do
		result[#result + 1] = name
		result[#result + 1] = redis.call('HGET', KEYS[1], name)
	end
end
table.insert(result, 1, version)
table.insert(result, 1, 'd')
return result
