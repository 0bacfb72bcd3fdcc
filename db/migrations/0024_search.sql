-- Version 24: what runs are found by.  Texts repeat from run to run, and are kept and indexed once.

CREATE TABLE search_text (
	id   INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('about', 'note', 'source', 'reason')), -- about: name, project, branch, tags
	hash TEXT NOT NULL,                              -- of body; 32 hex digits
	body TEXT NOT NULL,
	UNIQUE (hash, kind)
) STRICT;

CREATE INDEX search_text_short ON search_text (kind) WHERE kind IN ('about', 'note');

CREATE TABLE search_run (
	run  INTEGER NOT NULL REFERENCES run_row (id) ON DELETE CASCADE,
	kind TEXT NOT NULL,
	text INTEGER NOT NULL REFERENCES search_text (id),
	PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX search_run_by_text ON search_run (text, run);

-- Any three characters of a text find it.
CREATE VIRTUAL TABLE search USING fts5 (body, content = 'search_text', content_rowid = 'id', tokenize = 'trigram');

-- Texts that a run has no more; where none has one, it goes at the end of the same change.
CREATE TABLE search_gone (
	text INTEGER PRIMARY KEY
) STRICT;

CREATE TRIGGER search_run_removed AFTER DELETE ON search_run BEGIN
	INSERT OR IGNORE INTO search_gone VALUES (old.text);
END;

CREATE INDEX run_by_commit ON run_row (lower(commit_id)) WHERE commit_id <> '';
