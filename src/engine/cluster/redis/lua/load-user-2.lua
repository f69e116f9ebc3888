#!lua flags=allow-cross-slot-keys
--[[
Takes in a user's read state from the store, with the changes merged in that came while it was not loaded.

KEYS[1]  HASH of the user's state
KEYS[2]  LIST of changes that wait for it
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  the value it has to have; anything else is answered with the error OVER
ARGV[3]  seconds until it expires
ARGV[4]  how many changes were merged in
ARGV[5…] field, value, field, value…

Result   1; 0 where it was there; -1 where more changes came: to be read again
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
