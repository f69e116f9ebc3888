#!lua flags=allow-cross-slot-keys
--[[
Takes in a conversation from the store, unless it is there: what is there is newer.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4]  kind          ARGV[5]  team        ARGV[6]  archived, 0 or 1
ARGV[7]  stamp         ARGV[8]  latest      ARGV[9]  floor
ARGV[10…] entries after the floor: ts, entry, ts, entry…

Result   1; 0 where it was there
]]
-- include only-in-epoch
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('DEL', KEYS[2])
-- include new-base
redis.call('HSET', KEYS[1], 'kind', ARGV[4], 'team', ARGV[5], 'archived', ARGV[6],
	'stamp', ARGV[7], 'latest', ARGV[8], 'floor', ARGV[9], 'base', new_base())
for index = 10, #ARGV, 2 do
	redis.call('ZADD', KEYS[2], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
