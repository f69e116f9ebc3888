--[[
Makes a worker the publisher of a partition.

KEYS[1]  HASH of the partition: generation, published, reloaded
ARGV[1]  the offset that the store has reached. Recorded offsets above it are lowered to it: they belong to an earlier log
         of the same name, or the new owner publishes these events again
Result   its generation, higher than that of every earlier owner: a time, so that this holds even if the key was lost;
         and, as recorded before this call, the offset below which everything was published, or nil, and the offset below
         which the read state has everything, or nil
]]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local known = redis.call('HMGET', KEYS[1], 'generation', 'published', 'reloaded')
local generation = math.max(now, tonumber(known[1] or 0) + 1)
redis.call('HSET', KEYS[1], 'generation', string.format('%.0f', generation))
local stored = tonumber(ARGV[1])
if tonumber(known[2] or 0) > stored then
	redis.call('HSET', KEYS[1], 'published', ARGV[1])
end
if tonumber(known[3] or 0) > stored then
	redis.call('HSET', KEYS[1], 'reloaded', ARGV[1])
end
return { string.format('%.0f', generation), known[2], known[3] }
