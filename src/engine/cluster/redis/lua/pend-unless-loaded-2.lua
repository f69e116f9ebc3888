--[[
Stores changes of a user whose state is not loaded, until it is loaded and merged with them. So a conversation with
100,000 members does not load 100,000 users.

KEYS[1]  HASH of the user's state
KEYS[2]  LIST of pending changes
ARGV[1]  seconds until they expire: the store has them by then
ARGV[2…] the changes, each as JSON

Result   1 stored; 0 the state is loaded: change it directly
]]
if redis.call('EXISTS', KEYS[1]) == 1 then
	return 0
end
redis.call('RPUSH', KEYS[2], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 1
