-- Version 28: as db/migrations/0028_counts.sql.

CREATE TABLE run_count (
	kind    label NOT NULL,
	value   label NOT NULL,
	project label NOT NULL,
	n       BIGINT NOT NULL,
	PRIMARY KEY (kind, value, project)
);

CREATE VIEW run_counted AS
	SELECT id AS run, 'all'::label AS kind, ''::label AS value, project FROM run_row WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'status', status, project FROM run_row WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'device', device, project FROM run_row WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'measured', name, project FROM run_row WHERE kind <> 'trace' AND status = 'done' AND removed_ns IS NULL
	UNION ALL SELECT id, 'tag', tag, project FROM run_row JOIN run_tag ON run = id WHERE removed_ns IS NULL
	UNION ALL SELECT id, 'verdict', replace(lower(verdict), ' ', '-'), project FROM run_row JOIN run_summary ON run = id
		WHERE removed_ns IS NULL;

INSERT INTO run_count SELECT kind, value, project, count(*) FROM run_counted GROUP BY kind, value, project;

-- What a run counts for counts so many more; of one kind and value, or where that is NULL of all.
CREATE FUNCTION count_run(this BIGINT, more BIGINT, of_kind TEXT, of_value TEXT) RETURNS void LANGUAGE sql AS $$
	INSERT INTO run_count SELECT kind, value, project, more FROM run_counted
		WHERE run = this AND (of_kind IS NULL OR kind = of_kind) AND (of_value IS NULL OR value = of_value)
		ON CONFLICT (kind, value, project) DO UPDATE SET n = run_count.n + excluded.n
$$;

CREATE FUNCTION count_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_WHEN = 'BEFORE' THEN
		PERFORM count_run(old.id, -1, NULL, NULL);
	ELSE
		PERFORM count_run(new.id, 1, NULL, NULL);
	END IF;
	IF TG_OP = 'DELETE' THEN
		RETURN old;
	END IF;
	RETURN new;
END $$;

CREATE FUNCTION count_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		PERFORM count_run(new.run, 1, 'tag', new.tag);
		RETURN new;
	END IF;
	PERFORM count_run(old.run, -1, 'tag', old.tag);
	RETURN old;
END $$;

CREATE FUNCTION count_summary() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_WHEN = 'BEFORE' THEN
		PERFORM count_run(old.run, -1, 'verdict', NULL);
	ELSE
		PERFORM count_run(new.run, 1, 'verdict', NULL);
	END IF;
	IF TG_OP = 'DELETE' THEN
		RETURN old;
	END IF;
	RETURN new;
END $$;

CREATE TRIGGER run_row_counts AFTER INSERT ON run_row
	FOR EACH ROW EXECUTE FUNCTION count_row();
CREATE TRIGGER run_row_counts_no_more BEFORE UPDATE OF status, device, project, name, kind, removed_ns ON run_row
	FOR EACH ROW EXECUTE FUNCTION count_row();
CREATE TRIGGER run_row_counts_again AFTER UPDATE OF status, device, project, name, kind, removed_ns ON run_row
	FOR EACH ROW EXECUTE FUNCTION count_row();
CREATE TRIGGER run_row_goes BEFORE DELETE ON run_row
	FOR EACH ROW EXECUTE FUNCTION count_row();

CREATE TRIGGER run_tag_counts AFTER INSERT ON run_tag
	FOR EACH ROW EXECUTE FUNCTION count_tag();
CREATE TRIGGER run_tag_goes BEFORE DELETE ON run_tag
	FOR EACH ROW EXECUTE FUNCTION count_tag();

CREATE TRIGGER run_summary_counts AFTER INSERT ON run_summary
	FOR EACH ROW EXECUTE FUNCTION count_summary();
CREATE TRIGGER run_summary_changes BEFORE UPDATE OF verdict ON run_summary
	FOR EACH ROW EXECUTE FUNCTION count_summary();
CREATE TRIGGER run_summary_counts_again AFTER UPDATE OF verdict ON run_summary
	FOR EACH ROW EXECUTE FUNCTION count_summary();
CREATE TRIGGER run_summary_goes BEFORE DELETE ON run_summary
	FOR EACH ROW EXECUTE FUNCTION count_summary();
