#!lua flags=allow-cross-slot-keys,allow-oom,no-writes
--[[
Finds conversations whose version differs from that of a copy. A version is `stamp:base`, which every script that changes a conversation
sets; a conversation without one, or not loaded, differs.

KEYS[1]  version of the first conversation. The caller makes sure that all are on the same node
ARGV[1]  versions of the copies, separated by blanks
ARGV[2…] keys of the conversations' versions

Result   indices of those that differ, from 0
]]
local versions = redis.call('MGET', unpack(ARGV, 2))
for place, version in ipairs(versions) do
	versions[place] = version or '-'
end
-- Usually none differs, which a single comparison of all of them shows.
if table.concat(versions, ' ') == ARGV[1] then
	return {}
end
local changed, place = {}, 0
for known in string.gmatch(ARGV[1], '%S+') do
	if versions[place + 1] ~= known then
		changed[#changed + 1] = place
	end
	place = place + 1
end
return changed
