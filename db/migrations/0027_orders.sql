-- Version 27: indexes have the orders of a list of runs, as db/list.c names them, and the names of workloads.

CREATE INDEX run_summary_by_speedup ON run_summary (CASE WHEN verdict <> 'DISAGREES' THEN speedup END, run);
CREATE INDEX run_summary_by_median ON run_summary (median_us, run);
CREATE INDEX run_summary_by_repaid ON run_summary (CASE WHEN mode IS NOT NULL THEN ifnull(calls_to_repay, 1.7976931348623157e308) END, run);
CREATE INDEX run_summary_by_breaks ON run_summary (breaks, run);
CREATE INDEX run_by_device ON run_row (nullif(device, ''), id) WHERE removed_ns IS NULL;

-- What a history can be of.
CREATE INDEX run_measured ON run_row (name, id) WHERE kind <> 'trace' AND status = 'done' AND removed_ns IS NULL;
