#!lua flags=allow-cross-slot-keys
--[[
Loads a conversation from the store, if its state is still that from before the store was read: not loaded or, for a repair, at a
stamp that the store has. Its new base invalidates copies of the old state, and its threads.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
KEYS[3]  its version, for versions-1.lua
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  seconds until the conversation expires
ARGV[4]  stamp before the store was read, '' if it was not loaded
ARGV[5]  base at that time, or ''
ARGV[6]  kind          ARGV[7]  team        ARGV[8]  archived, 0 or 1
ARGV[9]  stamp         ARGV[10] latest      ARGV[11] floor
ARGV[12…] entries after the floor: ts, entry, ts, entry…

Result   1; 0 if it has changed
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
local base = new_base()
redis.call('HSET', KEYS[1], 'kind', ARGV[6], 'team', ARGV[7], 'archived', ARGV[8],
	'stamp', ARGV[9], 'latest', ARGV[10], 'floor', ARGV[11], 'base', base)
redis.call('SET', KEYS[3], ARGV[9] .. ':' .. base, 'EX', ARGV[3])
for index = 12, #ARGV, 2 do
	redis.call('ZADD', KEYS[2], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
