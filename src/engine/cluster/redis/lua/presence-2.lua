--[[
Changes or reads a user's presence. Uses the clock of Redis, so that the clocks of gateways may differ.

KEYS[1]  ZSET of the user's connections by expiry in ms
KEYS[2]  exists while the user is set to away
ARGV[1]  'connected', 'disconnected', 'away', 'back', 'beat' or 'ask'
ARGV[2]  the connection, '' for none
ARGV[3]  ms after which a connection expires without a refresh

Result   {active before, active after, connections, away}; all but connections are 0 or 1. Expired connections are removed first, so
         they do not count in 'active before' either.
]]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lifetime = tonumber(ARGV[3])
-- The setting expires if the user does not connect for this long.
local AWAY_SECONDS = 30 * 24 * 3600

local function active()
	return redis.call('ZCARD', KEYS[1]) > 0 and redis.call('EXISTS', KEYS[2]) == 0 and 1 or 0
end

redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local before = active()
local change = ARGV[1]
if change == 'connected' or change == 'beat' then
	redis.call('ZADD', KEYS[1], now + lifetime, ARGV[2])
	redis.call('PEXPIRE', KEYS[1], lifetime)
	redis.call('EXPIRE', KEYS[2], AWAY_SECONDS)
elseif change == 'disconnected' then
	redis.call('ZREM', KEYS[1], ARGV[2])
elseif change == 'away' then
	redis.call('SET', KEYS[2], '1', 'EX', AWAY_SECONDS)
elseif change == 'back' then
	redis.call('DEL', KEYS[2])
end
return { before, active(), redis.call('ZCARD', KEYS[1]), redis.call('EXISTS', KEYS[2]) }
