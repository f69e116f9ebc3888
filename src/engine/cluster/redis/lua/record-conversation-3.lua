#!lua flags=allow-cross-slot-keys
--[[
Starts to record the changes of a conversation that follow those in the store. The caller reads the state in Redis, then the store, then
calls this script: if the state in Redis has changed in between, nothing happens. The new base invalidates copies of the old state.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its recent changes
KEYS[3]  its version, for versions-1.lua
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  seconds until the conversation expires
ARGV[4]  stamp before the store was read, '' if it was not recorded
ARGV[5]  base at that time, or ''
ARGV[6]  the store has all changes up to this stamp

Result   1; 0 if it has changed
]]
-- include only-in-epoch
-- include new-base
local state = redis.call('HMGET', KEYS[1], 'stamp', 'base')
if (state[1] or '') ~= ARGV[4] or (state[2] or '') ~= ARGV[5] then
	return 0
end
redis.call('DEL', KEYS[2])
local base = new_base()
redis.call('HSET', KEYS[1], 'stamp', ARGV[6], 'base', base, 'since', ARGV[6], 'written', ARGV[6], 'newest', '0')
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[3], ARGV[6] .. ':' .. base, 'EX', ARGV[3])
return 1
