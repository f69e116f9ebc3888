#!lua flags=allow-cross-slot-keys
--[[
Begins to record the changes of a conversation that follow those in the store. The caller reads stamp and base in Redis, then the store,
then calls this script: if they have changed in between, nothing happens.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its recent changes
KEYS[3]  its version, for versions-1.lua
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  seconds until the conversation expires
ARGV[4]  its `stamp:base` before the store was read; - for none
ARGV[5]  the store has all changes up to this stamp
ARGV[6]  1 for a repair: all copies are outdated; otherwise 0

Result   1; 0 if it has changed
]]
-- include only-in-epoch
local state = redis.call('HMGET', KEYS[1], 'stamp', 'base', 'late_seen')
if (state[1] and state[1] .. ':' .. state[2] or '-') ~= ARGV[4] then
	return 0
end
-- The time of Redis: no earlier base of the conversation has this value.
local time = redis.call('TIME')
local base = string.format('%.0f', time[1] * 1000000 + time[2])
local stamp = ARGV[5]
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[1], 'stamp', stamp, 'base', base, 'since', stamp, 'written', stamp, 'newest', '0', 'repaired', ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[3], stamp .. ':' .. base .. ':' .. (state[3] or '0'), 'EX', ARGV[3])
return 1
