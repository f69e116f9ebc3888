--[[
Takes in a user's read state from the store, with the changes merged in that came while it was not loaded.

KEYS[1]  HASH of the user's state
KEYS[2]  LIST of changes that wait for it
ARGV[1]  seconds until it expires
ARGV[2]  how many changes were merged in
ARGV[3…] field, value, field, value…

Result   1; 0 where it was there; -1 where more changes came: to be read again
]]
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
if redis.call('LLEN', KEYS[2]) ~= tonumber(ARGV[2]) then
	return -1
end
for index = 3, #ARGV, 2 do
	redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1])
end
redis.call('DEL', KEYS[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
