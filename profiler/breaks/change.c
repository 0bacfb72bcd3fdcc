/* profiler/breaks/change.c -- a program beside the one that it was before a change.
 *
 * What is timed here is not what the report's latencies are: only the two programs take
 * turns, so that their ratio is as narrow as a short run can make it.
 */
#include "profiler/breaks/change.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/agree/agree.h"
#include "profiler/measure/break_even.h"
#include "profiler/measure/measure.h"
#include "profiler/report/report.h"
#include "profiler/workload/value_json.h"

/* Seconds of sampling the two programs of a mode, where the workload gives none. */
static const double pair_s = 1;

enum { BEFORE, AFTER };

struct change {
	const struct workload *w;
	const struct profiler_options *options;
	const struct point *p;
	struct point before;
	struct lane lanes[2];
	json_t *calls[2]; /* as in a report: what was printed is there */
	bool agrees;
	const struct inputs *inputs;
};

bool change_parse(struct workload *w, const json_t *before, struct err *err)
{
	const char *source = json_string_value(before);

	if (!before || json_is_null(before))
		return true;
	if (!source || json_string_length(before) > WORKLOAD_MAX_SOURCE_BYTES)
		return err_set(err, ERR_WORKLOAD,
			       "before must be the source that this program is a change of, a "
			       "string of at most 1 MiB");
	if (w->sweep.kind == SWEEP_STATEMENTS)
		return err_set(err, ERR_WORKLOAD,
			       "before goes with no sweep of statements: post the program of one "
			       "point");
	w->before.source = strdup(source);
	w->before.program = fusion_parse_in(w->registry, source, strlen(source), w->entry, err);
	if (w->before.source && w->before.program)
		return true;
	return err_set(err, err->code ? err->code : ERR_MEMORY,
		       "the program before the change, line %d: %.300s", err->line, err->message);
}

static bool make_calls(struct change *c, int side, struct err *err)
{
	struct lane *lane = &c->lanes[side];

	c->calls[side] = json_pack("{s:[]}", "calls");
	for (int i = 0; i < lane->originals->n_calls; i++) {
		struct fusion_counts was = fusion_counts(lane->session), now;

		if (!lane_call(lane, i, &lane->outputs[i], err) || !lane_reportable(lane, i, err) ||
		    !lane_keep_grads(lane, i, false, err))
			return false;
		now = fusion_counts(lane->session);
		lane->launches = (double)(now.launches - was.launches);
		json_array_append_new(json_object_get(c->calls[side], "calls"),
				      report_call(&(struct report_of_call){
					  .lane = lane, .call = i, .before = was, .after = now }));
		buf_clear(fusion_stdout(lane->session));
		if (!lane_note_writes(lane, i, err) ||
		    !fusion_wait(lane->engine, err)) /* all that was read is so */
			return false;
	}
	return true;
}

static bool make_lane(struct change *c, int side, enum fusion_mode mode,
		      const struct inputs *inputs, struct err *err)
{
	return lane_create(&c->lanes[side], c->w, side == BEFORE ? &c->before : c->p, mode, inputs,
			   (struct lane_cache){ .dir = c->options->cache_dir }, err) &&
	       make_calls(c, side, err);
}

static json_t *both(double before, double after)
{
	return json_pack("[f, f]", before, after);
}

/* Whether both give the same; before it is forgotten.  The old program is the judge. */
static void compare_values(struct change *c, json_t *m)
{
	struct reference reference = {
		.w = c->w, .p = &c->before, .inputs = c->inputs, .cache_dir = c->options->cache_dir
	};
	struct agree_pair pair = { &c->lanes[AFTER], &c->lanes[BEFORE], "the old program's",
				   &reference };
	struct agreement found = { 0 };

	agree_in_order(&found, &pair, c->calls[AFTER], c->calls[BEFORE]);
	agree_report(&found, pair.whose, m);
	c->agrees = found.verdict != AGREE_NOT;
	reference_finish(&reference);
}

static json_t *values_json(struct change *c)
{
	const struct lane *before = &c->lanes[BEFORE], *after = &c->lanes[AFTER];
	json_t *m = json_object();

	json_object_update(m, c->calls[AFTER]);
	compare_values(c, m);
	json_object_del(m, "calls");
	json_object_set_new(m, "graphs",
			    json_pack("[i, i]", fusion_graph_count(before->session),
				      fusion_graph_count(after->session)));
	json_object_set_new(m, "breaks",
			    json_pack("[i, i]", fusion_break_count(before->session),
				      fusion_break_count(after->session)));
	json_object_set_new(m, "launches", both(before->launches, after->launches));
	return m;
}

static bool on_tick(void *self, const struct lane *lane, int round, double share)
{
	const struct change *c = self;

	(void)lane, (void)round, (void)share;
	return !c->options->progress ||
	       c->options->progress(c->options->self, 0, "before and after the change", -1);
}

static json_t *interval_json(const struct interval *i)
{
	return json_pack("[f, f]", i->low, i->high);
}

static bool time_both(struct change *c, json_t *m, struct err *err)
{
	const struct measure_watch watch = { .tick = on_tick, .self = c };
	struct lane *before = &c->lanes[BEFORE], *after = &c->lanes[AFTER];
	double seconds = c->w->seconds > 0 ? c->w->seconds : pair_s;
	struct interval median[2];
	struct comparison found;

	if (!lane_forget(before, err) || !lane_forget(after, err) ||
	    !measure_lanes(c->lanes, 2, seconds, &watch, err))
		return false;
	if (!stats_median(before->sample_us, before->n_samples, &median[BEFORE]) ||
	    !stats_median(after->sample_us, after->n_samples, &median[AFTER]) ||
	    !break_even_compare(before->sample_us, after->sample_us, after->n_samples, 0, &found))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	json_object_set_new(m, "median_us", both(median[BEFORE].mid, median[AFTER].mid));
	json_object_set_new(
	    m, "ci_us",
	    json_pack("[o, o]", interval_json(&median[BEFORE]), interval_json(&median[AFTER])));
	json_object_set_new(m, "saved_us", json_real(found.saved_us.mid));
	json_object_set_new(m, "saved_ci_us", interval_json(&found.saved_us));
	json_object_set_new(m, "speedup", json_real(found.speedup.mid));
	json_object_set_new(m, "speedup_ci", interval_json(&found.speedup));
	if (!c->agrees)
		found.verdict = VERDICT_DISAGREES;
	json_object_set_new(m, "verdict", json_string(verdict_word(found.verdict)));
	return true;
}

static void drop(struct change *c)
{
	for (int side = 0; side < 2; side++) {
		lane_destroy(&c->lanes[side]);
		c->lanes[side] = (struct lane){ 0 };
		json_decref(c->calls[side]);
		c->calls[side] = NULL;
	}
}

/* NULL with *err: of the program after the change, or of the run. */
static json_t *run_mode(struct change *c, enum fusion_mode mode, const struct inputs *inputs,
			struct err *err)
{
	struct err why = { 0 };
	json_t *m = NULL;

	c->inputs = inputs;
	if (make_lane(c, AFTER, mode, inputs, err)) {
		if (!make_lane(c, BEFORE, mode, inputs, &why))
			m = json_pack("{s:o}", "error", report_error(&why));
		else
			m = values_json(c);
		if (!why.code && c->options->timing && !time_both(c, m, err)) {
			json_decref(m);
			m = NULL;
		}
	}
	drop(c);
	return m;
}

static json_t *run_point(struct change *c, struct err *err)
{
	json_t *modes = json_object();
	struct inputs inputs;

	if (!inputs_create(&inputs, c->w, c->p, err)) {
		json_decref(modes);
		return NULL;
	}
	for (int k = 0; modes && k < c->w->n_modes; k++) {
		json_t *m = run_mode(c, c->w->modes[k], &inputs, err);

		if (!m) {
			json_decref(modes);
			modes = NULL;
		} else {
			json_object_set_new(modes, fusion_mode_name(c->w->modes[k]), m);
		}
	}
	inputs_destroy(&inputs);
	return modes;
}

json_t *change_run(const struct workload *w, const struct profiler_options *options,
		   struct err *err)
{
	struct change c = { .w = w, .options = options };
	json_t *all;
	struct err why = { 0 };

	if (!w->before.program)
		return json_null();
	all = json_array();
	for (int i = 0; i < w->n_points && !why.code; i++) {
		json_t *modes;

		c.p = &w->points[i];
		if (options->only && c.p->n != options->at)
			continue;
		c.before = w->before;
		c.before.n = c.p->n;
		modes = run_point(&c, &why);
		if (modes)
			json_array_append_new(all, modes);
	}
	if (!why.code)
		return all;
	json_decref(all);
	if (why.code != ERR_CANCELLED && why.code != ERR_MEMORY)
		return json_null();
	*err = why;
	return NULL;
}

void change_put(json_t *report, const json_t *changes)
{
	const json_t *points = json_object_get(report, "points"), *of;
	size_t i;

	json_array_foreach((json_t *)changes, i, of)
	{
		const json_t *place = json_array_size(points) ? json_array_get(points, i) : report;
		const char *mode;
		json_t *change;

		json_object_foreach((json_t *)of, mode, change) json_object_set(
		    json_object_get(json_object_get(place, "modes"), mode), "change", change);
	}
}
