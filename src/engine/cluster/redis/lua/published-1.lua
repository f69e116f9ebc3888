--[[
Records that everything of a partition below an offset was published.

KEYS[1]  HASH of the partition: generation, published
ARGV[1]  the generation of its owner
ARGV[2]  the offset
Result   1; 0 if a later owner publishes for the partition
]]
local known = redis.call('HMGET', KEYS[1], 'generation', 'published')
if tonumber(known[1] or 0) > tonumber(ARGV[1]) then
	return 0
end
redis.call('HSET', KEYS[1], 'generation', ARGV[1])
if tonumber(known[2] or -1) < tonumber(ARGV[2]) then
	redis.call('HSET', KEYS[1], 'published', ARGV[2])
end
return 1
