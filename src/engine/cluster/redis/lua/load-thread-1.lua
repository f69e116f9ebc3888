#!lua flags=allow-cross-slot-keys
--[[
Takes in a thread's replies, unless they are there. An entry with score 0 says that it is loaded, also where it
has none.

KEYS[1]  ZSET of the thread
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4…] entries: ts, entry, ts, entry…

Result   1; 0 where it was there
]]
-- include only-in-epoch
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('ZADD', KEYS[1], 0, '-')
for index = 4, #ARGV, 2 do
	redis.call('ZADD', KEYS[1], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
