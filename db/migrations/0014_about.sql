-- Version 14: the list of runs says what a recording or an import is.

ALTER TABLE run ADD COLUMN about TEXT NOT NULL DEFAULT ''; -- JSON: kind, name, kernels, length_us; '': it ran here, or is of an earlier version
