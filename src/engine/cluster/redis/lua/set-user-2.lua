#!lua flags=allow-cross-slot-keys
--[[
Compare and set: changes fields of a user's state, if it still has the version that the caller decided on.

KEYS[1]  HASH of the fields that have changed lately
KEYS[2]  ZSET of their names, by the version that changed them last
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  seconds until the fields expire: the store has them by then
ARGV[4]  the version that the caller decided on; - if Redis had none
ARGV[5…] field, value, field, value…

Result   the new version; '' if the user has another version
]]
-- include only-in-epoch
-- Copies that lack more fields than this read all of them.
local MOST_NAMES = 64
local version = redis.call('HGET', KEYS[1], 'version') or '-'
if version ~= ARGV[4] then
	return ''
end
if version == '-' then
	-- The time, so that it is later than every version of fields that have expired.
	local time = redis.call('TIME')
	version = string.format('%.0f', time[1] * 1000000 + time[2])
	redis.call('HSET', KEYS[1], 'since', version)
else
	version = string.format('%.0f', tonumber(version) + 1)
end
redis.call('HSET', KEYS[1], 'version', version)
for index = 5, #ARGV, 2 do
	redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1])
	redis.call('ZADD', KEYS[2], version, ARGV[index])
end
if redis.call('ZCARD', KEYS[2]) > 2 * MOST_NAMES then
	local newest = redis.call('ZREVRANGE', KEYS[2], MOST_NAMES, MOST_NAMES, 'WITHSCORES')[2]
	redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', newest)
	redis.call('HSET', KEYS[1], 'since', newest)
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return version
