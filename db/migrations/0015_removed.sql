-- Version 15: a run that is removed can be had back for a while, and runs can be pinned.
--
-- What reads runs reads the view: it has those that are there.  What writes them writes the table.

ALTER TABLE run ADD COLUMN removed_ns INTEGER;                  -- since 1970; NULL: it is there
ALTER TABLE run ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;   -- 1: kept in sight
ALTER TABLE run RENAME TO run_row;
CREATE VIEW run AS SELECT * FROM run_row WHERE removed_ns IS NULL;
CREATE INDEX run_removed ON run_row (removed_ns) WHERE removed_ns IS NOT NULL;
CREATE INDEX run_pinned ON run_row (pinned, id) WHERE pinned = 1;
