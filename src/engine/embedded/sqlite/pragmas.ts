/** How the writing connection works: what is acknowledged rests on these. */
export const WRITER_PRAGMAS: readonly string[] = [
	'busy_timeout = 10000',
	'journal_mode = WAL',
	// A commit is on the disk, not merely with the kernel, before it is answered.
	'synchronous = FULL',
	'cache_size = -16384',
	'temp_store = MEMORY',
	'wal_autocheckpoint = 16000',
	'journal_size_limit = 67108864',
	// What is deleted or replaced is overwritten with zeros in its page.
	'secure_delete = ON',
];
