--[[
The entries of a timeline or a thread between two ts, for walks that are done by the caller.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline, or of the thread
ARGV[1]  seconds until it expires
ARGV[2]  'timeline' or 'thread'
ARGV[3]  after this ts; '+inf' for no entries at all
ARGV[4]  up to this ts, or +inf
ARGV[5]  the oldest so many of them; -1 for all
ARGV[6]  '': the timeline has to be there back to ARGV[3]. Otherwise the caller has what lies at or before this floor from
         the store

Result   {1, kind, archived, stamp, latest, how many changes follow, ts and entry ('' for none) of each that changed after
          ARGV[3] and at or before the floor…, entry, entry…}
         {-1} the conversation is not loaded, {-2} the timeline is not as far back, or the thread is not,
         {-3} the floor is another one by now
]]
-- include changes-after

local state = redis.call('HMGET', KEYS[1], 'kind', 'archived', 'stamp', 'latest', 'floor')
if not state[1] then
	return { -1 }
end
local after, latest = ARGV[3], state[4]
local changes = {}
if ARGV[2] == 'thread' then
	local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
	if not newest[1] then
		return { -2 }
	end
	latest = newest[2]
else
	if ARGV[6] ~= '' then
		if ARGV[6] ~= state[5] then
			return { -3 }
		end
		changes = changes_after(after, KEYS[1])
	elseif after ~= '+inf' and tonumber(after) < tonumber(state[5]) then
		return { -2 }
	end
	redis.call('EXPIRE', KEYS[1], ARGV[1])
end
redis.call('EXPIRE', KEYS[2], ARGV[1])
local result = { 1, state[1], state[2], state[3], latest, #changes / 2 }
for _, part in ipairs(changes) do
	result[#result + 1] = part
end
if after ~= '+inf' then
	local entries = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. after, ARGV[4], 'LIMIT', 0, ARGV[5])
	for _, entry in ipairs(entries) do
		result[#result + 1] = entry
	end
end
return result
