--[[
Takes in a conversation from the store in the place of what is there, together with threads of it. Only where nothing
changed since the store was asked, and the store has all of it: then what was changed below the floor is not needed either.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  seconds until it expires
ARGV[2]  stamp and            ARGV[3]  floor that it had before the store was asked
ARGV[4]  kind                 ARGV[5]  team        ARGV[6]  archived, 0 or 1
ARGV[7]  stamp                ARGV[8]  latest      ARGV[9]  floor; another one than before, or 0: who read the store for the
         floor of before has to begin again
ARGV[10] how many entries after the floor follow: ts, entry, ts, entry…
then for each thread: the key of its ZSET, in the slot of KEYS, and how many entries follow: ts, entry, ts, entry…

Result   1; 0 where it is not as it was
]]
-- include forget-changes
-- include new-base
local ttl = ARGV[1]
local state = redis.call('HMGET', KEYS[1], 'stamp', 'floor')
if state[1] ~= ARGV[2] or state[2] ~= ARGV[3] then
	return 0
end

local place = 10
local function add_entries(key)
	local last = place + 2 * tonumber(ARGV[place])
	for index = place + 1, last, 2 do
		redis.call('ZADD', key, ARGV[index], ARGV[index + 1])
	end
	redis.call('EXPIRE', key, ttl)
	place = last + 1
end

forget_changes(KEYS[1])
redis.call('HSET', KEYS[1], 'kind', ARGV[4], 'team', ARGV[5], 'archived', ARGV[6],
	'stamp', ARGV[7], 'latest', ARGV[8], 'floor', ARGV[9], 'base', new_base())
redis.call('EXPIRE', KEYS[1], ttl)
redis.call('DEL', KEYS[2])
add_entries(KEYS[2])
while place <= #ARGV do
	local thread = ARGV[place]
	place = place + 1
	-- One that is not loaded comes from the store in any case.
	if redis.call('EXISTS', thread) == 1 then
		redis.call('DEL', thread)
		redis.call('ZADD', thread, 0, '-')
		add_entries(thread)
	else
		place = place + 1 + 2 * tonumber(ARGV[place])
	end
end
return 1
