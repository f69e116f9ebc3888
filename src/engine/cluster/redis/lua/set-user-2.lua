#!lua flags=allow-cross-slot-keys
--[[
Compare and set: changes fields of a user's state, unless the state that the caller decided on has changed since. The caller passes the
version of the whole state, or the values of some fields.

KEYS[1]  HASH of the fields that have changed lately
KEYS[2]  ZSET of their names, by the version that changed them last
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  for how many seconds a changed field stays: the store has it by then
ARGV[4]  the version that the caller decided on, - if Redis had none; '' to compare fields
ARGV[5]  how many fields to compare
ARGV[6…] field, its value as read ('' if absent), field, value…; then the fields to set: field, value, field, value…

Result   the new version; '' if the compared state has changed
]]
-- include only-in-epoch
-- include ordinary-delay
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local version = redis.call('HGET', KEYS[1], 'version') or '-'
if ARGV[4] ~= '' and version ~= ARGV[4] then
	return ''
end
local first = 6 + 2 * tonumber(ARGV[5])
for index = 6, first - 1, 2 do
	if (redis.call('HGET', KEYS[1], ARGV[index]) or '') ~= ARGV[index + 1] then
		return ''
	end
end

-- A time, so that it is later than every version of fields that have expired.
local newer = string.format('%.0f', version == '-' and now or math.max(now, tonumber(version) + 1))
redis.call('HSET', KEYS[1], 'version', newer)
if version == '-' then
	redis.call('HSET', KEYS[1], 'since', newer)
end
local function set(field, value)
	redis.call('HSET', KEYS[1], field, value)
	redis.call('ZADD', KEYS[2], newer, field)
end
for index = first, #ARGV, 2 do
	local field, value = ARGV[index], ARGV[index + 1]
	if field == 'stamp' then
		local state = redis.call('HMGET', KEYS[1], 'stamp', 'late')
		local late = now - tonumber(value)
		if late > ORDINARY then
			set('late', string.format('%.0f', math.max(late, tonumber(state[2] or 0))))
			set('late_seen', string.format('%.0f', now))
		end
		-- The stamp only rises, even if another process has set it since.
		value = string.format('%.0f', math.max(tonumber(value), tonumber(state[1] or 0) + 1))
	end
	set(field, value)
end

-- Removes fields that have not changed for ARGV[3] seconds, at most 100 per call.
local expired = string.format('%.0f', now - ARGV[3] * 1000000)
local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', expired, 'LIMIT', 0, 100)
if #old > 0 then
	redis.call('HDEL', KEYS[1], unpack(old))
	redis.call('ZREM', KEYS[2], unpack(old))
	redis.call('HSET', KEYS[1], 'since', expired)
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return newer
