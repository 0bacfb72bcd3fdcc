-- Version 28: how many runs are there of what one asks for most, counted as they change.

CREATE TABLE run_count (
	kind    TEXT NOT NULL,                           -- all, status, device, tag, verdict; measured: by name, done and no trace
	value   TEXT NOT NULL,                           -- of the kind, '' of all; a verdict as it is asked for: not-enough
	project TEXT NOT NULL,
	n       INTEGER NOT NULL,
	PRIMARY KEY (kind, value, project)
) STRICT, WITHOUT ROWID;

-- What each run that is not removed counts for.
CREATE VIEW run_counted AS
	SELECT id AS run, 'all' AS kind, '' AS value, project FROM run_row WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'status', status, project FROM run_row WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'device', device, project FROM run_row WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'measured', name, project FROM run_row WHERE kind <> 'trace' AND status = 'done' AND removed_ns IS NULL
	UNION ALL SELECT id, 'tag', tag, project FROM run_row JOIN run_tag ON run = id WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'verdict', replace(lower(verdict), ' ', '-'), project FROM run_row JOIN run_summary ON run = id
		WHERE removed_ns IS NULL;

INSERT INTO run_count SELECT kind, value, project, count(*) FROM run_counted GROUP BY kind, value, project;

CREATE TRIGGER run_row_counts AFTER INSERT ON run_row BEGIN
	INSERT INTO run_count SELECT kind, value, project, 1 FROM run_counted WHERE run = new.id
		ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER run_row_counts_no_more BEFORE UPDATE OF status, device, project, name, kind, removed_ns ON run_row BEGIN
	UPDATE run_count SET n = n - 1 WHERE (kind, value, project) IN (SELECT kind, value, project FROM run_counted WHERE run = old.id);
END;

CREATE TRIGGER run_row_counts_again AFTER UPDATE OF status, device, project, name, kind, removed_ns ON run_row BEGIN
	INSERT INTO run_count SELECT kind, value, project, 1 FROM run_counted WHERE run = new.id
		ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Its tags and its summary go after it and count for nothing then.
CREATE TRIGGER run_row_goes BEFORE DELETE ON run_row BEGIN
	UPDATE run_count SET n = n - 1 WHERE (kind, value, project) IN (SELECT kind, value, project FROM run_counted WHERE run = old.id);
END;

CREATE TRIGGER run_tag_counts AFTER INSERT ON run_tag BEGIN
	INSERT INTO run_count SELECT kind, value, project, 1 FROM run_counted WHERE run = new.run AND kind = 'tag' AND value = new.tag
		ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER run_tag_goes BEFORE DELETE ON run_tag BEGIN
	UPDATE run_count SET n = n - 1 WHERE (kind, value, project) IN
		(SELECT kind, value, project FROM run_counted WHERE run = old.run AND kind = 'tag' AND value = old.tag);
END;

CREATE TRIGGER run_summary_counts AFTER INSERT ON run_summary BEGIN
	INSERT INTO run_count SELECT kind, value, project, 1 FROM run_counted WHERE run = new.run AND kind = 'verdict'
		ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER run_summary_goes BEFORE DELETE ON run_summary BEGIN
	UPDATE run_count SET n = n - 1 WHERE (kind, value, project) IN
		(SELECT kind, value, project FROM run_counted WHERE run = old.run AND kind = 'verdict');
END;

CREATE TRIGGER run_summary_changes BEFORE UPDATE OF verdict ON run_summary BEGIN
	UPDATE run_count SET n = n - 1 WHERE (kind, value, project) IN
		(SELECT kind, value, project FROM run_counted WHERE run = old.run AND kind = 'verdict');
END;

CREATE TRIGGER run_summary_counts_again AFTER UPDATE OF verdict ON run_summary BEGIN
	INSERT INTO run_count SELECT kind, value, project, 1 FROM run_counted WHERE run = new.run AND kind = 'verdict'
		ON CONFLICT DO UPDATE SET n = n + 1;
END;
