#!lua flags=allow-cross-slot-keys
--[[
Gives a marker of an epoch another value, while another marker shows that the node is still in its epoch.

KEYS[1]  the marker
ARGV[1]  a marker of the epoch on this node
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  value of KEYS[1] as the caller read it, '' for none
ARGV[4]  the new value

Result   1; 0 where it is another value by now
]]
-- include only-in-epoch
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then
	return 0
end
redis.call('SET', KEYS[1], ARGV[4])
return 1
