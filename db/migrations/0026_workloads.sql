-- Version 26: workloads stand beside their runs, so that what looks at all runs does not read them.

CREATE TABLE run_workload (
	run  INTEGER PRIMARY KEY REFERENCES run_row (id) ON DELETE CASCADE,
	json TEXT NOT NULL                               -- as posted, whole
) STRICT;

INSERT INTO run_workload SELECT id, workload FROM run_row;
ALTER TABLE run_row DROP COLUMN workload;

-- Rows that got short are written anew, many to a page.  References are not looked at meanwhile.
CREATE TABLE run_again AS SELECT * FROM run_row;
DELETE FROM run_row;
INSERT INTO run_row SELECT * FROM run_again;
DROP TABLE run_again;

CREATE INDEX run_by_lower_name ON run_row (lower(name), id DESC) WHERE removed_ns IS NULL;
CREATE INDEX run_by_created ON run_row (created_ns, status, project) WHERE removed_ns IS NULL;
