#!lua flags=allow-cross-slot-keys
--[[
Loads the replies of a thread, unless they are loaded.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of the thread
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  seconds until the thread expires
ARGV[4]  base of the conversation before the store was read
ARGV[5…] entries: ts, entry, ts, entry…

Result   1; 0 if the thread is loaded, or the conversation was loaded again in the meantime
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
