-- Version 6: what is answered for a whole timeline, kept beside it: a look at all of a long one
-- is a look at one row, not at every block.

CREATE TABLE timeline_answer (
	run     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	lanes   TEXT NOT NULL,                       -- which of its lanes, as the server names them
	version INTEGER NOT NULL,                    -- of the answer's form: one of another version is made anew
	codec   INTEGER NOT NULL,                    -- 0 plain, 1 zstd
	bytes   INTEGER NOT NULL,                    -- when decoded
	data    BLOB NOT NULL,
	PRIMARY KEY (run, lanes)
) STRICT, WITHOUT ROWID;
