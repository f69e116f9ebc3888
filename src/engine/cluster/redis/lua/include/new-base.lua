-- Copies of what was there before are not of it: the time, which no other base has.
local function new_base()
	local time = redis.call('TIME')
	return string.format('%.0f', time[1] * 1000000 + time[2])
end
