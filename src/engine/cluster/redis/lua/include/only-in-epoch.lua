-- Data read in an earlier epoch may lack later changes. ARGV[1] and ARGV[2] are the marker of the epoch and its value.
if ARGV[1] ~= '' and redis.call('GET', ARGV[1]) ~= ARGV[2] then
	return redis.error_reply('OVER the epoch has ended')
end
