/** Full-text index of messages. */

/**
 * PostgreSQL updates it with the row, so edits and deletes are visible at once. Deleted messages have no text. New entries are
 * first collected in a list (`fastupdate`, the default), so that a post does not pay for each of its words.
 */
export const searchOnPostgres: readonly string[] = [
	`CREATE INDEX messages_by_word ON messages USING gin (to_tsvector('simple'::regconfig, text)) WHERE deleted = 0`,
];

/**
 * SQLite's index holds words but no texts, and is filled a moment after the post. Its progress is a row number, because rows of
 * messages are never removed. Words of deleted and edited texts are overwritten.
 */
export const searchOnSqlite: readonly string[] = [
	`CREATE VIRTUAL TABLE message_words USING fts5(text, content = '', tokenize = 'unicode61 remove_diacritics 2')`,
	`INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1)`,
	'CREATE TABLE search_progress (id INTEGER PRIMARY KEY CHECK (id = 1), up_to INTEGER NOT NULL)',
	'INSERT INTO search_progress (id, up_to) VALUES (1, 0)',
];
