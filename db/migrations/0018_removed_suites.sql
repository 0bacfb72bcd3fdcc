-- Version 18: a suite that is removed can be had back for a while, as a run can.
--
-- What reads suites reads the view: it has those that are there.  Its runs are removed with it, at
-- the same time of the clock: by that they are told from those that were removed before.

ALTER TABLE suite ADD COLUMN removed_ns INTEGER;                -- since 1970; NULL: it is there
ALTER TABLE suite RENAME TO suite_row;
CREATE VIEW suite AS SELECT * FROM suite_row WHERE removed_ns IS NULL;
CREATE INDEX suite_removed ON suite_row (removed_ns) WHERE removed_ns IS NOT NULL;
