#!lua flags=allow-cross-slot-keys
--[[
Appends the changes of commands to a conversation, in order. Replaying is harmless: commands up to the newest applied one are skipped.
Also reads fields of users on the same node.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its recent changes
KEYS[3]  its version, for versions-1.lua
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value. Checked only if a conversation is created: with another value the result is the error OVER
ARGV[3]  seconds until the conversation expires
ARGV[4]  1 if the first command creates the conversation, otherwise 0
ARGV[5]  the store has all changes up to this stamp
ARGV[6]  how many of the newest changes stay even after the store has them; nothing is removed until there are twice as many
ARGV[7]  JSON: for each user the key of the user's HASH, and the names of the fields to read
ARGV[8…] for each command its stamp, and its changes as read-state/packing.ts packs them, '' for none

Result   {} if the conversation is not recorded; otherwise
         the stamp before this call: commands up to it had already been applied;
         the base; the time of Redis in microseconds; 0 if no command of this call is late, else the longest delay of the conversation so far;
         for each user the values of the fields
]]
local ttl, written, keep = ARGV[3], tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
-- include ordinary-delay

-- Before any change, because it fails if the slot of a user is moving or has moved.
local values = {}
for place, read in ipairs(cjson.decode(ARGV[7])) do
	values[place] = redis.call('HMGET', unpack(read))
end

local state = redis.call('HMGET', KEYS[1], 'stamp', 'base', 'late', 'late_seen')
local stamp, base = state[1], state[2]
-- Fields of the conversation to set, each followed by its value.
local fields = {}
local function set(field, value)
	fields[#fields + 1] = field
	fields[#fields + 1] = value
end

if not stamp then
	if ARGV[4] ~= '1' then
		return {}
	end
	-- Only in the caller's epoch: after a rebuild, a creation that was still in flight would record a conversation without the messages
	-- that were posted since.
-- include only-in-epoch
	redis.call('DEL', KEYS[2])
	stamp, base = '0', now
	set('base', base)
	set('since', '0')
end

local before, newest, late = stamp, nil, 0
for index = 8, #ARGV, 2 do
	local at, changes = ARGV[index], ARGV[index + 1]
	-- A command that was applied before may be published only now, so it counts too. A creation is never late: nobody was subscribed.
	late = stamp == '0' and 0 or math.max(late, tonumber(now) - tonumber(at))
	if tonumber(at) > tonumber(stamp) then
		if changes ~= '' then
			redis.call('ZADD', KEYS[2], at, at .. ' ' .. changes)
			newest = at
		end
		stamp = at
	end
end

if newest then
	set('newest', newest)
end
if written > 0 then
	set('written', ARGV[5])
end
if redis.call('ZCARD', KEYS[2]) > 2 * keep then
	local oldest = redis.call('ZREVRANGE', KEYS[2], keep, keep, 'WITHSCORES')[2]
	local since = math.min(tonumber(oldest), written)
	if redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', since) > 0 then
		set('since', string.format('%.0f', since))
	end
end
-- When the commands became visible, and how late: resuming clients have to go back that far.
set('stamp', stamp)
set('seen', now)
local noted, late_seen = '0', state[4] or '0'
if late > ORDINARY then
	noted, late_seen = string.format('%.0f', math.max(late, tonumber(state[3] or 0))), now
	set('late', noted)
	set('late_seen', late_seen)
end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('EXPIRE', KEYS[1], ttl)
redis.call('EXPIRE', KEYS[2], ttl)
redis.call('SET', KEYS[3], stamp .. ':' .. base .. ':' .. late_seen, 'EX', ttl)
return { before, base, now, noted, values }
