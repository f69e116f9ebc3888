--[[
Adds up what a reader has unread of a timeline or a thread: the walk of src/model/counting.ts, next to the
data. Whether the reader was active when a `<!here>` came is left to the caller.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline, or of the thread
ARGV[1]  seconds until it expires
ARGV[2]  'timeline' or 'thread'
ARGV[3]  the reader
ARGV[4]  the cursor
ARGV[5]  newest ts that is looked at, or +inf
ARGV[6]  enough when so many unread entries were found
ARGV[7]  '': the timeline has to be there back to the cursor. Otherwise the caller has what lies at or before this floor
         from the store, and counts that
ARGV[8…] ts of entries after the cursor that were read all the same

Result   {1, kind, archived, stamp, latest,
          how many changes follow, ts and entry ('' for none) of each that changed after the cursor and at or before the floor…,
          unread, mentions, named, named in the thread alone, ts of each unread <!here> that mentions the reader if it was active…}
         {-1} the conversation is not loaded, {-2} the timeline is not as far back, or the thread is not,
         {-3} the floor is another one by now
]]
local CHANNEL_WIDE, HERE, BROADCAST = 1, 2, 8
local state = redis.call('HMGET', KEYS[1], 'kind', 'archived', 'stamp', 'latest', 'floor')
if not state[1] then
	return { -1 }
end
local reader, cursor, latest = ARGV[3], ARGV[4], state[4]
local enough = tonumber(ARGV[6])
local nothing, short = false, false
local changes = {}
if ARGV[2] == 'thread' then
	local newest = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
	if not newest[1] then
		return { -2 }
	end
	latest = newest[2]
else
	nothing = state[2] == '1'
	short = not nothing and tonumber(cursor) < tonumber(state[5])
	if ARGV[7] ~= '' then
		if ARGV[7] ~= state[5] then
			return { -3 }
		end
		local fields = redis.call('HGETALL', KEYS[1])
		for index = 1, #fields, 2 do
			local ts = string.match(fields[index], '^b:(%d+)$')
			if ts and tonumber(ts) > tonumber(cursor) then
				changes[#changes + 1] = ts
				changes[#changes + 1] = fields[index + 1]
			end
		end
	elseif short and enough > 1e15 then
		return { -2 }
	end
	redis.call('EXPIRE', KEYS[1], ARGV[1])
	if short then
		cursor = state[5]
	end
end
redis.call('EXPIRE', KEYS[2], ARGV[1])

local result = { 1, state[1], state[2], state[3], latest, #changes / 2 }
for _, part in ipairs(changes) do
	result[#result + 1] = part
end
local counts = #result
for place = 1, 4 do
	result[counts + place] = 0
end
if nothing or tonumber(latest) <= tonumber(cursor) then
	return short and ARGV[7] == '' and { -2 } or result
end
local ahead = {}
for index = 8, #ARGV do
	ahead[ARGV[index]] = true
end
local function has(flags, flag)
	return math.floor(flags / flag) % 2 == 1
end

local unread, mentions, named, in_thread_only = 0, 0, 0, 0
-- Who asks whether there is any is mostly answered by the first.
local size = enough < 8 and 8 or 256
local offset = 0
repeat
	local entries = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. cursor, ARGV[5], 'LIMIT', offset, size)
	for _, entry in ipairs(entries) do
		local ts, author, flags, names = string.match(entry, '^(%d+)|([^|]*)|(%d+)|(.*)$')
		if author ~= reader and not ahead[ts] then
			unread = unread + 1
			if flags ~= '0' then
				local names_reader = string.find(',' .. names .. ',', ',' .. reader .. ',', 1, true) ~= nil
				flags = tonumber(flags)
				if names_reader or has(flags, CHANNEL_WIDE) then
					mentions = mentions + 1
				elseif has(flags, HERE) then
					result[#result + 1] = ts
				end
				if names_reader then
					named = named + 1
					if not has(flags, BROADCAST) then
						in_thread_only = in_thread_only + 1
					end
				end
			end
		end
	end
	-- By place, not by ts: within one script nothing moves. Larger pieces as it goes on.
	offset = offset + #entries
	local full = #entries == size
	size = size < 256 and 256 or 4096
until not full or unread >= enough

-- Enough was found without looking further back, or it has to be looked there.
if short and ARGV[7] == '' and unread < enough then
	return { -2 }
end
result[counts + 1], result[counts + 2], result[counts + 3], result[counts + 4] = unread, mentions, named, in_thread_only
return result
