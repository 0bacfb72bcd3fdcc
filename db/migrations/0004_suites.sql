-- Version 4: suites, many runs with one parent; and what each mode of such a run gave.

CREATE TABLE suite (
	id         INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: links stay true
	name       TEXT NOT NULL,
	project    TEXT NOT NULL DEFAULT '',
	request    TEXT NOT NULL,                     -- JSON as posted, without the workloads
	workloads  TEXT NOT NULL,                     -- JSON: their names, in order
	created_ns INTEGER NOT NULL                   -- since 1970
) STRICT;

CREATE TABLE suite_run (
	run      INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
	suite    INTEGER NOT NULL REFERENCES suite (id) ON DELETE CASCADE,
	workload INTEGER NOT NULL,                    -- its place in the suite, from 0
	policy   TEXT NOT NULL                        -- dynamo, native
) STRICT;

CREATE INDEX suite_run_by_suite ON suite_run (suite, run);

-- What a suite shows of a run, so that it never has to open a report.  NULL: not measured.
CREATE TABLE run_result (
	run             INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	engine          TEXT NOT NULL,                -- breakeven, torch
	mode            TEXT NOT NULL,
	status          TEXT NOT NULL CHECK (status IN ('pass', 'disagrees', 'failed')),
	reason          TEXT,                         -- why it is not a pass
	speedup         REAL,                         -- eager over mode
	speedup_lo      REAL,                         -- 95 % interval
	speedup_hi      REAL,
	median_us       REAL,
	compile_ms      REAL,
	launches        REAL,                         -- of a call
	peak_bytes      REAL,
	max_abs_error   REAL,                         -- against eager
	graphs          INTEGER,
	capture_breaks  INTEGER,
	lowering_breaks INTEGER,
	recompiles      INTEGER,
	PRIMARY KEY (run, engine, mode)
) STRICT, WITHOUT ROWID;
