--[[
Takes effects into a conversation, in order, until one needs what is not loaded. Replaying is harmless: what is older than
the newest effect applied is passed over, and the newest one comes to the same when it is applied again.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  seconds until it expires
ARGV[2]  how many threads the effects touch
then the keys of the threads' ZSETs, in the slot of KEYS (the client finds a node by a fixed number of keys)
then seven for each effect:
      1  its stamp
      2  'create', 'post', 'edit', 'delete', 'archived' or 'touch'
      3  ts of the message
      4  its entry; for 'create' the kind
      5  1 where it stands (or stood) in the timeline; for 'create' and 'archived' whether archived
      6  the number of the thread that it stands (or stood) in, from 1; 0 for none
      7  for 'create' the team

Result   for each effect that was dealt with: 1 applied, 2 applied once more, 0 older than what is applied; then, where it
         stopped: -1 the conversation is not loaded, -2 the thread is not, -3 the entry before the newest is not
]]
local ttl, threads = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lateness = 0
-- Up to a second is what clients are told once more in any case.
local ORDINARY = 1000000

local function apply(at, change, ts, entry, shown, thread, team)
	local loaded = redis.call('EXISTS', KEYS[1]) == 1
	if change == 'create' then
		if loaded then
			return 0
		end
		redis.call('DEL', KEYS[2])
		redis.call('HSET', KEYS[1], 'kind', entry, 'team', team, 'archived', shown,
			'stamp', at, 'latest', '0', 'floor', '0')
		return 1
	end
	if not loaded then
		return -1
	end
	local in_timeline, in_thread = shown == '1', thread ~= '0'
	local replies = in_thread and ARGV[2 + tonumber(thread)]
	local message = change == 'post' or change == 'edit' or change == 'delete'
	local state = redis.call('HMGET', KEYS[1], 'stamp', 'floor', 'latest')
	if tonumber(at) < tonumber(state[1]) then
		return 0
	end
	local again = tonumber(at) == tonumber(state[1])
	local below = message and tonumber(ts) <= tonumber(state[2])
	if message and in_thread and redis.call('EXISTS', replies) == 0 then
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
		change_in(replies)
		redis.call('EXPIRE', replies, ttl)
	end
	if change == 'archived' then
		redis.call('HSET', KEYS[1], 'archived', shown)
	end
	redis.call('HSET', KEYS[1], 'stamp', at)
	lateness = math.max(lateness, now - tonumber(at))
	return again and 2 or 1
end

local results = {}
for index = 3 + threads, #ARGV, 7 do
	local result = apply(unpack(ARGV, index, index + 6))
	results[#results + 1] = result
	if result < 0 then
		break
	end
end
-- When it can be seen, and by how much that is later than it took place: whoever resumes has to go back as far.
if #results > 0 and results[1] >= 0 then
	redis.call('HSET', KEYS[1], 'seen', string.format('%.0f', now))
	if lateness > ORDINARY then
		local late = math.max(lateness, tonumber(redis.call('HGET', KEYS[1], 'late') or 0))
		redis.call('HSET', KEYS[1], 'late', string.format('%.0f', late), 'late_seen', string.format('%.0f', now))
	end
	redis.call('EXPIRE', KEYS[1], ttl)
	redis.call('EXPIRE', KEYS[2], ttl)
end
return results
