--[[
How a conversation stands, without any of its entries.

KEYS[1]  HASH of the conversation
ARGV[1]  seconds until it expires

Result   {1, kind, archived, stamp, latest, 0 (no changes follow), when its newest change was applied, by how much one was late at most, when
         the newest late one was applied}; the last three are 0 where there was none since it was loaded
         {-1} it is not loaded
]]
local state = redis.call('HMGET', KEYS[1], 'kind', 'archived', 'stamp', 'latest', 'seen', 'late', 'late_seen')
if not state[1] then
	return { -1 }
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return { 1, state[1], state[2], state[3], state[4], 0, state[5] or '0', state[6] or '0', state[7] or '0' }
