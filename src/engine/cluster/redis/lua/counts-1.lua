#!lua flags=allow-cross-slot-keys,allow-oom
--[[
Adds up what readers have unread of timelines and threads: the walk of src/model/counting.ts, next to the
data. Whether a reader was active when a `<!here>` came is left to the caller.

KEYS[1]  HASH of the first conversation. Those of the others lie on the same node, which the caller sees to
ARGV[1]  seconds until they expire: what is looked at now and then stays
ARGV[2]  what all keys begin with
ARGV[3…] what to count, one after the other; with a blank between them:
      1  the conversation
      2  root of the thread; - for the timeline
      3  the reader
      4  the cursor
      5  newest ts that is looked at, or +inf
      6  enough when so many unread entries were found; - for all
      7  -: the timeline has to be there back to the cursor. Otherwise the caller has what lies at or before this floor
         from the store, and counts that
      8… ts of entries after the cursor that were read all the same

Result   for each of them, with a blank in between:
         1 kind archived stamp latest
           how many changes follow, ts and entry (nothing for none) of each that changed after the cursor and at or before the floor…
           unread, mentions, named, named in the thread alone, ts of each unread <!here> that mentions the reader if it was active…
         -1 the conversation is not loaded, -2 the timeline is not as far back, or the thread is not,
         -3 the floor is another one by now
]]
local CHANNEL_WIDE, HERE, BROADCAST = 1, 2, 8
local ttl, prefix = ARGV[1], ARGV[2]
local ALL = 1e15

local function has(flags, flag)
	return math.floor(flags / flag) % 2 == 1
end

-- include changes-after

-- Adds to `heres` what may mention the reader.
local function walk(key, reader, cursor, up_to, enough, ahead, heres)
	local unread, mentions, named, in_thread_only = 0, 0, 0, 0
	-- Who asks whether there is any is mostly answered by the first.
	local size = enough < 8 and 8 or 256
	local offset = 0
	repeat
		local entries = redis.call('ZRANGEBYSCORE', key, '(' .. cursor, up_to, 'LIMIT', offset, size)
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
						heres[#heres + 1] = ts
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
	return unread, mentions, named, in_thread_only
end

-- Those read ahead stay in the list: they may be more than a call can take.
local function count(parts, renew)
	local conversation, thread, reader, cursor, up_to, enough, floor = unpack(parts, 1, 7)
	local base = prefix .. '{' .. conversation .. '}:'
	local meta = base .. 'meta'
	local state = redis.call('HMGET', meta, 'kind', 'archived', 'stamp', 'latest', 'floor')
	if not state[1] then
		return '-1'
	end
	local key, latest = base .. 'timeline', state[4]
	local nothing, short = false, false
	local changes = {}
	enough = enough == '-' and ALL or tonumber(enough)
	if thread ~= '-' then
		key = base .. 't:' .. thread
		local newest = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')
		if not newest[1] then
			return '-2'
		end
		latest = newest[2]
	else
		nothing = state[2] == '1'
		short = not nothing and tonumber(cursor) < tonumber(state[5])
		if floor ~= '-' then
			if floor ~= state[5] then
				return '-3'
			end
			changes = changes_after(cursor, meta)
		elseif short and enough == ALL then
			return '-2'
		end
		if renew then
			redis.call('EXPIRE', meta, ttl)
		end
		if short then
			cursor = state[5]
		end
	end
	if renew then
		redis.call('EXPIRE', key, ttl)
	end

	local unread, mentions, named, in_thread_only = 0, 0, 0, 0
	local heres = {}
	if not nothing and tonumber(latest) > tonumber(cursor) then
		local ahead = {}
		for index = 8, #parts do
			ahead[parts[index]] = true
		end
		unread, mentions, named, in_thread_only = walk(key, reader, cursor, up_to, enough, ahead, heres)
		-- While its slot moves to another node, meta may be here and the timeline, which has entries then, not yet.
		if unread == 0 and redis.call('EXISTS', key) == 0 then
			error({ err = 'TRYAGAIN the timeline of ' .. conversation .. ' is not here yet' })
		end
	end
	-- Enough was found without looking further back, or it has to be looked there.
	if short and floor == '-' and unread < enough then
		return '-2'
	end
	local result = { 1, state[1], state[2], state[3], latest, #changes / 2 }
	for _, part in ipairs(changes) do
		result[#result + 1] = part
	end
	for _, number in ipairs({ unread, mentions, named, in_thread_only }) do
		result[#result + 1] = number
	end
	for _, ts in ipairs(heres) do
		result[#result + 1] = ts
	end
	return table.concat(result, ' ')
end

-- Renewing costs as much as counting, and is passed on to replicas: so one look in so many renews. Which one, chance decides.
local RENEWED = 16
local turn = redis.call('TIME')[2] % RENEWED

local results = {}
for index = 3, #ARGV do
	local parts = {}
	for part in string.gmatch(ARGV[index], '%S+') do
		parts[#parts + 1] = part
	end
	results[index - 2] = count(parts, index % RENEWED == turn)
end
return results
