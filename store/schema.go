package store

// migrations are the steps from one schema version to the next; their number is
// the newest version. A released migration must never change.
var migrations = []string{
	// 1: conversations are trees of messages, and a turn is a question and its
	// answer. The answer's row is created when the turn begins and updated as it
	// grows. Rows are ordered by ID, not by time; times are milliseconds since
	// 1970.
	`
CREATE TABLE conversations (
	id      TEXT PRIMARY KEY,
	title   TEXT NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	head    INTEGER NOT NULL DEFAULT 0  -- message the next one answers: the end of the path shown; 0: none yet
) STRICT;

CREATE TABLE turns (
	id           TEXT PRIMARY KEY,       -- conversation.number
	conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
	number       INTEGER NOT NULL,       -- from 1 in its conversation
	state        TEXT NOT NULL CHECK (state IN ('open', 'done', 'cut', 'failed')),
	error        TEXT NOT NULL DEFAULT '',
	detail       TEXT NOT NULL DEFAULT '{}', -- JSON: sources, citations, metrics
	started      INTEGER NOT NULL,
	ended        INTEGER,                -- NULL while it is open
	UNIQUE (conversation, number)
) STRICT;

CREATE TABLE messages (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
	parent       INTEGER REFERENCES messages(id), -- NULL: a conversation begins here
	turn         TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
	role         TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
	text         TEXT NOT NULL,
	created      INTEGER NOT NULL,
	UNIQUE (turn, role)
) STRICT;
CREATE INDEX messages_by_conversation ON messages (conversation, id);
CREATE INDEX messages_by_parent ON messages (parent);
`,

	// Origin of titles, undoing of turns with their note changes, and full-text
	// search of messages. Triggers only record which messages the index lacks, so
	// that code which writes messages need not maintain it. Tables with text of a
	// conversation must have ON DELETE CASCADE, which Remove relies on.
	`
ALTER TABLE conversations ADD COLUMN titled TEXT NOT NULL DEFAULT 'words' CHECK (titled IN ('words', 'model', 'user'));
ALTER TABLE turns ADD COLUMN undone INTEGER; -- when it was taken back; NULL: it stands

CREATE TABLE note_changes (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	turn    TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
	vault   TEXT NOT NULL,
	path    TEXT NOT NULL,
	before  BLOB,          -- NULL: there was no such note
	after   TEXT NOT NULL, -- SHA-256 of what was to be written, in hex
	created INTEGER NOT NULL
) STRICT;
CREATE INDEX note_changes_by_turn ON note_changes (turn);

CREATE VIRTUAL TABLE message_words USING fts5(words, content='', contentless_delete=1, prefix='2 3',
	tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
CREATE TABLE unindexed (message INTEGER PRIMARY KEY) STRICT;
INSERT INTO unindexed SELECT id FROM messages WHERE text <> '';
CREATE TRIGGER message_said AFTER INSERT ON messages WHEN NEW.text <> '' BEGIN
	INSERT OR IGNORE INTO unindexed VALUES (NEW.id);
END;
CREATE TRIGGER message_grew AFTER UPDATE OF text ON messages WHEN NEW.text <> OLD.text BEGIN
	INSERT OR IGNORE INTO unindexed VALUES (NEW.id);
END;
CREATE TRIGGER message_gone AFTER DELETE ON messages BEGIN
	DELETE FROM message_words WHERE rowid = OLD.id;
	DELETE FROM unindexed WHERE message = OLD.id;
END;
`,

	// Figures of finished turns, for aggregation, and traces. Times are
	// milliseconds.
	`
CREATE TABLE figures (
	turn          TEXT PRIMARY KEY REFERENCES turns(id) ON DELETE CASCADE,
	model         TEXT NOT NULL,    -- '': unknown
	latency       INTEGER NOT NULL,
	first_token   INTEGER NOT NULL, -- 0: none came
	generating    INTEGER NOT NULL, -- 0: unknown
	prompt_tokens INTEGER NOT NULL,
	answer_tokens INTEGER NOT NULL,
	model_calls   INTEGER NOT NULL,
	searches      INTEGER NOT NULL,
	passages      INTEGER NOT NULL,
	cited         INTEGER NOT NULL,
	tool_calls    INTEGER NOT NULL,
	tools_failed  INTEGER NOT NULL,
	tools_denied  INTEGER NOT NULL,
	asked         INTEGER NOT NULL
) STRICT;
INSERT INTO figures SELECT id, '', m ->> 'latency_ms', coalesce(m ->> 'first_token_ms', 0), 0, m ->> 'prompt_tokens', m ->> 'answer_tokens',
	m ->> 'model_calls', m ->> 'searches', m ->> 'rag_hits', 0, m ->> 'tool_calls', 0, 0, 0
	FROM (SELECT id, detail -> 'metrics' AS m FROM turns WHERE state <> 'open') WHERE m IS NOT NULL;

CREATE TABLE traces (
	turn    TEXT PRIMARY KEY REFERENCES turns(id) ON DELETE CASCADE,
	format  INTEGER NOT NULL,
	events  INTEGER NOT NULL,
	dropped INTEGER NOT NULL, -- lines left out because it was too large
	whole   INTEGER NOT NULL, -- 0: killed in the middle, or under way
	body    BLOB NOT NULL     -- gzip of lines of JSON; without its end while whole is 0
) STRICT;
`,

	// The journal of what a turn is about to do and what it did, so that a killed
	// turn can be resumed; and the process that works on a turn.
	`
CREATE TABLE journal (
	turn   TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
	number INTEGER NOT NULL,  -- from 1 in its turn
	entry  TEXT NOT NULL,     -- JSON of an agent.Entry
	result TEXT NOT NULL,     -- JSON of the agent.Result of a call that ended, until the turn is done; '': none
	sum    TEXT NOT NULL,     -- SHA-256 of the row as it was written
	PRIMARY KEY (turn, number)
) STRICT;
ALTER TABLE turns ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- names a file in <database>.owners
`,

	// Long-term memory. The text of an exchange stays in messages; these tables
	// index it. All rows are deleted with their turn, and turns with their
	// conversation.
	`
ALTER TABLE turns ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;          -- 1: text from outside the user's own notes is in it
ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0; -- head when its whole path was archived; 0: never

CREATE TABLE memories (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	turn     TEXT NOT NULL UNIQUE REFERENCES turns(id) ON DELETE CASCADE,
	archived INTEGER NOT NULL
) STRICT;

CREATE TABLE memory_vectors (
	memory    INTEGER PRIMARY KEY REFERENCES memories(id) ON DELETE CASCADE,
	embedder  TEXT NOT NULL,    -- provider, model and version: vectors of others do not compare
	dimension INTEGER NOT NULL,
	vector    BLOB NOT NULL     -- float32, little-endian
) STRICT;

CREATE VIRTUAL TABLE memory_words USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2'); -- rowid: memories.id
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1); -- removed words do not stay in the file
CREATE TRIGGER memory_gone AFTER DELETE ON memories BEGIN
	DELETE FROM memory_words WHERE rowid = old.id;
END;
`,

	// Summaries of older turns, and token ratios of models.
	`
CREATE TABLE summaries (
	turn    TEXT PRIMARY KEY REFERENCES turns(id) ON DELETE CASCADE, -- the last one of the path that it covers
	text    TEXT NOT NULL,
	created INTEGER NOT NULL
) STRICT;

CREATE TABLE gauges (
	model  TEXT PRIMARY KEY,
	low    REAL NOT NULL,    -- tokens of the server for one of the estimate: least and most; 0: none yet
	high   REAL NOT NULL,
	window INTEGER NOT NULL  -- the server once cut a prompt to so many tokens; 0: never
) STRICT;
`,

	// Documents created by turns.
	`
CREATE TABLE artifacts (
	conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
	name         TEXT NOT NULL,
	version      INTEGER NOT NULL, -- from 1
	text         TEXT NOT NULL,
	author       TEXT NOT NULL,    -- the agent that made it
	why          TEXT NOT NULL,
	from_outside INTEGER NOT NULL, -- text from outside the user's own notes had a part in it
	turn         TEXT NOT NULL,
	call         TEXT NOT NULL,    -- that made it
	created      INTEGER NOT NULL,
	PRIMARY KEY (conversation, name, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifacts_by_call ON artifacts (call);
`,

	// Fingerprints of untrusted text, replacing the marks on turns and documents.
	`
CREATE TABLE untrusted (
	id           INTEGER PRIMARY KEY,
	print        INTEGER NOT NULL,
	source       TEXT NOT NULL,    -- where the text came from
	conversation TEXT NOT NULL,    -- that read, said or wrote it; '': it was deleted
	kind         INTEGER NOT NULL, -- agent.Kind; 3: it was said, and is said everywhere
	UNIQUE (print, conversation)
) STRICT;
CREATE INDEX untrusted_by_conversation ON untrusted (conversation);
CREATE TRIGGER conversation_gone AFTER DELETE ON conversations BEGIN
	UPDATE OR IGNORE untrusted SET conversation = '', source = 'a conversation that was deleted' WHERE conversation = OLD.id AND kind = 2;
	DELETE FROM untrusted WHERE conversation = OLD.id;
END;
INSERT OR IGNORE INTO untrusted (print, source, conversation, kind)
	SELECT f.value, 'an earlier conversation', t.conversation, 1
	FROM turns t JOIN messages m ON m.turn = t.id AND m.role = 'assistant', json_each(fingerprints(m.text)) f WHERE t.outside = 1 OR t.state = 'open';
INSERT OR IGNORE INTO untrusted (print, source, conversation, kind)
	SELECT f.value, 'an earlier conversation', t.conversation, 1
	FROM summaries y JOIN turns t ON t.id = y.turn, json_each(fingerprints(y.text)) f
	WHERE EXISTS (SELECT 1 FROM turns o WHERE o.conversation = t.conversation AND o.outside = 1);
INSERT OR IGNORE INTO untrusted (print, source, conversation, kind)
	SELECT f.value, 'the document ' || a.name, a.conversation, 1 FROM artifacts a, json_each(fingerprints(a.text)) f WHERE a.from_outside = 1;
ALTER TABLE turns DROP COLUMN outside;
ALTER TABLE artifacts DROP COLUMN from_outside;
`,

	// The memory index no longer has a second copy of the text, and vectors take
	// one byte per dimension. The index is rebuilt automatically.
	`
DROP TRIGGER memory_gone;
CREATE VIRTUAL TABLE memory_terms USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'); -- rowid: memories.id
INSERT INTO memory_terms (rowid, text) SELECT rowid, text FROM memory_words;
DROP TABLE memory_words;
CREATE TRIGGER memory_gone AFTER DELETE ON memories BEGIN
	DELETE FROM memory_terms WHERE rowid = old.id;
END;
DROP TABLE memory_vectors;
CREATE TABLE memory_vectors (
	memory    INTEGER PRIMARY KEY REFERENCES memories(id) ON DELETE CASCADE,
	embedder  TEXT NOT NULL, -- provider, model and version: vectors of others do not compare
	vector    BLOB NOT NULL  -- int8 each, scaled so that the largest is 127
) STRICT;
`,

	// The tokenisation of words changed: both full-text indexes are rebuilt.
	`
INSERT OR IGNORE INTO unindexed SELECT id FROM messages WHERE text <> '';
DELETE FROM memory_terms;
INSERT INTO memory_terms (rowid, text) SELECT x.id, words_of(q.text || char(10) || a.text) FROM memories x
	JOIN messages q ON q.turn = x.turn AND q.role = 'user' JOIN messages a ON a.turn = x.turn AND a.role = 'assistant';
`,

	// Drafts: unsent text of each open chat.
	`
CREATE TABLE drafts (
	owner        TEXT PRIMARY KEY, -- names a file in <database>.owners
	conversation TEXT NOT NULL,    -- in which it is typed; it may not have begun
	draft        TEXT NOT NULL,    -- JSON of an agent.Draft
	after        INTEGER NOT NULL  -- the last message when it was saved
) STRICT;
`,

	// A turn and a list of conversations read no more than they show: the number of
	// messages is saved, and long-term memory has only what is on the current path.
	`
ALTER TABLE conversations ADD COLUMN messages INTEGER NOT NULL DEFAULT 0; -- with text, on all branches
UPDATE conversations SET messages = (SELECT count(*) FROM messages WHERE conversation = conversations.id AND octet_length(text) > 0);
CREATE TRIGGER message_counted AFTER INSERT ON messages WHEN NEW.text <> '' BEGIN
	UPDATE conversations SET messages = messages + 1 WHERE id = NEW.conversation;
END;
CREATE TRIGGER message_recounted AFTER UPDATE OF text ON messages WHEN (NEW.text = '') <> (OLD.text = '') BEGIN
	UPDATE conversations SET messages = messages + iif(NEW.text = '', -1, 1) WHERE id = NEW.conversation;
END;

ALTER TABLE turns ADD COLUMN preceding INTEGER NOT NULL DEFAULT 0; -- messages of its path before it
WITH RECURSIVE path (answer, turn, preceding) AS (
	SELECT a.id, a.turn, 0 FROM messages q JOIN messages a ON a.turn = q.turn AND a.role = 'assistant' WHERE q.role = 'user' AND q.parent IS NULL
	UNION ALL SELECT a.id, a.turn, p.preceding + 1 + (octet_length(above.text) > 0) FROM path p JOIN messages above ON above.id = p.answer
		JOIN messages q ON q.parent = p.answer JOIN messages a ON a.turn = q.turn AND a.role = 'assistant'
)
UPDATE turns SET preceding = path.preceding FROM path WHERE path.turn = turns.id AND path.preceding > 0;

WITH RECURSIVE path (turn, parent) AS (
	SELECT q.turn, q.parent FROM conversations c JOIN messages a ON a.id = c.head JOIN messages q ON q.turn = a.turn AND q.role = 'user'
	UNION ALL SELECT q.turn, q.parent FROM path p JOIN messages a ON a.id = p.parent JOIN messages q ON q.turn = a.turn AND q.role = 'user'
)
DELETE FROM memories WHERE turn NOT IN (SELECT turn FROM path);
CREATE INDEX memory_vectors_by_embedder ON memory_vectors (embedder, memory);
`,

	// Where texts come from is saved with them, and which lines of the notes came
	// from outside by the key of the line. Both replace fingerprints: what is older
	// counts as private, and in a conversation that read text from outside as
	// outside, too; the lines that it wrote are marked.
	`
ALTER TABLE messages ADD COLUMN origin TEXT NOT NULL DEFAULT '{}'; -- JSON of an agent.Origin
ALTER TABLE summaries ADD COLUMN origin TEXT NOT NULL DEFAULT '{}';
ALTER TABLE artifacts ADD COLUMN origin TEXT NOT NULL DEFAULT '{}';
CREATE TABLE marks (
	line   INTEGER PRIMARY KEY, -- key of the line
	source TEXT NOT NULL        -- where it came from
) STRICT;
CREATE TEMP TABLE read_outside AS SELECT DISTINCT conversation FROM untrusted WHERE conversation <> '' AND kind <> 3;
UPDATE messages SET origin = iif(conversation IN read_outside, '{"private":true,"outside":["an earlier conversation"]}', '{"private":true}');
UPDATE artifacts SET origin = iif(conversation IN read_outside, '{"private":true,"outside":["an earlier conversation"]}', '{"private":true}');
UPDATE summaries SET origin = (SELECT iif(conversation IN read_outside, '{"private":true,"outside":["an earlier conversation"]}', '{"private":true}')
	FROM turns WHERE id = turn);
INSERT OR IGNORE INTO marks (line, source) SELECT k.value, 'an earlier conversation'
	FROM turns t JOIN journal i ON i.turn = t.id JOIN journal s ON s.turn = t.id, json_each(line_keys(i.entry -> 'input')) k
	WHERE t.conversation IN read_outside AND i.entry ->> 'moment' = 'intended'
		AND s.entry ->> 'moment' = 'started' AND s.entry ->> 'step' = i.entry ->> 'step' AND s.entry -> 'mark' IS NOT NULL;
DROP TABLE read_outside;
DROP TRIGGER conversation_gone;
DROP TABLE untrusted;
`,

	// How fast a model writes decides whether one of unknown size is small.
	`
ALTER TABLE gauges RENAME COLUMN low TO writes; -- tokens a second in the first measured answer; 0: none yet
UPDATE gauges SET writes = 0;
`,

	// Changes of several notes that are made as one, while they are made.
	`
CREATE TABLE open_sets (
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	turn  TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
	first INTEGER NOT NULL, -- note_changes of the set
	last  INTEGER NOT NULL
) STRICT;
`,
}
