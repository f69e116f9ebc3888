-- Only within one epoch does an absent key mean that the store has everything. ARGV[1] and ARGV[2] are a marker of the epoch on this node and its value.
if ARGV[1] ~= '' and redis.call('GET', ARGV[1]) ~= ARGV[2] then
	return redis.error_reply('OVER the epoch has ended')
end
