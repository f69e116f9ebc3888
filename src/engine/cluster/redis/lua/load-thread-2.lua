#!lua flags=allow-cross-slot-keys
--[[
Takes in a thread's replies, unless they are there.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of the thread
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4]  base that the conversation had before the store was asked
ARGV[5…] entries: ts, entry, ts, entry…

Result   1; 0 where it was there, or the conversation was taken from the store again meanwhile
]]
-- include only-in-epoch
-- include thread-of-base
local base = ARGV[4]
if redis.call('HGET', KEYS[1], 'base') ~= base or is_thread_of(KEYS[2], base) then
	return 0
end
begin_thread(KEYS[2], base)
for index = 5, #ARGV, 2 do
	redis.call('ZADD', KEYS[2], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
