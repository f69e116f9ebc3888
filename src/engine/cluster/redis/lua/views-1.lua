#!lua flags=allow-cross-slot-keys,allow-oom
--[[
Brings copies of conversations up to date. A copy is identified by the stamp of its newest effect and by its `base`: Redis
gives a conversation a new base whenever it is loaded from the store.

KEYS[1]  HASH of the first conversation. The caller makes sure that all are on the same node
ARGV[1]  seconds until they expire: reading renews them
ARGV[2]  prefix of all keys
ARGV[3…] the copies; the parts of each are separated by blanks:
      1  the conversation
      2  stamp of the copy; - for none
      3  base of the copy
      4  = if no more is needed than the copy has, otherwise +
      5  ts up to which the copy knows all entries of the timeline
      6  its floor: it has the entries after this ts
      7  entries after this ts are needed as well, as far as Redis has them; - for none
      8… roots of threads that are needed and that the copy does not have

Result   index of the copy, answer, index of the copy, answer… for copies that are not current, or need more:
         -1 the conversation is not loaded
         otherwise, separated by blanks: 'd' (changes of the copy) or 'w' (the whole, replacing the copy),
         stamp, base, kind, archived, latest, when its newest change was applied, the longest delay of a late one, when the
         newest late one was applied (each 0 if there was none since it was loaded), floor,
         numbers of older entries, newer entries and threads; these entries; for each thread its root, the number of its entries (-1: not
         loaded), and these; and then the changes, as apply-3.lua writes them, of which the copy may have some
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

local function look(text)
	-- Most copies are current: read no more than needed to know that.
	local conversation, known, known_base, more_wanted = string.match(text, '^(%S+) (%S+) (%S+) (%S)')
	local meta = prefix .. '{' .. conversation .. '}:meta'
	local state = redis.call('HMGET', meta, 'stamp', 'base')
	local stamp, base = state[1], state[2] or '0'
	if not stamp then
		return '-1'
	end
	-- All or none: a conversation without its timeline would seem loaded and empty.
	for _, part in ipairs({ 'meta', 'version', 'timeline' }) do
		redis.call('EXPIRE', prefix .. '{' .. conversation .. '}:' .. part, ttl)
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
		'recorded', 'recorded_since', 'changes')
	local latest, floor = more[3], more[4]
	-- An older release did not record changes.
	local follows = same or (known ~= '-' and base == known_base and more[8] == stamp
		and tonumber(known) >= tonumber(more[9] or 0) and tonumber(known) < tonumber(stamp)
		and tonumber(edge) >= tonumber(floor))

	local function as_far_back(ts)
		return tonumber(ts) < tonumber(floor) and floor or ts
	end
	local older, newer, reaches = {}, {}, known_floor
	local from = edge
	if not follows then
		-- Never beyond the newest: the copy would assume that it has what is posted up to there.
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
	-- While the slot moves to another node, meta may be here while the timeline, which has entries, is not yet.
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
		-- The first entry is the base that the thread was loaded for (include/thread-of-base.lua).
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

local results = {}
for index = 3, #ARGV do
	local answer = look(ARGV[index])
	if answer then
		results[#results + 1] = index - 3
		results[#results + 1] = answer
	end
end
return results
