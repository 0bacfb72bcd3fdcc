-- Version 16: the interval of the median that a list shows, which says how many of its digits hold.

ALTER TABLE run_summary ADD COLUMN median_lo REAL; -- NULL: a run of before it was kept
ALTER TABLE run_summary ADD COLUMN median_hi REAL;
