--[[
Takes in a conversation from the store, unless it is there: what is there is newer.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  seconds until it expires
ARGV[2]  kind          ARGV[3]  team        ARGV[4]  archived, 0 or 1
ARGV[5]  stamp         ARGV[6]  latest      ARGV[7]  floor
ARGV[8…] entries after the floor: ts, entry, ts, entry…

Result   1; 0 where it was there
]]
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'kind', ARGV[2], 'team', ARGV[3], 'archived', ARGV[4],
	'stamp', ARGV[5], 'latest', ARGV[6], 'floor', ARGV[7])
for index = 8, #ARGV, 2 do
	redis.call('ZADD', KEYS[2], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 1
