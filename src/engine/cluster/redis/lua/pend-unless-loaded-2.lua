--[[
Keeps changes for a user whose state is not loaded: the process that loads it merges them in. So a conversation with
100,000 members does not load 100,000 users.

KEYS[1]  HASH of the user's state
KEYS[2]  LIST of changes that wait for it
ARGV[1]  seconds until they expire: by then the store has them
ARGV[2…] the changes, JSON each

Result   1 kept; 0 the state is loaded: to be changed there
]]
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('RPUSH', KEYS[2], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 1
