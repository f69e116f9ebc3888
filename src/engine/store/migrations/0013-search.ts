/** An index of the words of messages. */

/**
 * PostgreSQL keeps it with the row: what is edited or deleted is reflected at once. Deleted messages have no text. New entries are
 * gathered in a list first (`fastupdate`, the default), so that a post does not pay for each of its words.
 */
export const searchOnPostgres: readonly string[] = [
	`CREATE INDEX messages_by_word ON messages USING gin (to_tsvector('simple'::regconfig, text)) WHERE deleted = 0`,
];

/**
 * SQLite's holds the words and no texts, is filled a moment after the post, and knows how far it is by the number of the row: rows of
 * messages are never removed. Words of deleted and replaced texts are overwritten.
 */
export const searchOnSqlite: readonly string[] = [
	`CREATE VIRTUAL TABLE message_words USING fts5(text, content = '', tokenize = 'unicode61 remove_diacritics 2')`,
	`INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1)`,
	'CREATE TABLE search_progress (id INTEGER PRIMARY KEY CHECK (id = 1), up_to INTEGER NOT NULL)',
	'INSERT INTO search_progress (id, up_to) VALUES (1, 0)',
];
