#!lua flags=allow-cross-slot-keys,allow-oom
--[[
How conversations stand, without any of their entries.

KEYS[1]  HASH of the first one. Those of the others lie on the same node, which the caller sees to
ARGV[1]  seconds until they expire: what is looked at now and then stays
ARGV[2]  what all keys begin with
ARGV[3…] the conversations

Result   for each of them, with a blank in between:
         1 kind archived stamp latest 0 (no changes follow)
           when its newest change was applied, by how much one was late at most, when the newest late one was applied; each
           0 where there was none since it was loaded
         -1 it is not loaded
]]
local ttl, prefix = ARGV[1], ARGV[2]
-- As in counts-1.lua.
local RENEWED = 16
local turn = redis.call('TIME')[2] % RENEWED
local results = {}
for index = 3, #ARGV do
	local base = prefix .. '{' .. ARGV[index] .. '}:'
	local meta = base .. 'meta'
	local state = redis.call('HMGET', meta, 'kind', 'archived', 'stamp', 'latest', 'seen', 'late', 'late_seen')
	if state[1] then
		-- Both or none: one without the other would seem to be loaded, and have no entries.
		if index % RENEWED == turn then
			redis.call('EXPIRE', meta, ttl)
			redis.call('EXPIRE', base .. 'timeline', ttl)
		end
		results[index - 2] = table.concat(
			{ 1, state[1], state[2], state[3], state[4], 0, state[5] or '0', state[6] or '0', state[7] or '0' }, ' ')
	else
		results[index - 2] = '-1'
	end
end
return results
