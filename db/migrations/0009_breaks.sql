-- Version 9: the list of runs says at how many places each breaks.

ALTER TABLE run_summary ADD COLUMN breaks INTEGER;  -- places, of both stages, in that mode; NULL: runs of earlier versions
