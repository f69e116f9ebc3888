-- An absent key means that the store has everything, but only within one epoch. ARGV[1], ARGV[2]: a marker on this node, its value.
if ARGV[1] ~= '' and redis.call('GET', ARGV[1]) ~= ARGV[2] then
	return redis.error_reply('OVER the epoch has ended')
end
