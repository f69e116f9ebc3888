--[[
Compare and set: changes fields of a user's state together if all of them are as the caller read them. With every change the
state's stamp rises, also where the change was stamped by a clock that is behind: what is told of it says which is newer.

KEYS[1]  HASH of the user's state
ARGV[1]  seconds until it expires
ARGV[2]  stamp of the change; 0 for one that no count tells of
ARGV[3…] field, value as read ('' for none), new value ('' to remove it), field…

Result   1; 0 where one of them is another by now; -1 where the state is not loaded
]]
local stamp = redis.call('HGET', KEYS[1], 'stamp')
if not stamp then
	return -1
end
for index = 3, #ARGV, 3 do
	if (redis.call('HGET', KEYS[1], ARGV[index]) or '') ~= ARGV[index + 1] then
		return 0
	end
end
for index = 3, #ARGV, 3 do
	if ARGV[index + 2] == '' then
		redis.call('HDEL', KEYS[1], ARGV[index])
	else
		redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 2])
	end
end
if tonumber(ARGV[2]) > tonumber(stamp) then
	redis.call('HSET', KEYS[1], 'stamp', ARGV[2])
elseif ARGV[2] ~= '0' and #ARGV > 2 then
	redis.call('HSET', KEYS[1], 'stamp', string.format('%.0f', tonumber(stamp) + 1))
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
