"""tests/api/old_store.py VERSION FILE [RUNS] -- a store as the schema of an earlier version had it, by the migrations up to
there, with rows in every table that they made.  Imported: dump(FILE), what a store has, by tables that all versions name alike."""
import json
import pathlib
import sqlite3
import sys

MIGRATIONS = sorted((pathlib.Path(__file__).parents[2] / "db/migrations").glob("*.sql"))
# By the version whose tables they are for; {runs} has the name of the table of runs.
ROWS = {
    1: ["INSERT INTO {runs}(name, project, device, workload, workload_hash, modes, commit_id, branch, status, attempts, created_ns, started_ns, finished_ns) "
        "SELECT 'old ' || value, 'p', 'cpu', '{{\"name\": \"old\", \"source\": \"' || hex(zeroblob(3000)) || '\"}}', '', 'eager,static', 'c' || value, 'main', 'done', 1, value, value, value + 1 "
        "FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < :n) SELECT value FROM n)",
        "INSERT INTO run_tag(run, tag) SELECT id, 'tag ' || id % 7 FROM {runs}",
        "INSERT INTO environment(id, hash, json) VALUES(1, 'dc7048f8f8747f561349cde127705c16', '{{}}')",
        "INSERT INTO report(run, environment, codec, bytes, data) SELECT id, 1, 0, 2, CAST('{{}}' AS BLOB) FROM {runs}",
        "INSERT INTO run_summary(run, mode, verdict, speedup, speedup_lo, speedup_hi, median_us) SELECT id, 'static', 'FASTER', 2, 1.9, 2.1, 5 FROM {runs}"],
    2: ["INSERT INTO timeline_block(run, seq, kind, events, t0_ns, t1_ns, data) SELECT id, 0, 1, 3, 0, 9, zeroblob(500) FROM {runs}"],
    4: ["INSERT INTO {suites}(id, name, project, request, workloads, created_ns) VALUES(1, 's', 'p', '{{}}', '[\"old\"]', 5)",
        "INSERT INTO suite_run(run, suite, workload, policy) VALUES(1, 1, 0, 'dynamo')",
        "INSERT INTO run_result(run, engine, mode, status, speedup) VALUES(1, 'breakeven', 'static', 'pass', 2)"],
    5: ["INSERT INTO run_figure(run, metric, mode, n, value, samples) SELECT id, 'latency', 'static', 3, 4.5, 10 FROM {runs}"],
    6: ["INSERT INTO timeline_answer(run, lanes, version, codec, bytes, data) VALUES(1, 'all', 1, 0, 3, x'010203')"],
    10: ["INSERT INTO token(name, hash, scope, project, created_ns, revoked_ns) VALUES('ci', x'01', 'admin', '', 5, 6)",
         "INSERT INTO session(hash, token, expires_ns) VALUES(x'02', 1, 7)",
         "INSERT INTO audit(at_ns, who, address, route, subject) VALUES(5, 'ci', '::1', 'POST /api/v1/runs', 1)"],
    11: ["INSERT INTO findings(run, version, codec, bytes, data) VALUES(1, 'x', 0, 2, x'7b7d')"],
    17: ["INSERT INTO change(name, project, branch, settings_hash, before, run, verdict, found_ns) VALUES('old 1', 'p', 'main', '', 1, 2, 'SLOWER', 5)",
         "INSERT INTO change_look(name, project, branch, settings_hash, newest, runs) VALUES('old 1', 'p', 'main', '', 2, 2)"],
    19: ["INSERT INTO hook(project, url, secret, events, author, created_ns) VALUES('', 'http://x', 's', 'change', '', 5)",
         "INSERT INTO hook_delivery(hook, event, subject, body, state, created_ns, due_ns) VALUES(1, 'test', 0, '{{}}', 'delivered', 5, 5)"],
    20: ["INSERT INTO known_commit(project, id, subject, author, committed_ns) VALUES('p', 'c1', 's', 'a', 5)",
         "INSERT INTO commit_parent(project, id, place, parent) VALUES('p', 'c1', 0, 'c0')"],
}
NAMES = {"run_row": "run", "suite_row": "suite"}
MOVED = {("run_workload", "json"): ("run", "workload")}


def make(version, path, runs=20):
    db = sqlite3.connect(path)
    db.executescript("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;")
    for at, migration in enumerate(MIGRATIONS[:version], 1):
        db.executescript(migration.read_text())
        names = {"runs": "run_row" if at >= 15 else "run", "suites": "suite_row" if at >= 18 else "suite"}
        for sql in ROWS.get(at, []):
            sql = sql.format(**names)
            db.execute(sql, {"n": runs} if ":n" in sql else {})
    db.execute(f"PRAGMA user_version = {version}")
    db.commit()
    db.close()


def dump(path):
    """{table: {column: its values in order}}."""
    db = sqlite3.connect(path)
    tables = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    out = {}
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        for c in columns:
            place, column = MOVED.get((table, c), (NAMES.get(table, table), c))
            out.setdefault(place, {})[column] = sorted(str(v) for v, in db.execute(f'SELECT "{c}" FROM {table}'))
    return out


def lost(before, after):
    """What an upgraded store lacks of the older one.  Version 7 makes hashes of sources again."""
    return [f"{table}.{column}" for table, columns in before.items() for column, values in columns.items()
            if column != "source_hash" and after.get(table, {}).get(column) != values]


if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 20)
