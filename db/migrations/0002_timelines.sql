-- Version 2: timelines, the blocks of profiler/timeline.h as they come.

CREATE TABLE timeline_block (
	run    INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	seq    INTEGER NOT NULL,                     -- in the order of recording, from 0
	kind   INTEGER NOT NULL,                     -- 1 events, 2 tables
	events INTEGER NOT NULL,                     -- 0 for tables
	t0_ns  INTEGER NOT NULL,                     -- first start; of the recording's own clock
	t1_ns  INTEGER NOT NULL,                     -- last end
	data   BLOB NOT NULL,                        -- the block, head and all
	PRIMARY KEY (run, seq)
) STRICT;
