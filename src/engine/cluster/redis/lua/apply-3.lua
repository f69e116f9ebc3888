--[[
Takes one effect into a conversation. Replaying is harmless: what is older than the newest effect applied is
passed over, and the newest one comes to the same when it is applied again.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
KEYS[3]  ZSET of the thread (of any, where the effect touches none)
ARGV[1]  seconds until it expires
ARGV[2]  stamp of the effect
ARGV[3]  'create', 'post', 'edit', 'delete', 'archived' or 'touch'
ARGV[4]  ts of the message
ARGV[5]  its entry; for 'create' the kind
ARGV[6]  1 where it stands (or stood) in the timeline; for 'create' and 'archived' whether archived
ARGV[7]  1 where it stands (or stood) in the thread; for 'create' the team

Result   1 applied, 2 applied once more, 0 older than what is applied
        -1 the conversation is not loaded, -2 the thread is not, -3 the entry before the newest is not
]]
local ttl, at, change, ts, entry = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local loaded = redis.call('EXISTS', KEYS[1]) == 1

-- When it can be seen, and by how much that is later than it took place: whoever resumes has to go back as far.
local function note_when()
	local time = redis.call('TIME')
	local now = time[1] * 1000000 + time[2]
	local late = math.max(now - tonumber(at), 0)
	local latest = math.max(late, tonumber(redis.call('HGET', KEYS[1], 'late') or 0))
	redis.call('HSET', KEYS[1], 'seen', string.format('%.0f', now), 'late', string.format('%.0f', latest))
end

if change == 'create' then
	if loaded then
		return 0
	end
	redis.call('DEL', KEYS[2])
	redis.call('HSET', KEYS[1], 'kind', entry, 'team', ARGV[7], 'archived', ARGV[6],
		'stamp', at, 'latest', '0', 'floor', '0')
	note_when()
	redis.call('EXPIRE', KEYS[1], ttl)
	return 1
end

if not loaded then
	return -1
end
local in_timeline, in_thread = ARGV[6] == '1', ARGV[7] == '1'
local message = change == 'post' or change == 'edit' or change == 'delete'
local state = redis.call('HMGET', KEYS[1], 'stamp', 'floor', 'latest')
if tonumber(at) < tonumber(state[1]) then
	return 0
end
local again = tonumber(at) == tonumber(state[1])
local below = message and tonumber(ts) <= tonumber(state[2])
if message and in_thread and redis.call('EXISTS', KEYS[3]) == 0 then
	return -2
end
if change == 'delete' and in_timeline and ts == state[3] and state[2] ~= '0' and redis.call('ZCARD', KEYS[2]) < 2 then
	return -3
end

local function put(key)
	redis.call('ZREMRANGEBYSCORE', key, ts, ts)
	redis.call('ZADD', key, ts, entry)
end

local function change_in(key)
	if change == 'post' then
		put(key)
	elseif change == 'delete' then
		redis.call('ZREMRANGEBYSCORE', key, ts, ts)
	elseif redis.call('ZCOUNT', key, ts, ts) > 0 then
		put(key)
	end
end

if message and in_timeline then
	if below then
		redis.call('HSET', KEYS[1], 'b:' .. ts, change == 'delete' and '' or entry)
	else
		change_in(KEYS[2])
		local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
		redis.call('HSET', KEYS[1], 'latest', newest or state[2])
	end
end
if message and in_thread then
	change_in(KEYS[3])
	redis.call('EXPIRE', KEYS[3], ttl)
end
if change == 'archived' then
	redis.call('HSET', KEYS[1], 'archived', ARGV[6])
end
note_when()
redis.call('HSET', KEYS[1], 'stamp', at)
redis.call('EXPIRE', KEYS[1], ttl)
redis.call('EXPIRE', KEYS[2], ttl)
return again and 2 or 1
