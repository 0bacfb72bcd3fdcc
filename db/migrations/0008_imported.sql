-- Version 8: runs that came back from an export tell themselves apart from those of this machine.

ALTER TABLE run ADD COLUMN imported TEXT NOT NULL DEFAULT '';      -- JSON: which run, of which file; '': it ran here
