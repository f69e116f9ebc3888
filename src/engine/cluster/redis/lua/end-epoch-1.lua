#!lua flags=allow-cross-slot-keys
--[[
Removes markers of the epoch of a node.

KEYS[1]  the first of them
ARGV[1…] the others, which lie on the same node
]]
redis.call('UNLINK', KEYS[1])
for index = 1, #ARGV do
	redis.call('UNLINK', ARGV[index])
end
