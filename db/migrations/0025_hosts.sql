-- Version 25: runs that another machine takes.

ALTER TABLE run_row ADD COLUMN host TEXT NOT NULL DEFAULT '';  -- as `serve --hosts` names it; '': this machine

-- What an executor (Slurm, a command) was handed; a run that waits for that has no row.
CREATE TABLE placement (
	run        INTEGER PRIMARY KEY REFERENCES run_row (id) ON DELETE CASCADE,
	secret     BLOB NOT NULL,                    -- SHA-256 of the job's token, one for all that went together
	expires_ns INTEGER NOT NULL,                 -- since 1970
	job        TEXT NOT NULL DEFAULT '',         -- the executor's name of it; '': it is being handed over
	attempt    TEXT NOT NULL DEFAULT '',         -- of the process that took the run; '': none did yet
	said       TEXT NOT NULL DEFAULT '',         -- what the executor says of it: PENDING (Resources)
	lost_ns    INTEGER                           -- since when the executor knows no such job; NULL: it does
) STRICT;

CREATE INDEX placement_by_secret ON placement (secret);
CREATE INDEX run_elsewhere ON run_row (status, id) WHERE host <> '';
