-- Version 13: a run that ends before its sweep is measured keeps the points that are.

ALTER TABLE run ADD COLUMN points_kept INTEGER NOT NULL DEFAULT 0; -- of a run that is not done: points in its report
ALTER TABLE run ADD COLUMN points_of INTEGER NOT NULL DEFAULT 0;   -- points that its sweep has; 0: nothing was kept
