--[[
Takes in a thread's replies, unless they are there. An entry with score 0 says that it is loaded, also where it
has none.

KEYS[1]  ZSET of the thread
ARGV[1]  seconds until it expires
ARGV[2…] entries: ts, entry, ts, entry…

Result   1; 0 where it was there
]]
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('ZADD', KEYS[1], 0, '-')
for index = 2, #ARGV, 2 do
	redis.call('ZADD', KEYS[1], ARGV[index], ARGV[index + 1])
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
