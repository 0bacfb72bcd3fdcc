/* server/api/trace_end.c -- ends a run that was recorded or imported: with a report of its
 * timeline, or as the run that it was, where an export of Breakeven comes back.
 *
 * Pages and exporters read reports as the table of fields has them (profiler/fields/report.def):
 * what comes from elsewhere is held against it here, once.
 */
#include "server/api/routes.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/profiler.h"
#include "profiler/timeline/timeline.h"
#include "server/queue/queue.h"

/* What a run becomes; texts live in the arena. */
struct restored {
	struct run_row row; /* row.trace: it was recorded, and its report is the timeline's */
	struct report_imported *mark;
	bool beside;         /* its report had logs that were read beside it */
	enum run_status end; /* DONE, FAILED or CANCELLED */
	struct err why;
	const char *report,
	    *environment;           /* JSON, of one that was measured; NULL: not a point was */
	int points_kept, points_of; /* of its sweep, where it ended before that was measured */
	struct run_summary summary;
};

/* What an export left of a run, read once; where a part is not shaped as ours is, NULL. */
struct original {
	const struct report_original *as;
	bool has_report;
	const struct report_run *report;
	const struct report_workload *workload;
};

/* ---- the run ---- */

static struct original original_of(const struct report_import *imported, struct arena *arena)
{
	struct original o = { .as = imported->original };

	if (!o.as)
		return o;
	o.has_report = json_is_object(o.as->report);
	o.report = o.has_report ? report_read_run(o.as->report, arena, NULL) : NULL;
	o.workload = report_read_workload(o.as->workload, arena, NULL);
	return o;
}

/* Where it comes from, and what the way cost: pages say so. */
static struct report_imported *mark_of(const struct report_import *imported, struct arena *arena)
{
	struct report_imported *mark = report_new_imported(1, arena);

	if (!mark)
		return NULL;
	REPORT_SET_IF(mark, run, imported->exported, imported->exported);
	REPORT_SET_IF(mark, file, imported->files.n, imported->files.at[0].name);
	REPORT_SET_IF(mark, ledger, imported->ledger, imported->ledger);
	return mark;
}

static void drop_nulls(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value) {
		if (json_is_null(value))
			json_object_del(object, key);
	}
}

/* A workload whose source was left out, as it can be looked at: with a function that takes
 * anything, and a line for a sweep to repeat.  New; NULL: its fields are no workload's. */
static json_t *with_some_source(const json_t *posted, struct arena *arena)
{
	static const char *line = "pass";
	struct report_workload *w = report_read_workload(posted, arena, NULL);
	struct report_statements *lines = w && w->sweep ? w->sweep->statements : NULL;

	if (!w)
		return NULL;
	REPORT_SET(w, source,
		   lines ? "def model(*inputs, **named):\n    ...\n    return inputs[0]\n"
			 : "def model(*inputs, **named):\n    return inputs[0]\n");
	if (lines)
		REPORT_SET(lines, pool, (struct report_texts){ &line, 1 });
	return report_write_workload(w);
}

/* The workload that the run had; new.  NULL: it could not have been posted. */
static json_t *workload_of(const struct report_original *original, bool redacted,
			   const struct registry *registry, struct arena *arena, const char **name)
{
	json_t *posted = json_deep_copy(original->workload), *looked_at;
	struct err err = { 0 };
	struct workload *w;

	if (redacted) {
		drop_nulls(posted);
		json_object_del(posted, "source");
	}
	looked_at = redacted ? with_some_source(posted, arena) : json_incref(posted);
	w = looked_at ? workload_parse_in(looked_at, registry, &err) : NULL;
	json_decref(looked_at);
	if (!w) {
		json_decref(posted);
		return NULL;
	}
	*name = arena_strdup(arena, workload_name(w));
	workload_destroy(w);
	return posted;
}

/* How it ended, where that was before it was done. */
static bool ended_early(const struct report_exported_run *run, struct restored *out)
{
	if (!run->status || !run_status_from_name(run->status, &out->end) ||
	    (out->end != RUN_FAILED && out->end != RUN_CANCELLED))
		return false;
	if (run->error && *run->error)
		err_at(&out->why, run->error_code ? err_from_name(run->error_code) : ERR_INTERNAL,
		       (int)run->error_line, (int)run->error_column, "%s", run->error);
	return true;
}

/* A trace that was recorded has no workload to be refused. */
static bool was_recorded(const struct original *o)
{
	return o->workload && o->workload->trace &&
	       (!o->has_report || (o->report && o->report->trace && o->report->modes.n == 0));
}

static json_t *recording_of(const struct report_workload *posted, struct arena *arena)
{
	struct report_workload *kept = report_new_workload(1, arena);
	const char *device = posted->device;
	bool off_gpu = device && (!*device || strcmp(device, "cpu") == 0);

	if (!kept)
		return NULL;
	REPORT_SET_IF(kept, name, posted->name, posted->name);
	REPORT_SET(kept, device, off_gpu ? device : "cuda");
	REPORT_SET_IF(kept, project, posted->project, posted->project);
	REPORT_SET(kept, trace, true);
	REPORT_SET_IF(kept, command, posted->command, posted->command);
	return report_write_workload(kept);
}

/* A report that was too long for the file went without its workload, which the file has
 * beside it. */
static bool read_measured(const struct original *o, json_t *posted, struct arena *arena,
			  struct restored *out)
{
	const struct report_run *r = o->report;
	json_t *marked;

	if (!r || r->breakeven != 1 || r->import || !(r->workload || r->slimmed))
		return false;
	marked = json_copy((json_t *)r->json);
	json_object_set_new(marked, "imported", report_write_imported(out->mark));
	if (!r->workload)
		json_object_set(marked, "workload", posted);
	out->report = row_text(arena, marked);
	summary_of_report(r, arena, &out->summary);
	out->environment = json_is_object(o->as->environment)
			       ? row_text(arena, json_incref(o->as->environment))
			       : "{}";
	return out->report && out->environment;
}

static int64_t sweep_points(const struct report_workload *w)
{
	const struct report_sweep *sweep = w ? w->sweep : NULL;

	if (sweep && sweep->statements)
		return (int64_t)sweep->statements->counts.n;
	return sweep && sweep->input ? (int64_t)sweep->input->sizes.n : 0;
}

/* The points that were measured before it ended: none where its report does not say that it is a
 * part, and which of the sweep. */
static void read_part(const struct original *o, json_t *posted, struct arena *arena,
		      struct restored *out)
{
	const struct report_partial *part = o->report ? o->report->partial : NULL;

	if (!part || part->measured < 1 || part->measured >= part->of ||
	    part->of > sweep_points(o->workload) || (size_t)part->measured != o->report->points.n ||
	    !read_measured(o, posted, arena, out))
		return;
	out->points_kept = (int)part->measured;
	out->points_of = (int)part->of;
}

/* The row, but for what the workload says. */
static bool read_row(const struct report_exported_run *exported, json_t *posted, const char *name,
		     struct arena *arena, struct restored *out)
{
	const struct report_workload *w = report_read_workload(posted, arena, NULL);
	bool trace = out->row.trace;

	if (!w)
		return false;
	if ((exported->redacted || trace) && exported->name && *exported->name)
		name = exported->name;
	out->row = enqueue_row(arena, w, name ? name : "trace");
	out->row.trace = trace;
	out->row.modes = trace ? "" : arena_strdup(arena, out->row.modes);
	out->row.project = arena_strdup(arena, out->row.project);
	out->row.device = arena_strdup(arena, out->row.device);
	out->row.commit = arena_strdup(arena, out->row.commit);
	out->row.branch = arena_strdup(arena, out->row.branch);
	out->row.workload = row_text(arena, json_incref(posted));
	out->row.imported = row_text(arena, report_write_imported(out->mark));
	return out->row.workload && out->row.imported && out->row.name;
}

/* Reads "original" of what was imported (profiler/import/own.h).  False: there is none, or it is no
 * run that could have been: its workload is refused, or its report is not shaped as the profiler
 * shapes them.  It is a stranger's file still.  What was left out of the file by --redact is left
 * out of the run. */
static bool restore_read(const struct report_import *imported, const struct registry *registry,
			 struct arena *arena, struct restored *out)
{
	const struct original o = original_of(imported, arena);
	const struct report_exported_run *exported = imported->exported;
	const char *name = NULL;
	json_t *posted;
	bool ok;

	*out = (struct restored){ .end = RUN_DONE };
	if (!o.as || !exported || !json_is_object(o.as->workload))
		return false;
	out->row.trace = was_recorded(&o);
	out->beside = o.report && o.report->import;
	posted = out->row.trace ? recording_of(o.workload, arena)
				: workload_of(o.as, exported->redacted, registry, arena, &name);
	out->mark = posted ? mark_of(imported, arena) : NULL;
	ok = out->mark && read_row(exported, posted, name, arena, out);
	if (ok && ended_early(exported, out)) {
		read_part(&o, posted, arena, out);
	} else if (ok) {
		out->end = RUN_DONE;
		ok = out->row.trace || read_measured(&o, posted, arena, out);
	}
	json_decref(posted);
	return ok;
}

/* ---- the end of a trace ---- */

static bool add_tables(void *self, const struct timeline_row *row, struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(row->data, row->len, &b, err) &&
	       timeline_tables_read(self, &b, err);
}

/* What a trace's report has of what was imported: all, but for a run that we know again; of
 * a recording that came back the mark, and what it had read beside it. */
static void add_import(json_t *report, const struct report_import *imported,
		       const struct restored *as)
{
	json_t *kept = json_copy((json_t *)imported->json);

	json_object_del(kept, "original");
	if (!as || as->beside)
		json_object_set(report, "import", kept);
	if (as)
		json_object_set_new(report, "imported", report_write_imported(as->mark));
	json_decref(kept);
}

/* From the first event of a timeline to its last. */
static double length_us(const struct timeline_tables *tables)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	struct timeline_extent extent;

	for (size_t i = 0; timeline_extent_at(tables, i, &extent); i++) {
		first = extent.t0_ns < first ? extent.t0_ns : first;
		last = extent.t1_ns > last ? extent.t1_ns : last;
	}
	return last > first ? (double)(last - first) * 1e-3 : 0;
}

/* What a list says that it is: of an import its kind and files, of a recording the program. */
static const char *about_of(const struct timeline_tables *tables,
			    const struct report_import *imported, struct arena *arena)
{
	const json_t *facts = tables->facts;
	const struct report_trace *trace = facts ? report_read_trace(facts, arena, NULL) : NULL;
	bool recorded = trace && trace->processes.n;
	int64_t kernels = imported && imported->kernels ? imported->kernels->count : 0;
	const char *name = imported && imported->files.n ? imported->files.at[0].name : "";
	json_t *about;

	for (size_t i = 0; recorded && i < trace->processes.n; i++)
		kernels += trace->processes.at[i].kernels;
	if (recorded && trace->processes.at[0].command)
		name = trace->processes.at[0].command;
	about = json_pack("{s:s, s:s, s:i, s:I, s:f}", "kind",
			  recorded                     ? "recording"
			  : imported && imported->kind ? imported->kind
						       : "recording",
			  "name", name, "files", imported ? (int)imported->files.n : 0, "kernels",
			  (json_int_t)kernels, "length_us", length_us(tables));
	return about ? row_text(arena, about) : NULL;
}

/* What a list says of a trace. */
struct told {
	struct arena *arena;
	const char *about;
};

/* The report of a trace, as text, and what it is of; NULL with an error.  The caller frees. */
static char *trace_report(struct db *db, int64_t id, const struct report_import *imported,
			  const struct restored *as, struct told *told, struct err *err)
{
	struct timeline_tables tables = { 0 };
	bool ok = db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), add_tables, &tables, err);
	char *text = NULL;
	json_t *report;

	told->about = about_of(&tables, imported, told->arena);
	if (tables.facts) {
		json_object_del(tables.facts, "extents");
		json_object_del(tables.facts, "clocks");
	}
	report = json_pack("{s:i, s:O?, s:{}, s:[], s:{}}", "breakeven", 1, "trace", tables.facts,
			   "modes", "points", "break_even");
	if (report && imported)
		add_import(report, imported, as);
	if (ok) {
		text = report ? json_dumps(report, JSON_COMPACT) : NULL;
		if (!text)
			err_set(err, ERR_MEMORY, "out of memory for the report");
	}
	json_decref(report);
	timeline_tables_finish(&tables);
	return text;
}

/* Where what was imported ran: "" where its logs do not say. */
static const char *device_of(const struct report_import *im)
{
	const struct report_total *const on_gpu[] = { im->kernels, im->copies, im->sets };

	for (size_t i = 0; i < sizeof(on_gpu) / sizeof(on_gpu[0]); i++)
		if (on_gpu[i] && on_gpu[i]->count > 0)
			return "cuda";
	return im->ops && im->ops->count > 0 ? "cpu" : "";
}

/* The device of an import's run is known only now; that of a recording, which may have logs
 * beside it, always was. */
static bool device_row(const struct report_import *imported, struct arena *arena,
		       struct run_row *row, struct err *err)
{
	json_t *posted = json_loads(row->workload, 0, NULL);
	struct report_workload *w = report_read_workload(posted, arena, err);

	if (w && w->imported && imported) {
		row->device = device_of(imported);
		REPORT_SET(w, device, row->device);
		row->workload = row_text(arena, report_write_workload(w));
		if (!row->workload)
			err_set(err, ERR_MEMORY, "out of memory for the run");
	}
	json_decref(posted);
	return w && row->workload;
}

/* `as` NULL: it is no run that we know again. */
static bool end_as_trace(struct db *db, int64_t id, const struct report_import *imported,
			 const struct restored *as, struct arena *arena, struct err *err)
{
	struct told told = { .arena = arena };
	char *text = trace_report(db, id, imported, as, &told, err);
	struct run_row row;
	bool ok = text && (as || (db_run_get(db, id, arena, &row, err) &&
				  device_row(imported, arena, &row, err)));

	if (ok) {
		char *reasons = reasons_of_report(text, strlen(text));
		const struct run_outcome outcome = { .report = text,
						     .report_len = strlen(text),
						     .environment = "{}",
						     .reasons = reasons,
						     .about = told.about };

		ok = db_trace_become(db, id, as ? &as->row : &row, &outcome, err);
		free(reasons);
	}
	free(text);
	return ok;
}

/* As the run that was measured; `reasons` of its breaks. */
static bool end_as_measured(struct db *db, int64_t id, const struct restored *as,
			    const char *reasons, struct err *err)
{
	struct run_outcome outcome = { .report = as->report,
				       .report_len = as->report ? strlen(as->report) : 0,
				       .environment = as->environment,
				       .reasons = reasons,
				       .summary = as->summary,
				       .points_kept = as->points_kept,
				       .points_of = as->points_of };

	if (as->end != RUN_DONE)
		return db_trace_become_ended(
		    db, id, &as->row,
		    &(struct run_ended){ as->end, &as->why, as->points_kept ? &outcome : NULL },
		    err);
	return db_trace_become(db, id, &as->row, &outcome, err);
}

/* As the run that it was. */
static bool end_as_it_was(struct db *db, int64_t id, const struct report_import *imported,
			  const struct restored *as, struct arena *arena, struct err *err)
{
	char *reasons;
	bool ok;

	if (as->end == RUN_DONE && as->row.trace)
		return end_as_trace(db, id, imported, as, arena, err);
	reasons = as->report ? reasons_of_report(as->report, strlen(as->report)) : NULL;
	ok = end_as_measured(db, id, as, reasons, err);
	free(reasons);
	return ok;
}

bool trace_end(struct db *db, const struct registry *registry, int64_t id, const json_t *json,
	       struct err *err)
{
	struct arena arena = { 0 };
	const struct report_import *imported = json ? report_read_import(json, &arena, err) : NULL;
	struct restored as;
	bool ok = false;

	if (imported && restore_read(imported, registry, &arena, &as))
		ok = end_as_it_was(db, id, imported, &as, &arena, err);
	else if (imported || !json)
		ok = end_as_trace(db, id, imported, NULL, &arena, err);
	arena_finish(&arena);
	if (ok)
		timeline_look_ahead(db, id);
	return ok;
}
