--[[
Publishes on behalf of the owner of a partition, unless a later owner has published to the same channel.

KEYS[1]  HASH of the channel: the newest generation by partition
ARGV[1]  the channel, in the slot of KEYS[1]
ARGV[2]  the partition
ARGV[3]  the generation of its owner
ARGV[4]  seconds until the hash expires
ARGV[5…] the messages, in order
Result   1 published, 0 dropped
]]
local newest = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0)
local generation = tonumber(ARGV[3])
if generation < newest then
	return 0
end
if generation > newest then
	redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
	redis.call('EXPIRE', KEYS[1], ARGV[4])
end
for index = 5, #ARGV do
	redis.call('SPUBLISH', ARGV[1], ARGV[index])
end
return 1
