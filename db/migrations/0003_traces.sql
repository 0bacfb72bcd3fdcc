-- Version 3: runs that another process records and posts (`breakeven trace --post`).

ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT 'workload' CHECK (kind IN ('workload', 'trace'));
ALTER TABLE run ADD COLUMN heard_ns INTEGER; -- of a trace: when its recorder last spoke
