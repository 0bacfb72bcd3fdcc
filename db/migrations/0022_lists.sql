-- Version 22: lists of runs and what they can be filtered by are read from indexes that have all of it.

CREATE INDEX run_here ON run_row (project, device, status) WHERE removed_ns IS NULL;
CREATE INDEX run_alike ON run_row (name, project, device, id) WHERE removed_ns IS NULL;
CREATE INDEX run_summary_by_verdict ON run_summary (verdict, run);
CREATE INDEX run_result_wrong ON run_result (run) WHERE status <> 'pass';
