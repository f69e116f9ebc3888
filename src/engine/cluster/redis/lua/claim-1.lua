--[[
Makes a worker the publisher of a partition.

KEYS[1]  HASH of the partition: generation, published, reloaded
Result   its generation, higher than that of every earlier owner: a time, so that this holds even if the key was lost;
         the offset below which everything was published, or nil; and the offset below which the read state has everything,
         or nil
]]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local known = redis.call('HMGET', KEYS[1], 'generation', 'published', 'reloaded')
local generation = math.max(now, tonumber(known[1] or 0) + 1)
redis.call('HSET', KEYS[1], 'generation', string.format('%.0f', generation))
return { string.format('%.0f', generation), known[2], known[3] }
