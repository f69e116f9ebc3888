#!lua flags=allow-cross-slot-keys,allow-oom
--[[
Brings copies of conversations up to date. A copy is named by the stamp of the newest effect in it and by the `base` that it was
taken from: Redis gives a conversation another base whenever it comes from the store.

KEYS[1]  HASH of the first conversation. Those of the others lie on the same node, which the caller sees to
ARGV[1]  seconds until they expire: what is looked at now and then stays
ARGV[2]  what all keys begin with
ARGV[3…] the copies, with a blank between the parts of each:
      1  the conversation
      2  stamp of the copy; - for none
      3  base of the copy
      4  = where no more is wanted than the copy has, or +
      5  ts up to which the copy knows all entries of the timeline
      6  its floor: it knows the entries after this ts
      7  entries after this ts are wanted as well, as far as Redis has them; - for none
      8… roots of threads that are wanted and that the copy does not have

Result   number of the copy, answer, number of the copy, answer… of those that are not as they were, or of which more is wanted:
         -1 the conversation is not loaded
         with a blank in between: 'd' (the copy and what follows) or 'w' (what follows, in the place of the copy),
         stamp, base, kind, archived, latest, when its newest change was applied, by how much one was late at most, when the
         newest late one was applied (each 0 where there was none since it was loaded), floor,
         how many older entries, newer entries and threads follow; these; for each thread its root, how many entries follow (-1: it is
         not loaded), these; and then what changed, as apply-2.lua writes it, the caller knows some of it
]]
local ttl, prefix = ARGV[1], ARGV[2]

local function between(key, after, up_to)
	return redis.call('ZRANGEBYSCORE', key, '(' .. after, up_to)
end

local function add(result, entries)
	for _, entry in ipairs(entries) do
		result[#result + 1] = entry
	end
end

local function parts_of(text)
	local parts = {}
	for part in string.gmatch(text, '%S+') do
		parts[#parts + 1] = part
	end
	return parts
end

local function look(text, renew)
	-- Most are as they were: no more is read of them than it takes to know.
	local conversation, known, known_base, more_wanted = string.match(text, '^(%S+) (%S+) (%S+) (%S)')
	local meta = prefix .. '{' .. conversation .. '}:meta'
	local state = redis.call('HMGET', meta, 'stamp', 'base')
	local stamp, base = state[1], state[2] or '0'
	if not stamp then
		return '-1'
	end
	-- Both or none: one without the other would seem to be loaded, and have no entries.
	if renew then
		redis.call('EXPIRE', meta, ttl)
		redis.call('EXPIRE', prefix .. '{' .. conversation .. '}:timeline', ttl)
	end
	local same = stamp == known and base == known_base
	if same and more_wanted == '=' then
		return nil
	end
	local keys = prefix .. '{' .. conversation .. '}:'
	local timeline = keys .. 'timeline'
	local parts = parts_of(text)
	local edge, known_floor, wanted = parts[5], parts[6], parts[7]
	local more = redis.call('HMGET', meta, 'kind', 'archived', 'latest', 'floor', 'seen', 'late', 'late_seen',
		'told', 'told_since', 'changes')
	local latest, floor = more[3], more[4]
	-- What an older release did is not told.
	local follows = same or (known ~= '-' and base == known_base and more[8] == stamp
		and tonumber(known) >= tonumber(more[9] or 0) and tonumber(known) < tonumber(stamp)
		and tonumber(edge) >= tonumber(floor))

	local function as_far_back(ts)
		return tonumber(ts) < tonumber(floor) and floor or ts
	end
	local older, newer, reaches = {}, {}, known_floor
	local from = edge
	if not follows then
		-- Never beyond the newest: the copy would take what is posted up to there for known.
		from = (wanted == '-' or tonumber(wanted) > tonumber(latest)) and latest or as_far_back(wanted)
		reaches = from
	elseif wanted ~= '-' then
		local after = as_far_back(wanted)
		if tonumber(after) < tonumber(known_floor) then
			older = between(timeline, after, known_floor)
			reaches = after
		end
	end
	if not same and tonumber(latest) > tonumber(from) then
		newer = between(timeline, from, '+inf')
	end
	-- While its slot moves to another node, meta may be here and the timeline, which has entries then, not yet.
	if #older == 0 and #newer == 0 and tonumber(latest) > tonumber(floor) and redis.call('EXISTS', timeline) == 0 then
		error({ err = 'TRYAGAIN the timeline of ' .. conversation .. ' is not here yet' })
	end
	local result = { follows and 'd' or 'w', stamp, base, more[1], more[2], latest, more[5] or '0', more[6] or '0', more[7] or '0',
		reaches, #older, #newer, #parts - 7 }
	add(result, older)
	add(result, newer)
	for index = 8, #parts do
		local key = keys .. 't:' .. parts[index]
		local entries = redis.call('ZRANGE', key, 0, -1)
		result[#result + 1] = parts[index]
		-- The first says for which base it was loaded (include/thread-of-base.lua).
		local last = entries[1] == base and #entries or 0
		result[#result + 1] = last - 1
		for place = 2, last do
			result[#result + 1] = entries[place]
		end
	end
	if follows and not same and (more[10] or '') ~= '' then
		result[#result + 1] = more[10]
	end
	return table.concat(result, ' ')
end

-- Renewing costs as much as looking, and is passed on to replicas: so one look in so many renews. Which one, chance decides.
local RENEWED = 16
local turn = redis.call('TIME')[2] % RENEWED

local results = {}
for index = 3, #ARGV do
	local answer = look(ARGV[index], index % RENEWED == turn)
	if answer then
		results[#results + 1] = index - 3
		results[#results + 1] = answer
	end
end
return results
