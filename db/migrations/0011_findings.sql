-- Version 11: what a run's figures say, as its answer shows it: made once, when the run is stored.

CREATE TABLE findings (
	run     INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
	version TEXT NOT NULL,                       -- of the program whose words these are; those of another are made again
	codec   INTEGER NOT NULL,                    -- 0 plain, 1 zstd
	bytes   INTEGER NOT NULL,                    -- when decoded
	data    BLOB NOT NULL
) STRICT;
