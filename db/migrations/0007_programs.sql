-- Version 7: a program is its source and the lines that a sweep puts into it; of runs of a
-- sweep over statements the former was hashed alone.  '': figures and hashes are made anew
-- when they are asked for.

UPDATE run SET source_hash = '' WHERE workload LIKE '%"statements"%';
