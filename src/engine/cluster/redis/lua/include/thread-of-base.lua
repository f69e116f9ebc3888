-- The first entry of a thread, with score 0, is the base of the conversation it was loaded for. With another base it counts as not loaded.
local function is_thread_of(key, base)
	return redis.call('ZRANGE', key, 0, 0)[1] == base
end

local function begin_thread(key, base)
	redis.call('DEL', key)
	redis.call('ZADD', key, 0, base)
end
