--[[
Evicts the older half of a long timeline; it is loaded from the store again when a reader needs it. Only if
the store has the entries in their current state: then changes below the floor are not needed either.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  how many of the newest entries stay; nothing happens until there are twice as many
ARGV[2]  stamp of the newest durable effect

Result   number of evicted entries; -1 if the store is behind, or the conversation is not loaded
]]
-- include forget-changes
local keep, written = tonumber(ARGV[1]), tonumber(ARGV[2])
local state = redis.call('HMGET', KEYS[1], 'stamp', 'changed')
if not state[1] or tonumber(state[2] or 0) > written then
	return -1
end
if redis.call('ZCARD', KEYS[2]) <= 2 * keep then
	return 0
end
local floor = redis.call('ZREVRANGE', KEYS[2], keep, keep, 'WITHSCORES')[2]
if tonumber(floor) > written then
	return -1
end
forget_changes(KEYS[1])
redis.call('HSET', KEYS[1], 'floor', floor)
return redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', floor)
