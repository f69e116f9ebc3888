#!lua flags=allow-cross-slot-keys
--[[
Loads a user's read state from the store, merged with the changes that arrived while it was not loaded.

KEYS[1]  HASH of the user's state
KEYS[2]  LIST of these pending changes
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  seconds until the state expires
ARGV[4]  number of pending changes that were merged
ARGV[5…] field, value, field, value…

Result   1; 0 if the state is loaded; -1 if more changes arrived: read again
]]
-- include only-in-epoch
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
if redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[4]) then
	return -1
end
-- include new-base
for index = 5, #ARGV, 2 do
	redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1])
end
redis.call('HSET', KEYS[1], 'base', new_base())
redis.call('DEL', KEYS[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
