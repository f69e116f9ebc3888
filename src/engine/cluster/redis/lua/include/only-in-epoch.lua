-- What was read in another epoch may lack what happened since. ARGV[1] and ARGV[2] are the marker and its value.
if ARGV[1] ~= '' and redis.call('GET', ARGV[1]) ~= ARGV[2] then
	return redis.error_reply('OVER the epoch is another one')
end
