-- Version 1: runs, which are jobs until they end, and their reports.

CREATE TABLE run (
	id            INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: links stay true
	name          TEXT NOT NULL,                     -- from the workload
	project       TEXT NOT NULL DEFAULT '',          -- '' where none was given
	device        TEXT NOT NULL,                     -- as asked: 'cpu'
	workload      TEXT NOT NULL,                     -- JSON as posted, whole
	workload_hash TEXT NOT NULL,                     -- equal for equal experiments; 32 hex digits
	modes         TEXT NOT NULL,                     -- comma list in the order of measurement
	commit_id     TEXT NOT NULL DEFAULT '',          -- of the user's project, as given
	branch        TEXT NOT NULL DEFAULT '',          -- likewise
	status        TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
	attempts      INTEGER NOT NULL DEFAULT 0,        -- times a worker was started for it
	created_ns    INTEGER NOT NULL,                  -- since 1970
	started_ns    INTEGER,                           -- of the last attempt; NULL: not yet
	finished_ns   INTEGER,                           -- NULL: not yet
	error_code    TEXT,                              -- errors.def; NULL: no error
	error_message TEXT,                              -- complete, for people
	error_line    INTEGER,                           -- in the source, from 1; 0: no place
	error_column  INTEGER                            -- from 1; 0: no place
) STRICT;

CREATE INDEX run_by_status ON run (status, id);
CREATE INDEX run_by_project ON run (project, id);
CREATE INDEX run_by_workload ON run (workload_hash, id);

CREATE TABLE run_tag (
	run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	tag TEXT NOT NULL,                               -- one label of the workload's list
	PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_tag_by_tag ON run_tag (tag, run);

-- Machines differ seldom: one row for each that was seen.
CREATE TABLE environment (
	id   INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE,                       -- of json; 32 hex digits
	json TEXT NOT NULL                               -- CPU model, cores, compiler, version, ...
) STRICT;

CREATE TABLE report (
	run         INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
	environment INTEGER NOT NULL REFERENCES environment (id),
	codec       INTEGER NOT NULL,                    -- db/codec.h: 0 plain, 1 zstd
	bytes       INTEGER NOT NULL,                    -- length of the JSON text when decoded
	data        BLOB NOT NULL                        -- the report's JSON
) STRICT;

-- What a list of runs shows, so that it never has to open a report.
CREATE TABLE run_summary (
	run            INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
	mode           TEXT NOT NULL,                    -- the mode judged against eager
	verdict        TEXT NOT NULL,                    -- FASTER, SLOWER, SAME, AMBIGUOUS, NOT ENOUGH
	speedup        REAL NOT NULL,                    -- eager over mode
	speedup_lo     REAL NOT NULL,                    -- 95 % interval
	speedup_hi     REAL NOT NULL,
	median_us      REAL NOT NULL,                    -- of the mode
	calls_to_repay REAL,                             -- NULL: never
	crossover_n    REAL,                             -- NULL: no crossing within the sweep
	at_n           REAL                              -- sweep point that it speaks of; NULL: no sweep
) STRICT;
