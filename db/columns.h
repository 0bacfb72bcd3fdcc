/* db/columns.h -- the columns of rows that are structs of db.h, each named once.
 *
 *	X(field of the struct, column or expression, type, what the field is where it is NULL)
 *
 * A list makes the names of a SELECT or an INSERT, the parameters of an INSERT and the code
 * that reads a row, so that they cannot differ in number or order:
 *
 *	"INSERT INTO run_figure(run" FIGURE_COLUMNS(COLUMN_NAME) ") VALUES(?"
 *	FIGURE_COLUMNS(COLUMN_PARAMETER) ")", "i" FIGURE_COLUMNS(COLUMN_TYPE), run
 *	FIGURE_COLUMNS(COLUMN_ARGUMENT)
 *
 * Types: TEXT; OPTIONAL, a text or NULL; INTEGER; INT, the same in an int;
 * COUNT, of which -1 is stored as NULL; NUMBER, which is stored as NULL where it is not finite;
 * FLAG; STATUS.  INT, FLAG and STATUS are read alone.
 */
#ifndef DB_COLUMNS_H
#define DB_COLUMNS_H

/* What a run is posted with, but for its workload, which lists leave out. */
#define RUN_POSTED_COLUMNS(X)                                                                      \
	X(name, "name", TEXT, "")                                                                  \
	X(project, "project", TEXT, "")                                                            \
	X(device, "device", TEXT, "")                                                              \
	X(modes, "modes", TEXT, "")                                                                \
	X(commit, "commit_id", TEXT, "")                                                           \
	X(branch, "branch", TEXT, "")                                                              \
	X(host, "host", TEXT, "")

/* What becomes of it; read alone, as each is written by a statement of its own. */
#define RUN_KEPT_COLUMNS(X)                                                                        \
	X(status, "status", STATUS, RUN_QUEUED)                                                    \
	X(trace, "kind = 'trace'", FLAG, false)                                                    \
	X(attempts, "attempts", INT, 0)                                                            \
	X(created_ns, "created_ns", INTEGER, 0)                                                    \
	X(started_ns, "started_ns", INTEGER, 0)                                                    \
	X(finished_ns, "finished_ns", INTEGER, 0)                                                  \
	X(tags,                                                                                    \
	  "(SELECT group_concat(tag, char(10)) FROM (SELECT tag FROM run_tag WHERE run_tag.run = " \
	  "run.id ORDER BY tag) AS its)",                                                          \
	  TEXT, "")                                                                                \
	X(note, "note", TEXT, "")                                                                  \
	X(author, "author", TEXT, "")                                                              \
	X(note_by, "note_by", TEXT, "")                                                            \
	X(baseline, "baseline", FLAG, false)                                                       \
	X(pinned, "pinned", FLAG, false)                                                           \
	X(points_kept, "points_kept", INT, 0)                                                      \
	X(points_of, "points_of", INT, 0)                                                          \
	X(about, "about", TEXT, "")                                                                \
	X(suite, "(SELECT suite FROM suite_run WHERE suite_run.run = run.id)", INTEGER, 0)         \
	X(source_hash, "source_hash", TEXT, "")                                                    \
	X(settings_hash, "settings_hash", TEXT, "")                                                \
	X(imported, "imported", TEXT, "")                                                          \
	X(change, "(SELECT max(id) FROM change WHERE change.run = run.id AND gone = 0)", INTEGER, 0)

/* struct run_summary, a row of run_summary. */
#define SUMMARY_COLUMNS(X)                                                                         \
	X(mode, "mode", OPTIONAL, NULL)                                                            \
	X(verdict, "verdict", TEXT, "")                                                            \
	X(speedup, "speedup", NUMBER, 0)                                                           \
	X(speedup_lo, "speedup_lo", NUMBER, 0)                                                     \
	X(speedup_hi, "speedup_hi", NUMBER, 0)                                                     \
	X(median_us, "median_us", NUMBER, 0)                                                       \
	X(median_lo, "median_lo", NUMBER, NAN)                                                     \
	X(median_hi, "median_hi", NUMBER, NAN)                                                     \
	X(calls_to_repay, "calls_to_repay", NUMBER, INFINITY)                                      \
	X(crossover_n, "crossover_n", NUMBER, NAN)                                                 \
	X(at_n, "at_n", NUMBER, NAN)                                                               \
	X(breaks, "breaks", COUNT, -1)

/* struct run_result, a row of run_result, but for its run. */
#define RESULT_COLUMNS(X)                                                                          \
	X(engine, "engine", TEXT, "")                                                              \
	X(mode, "mode", TEXT, "")                                                                  \
	X(status, "status", TEXT, "")                                                              \
	X(reason, "reason", OPTIONAL, NULL)                                                        \
	X(speedup, "speedup", NUMBER, NAN)                                                         \
	X(speedup_lo, "speedup_lo", NUMBER, NAN)                                                   \
	X(speedup_hi, "speedup_hi", NUMBER, NAN)                                                   \
	X(median_us, "median_us", NUMBER, NAN)                                                     \
	X(compile_ms, "compile_ms", NUMBER, NAN)                                                   \
	X(launches, "launches", NUMBER, NAN)                                                       \
	X(peak_bytes, "peak_bytes", NUMBER, NAN)                                                   \
	X(max_abs_error, "max_abs_error", NUMBER, NAN)                                             \
	X(graphs, "graphs", COUNT, -1)                                                             \
	X(capture_breaks, "capture_breaks", COUNT, -1)                                             \
	X(lowering_breaks, "lowering_breaks", COUNT, -1)                                           \
	X(recompiles, "recompiles", COUNT, -1)

/* struct run_figure, a row of run_figure, but for its run. */
#define FIGURE_COLUMNS(X)                                                                          \
	X(metric, "metric", TEXT, "")                                                              \
	X(mode, "mode", TEXT, "")                                                                  \
	X(n, "n", NUMBER, NAN)                                                                     \
	X(value, "value", NUMBER, NAN)                                                             \
	X(lo, "lo", NUMBER, NAN)                                                                   \
	X(hi, "hi", NUMBER, NAN)                                                                   \
	X(samples, "samples", INTEGER, 0)

/* struct change_step_row, a row of change_step, but for its change. */
#define STEP_COLUMNS(X)                                                                            \
	X(metric, "metric", TEXT, "")                                                              \
	X(mode, "mode", TEXT, "")                                                                  \
	X(n, "n", NUMBER, NAN)                                                                     \
	X(verdict, "verdict", TEXT, "")                                                            \
	X(from_run, "from_run", INTEGER, 0)                                                        \
	X(before_run, "before_run", INTEGER, 0)                                                    \
	X(run, "run", INTEGER, 0)                                                                  \
	X(to_run, "to_run", INTEGER, 0)                                                            \
	X(earliest, "earliest", INTEGER, 0)                                                        \
	X(latest, "latest", INTEGER, 0)                                                            \
	X(runs_before, "runs_before", INTEGER, 0)                                                  \
	X(runs_after, "runs_after", INTEGER, 0)                                                    \
	X(ended, "ended", INTEGER, 0)                                                              \
	X(old.mid, "old", NUMBER, NAN)                                                             \
	X(old.low, "old_lo", NUMBER, NAN)                                                          \
	X(old.high, "old_hi", NUMBER, NAN)                                                         \
	X(new.mid, "new", NUMBER, NAN)                                                             \
	X(new.low, "new_lo", NUMBER, NAN)                                                          \
	X(new.high, "new_hi", NUMBER, NAN)                                                         \
	X(ratio.mid, "ratio", NUMBER, NAN)                                                         \
	X(ratio.low, "ratio_lo", NUMBER, NAN)                                                      \
	X(ratio.high, "ratio_hi", NUMBER, NAN)

/* struct change_row, a row of change, but for its id. */
#define CHANGE_COLUMNS(X)                                                                          \
	X(name, "name", TEXT, "")                                                                  \
	X(project, "project", TEXT, "")                                                            \
	X(branch, "branch", TEXT, "")                                                              \
	X(settings_hash, "settings_hash", TEXT, "")                                                \
	X(before, "before", INTEGER, 0)                                                            \
	X(run, "run", INTEGER, 0)                                                                  \
	X(verdict, "verdict", TEXT, "")                                                            \
	X(found_ns, "found_ns", INTEGER, 0)                                                        \
	X(gone, "gone", FLAG, false)                                                               \
	X(acknowledged, "acknowledged", FLAG, false)                                               \
	X(note, "note", TEXT, "")                                                                  \
	X(note_by, "note_by", TEXT, "")                                                            \
	X(said_ns, "said_ns", INTEGER, 0)

/* struct timeline_row, a row of timeline_block, but for its run, its place and its data. */
#define BLOCK_COLUMNS(X)                                                                           \
	X(kind, "kind", INTEGER, 0)                                                                \
	X(events, "events", INTEGER, 0)                                                            \
	X(t0_ns, "t0_ns", INTEGER, 0)                                                              \
	X(t1_ns, "t1_ns", INTEGER, 0)

/* struct suite, a row of suite, but for its id. */
#define SUITE_COLUMNS(X)                                                                           \
	X(name, "name", TEXT, "")                                                                  \
	X(project, "project", TEXT, "")                                                            \
	X(request, "request", TEXT, "")                                                            \
	X(workloads, "workloads", TEXT, "")                                                        \
	X(created_ns, "created_ns", INTEGER, 0)

/* Each follows a first column, which the statement names itself. */
#define COLUMN_NAME(field, column, type, null) ", " column
#define COLUMN_PARAMETER(field, column, type, null) ", ?"

/* The types of db_prepare(), and its arguments out of `row`. */
#define COLUMN_TYPE(field, column, type, null) COLUMN_TYPE_##type
#define COLUMN_TYPE_TEXT "t"
#define COLUMN_TYPE_OPTIONAL "o"
#define COLUMN_TYPE_INTEGER "i"
#define COLUMN_TYPE_COUNT "c"
#define COLUMN_TYPE_NUMBER "d"
#define COLUMN_ARGUMENT(field, column, type, null) , COLUMN_ARGUMENT_##type(row->field)
#define COLUMN_ARGUMENT_TEXT(value) (value)
#define COLUMN_ARGUMENT_OPTIONAL(value) (value)
#define COLUMN_ARGUMENT_INTEGER(value) (int64_t)(value)
#define COLUMN_ARGUMENT_COUNT(value) (int64_t)(value)
#define COLUMN_ARGUMENT_NUMBER(value) (value)

/* Reads column `at` of the statement s into out->field, texts into `arena`, and goes on. */
#define COLUMN_READ(field, column, type, null)                                                     \
	out->field = COLUMN_READ_##type(s, at, arena, null);                                       \
	at++;
#define COLUMN_READ_TEXT(s, at, arena, null) text_at(s, at, arena)
#define COLUMN_READ_OPTIONAL(s, at, arena, null)                                                   \
	(sql_is_null(s, at) ? (null) : text_at(s, at, arena))
#define COLUMN_READ_INTEGER(s, at, arena, null) sql_int64(s, at)
#define COLUMN_READ_INT(s, at, arena, null) sql_int(s, at)
#define COLUMN_READ_COUNT(s, at, arena, null) (sql_is_null(s, at) ? (null) : sql_int(s, at))
#define COLUMN_READ_NUMBER(s, at, arena, null) number_at(s, at, null)
#define COLUMN_READ_FLAG(s, at, arena, null) (sql_int(s, at) != 0)
#define COLUMN_READ_STATUS(s, at, arena, null) status_at(s, at)

#endif
