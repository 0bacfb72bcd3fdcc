-- Version 29, for PostgreSQL: db/migrations/0029 says what each column is.

ALTER TABLE suite_run ADD COLUMN likeness label NOT NULL DEFAULT '';

CREATE INDEX suite_run_by_likeness ON suite_run (likeness, run) WHERE likeness <> '';

CREATE TABLE suite_kept (
	suite BIGINT NOT NULL REFERENCES suite_row (id) ON DELETE CASCADE,
	workload BIGINT NOT NULL,
	policy label NOT NULL,
	run BIGINT NOT NULL REFERENCES run_row (id) ON DELETE CASCADE,
	PRIMARY KEY (suite, workload, policy)
);

CREATE INDEX suite_kept_by_run ON suite_kept (run);
