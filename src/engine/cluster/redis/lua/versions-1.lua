#!lua flags=allow-cross-slot-keys,allow-oom,no-writes
--[[
Compares copies of conversations with Redis. A version is `stamp:base:late_seen`, which every script that changes a conversation sets.

KEYS[1]  version of the first conversation. The caller makes sure that all are on the same node
ARGV[1]  a marker of the epoch on this node, '' for none
ARGV[2]  its expected value; if it has another, the error OVER
ARGV[3]  SHA-1 of the versions of the copies, separated by blanks: usually all are current, and the hash is shorter than the versions
ARGV[4]  prefix of all keys
ARGV[5]  the conversations, separated by blanks

Result   '' if all copies are current; otherwise the versions in Redis, separated by blanks, - for a conversation that has none
]]
-- include only-in-epoch
local keys = {}
for conversation in string.gmatch(ARGV[5], '%S+') do
	keys[#keys + 1] = ARGV[4] .. '{' .. conversation .. '}:version'
end
local versions = redis.call('MGET', unpack(keys))
for place, version in ipairs(versions) do
	versions[place] = version or '-'
end
local all = table.concat(versions, ' ')
return redis.sha1hex(all) == ARGV[3] and '' or all
