/** These settings of the writer make acknowledged changes durable. Separate from the thread, because a benchmark uses them too. */
export const WRITER_PRAGMAS: readonly string[] = [
	'busy_timeout = 10000',
	'journal_mode = WAL',
	// A commit is on disk, not only in the kernel's cache, before it is acknowledged.
	'synchronous = FULL',
	'cache_size = -16384',
	'temp_store = MEMORY',
	'wal_autocheckpoint = 16000',
	'journal_size_limit = 67108864',
	// Overwrites deleted and replaced content with zeros.
	'secure_delete = ON',
];
