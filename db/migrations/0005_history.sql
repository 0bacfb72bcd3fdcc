-- Version 5: what people say of a run, and its figures, so that a history never has to
-- open a report.

ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT '';          -- plain text, by people
ALTER TABLE run ADD COLUMN baseline INTEGER NOT NULL DEFAULT 0;    -- 1: its workload's later runs are held against it
ALTER TABLE run ADD COLUMN source_hash TEXT NOT NULL DEFAULT '';   -- 32 hex digits; '': its figures are not here yet
ALTER TABLE run ADD COLUMN settings_hash TEXT NOT NULL DEFAULT ''; -- of machine, inputs, ...: equal where runs are comparable

CREATE INDEX run_by_name ON run (name, id);

CREATE TABLE run_figure (
	run     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	metric  TEXT NOT NULL,                           -- latency, speedup, compile_ms, ...
	mode    TEXT NOT NULL,
	n       REAL,                                    -- point of the sweep; NULL: no sweep
	value   REAL NOT NULL,
	lo      REAL,                                    -- 95 % interval; NULL: it has none
	hi      REAL,
	samples INTEGER NOT NULL                         -- rounds behind the interval; 0: none
) STRICT;

CREATE INDEX run_figure_by_run ON run_figure (run, metric, mode);
