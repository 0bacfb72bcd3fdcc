-- Version 27: as db/migrations/0027_orders.sql.

CREATE INDEX run_summary_by_speedup ON run_summary ((CASE WHEN verdict <> 'DISAGREES' THEN speedup END), run);
CREATE INDEX run_summary_by_median ON run_summary (median_us, run);
CREATE INDEX run_summary_by_repaid ON run_summary ((CASE WHEN mode IS NOT NULL THEN coalesce(calls_to_repay, 1.7976931348623157e308) END), run);
CREATE INDEX run_summary_by_breaks ON run_summary (breaks, run);
CREATE INDEX run_by_device ON run_row ((nullif(device, '')), id) WHERE removed_ns IS NULL;

CREATE INDEX run_measured ON run_row (name, id) WHERE kind <> 'trace' AND status = 'done' AND removed_ns IS NULL;
