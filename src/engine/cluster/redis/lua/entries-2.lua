--[[
The entries of a timeline or a thread after a ts, for walks that are done by the caller.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline, or of the thread
ARGV[1]  seconds until it expires
ARGV[2]  'timeline' or 'thread'
ARGV[3]  the ts, exclusive; '+inf' for no entries at all
ARGV[4]  at most so many; -1 for all

Result   {1, kind, archived, stamp, latest, entry, entry…}
         {-1} the conversation is not loaded, {-2} the timeline is not as far back, or the thread is not
]]
local state = redis.call('HMGET', KEYS[1], 'kind', 'archived', 'stamp', 'latest', 'floor')
if not state[1] then
	return { -1 }
end
local after, latest = ARGV[3], state[4]
if ARGV[2] == 'thread' then
	local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
	if not newest[1] then
		return { -2 }
	end
	latest = newest[2]
else
	if after ~= '+inf' and tonumber(after) < tonumber(state[5]) then
		return { -2 }
	end
	redis.call('EXPIRE', KEYS[1], ARGV[1])
end
redis.call('EXPIRE', KEYS[2], ARGV[1])
local result = { 1, state[1], state[2], state[3], latest }
if after ~= '+inf' then
	local entries = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. after, '+inf', 'LIMIT', 0, ARGV[4])
	for _, entry in ipairs(entries) do
		result[#result + 1] = entry
	end
end
return result
