#!lua flags=allow-cross-slot-keys
--[[
Takes in a conversation from the store, where it is as it was before the store was asked: not loaded; or, to be repaired, with a stamp
that the store has. Its new base makes copies of what was there before, and its threads, come from the store again.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4]  stamp that it had before the store was asked, '' where it was not loaded
ARGV[5]  base that it had then, ''
ARGV[6]  kind          ARGV[7]  team        ARGV[8]  archived, 0 or 1
ARGV[9]  stamp         ARGV[10] latest      ARGV[11] floor
ARGV[12…] entries after the floor: ts, entry, ts, entry…

Result   1; 0 where it is not as it was
]]
-- include only-in-epoch
-- include forget-changes
-- include new-base
local state = redis.call('HMGET', KEYS[1], 'stamp', 'base')
if (state[1] or '') ~= ARGV[4] or (state[2] or '') ~= ARGV[5] then
	return 0
end
forget_changes(KEYS[1])
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'kind', ARGV[6], 'team', ARGV[7], 'archived', ARGV[8],
	'stamp', ARGV[9], 'latest', ARGV[10], 'floor', ARGV[11], 'base', new_base())
for index = 12, #ARGV, 2 do
	redis.call('ZADD', KEYS[2], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
