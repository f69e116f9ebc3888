#!lua flags=allow-cross-slot-keys
--[[
Takes in older entries of a timeline. What was edited or deleted while it lay at or before the floor is kept
in the hash as `b:<ts>` (empty: deleted) and wins over the store, which may not have it yet.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4]  the floor, and
ARGV[5]  the base that these entries were read for
ARGV[6]  the new floor
ARGV[7…] entries: ts, entry, ts, entry…

Result   1; 0 where one of both is another by now
]]
-- include only-in-epoch
local state = redis.call('HMGET', KEYS[1], 'floor', 'base')
if state[1] ~= ARGV[4] or state[2] ~= ARGV[5] then
	return 0
end
for index = 7, #ARGV, 2 do
	local ts = ARGV[index]
	local changed = redis.call('HGET', KEYS[1], 'b:' .. ts)
	if not changed then
		redis.call('ZADD', KEYS[2], ts, ARGV[index + 1])
	else
		if changed ~= '' then
			redis.call('ZADD', KEYS[2], ts, changed)
		end
		redis.call('HDEL', KEYS[1], 'b:' .. ts)
	end
end
redis.call('HSET', KEYS[1], 'floor', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
