#!lua flags=allow-cross-slot-keys
--[[
Takes effects into a conversation, in order, until one needs what is not loaded. Those with one stamp are of one command and
taken in together: with a part of them, the stamp would claim what is not there. Replaying is harmless: what is older than the
newest effect applied is passed over, and the newest one comes to the same when it is applied again.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have for a conversation to be created; otherwise answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4]  where the first of them deletes the only entry that is loaded: ts of the newest one besides it (0 for none); ''
ARGV[5]  how many threads the effects touch
then the keys of the threads' ZSETs, in the slot of KEYS (the client finds a node by a fixed number of keys)
then seven for each effect:
      1  its stamp
      2  'create', 'post', 'edit', 'delete', 'archived' or 'touch'
      3  ts of the message
      4  its entry; for 'create' the kind
      5  1 where it stands (or stood) in the timeline; for 'create' and 'archived' whether archived
      6  the number of the thread that it stands (or stood) in, from 1; 0 for none
      7  for 'create' the team; for 'post' 'first' where the thread has no other reply: then nothing of it has to be loaded

Result   the stamp that it had before ('-' where not all of them were applied for the first time), its base, the time of Redis in
         micros, by how much they were late at most ('0' where that is ordinary);
         for each effect that was dealt with: 1 applied, 2 applied once more, 0 older than what is applied; then, where it
         stopped before those of a command: -1 the conversation is not loaded, -2 a thread of theirs is not, -3 ARGV[4]
         is needed
]]
local ttl, below, threads = ARGV[3], ARGV[4], tonumber(ARGV[5])
local LEAD = 5
local WIDTH = 7
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lateness = 0
-- Up to a second is what clients are told once more in any case.
local ORDINARY = 1000000

local state = redis.call('HMGET', KEYS[1], 'stamp', 'floor', 'told', 'base')
local stamp, floor, base = state[1], state[2], state[4] or '0'
-- Where an older release applied something without telling, or nothing was told since it was loaded, telling begins here.
local begun_at, tells_on = stamp, state[1] == state[3]
-- Fields of the conversation that are to be set, each before its value.
local fields = {}
local timeline_changed = false
-- What copies cannot find in the timeline: edits, deletes and replies. One for each, with a blank in between:
-- stamp;change;ts;1 where it stands in the timeline;root of its thread or 0;entry
local told = {}

local function set(field, value)
	fields[#fields + 1] = field
	fields[#fields + 1] = value
end

local function newest()
	return redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
end

-- include thread-of-base

local function is_message(change)
	return change == 'post' or change == 'edit' or change == 'delete'
end

local function replies_of(thread)
	return thread ~= '0' and ARGV[LEAD + tonumber(thread)]
end

local function tell(at, change, ts, entry, shown, replies)
	local root = replies and string.match(replies, '%d+$') or '0'
	told[#told + 1] = table.concat({ at, change, ts, shown, root, entry }, ';')
end

-- Copies that are further behind than what is kept of it are taken again.
local MOST_TOLD, KEPT_TOLD = 4096, 2048
local function add_to_told()
	if not tells_on then
		set('told_since', begun_at)
		set('changes', '')
	end
	if #told == 0 then
		return
	end
	local before = tells_on and redis.call('HGET', KEYS[1], 'changes')
	local all = (before and before ~= '' and before .. ' ' or '') .. table.concat(told, ' ')
	if #all > MOST_TOLD then
		local cut = string.find(all, ' ', #all - KEPT_TOLD, true) or #all
		local _, _, newest = string.find(string.sub(all, 1, cut - 1), '(%d+);[^ ]*$')
		set('told_since', newest)
		all = string.sub(all, cut + 1)
	end
	set('changes', all)
end

-- What has to be loaded for it, as the result says it; 0 for nothing.
local function lacking(at, change, ts, _, shown, thread, first)
	if not stamp then
		return -1
	end
	if not is_message(change) or tonumber(at) < tonumber(stamp) then
		return 0
	end
	local replies = replies_of(thread)
	if replies and first ~= 'first' and not is_thread_of(replies, base) then
		return -2
	end
	if change == 'delete' and shown == '1' and floor ~= '0' and below == '' and (newest() or ts) == ts
		and redis.call('ZCARD', KEYS[2]) < 2 then
		return -3
	end
	return 0
end

-- Late, it would come without what has been said there since.
local function may_create()
	return ARGV[1] == '' or redis.call('GET', ARGV[1]) == ARGV[2]
end

local function create(at, kind, archived, team)
	if stamp then
		return 0
	end
	redis.call('DEL', KEYS[2])
	stamp, floor, base = at, '0', string.format('%.0f', now)
	redis.call('HSET', KEYS[1], 'kind', kind, 'team', team, 'archived', archived, 'stamp', at, 'latest', '0', 'floor', floor,
		'base', base)
	return 1
end

local function change_in(key, change, ts, entry)
	if change == 'edit' and redis.call('ZCOUNT', key, ts, ts) == 0 then
		return
	end
	redis.call('ZREMRANGEBYSCORE', key, ts, ts)
	if change ~= 'delete' then
		redis.call('ZADD', key, ts, entry)
	end
end

local function apply(at, change, ts, entry, shown, thread, team)
	if change == 'create' then
		return create(at, entry, shown, team)
	end
	if tonumber(at) < tonumber(stamp) then
		return 0
	end
	local again = tonumber(at) == tonumber(stamp)
	if is_message(change) and shown == '1' then
		if tonumber(ts) <= tonumber(floor) then
			set('b:' .. ts, change == 'delete' and '' or entry)
		else
			change_in(KEYS[2], change, ts, entry)
		end
		timeline_changed = timeline_changed or change ~= 'edit'
	end
	local replies = is_message(change) and replies_of(thread)
	if is_message(change) and (replies or change ~= 'post') then
		tell(at, change, ts, entry, shown, replies)
	end
	if replies then
		if not is_thread_of(replies, base) then
			begin_thread(replies, base)
		end
		change_in(replies, change, ts, entry)
		redis.call('EXPIRE', replies, ttl)
	end
	if change == 'archived' then
		set('archived', shown)
	elseif change == 'edit' or change == 'delete' then
		set('changed', at)
	end
	stamp = at
	lateness = math.max(lateness, now - tonumber(at))
	return again and 2 or 1
end

-- The first of them may create the conversation that the others are about.
local function lacking_of_any(first, last)
	if ARGV[first + 1] == 'create' then
		return 0
	end
	for index = first, last, WIDTH do
		local what = lacking(unpack(ARGV, index, index + WIDTH - 1))
		if what < 0 then
			return what
		end
	end
	return 0
end

-- Of those that are not loaded.
local newest_below
local results = {}
local first = LEAD + 1 + threads
if not stamp and ARGV[first + 1] == 'create' and not may_create() then
	return redis.error_reply('OVER the epoch is another one')
end
while first <= #ARGV do
	local last = first
	while ARGV[last + WIDTH] == ARGV[first] do
		last = last + WIDTH
	end
	local what = lacking_of_any(first, last)
	if what < 0 then
		results[#results + 1] = what
		break
	end
	for index = first, last, WIDTH do
		results[#results + 1] = apply(unpack(ARGV, index, index + WIDTH - 1))
	end
	newest_below, below = below ~= '' and below or newest_below, ''
	first = last + WIDTH
end
local is_plain, noted = #results > 0, '0'
for _, result in ipairs(results) do
	is_plain = is_plain and (result == 1 or result < 0)
end
-- When it can be seen, and by how much that is later than it took place: whoever resumes has to go back as far.
if #results > 0 and results[1] >= 0 then
	set('stamp', stamp)
	set('told', stamp)
	add_to_told()
	set('seen', string.format('%.0f', now))
	if timeline_changed then
		set('latest', newest() or newest_below or floor)
	end
	if lateness > ORDINARY then
		local late = math.max(lateness, tonumber(redis.call('HGET', KEYS[1], 'late') or 0))
		noted = string.format('%.0f', late)
		set('late', noted)
		set('late_seen', string.format('%.0f', now))
	end
	redis.call('HSET', KEYS[1], unpack(fields))
	redis.call('EXPIRE', KEYS[1], ttl)
	redis.call('EXPIRE', KEYS[2], ttl)
end
for place, value in ipairs({ is_plain and begun_at or '-', base, string.format('%.0f', now), noted }) do
	table.insert(results, place, value)
end
return results
