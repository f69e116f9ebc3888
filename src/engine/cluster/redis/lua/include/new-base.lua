-- The current time, which no other base has: a new base invalidates older copies.
local function new_base()
	local time = redis.call('TIME')
	return string.format('%.0f', time[1] * 1000000 + time[2])
end
