-- Version 17: where figures of a workload stepped to another level, and what people say of it.

CREATE TABLE change (
	id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: links stay true
	name          TEXT NOT NULL,                     -- the workload; with the next three: the runs that are held against each other
	project       TEXT NOT NULL,
	branch        TEXT NOT NULL,
	settings_hash TEXT NOT NULL,
	before        INTEGER NOT NULL,                  -- the last run of the old level; no reference: it may be gone
	run           INTEGER NOT NULL,                  -- the first run of the new one
	verdict       TEXT NOT NULL,                     -- SLOWER, FASTER, MORE, LESS, MACHINE, AMBIGUOUS
	found_ns      INTEGER NOT NULL,                  -- when it was found first
	gone          INTEGER NOT NULL DEFAULT 0,        -- 1: with the runs since then it is none any more
	acknowledged  INTEGER NOT NULL DEFAULT 0,
	note          TEXT NOT NULL DEFAULT '',          -- plain text, by people
	note_by       TEXT NOT NULL DEFAULT '',          -- who acknowledged, reopened or noted last
	said_ns       INTEGER                            -- when; NULL: nobody did
) STRICT;

CREATE INDEX change_by_name ON change (name, id);
CREATE INDEX change_by_found ON change (found_ns);
CREATE INDEX change_by_run ON change (run);

-- A figure that stepped with it.
CREATE TABLE change_step (
	change      INTEGER NOT NULL REFERENCES change (id) ON DELETE CASCADE,
	metric      TEXT NOT NULL,
	mode        TEXT NOT NULL,
	n           REAL,                                -- point of the sweep; NULL: no sweep
	verdict     TEXT NOT NULL,                       -- SLOWER, FASTER, MORE, LESS, AMBIGUOUS
	from_run    INTEGER NOT NULL,                    -- the old level is of runs from it
	before_run  INTEGER NOT NULL,                    -- to it,
	run         INTEGER NOT NULL,                    -- the new one of runs from it
	to_run      INTEGER NOT NULL,                    -- to it
	earliest    INTEGER NOT NULL,                    -- the new level may begin from here
	latest      INTEGER NOT NULL,                    -- to here, with 95 %
	runs_before INTEGER NOT NULL,
	runs_after  INTEGER NOT NULL,
	ended       INTEGER NOT NULL,                    -- 1: a later step has ended the new level
	old         REAL NOT NULL,                       -- the old level in the figure's unit, with its 95 % interval
	old_lo      REAL NOT NULL,
	old_hi      REAL NOT NULL,
	new         REAL NOT NULL,                       -- the new one
	new_lo      REAL NOT NULL,
	new_hi      REAL NOT NULL,
	ratio       REAL NOT NULL,                       -- new over old; of counts new less old
	ratio_lo    REAL NOT NULL,
	ratio_hi    REAL NOT NULL
) STRICT;

CREATE INDEX change_step_by_change ON change_step (change);

-- What was looked at last: where it is what there is, nothing is looked for again.
CREATE TABLE change_look (
	name          TEXT NOT NULL,
	project       TEXT NOT NULL,
	branch        TEXT NOT NULL,
	settings_hash TEXT NOT NULL,
	newest        INTEGER NOT NULL,                  -- run
	runs          INTEGER NOT NULL,
	PRIMARY KEY (name, project, branch, settings_hash)
) STRICT, WITHOUT ROWID;
