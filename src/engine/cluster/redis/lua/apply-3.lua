#!lua flags=allow-cross-slot-keys
--[[
Applies effects to a conversation, in order, until one needs something that is not loaded. Effects with the same stamp belong to one
command and are applied together: otherwise the stamp would claim effects that are missing. Replaying is harmless: effects older than
the newest applied one are skipped, and applying the newest one again gives the same result.

KEYS[1]  HASH of the conversation
KEYS[2]  ZSET of its timeline
KEYS[3]  its version, for versions-1.lua
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value. Checked only if a conversation is created: with another value the result is the error OVER
ARGV[3]  seconds until the conversation expires
ARGV[4]  if the first effect deletes the only loaded entry: ts of the newest other one (0 for none); otherwise ''
ARGV[5]  number of threads that the effects touch
then the keys of the threads' ZSETs, in the slot of KEYS (not in KEYS, because the client needs a fixed number of keys)
then seven arguments for each effect:
      1  its stamp
      2  'create', 'post', 'edit', 'delete', 'settings' or 'touch'
      3  ts of the message
      4  its entry; for 'create' the kind
      5  1 if it is (or was) in the timeline; for 'create' and 'settings' whether archived
      6  the number of its thread, from 1; 0 for none
      7  for 'create' the team; for 'post' 'first' if the thread has no other reply: then the thread need not be loaded

Result   the stamp before ('-' if not all effects were applied for the first time), the base, the time of Redis in
         microseconds, the longest delay of an effect ('0' if it is a usual one);
         for each processed effect: 1 applied, 2 applied again, 0 older than the applied ones; then, if it
         stopped before the effects of a command: -1 the conversation is not loaded, -2 one of their threads is not, -3 ARGV[4]
         is needed
]]
local ttl, newest_other, threads = ARGV[3], ARGV[4], tonumber(ARGV[5])
local LEAD = 5
local WIDTH = 7
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lateness = 0
-- Resuming clients always get the changes of the last second again.
local ORDINARY = 1000000

local state = redis.call('HMGET', KEYS[1], 'stamp', 'floor', 'recorded', 'base')
local stamp, floor, base = state[1], state[2], state[4] or '0'
-- If an older release applied effects without recording them, or none was recorded since the load, recording starts here.
local begun_at, continues = stamp, state[1] == state[3]
-- Fields of the conversation to set, each followed by its value.
local fields = {}
local timeline_changed = false
-- Changes that copies cannot find in the timeline: edits, deletes and replies, separated by blanks, each as
-- stamp;change;ts;1 if it is in the timeline;root of its thread or 0;entry
local recorded = {}

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

local function record(at, change, ts, entry, in_timeline, replies)
	local root = replies and string.match(replies, '%d+$') or '0'
	recorded[#recorded + 1] = table.concat({ at, change, ts, in_timeline, root, entry }, ';')
end

-- Keeps the newest changes; copies that are further behind are read again as a whole.
local MAX_BYTES, TRIMMED_BYTES = 4096, 2048
local function save_recorded()
	if not continues then
		set('recorded_since', begun_at)
		set('changes', '')
	end
	if #recorded == 0 then
		return
	end
	local before = continues and redis.call('HGET', KEYS[1], 'changes')
	local all = (before and before ~= '' and before .. ' ' or '') .. table.concat(recorded, ' ')
	if #all > MAX_BYTES then
		local cut = string.find(all, ' ', #all - TRIMMED_BYTES, true) or #all
		local since = string.match(string.sub(all, 1, cut - 1), '(%d+);[^ ]*$')
		set('recorded_since', since)
		all = string.sub(all, cut + 1)
	end
	set('changes', all)
end

-- What has to be loaded first, as a code of the result; 0 for nothing.
local function missing(at, change, ts, _, in_timeline, thread, first)
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
	if change == 'delete' and in_timeline == '1' and floor ~= '0' and newest_other == '' and (newest() or ts) == ts
		and redis.call('ZCARD', KEYS[2]) < 2 then
		return -3
	end
	return 0
end

-- A late creation would lack messages that were posted since.
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

local function apply(again, at, change, ts, entry, flag, thread, team)
	if change == 'create' then
		return create(at, entry, flag, team)
	end
	if tonumber(at) < tonumber(stamp) then
		return 0
	end
	if is_message(change) and flag == '1' then
		if tonumber(ts) <= tonumber(floor) then
			set('b:' .. ts, change == 'delete' and '' or entry)
		else
			change_in(KEYS[2], change, ts, entry)
		end
		timeline_changed = timeline_changed or change ~= 'edit'
	end
	local replies = is_message(change) and replies_of(thread)
	if is_message(change) and (replies or change ~= 'post') then
		record(at, change, ts, entry, flag, replies)
	end
	if replies then
		if not is_thread_of(replies, base) then
			begin_thread(replies, base)
		end
		change_in(replies, change, ts, entry)
		redis.call('EXPIRE', replies, ttl)
	end
	if change == 'settings' then
		set('archived', flag)
	elseif change == 'edit' or change == 'delete' then
		set('changed', at)
	end
	stamp = at
	lateness = math.max(lateness, now - tonumber(at))
	return again and 2 or 1
end

-- The first effect may create the conversation that the others belong to.
local function first_missing(first, last)
	if ARGV[first + 1] == 'create' then
		return 0
	end
	for index = first, last, WIDTH do
		local what = missing(unpack(ARGV, index, index + WIDTH - 1))
		if what < 0 then
			return what
		end
	end
	return 0
end

-- The newest entry that is not loaded.
local newest_unloaded
local results = {}
local first = LEAD + 1 + threads
if not stamp and ARGV[first + 1] == 'create' and not may_create() then
	return redis.error_reply('OVER the epoch has ended')
end
while first <= #ARGV do
	local last = first
	while ARGV[last + WIDTH] == ARGV[first] do
		last = last + WIDTH
	end
	local what = first_missing(first, last)
	if what < 0 then
		results[#results + 1] = what
		break
	end
	-- Decided once per command: after its first effect the stored stamp equals that of the others, which would then look applied before.
	local again = stamp and tonumber(ARGV[first]) == tonumber(stamp)
	for index = first, last, WIDTH do
		results[#results + 1] = apply(again, unpack(ARGV, index, index + WIDTH - 1))
	end
	newest_unloaded, newest_other = newest_other ~= '' and newest_other or newest_unloaded, ''
	first = last + WIDTH
end
local is_plain, noted = #results > 0, '0'
for _, result in ipairs(results) do
	is_plain = is_plain and (result == 1 or result < 0)
end
-- When the effects became visible, and how late: resuming clients have to go back that far.
if #results > 0 and results[1] >= 0 then
	set('stamp', stamp)
	set('recorded', stamp)
	save_recorded()
	set('seen', string.format('%.0f', now))
	if timeline_changed then
		set('latest', newest() or newest_unloaded or floor)
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
	redis.call('SET', KEYS[3], stamp .. ':' .. base, 'EX', ttl)
end
for place, value in ipairs({ is_plain and begun_at or '-', base, string.format('%.0f', now), noted }) do
	table.insert(results, place, value)
end
return results
