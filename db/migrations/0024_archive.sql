-- Version 24: what runs are found by, what retention took from them, and views that people keep.

-- Texts repeat from run to run, and are kept and indexed once.

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

ALTER TABLE run_row ADD COLUMN thinned_ns INTEGER; -- since 1970, when retention took its values, graphs, samples and timeline; NULL: it has them
ALTER TABLE run_row ADD COLUMN arrived_ns INTEGER; -- of a run of a bundle: when it came here; NULL: it was made here

-- Retention goes by this: what it never takes is not in it.
CREATE INDEX run_whole ON run_row (ifnull(arrived_ns, created_ns))
	WHERE thinned_ns IS NULL AND removed_ns IS NULL AND pinned = 0 AND baseline = 0;

-- A named filter of the list, a history or a comparison.
CREATE TABLE saved_view (
	id         INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: links stay true
	project    TEXT NOT NULL,                     -- whose it is; '': of all
	name       TEXT NOT NULL,
	page       TEXT NOT NULL CHECK (page IN ('runs', 'history', 'compare')),
	query      TEXT NOT NULL,                     -- JSON: texts by parameter of the list or the history
	author     TEXT NOT NULL,                     -- who made it; '': nobody is known
	created_ns INTEGER NOT NULL,
	UNIQUE (project, name)
) STRICT;
