#!lua flags=allow-cross-slot-keys
--[[
Sets a marker to a new value, if another marker shows that the node is still in its epoch.

KEYS[1]  the marker
ARGV[1]  a marker of the epoch on this node
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  expected value of KEYS[1], '' for none
ARGV[4]  the new value

Result   1; 0 if KEYS[1] does not have the expected value
]]
-- include only-in-epoch
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then
	return 0
end
redis.call('SET', KEYS[1], ARGV[4])
return 1
