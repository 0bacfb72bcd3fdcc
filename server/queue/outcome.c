/* server/queue/outcome.c -- reads a finished report once, and makes of it what the store keeps: its
 * summary, its figures, what its modes gave to a suite, and what its figures say. */
#include "server/queue/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/base/log.h"
#include "fusion/fusion.h"
#include "profiler/compare/figures.h"
#include "profiler/compare/settings.h"
#include "profiler/fields/breaks.h"
#include "profiler/fields/fields.h"
#include "profiler/findings/findings.h"
#include "profiler/history/changes.h"
#include "profiler/numbers/numbers.h"
#include "profiler/suite/suite.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

enum { MOST_RESULTS = 3 * FUSION_MODE_COUNT, MOST_AT_ONCE = 64 };

/* One that an older version wrote in another form has no figures. */
static const struct report_run *read_run(const json_t *report, struct arena *arena, struct err *err)
{
	struct err why = { 0 };
	const struct report_run *run = report_read_run(report, arena, &why);

	if (!run && why.code != ERR_MEMORY)
		run = report_new_run(1, arena);
	if (!run)
		err_set(err, ERR_MEMORY, "out of memory for a report");
	return run;
}

/* ---- the summary ---- */

static double number_or(double x, double otherwise)
{
	return isnan(x) ? otherwise : x;
}

/* What a run measured at one place: its last point, or all of it. */
struct summed {
	struct report_mode_map modes;
	struct report_comparison_map break_even;
	double n; /* NAN: no sweep */
};

static struct summed point_of(const struct report_run *run, size_t i)
{
	const struct report_point *p = &run->points.at[i];

	return run->points.n ? (struct summed){ p->modes, p->break_even, p->n }
			     : (struct summed){ run->modes, run->break_even, NAN };
}

static const char *main_mode(const struct report_comparison_map *break_even)
{
	if (report_get(*break_even, "static"))
		return "static";
	return break_even->n ? break_even->keys[0] : NULL;
}

/* `out` is a summary; without a median its interval is not known. */
static void put_median(struct run_summary *out, const struct report_mode *m)
{
	const struct report_latency *l = m ? m->latency : NULL;

	out->median_us = l ? number_or(l->median_us, 0) : 0;
	out->median_lo = l ? l->ci_us.low : NAN;
	out->median_hi = l ? l->ci_us.high : NAN;
}

/* Of the mode and point that have most. */
static int most_breaks(const struct report_run *run)
{
	int64_t most = 0, n;

	for (size_t i = 0; i == 0 || i < run->points.n; i++) {
		struct summed at = point_of(run, i);

		for (size_t k = 0; k < at.modes.n; k++) {
			n = break_distinct(&at.modes.at[k].breaks, NULL);
			most = n > most ? n : most;
		}
	}
	return (int)most;
}

/* The first mode of a point whose values are not eager's; n: there is none. */
static size_t disagreeing(const struct report_mode_map *modes)
{
	size_t i = 0;

	while (i < modes->n && !(modes->at[i].has.agrees && !modes->at[i].agrees))
		i++;
	return i;
}

/* A mode that disagrees at any point speaks for the run: how quick others are comes second. */
static bool summary_of_disagreement(const struct report_run *run, struct arena *arena,
				    struct run_summary *out)
{
	for (size_t i = 0; i == 0 || i < run->points.n; i++) {
		struct summed at = point_of(run, i);
		size_t k = disagreeing(&at.modes);

		if (k == at.modes.n)
			continue;
		*out = (struct run_summary){
			.mode = arena_strdup(arena, at.modes.keys[k]),
			.verdict = arena_strdup(arena, RUN_DISAGREES),
			.calls_to_repay = INFINITY,
			.crossover_n = NAN,
			.at_n = at.n,
			.breaks = most_breaks(run),
		};
		put_median(out, &at.modes.at[k]);
		return true;
	}
	return false;
}

/* In the digits that its interval allows: lists, which have no interval, show it as findings do. */
static double crossover_of(const struct report_comparison *top)
{
	double step;

	if (!top || !isfinite(top->crossover_n))
		return NAN;
	step = number_step(top->crossover_n, top->crossover_ci.low, top->crossover_ci.high);
	return step * round(top->crossover_n / step);
}

void summary_of_report(const struct report_run *run, struct arena *arena, struct run_summary *out)
{
	struct summed at = point_of(run, run->points.n ? run->points.n - 1 : 0);
	const char *mode = main_mode(&at.break_even);
	const struct report_comparison *b = mode ? report_get(at.break_even, mode) : NULL, *top;
	const struct report_mode *measured;

	if (summary_of_disagreement(run, arena, out) || !b || !b->verdict)
		return;
	top = report_get(run->break_even, mode);
	measured = report_get(at.modes, mode);
	*out = (struct run_summary){
		.mode = arena_strdup(arena, mode),
		.verdict = arena_strdup(arena, b->verdict),
		.speedup = number_or(b->speedup, 1),
		.speedup_lo = number_or(b->speedup_ci.low, 0),
		.speedup_hi = number_or(b->speedup_ci.high, 0),
		.calls_to_repay = number_or(b->calls_to_repay, INFINITY),
		.crossover_n = crossover_of(top),
		.at_n = at.n,
		.breaks = most_breaks(run),
	};
	put_median(out, measured);
}

/* ---- the figures ---- */

static struct run_figure figure_row(const struct figure *f)
{
	const struct metric_info *m = metric_info(f->metric);

	return (struct run_figure){ .metric = m->name,
				    .mode = f->mode,
				    .n = f->n,
				    .value = f->value.mid,
				    .lo = f->value.low,
				    .hi = f->value.high,
				    .samples = f->samples };
}

/* How quick wrong values come is no figure of a workload. */
static bool counts(const struct figure *f)
{
	return !f->disagrees || metric_info(f->metric)->kind == FIGURE_COUNTED;
}

static const char *hash_of(const struct report_run *run,
			   void (*write)(const struct report_run *, struct buf *),
			   struct arena *arena)
{
	char hash[HASH_HEX_BYTES];
	struct buf text;

	buf_init(&text, 0);
	write(run, &text);
	hash_hex(text.data ? text.data : "", text.len, hash);
	buf_finish(&text);
	return arena_strdup(arena, hash);
}

/* Texts of modes are the report's. */
static bool read_figures(const struct report_run *run, struct arena *arena, struct run_figures *out,
			 struct err *err)
{
	struct figures figures = { 0 };
	struct run_figure *rows = NULL;
	bool ok = figures_of(run, &figures, err);

	if (ok) {
		rows = ARENA_ARRAY(arena, struct run_figure, figures.rows.len + 1);
		*out = (struct run_figures){ .source_hash = hash_of(run, settings_program, arena),
					     .settings_hash = hash_of(run, settings_key, arena),
					     .at = rows };
		ok = (rows && out->source_hash && out->settings_hash) ||
		     err_set(err, ERR_MEMORY, "out of memory for figures");
	}
	for (size_t i = 0; ok && i < figures.rows.len; i++)
		if (counts(&figures.rows.at[i]))
			rows[out->n++] = figure_row(&figures.rows.at[i]);
	figures_finish(&figures);
	return ok;
}

/* ---- what its modes gave ---- */

static struct run_result result_row(const struct suite_result *r)
{
	return (struct run_result){
		.engine = r->engine,
		.mode = r->mode,
		.status = suite_status_name(r->status),
		.reason = r->reason,
		.speedup = r->speedup.mid,
		.speedup_lo = r->speedup.low,
		.speedup_hi = r->speedup.high,
		.median_us = r->median_us,
		.compile_ms = r->compile_ms,
		.launches = r->launches,
		.peak_bytes = r->peak_bytes,
		.max_abs_error = r->max_abs_error,
		.graphs = r->graphs,
		.capture_breaks = r->capture_breaks,
		.lowering_breaks = r->lowering_breaks,
		.recompiles = r->recompiles,
	};
}

static bool read_results(const struct report_run *run, struct arena *arena, struct run_outcome *out,
			 struct err *err)
{
	struct suite_result results[MOST_RESULTS];
	int n = suite_results_of_report(run, 0, 0, arena, results, MOST_RESULTS);
	struct run_result *rows = ARENA_ARRAY(arena, struct run_result, (size_t)n + 1);

	for (int i = 0; rows && i < n; i++)
		rows[i] = result_row(&results[i]);
	out->results = rows;
	out->n_results = (size_t)n;
	return rows || err_set(err, ERR_MEMORY, "out of memory for what modes gave");
}

/* ---- what its figures say ---- */

/* JSON text, new; NULL with MEMORY. */
static char *say(const struct report_run *run, struct arena *arena, struct err *err)
{
	bool any = run->modes.n || run->points.n;
	const struct report_findings *f = any ? findings_make(run, arena, err) : NULL;
	json_t *json = any ? report_write_findings(f) : json_null();
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

	json_decref(json);
	if (!text)
		err_set(err, ERR_MEMORY, "out of memory for what a run's figures say");
	return text;
}

/* A build of changes that are not committed has the version of others like it: what they made is
 * made again. */
static bool is_of_one_source(const char *version)
{
	return !strstr(version, "-dirty");
}

bool outcome_findings(struct db *db, int64_t run, const struct buf *report, struct buf *out,
		      struct err *err)
{
	const char *version = breakeven_version();
	const struct report_run *read;
	struct arena arena = { 0 };
	struct err kept = { 0 };
	bool found = false;
	json_t *json;
	char *text;

	if (is_of_one_source(version) && !db_findings_get(db, run, version, out, &found, err))
		return false;
	if (found)
		return true;
	json = report->len ? json_loadb(report->data, report->len, 0, NULL) : NULL;
	read = read_run(json, &arena, err);
	text = read ? say(read, &arena, err) : NULL;
	if (text && is_of_one_source(version) &&
	    !db_findings_put(db, run, version, text, &kept)) /* the next answer tries again */
		log_line(LOG_WARN, "what the figures of run %lld say is not kept: %s",
			 (long long)run, kept.message);
	buf_clear(out);
	buf_puts(out, text ? text : "null");
	free(text);
	json_decref(json);
	arena_finish(&arena);
	return err->code == ERR_NONE;
}

/* ---- the reasons of its breaks: kind, id in PyTorch's registry, message and hint, each line once
 * ---- */

struct reason_lines {
	json_t *seen; /* an object: it keeps the order */
	struct arena *arena;
};

static void add_line(struct reason_lines *l, const char *kind, const char *gb, const char *message,
		     const char *hint)
{
	const char *line = arena_printf(l->arena, "%s %s %s %s", kind ? kind : "", gb ? gb : "",
					message ? message : "", hint ? hint : "");

	if (line)
		json_object_set_new(l->seen, line, json_true());
}

static void add_modes(struct reason_lines *l, const struct report_mode_map *modes)
{
	for (size_t i = 0; i < modes->n; i++) {
		const struct report_break_list *breaks = &modes->at[i].breaks;

		for (size_t k = 0; k < breaks->n; k++)
			add_line(l, breaks->at[k].kind, breaks->at[k].gb, breaks->at[k].message,
				 breaks->at[k].hint);
	}
}

static void add_imported(struct reason_lines *l, const struct report_import_break_list *breaks)
{
	for (size_t i = 0; i < breaks->n; i++)
		add_line(l, breaks->at[i].kind, breaks->at[i].gb, breaks->at[i].message,
			 breaks->at[i].reason);
}

static char *joined(const json_t *seen)
{
	struct buf out = { 0 };
	const char *line;
	json_t *ignored;

	json_object_foreach((json_t *)seen, line, ignored) {
		(void)ignored;
		buf_printf(&out, "%s%s", out.len ? "\n" : "", line);
	}
	if (json_object_size(seen) == 0)
		return strdup("");
	return buf_steal(&out);
}

static char *reasons_of(const struct report_run *run)
{
	struct arena arena = { 0 };
	struct reason_lines l = { json_object(), &arena };
	char *text;

	add_modes(&l, &run->modes);
	for (size_t i = 0; i < run->points.n; i++)
		add_modes(&l, &run->points.at[i].modes);
	if (run->import)
		add_imported(&l, &run->import->breaks);
	text = l.seen ? joined(l.seen) : NULL;
	json_decref(l.seen);
	arena_finish(&arena);
	return text;
}

char *reasons_of_report(const char *report, size_t len)
{
	json_t *json = json_loadb(report, len, 0, NULL);
	struct arena arena = { 0 };
	const struct report_run *run = json ? report_read_run(json, &arena, NULL) : NULL;
	char *text = run ? reasons_of(run) : strdup("");

	json_decref(json);
	arena_finish(&arena);
	return text;
}

/* ---- a timeline of another store ---- */

bool bundle_block(const struct timeline_row *row, struct err *err)
{
	struct timeline_block b;

	if (!timeline_block_read(row->data, row->len, &b, err))
		return false;
	return (b.block_bytes == row->len && b.kind == row->kind && b.events == row->events &&
		b.t0_ns == row->t0_ns && b.t1_ns == row->t1_ns) ||
	       err_set(err, ERR_TIMELINE, "its row says something else than the block itself");
}

/* ---- all of it ---- */

bool outcome_read(struct outcome *o, const char *report, size_t len, struct err *err)
{
	const struct report_run *run;

	if (o->stored.report)
		return true;
	outcome_finish(o);
	o->report = json_loadb(report, len, 0, NULL);
	run = read_run(o->report, &o->arena, err);
	if (!run)
		return false;
	summary_of_report(run, &o->arena, &o->stored.summary);
	if (!read_figures(run, &o->arena, &o->stored.figures, err) ||
	    (o->report && !read_results(run, &o->arena, &o->stored, err)))
		return false;
	o->findings = say(run, &o->arena, err);
	if (!o->findings)
		return false;
	o->reasons = reasons_of(run);
	o->stored.reasons = o->reasons;
	o->stored.findings = o->findings;
	o->stored.version = breakeven_version();
	o->stored.report = report;
	o->stored.report_len = len;
	return true;
}

/* The figures of a run that an older version measured. */
static bool catch_up(struct db *db, int64_t run, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 };
	struct run_figures figures = { 0 };
	struct arena arena = { 0 };
	bool ok = db_report_get(db, run, &report, &environment, err);
	json_t *json = ok ? json_loadb(report.data, report.len, 0, NULL) : NULL;
	const struct report_run *read = ok ? read_run(json, &arena, err) : NULL;

	ok = read && read_figures(read, &arena, &figures, err) &&
	     db_figures_put(db, run, &figures, err);
	json_decref(json);
	arena_finish(&arena);
	buf_finish(&report);
	buf_finish(&environment);
	return ok;
}

/* Stores the figures of runs of a workload that an older version measured, at most `most`; *left is
 * whether there are more. */
static bool figures_catch_up(struct db *db, const char *name, int most, bool *left, struct err *err)
{
	int64_t runs[MOST_AT_ONCE + 1];
	int n;

	most = most < MOST_AT_ONCE ? most : MOST_AT_ONCE;
	n = db_figures_missing(db, name, runs, most + 1, err);
	*left = n > most;
	for (int i = 0; i < n && i < most; i++)
		if (!catch_up(db, runs[i], err))
			return false;
	return n >= 0;
}

/* ---- looks for changes when there are new runs: rows of the store for
 * profiler/history, and what it finds as rows.
 */

static double distance(const struct changed_figure *f)
{
	return f->step.change.mid > 0 ? fabs(log(f->step.change.mid)) : 0;
}

/* What decides comes first, the farthest at the head. */
static int by_weight(const void *a, const void *b)
{
	const struct changed_figure *x = a, *y = b;
	double d = distance(y) - distance(x);

	if (x->decides != y->decides)
		return x->decides ? -1 : 1;
	return (d > 0) - (d < 0);
}

/* One with the change's own verdict goes to the head. */
static void put_headline_first(struct change_at *c)
{
	for (int i = 0; i < c->n_figures; i++)
		if (c->figures[i].decides && strcmp(c->figures[i].verdict, c->verdict) == 0) {
			struct changed_figure head = c->figures[i];

			memmove(&c->figures[1], &c->figures[0], (size_t)i * sizeof(head));
			c->figures[0] = head;
			return;
		}
}

static struct change_span span(const struct interval *x)
{
	return (struct change_span){ x->low, x->mid, x->high };
}

static struct change_step_row row_of(const struct changed_figure *f)
{
	const struct series_step *s = &f->step;
	const struct change_figure *runs = f->series;

	return (struct change_step_row){ .metric = f->metric->name,
					 .mode = f->mode,
					 .n = f->n,
					 .verdict = f->verdict,
					 .from_run = runs[s->from].run,
					 .before_run = runs[s->at - 1].run,
					 .run = runs[s->at].run,
					 .to_run = runs[s->to - 1].run,
					 .earliest = runs[s->earliest].run,
					 .latest = runs[s->latest].run,
					 .runs_before = s->at - s->from,
					 .runs_after = s->to - s->at,
					 .ended = f->ended,
					 .old = span(&s->before),
					 .new = span(&s->after),
					 .ratio = span(&s->change) };
}

static bool put_rows(struct change_at *c, struct arena *arena, struct change_row *to)
{
	*to = (struct change_row){ .before = c->before, .run = c->run, .verdict = c->verdict };
	to->steps = ARENA_ARRAY(arena, struct change_step_row, (size_t)c->n_figures + 1);
	if (!to->steps)
		return false;
	qsort(c->figures, (size_t)c->n_figures, sizeof(*c->figures), by_weight);
	put_headline_first(c);
	for (int i = 0; i < c->n_figures; i++)
		to->steps[to->n_steps++] = row_of(&c->figures[i]);
	return true;
}

/* change_find_fn */
static bool find(const struct scope_figure *figures, int n, struct arena *arena,
		 struct change_list *out, struct err *err)
{
	struct change_figure *series = ARENA_ARRAY(arena, struct change_figure, (size_t)n + 1);
	struct changes_found found = { 0 };
	bool ok = series != NULL;

	for (int i = 0; ok && i < n; i++) {
		const struct run_figure *f = &figures[i].figure;

		series[i] = (struct change_figure){ f->metric,
						    f->mode,
						    f->n,
						    figures[i].run,
						    figures[i].place,
						    { f->lo, f->value, f->hi },
						    figures[i].source_hash };
	}
	ok = ok && changes_find(series, n, arena, &found);
	out->at = ok ? ARENA_ARRAY(arena, struct change_row, (size_t)found.n + 1) : NULL;
	for (int i = 0; out->at && i < found.n; i++)
		if (!put_rows(&found.at[i], arena, &out->at[out->n++]))
			out->at = NULL;
	return out->at || err_set(err, ERR_MEMORY, "out of memory for changes");
}

bool changes_catch_up(struct db *db, const char *name, int most, bool *left, struct err *err)
{
	bool more;

	if (!figures_catch_up(db, name, most, left, err) ||
	    !db_changes_look(db, name, most, find, &more, err))
		return false;
	*left |= more;
	return true;
}
