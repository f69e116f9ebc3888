#!lua flags=allow-cross-slot-keys
--[[
Removes markers of a node's epoch.

KEYS[1]  the first marker
ARGV[1…] the other markers, on the same node
]]
redis.call('UNLINK', KEYS[1])
for index = 1, #ARGV do
	redis.call('UNLINK', ARGV[index])
end
