#!lua flags=allow-cross-slot-keys,allow-oom,no-writes
--[[
Returns what copies of conversations lack. A copy is identified by the stamp of its newest change, by its `late_seen`, and by its `base`:
Redis gives a conversation a new base whenever it begins to record its changes.

KEYS[1]  HASH of the first conversation. The caller makes sure that all are on the same node
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  prefix of all keys
ARGV[4…] for each copy its conversation, stamp, base and late_seen; the base is - if it has the state of the store, and '' if there is no copy

Result   for each copy
         {} it is current
         {-1} the store has everything: load the copy from there
         {'d', stamp, base, written, seen, late, late_seen, change…} the changes after its stamp, by command
         {'w', stamp, base, after, seen, late, late_seen, change…} load it from the store, and apply these changes after the stamp `after`
         written is the stamp that the store had reached; seen, late and late_seen are those of keys.ts, 0 if there are none
]]
-- include only-in-epoch
local prefix = ARGV[3]

local function answer_for(conversation, known, known_base, known_late_seen)
	local keys = prefix .. '{' .. conversation .. '}:'
	local state = redis.call('HMGET', keys .. 'meta', 'stamp', 'base', 'since', 'written', 'seen', 'late', 'late_seen', 'newest', 'repaired')
	local stamp, base, since, written = state[1], state[2], tonumber(state[3]), state[4] or '0'
	if not stamp then
		return known_base == '-' and {} or { -1 }
	end
	if stamp == known and base == known_base and (state[7] or '0') == known_late_seen then
		return {}
	end
	local can_follow = base == known_base or (known_base == '-' and state[9] ~= '1')
	local follows = can_follow and tonumber(known) >= since
	local after = follows and known or string.format('%.0f', math.max(since, tonumber(written)))
	local changes = redis.call('ZRANGEBYSCORE', keys .. 'recent', '(' .. after, '+inf')
	-- While the slot moves to another node, the hash may be here while the changes are not yet.
	if #changes == 0 and tonumber(state[8] or 0) > tonumber(after) then
		error({ err = 'TRYAGAIN the changes of ' .. conversation .. ' are not here yet' })
	end
	local answer = { follows and 'd' or 'w', stamp, base, follows and written or after, state[5] or '0', state[6] or '0',
		state[7] or '0' }
	for _, change in ipairs(changes) do
		answer[#answer + 1] = change
	end
	return answer
end

local results = {}
for index = 4, #ARGV, 4 do
	results[#results + 1] = answer_for(ARGV[index], ARGV[index + 1], ARGV[index + 2], ARGV[index + 3])
end
return results
