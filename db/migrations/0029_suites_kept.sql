-- Version 29: suites keep what an earlier one measured and nothing has changed since.

ALTER TABLE suite_run ADD COLUMN likeness TEXT NOT NULL DEFAULT ''; -- equal where program, settings, engine and machine are; 32 hex digits; '': never kept

CREATE INDEX suite_run_by_likeness ON suite_run (likeness, run) WHERE likeness <> '';

-- A workload of a suite whose run an earlier suite made.
CREATE TABLE suite_kept (
	suite    INTEGER NOT NULL REFERENCES suite_row (id) ON DELETE CASCADE,
	workload INTEGER NOT NULL,                    -- its place in the suite, from 0
	policy   TEXT NOT NULL,                       -- dynamo, native
	run      INTEGER NOT NULL REFERENCES run_row (id) ON DELETE CASCADE,
	PRIMARY KEY (suite, workload, policy)
) STRICT, WITHOUT ROWID;

CREATE INDEX suite_kept_by_run ON suite_kept (run);
