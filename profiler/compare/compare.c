/* profiler/compare/compare.c -- did it change, and because of what? */
#include "profiler/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/sentences.h"
#include "profiler/compare/verdicts.h"
#include "profiler/compare/lines.h"
#include "profiler/compare/settings.h"
#include "profiler/fields/breaks.h"
#include "profiler/numbers/numbers.h"
#include "profiler/profiler.h"

/* ---- breaks and graphs that came, went or changed ---- */

enum { MOST_ITEMS = 2000 }; /* compared of a mode */

/* ---- breaks */

static const char *line_of(const struct report_break *b, const struct compared_program *program,
			   struct break_place *place, int *len)
{
	*place = break_place_of(b);
	return lines_at(program_text(program, place->file), place->line, len);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_break(const struct changes *c, const struct report_break *x,
		       const struct report_break *y)
{
	struct break_place at_x, at_y;
	int len_x, len_y;
	const char *text_x = line_of(x, &c->program_a, &at_x, &len_x),
		   *text_y = line_of(y, &c->program_b, &at_y, &len_y);

	return same_text(at_x.file, at_y.file) && strcmp(x->stage, y->stage) == 0 &&
	       strcmp(x->kind, y->kind) == 0 && same_text(x->gb, y->gb) && len_x == len_y &&
	       memcmp(text_x, text_y, (size_t)len_x) == 0;
}

/* Whether what it costs is told: neither its interval nor that of all breaks of the mode holds 0.
 */
static bool cost_told(const struct report_mode *m, const struct report_break *b)
{
	return b->has.cost_us && !(b->cost && b->cost->ci_us.low <= 0) &&
	       !(m->break_cost && m->break_cost->ci_us.low <= 0);
}

static struct report_compared_break *break_side(const struct changes *c,
						const struct report_mode *m,
						const struct report_break *b,
						const struct break_place *place)
{
	struct report_compared_break *to = report_new_compared_break(1, &c->draft->arena);
	bool told = cost_told(m, b);

	if (!to)
		return NULL;
	REPORT_SET_IF(to, file, place->file && *place->file, place->file);
	REPORT_SET(to, line, place->line);
	REPORT_SET(to, count, b->count);
	REPORT_SET_IF(to, cost_us, told, b->cost_us);
	REPORT_SET_IF(to, ci_us, told && b->cost, b->cost->ci_us);
	return to;
}

static void add_break(struct changes *c, const struct report_break *x, const struct report_break *y)
{
	struct report_break_change *to = &c->breaks.at[c->breaks.n++];
	const struct report_break *either = y ? y : x;
	struct break_place at_x = { 0 }, at_y = { 0 };
	int len = 0;
	const char *text = x ? line_of(x, &c->program_a, &at_x, &len) : "";

	if (y)
		text = line_of(y, &c->program_b, &at_y, &len);
	REPORT_SET(to, mode, c->mode);
	REPORT_SET_IF(to, n, !isnan(c->n), c->n);
	REPORT_SET(to, change, !x ? "added" : y ? "kept" : "gone");
	REPORT_SET(to, stage, either->stage);
	REPORT_SET(to, kind, either->kind);
	REPORT_SET_IF(to, gb, either->gb, either->gb);
	REPORT_SET(to, text, arena_strndup(&c->draft->arena, text, (size_t)len));
	REPORT_SET_IF(to, a, x, break_side(c, c->a, x, &at_x));
	REPORT_SET_IF(to, b, y, break_side(c, c->b, y, &at_y));
}

/* Room for n more; those that are there stay. */
static bool room_for_breaks(struct changes *c, size_t n)
{
	struct report_break_change *all = report_new_break_change(c->breaks.n + n,
								  &c->draft->arena);

	if (all && c->breaks.n)
		memcpy(all, c->breaks.at, c->breaks.n * sizeof(*all));
	c->breaks.at = all;
	return all != NULL;
}

/* The same break is one of the
 * same stage, kind and registry id at a line of the same text, wherever in its file that is now. */
static bool changes_breaks(struct changes *c)
{
	struct report_break_list in_a = c->a->breaks, in_b = c->b->breaks;
	bool met[MOST_ITEMS] = { false };

	if (!room_for_breaks(c, in_a.n + in_b.n))
		return false;
	for (size_t i = 0; i < in_a.n && i < MOST_ITEMS; i++) {
		const struct report_break *y = NULL;

		for (size_t k = 0; !y && k < in_b.n && k < MOST_ITEMS; k++)
			if (!met[k] && same_break(c, &in_a.at[i], &in_b.at[k])) {
				y = &in_b.at[k];
				met[k] = true;
			}
		add_break(c, &in_a.at[i], y);
	}
	for (size_t k = 0; k < in_b.n && k < MOST_ITEMS; k++)
		if (!met[k])
			add_break(c, NULL, &in_b.at[k]);
	return true;
}

/* ---- graphs */

/* How often each op is in the graphs: a count for each name. */
static json_t *ops_of(struct report_graph_list graphs)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < graphs.n; i++)
		for (size_t k = 0; k < graphs.at[i].ops.n; k++) {
			const char *name = graphs.at[i].ops.at[k];
			json_t *n = json_object_get(counts, name);

			if (n)
				json_integer_set(n, json_integer_value(n) + 1);
			else
				json_object_set_new(counts, name, json_integer(1));
		}
	return counts;
}

/* Those of x whose count in y is another; with `missing`, those alone that y has not. */
static void add_ops(struct changes *c, struct report_op_change_list *list, const json_t *x,
		    const json_t *y, bool missing)
{
	const char *op;
	json_t *n;

	json_object_foreach((json_t *)x, op, n)
	{
		int64_t in_x = json_integer_value(n),
			in_y = json_integer_value(json_object_get(y, op));
		struct report_op_change *to;

		if (!(missing ? in_y == 0 : in_x != in_y))
			continue;
		to = &list->at[list->n++];
		REPORT_SET(to, op, report_draft_text(c->draft, op));
		REPORT_SET(to, a, missing ? 0 : in_x);
		REPORT_SET(to, b, missing ? in_x : in_y);
	}
}

/* Only where they differ; there is room for the mode. */
static bool changes_graphs(struct changes *c)
{
	size_t n_a = c->a->graphs.n, n_b = c->b->graphs.n;
	json_t *ops_a = ops_of(c->a->graphs), *ops_b = ops_of(c->b->graphs);
	size_t most = json_object_size(ops_a) + json_object_size(ops_b);
	struct report_op_change_list ops = { report_new_op_change(most, &c->draft->arena), 0 };

	if (ops.at) {
		add_ops(c, &ops, ops_a, ops_b, false);
		add_ops(c, &ops, ops_b, ops_a, true);
	}
	if (ops.n || n_a != n_b) {
		struct report_graph_change *to = &c->graphs.at[c->graphs.n++];

		REPORT_SET(to, mode, c->mode);
		REPORT_SET_IF(to, n, !isnan(c->n), c->n);
		REPORT_SET(to, a, (int64_t)n_a);
		REPORT_SET(to, b, (int64_t)n_b);
		REPORT_SET(to, ops, ops);
	}
	json_decref(ops_a);
	json_decref(ops_b);
	return ops.at != NULL;
}

static const double confidence = 0.95;

/* Two runs on their way to a comparison. */
struct pair {
	const struct compared_run *run_a, *run_b;
	const struct report_run *a, *b; /* their reports */
	const struct compare_options *o;
	double margin;
	struct report_draft *draft;
	struct figures in_a, in_b;
	struct verdicts verdicts;
	struct differences differences;
	struct report_compared *out;
};

/* ---- what the verdict rests on */

static bool is_eager(const struct compared_figure *row)
{
	return strcmp(row->a.mode, "eager") == 0;
}

static enum verdict verdict_of_all(const struct verdicts *j, int counts[VERDICT_COUNT])
{
	int n = 0;

	memset(counts, 0, VERDICT_COUNT * sizeof(*counts));
	for (size_t i = 0; i < j->rows.len; i++)
		if (j->rows.at[i].decides) {
			counts[j->rows.at[i].verdict]++;
			n++;
		}
	if (counts[VERDICT_DISAGREES])
		return VERDICT_DISAGREES;
	if (counts[VERDICT_SLOWER])
		return VERDICT_SLOWER;
	if (counts[VERDICT_FASTER])
		return VERDICT_FASTER;
	if (counts[VERDICT_NOT_ENOUGH] == n)
		return VERDICT_NOT_ENOUGH;
	return counts[VERDICT_SAME] + counts[VERDICT_NOT_ENOUGH] == n ? VERDICT_SAME
								      : VERDICT_AMBIGUOUS;
}

/* The mode that a run is spoken of by: static, else the first compiled one; eager where
 * there is nothing else. */
static int rank_of(const struct compared_figure *row)
{
	if (strcmp(row->a.mode, "static") == 0)
		return 3;
	return is_eager(row) ? 1 : 2;
}

/* Whether x says more than y: of two that hold the verdict, the mode that is spoken of,
 * the last point. */
static bool says_more(const struct compared_figure *x, const struct compared_figure *y)
{
	if (rank_of(x) != rank_of(y))
		return rank_of(x) > rank_of(y);
	return strcmp(x->a.mode, y->a.mode) == 0 && x->a.n > y->a.n;
}

static const struct compared_figure *headline_of(const struct verdicts *j, enum verdict verdict)
{
	const struct compared_figure *best = NULL;

	for (size_t i = 0; i < j->rows.len; i++) {
		const struct compared_figure *row = &j->rows.at[i];

		if (row->decides && row->verdict == verdict && (!best || says_more(row, best)))
			best = row;
	}
	return best;
}

/* ---- eager, the control */

/* Whether eager does the same in both, on what calls itself the same machine: settings that are
 * only named are of the compiler, or of the machine, which eager shall tell about. */
static bool same_in_eager(const struct differences *d)
{
	static const char *const others[] = { "source", "pool", "entry" };

	for (size_t i = 0; i < d->rows.len; i++) {
		bool other = d->rows.at[i].matters;

		for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
			other |= strcmp(d->rows.at[i].key, others[k]) == 0;
		if (other)
			return false;
	}
	return true;
}

static bool moved(const struct compared_figure *row)
{
	return row->verdict == VERDICT_FASTER || row->verdict == VERDICT_SLOWER;
}

/* Whether x says more of the machine than y: that it moved, or may have, and how far. */
static bool moved_more(const struct compared_figure *x, const struct compared_figure *y)
{
	int of_x = moved(x) ? 2 : x->verdict == VERDICT_AMBIGUOUS;
	int of_y = moved(y) ? 2 : y->verdict == VERDICT_AMBIGUOUS;

	if (of_x != of_y)
		return of_x > of_y;
	return of_x == 0 || fabs(log(x->ratio.mid)) > fabs(log(y->ratio.mid));
}

static const struct compared_figure *control_of(const struct verdicts *j)
{
	const struct compared_figure *best = NULL;

	for (size_t i = 0; i < j->rows.len; i++) {
		const struct compared_figure *row = &j->rows.at[i];

		if (row->a.metric == METRIC_latency && is_eager(row) &&
		    (!best || moved_more(row, best)))
			best = row;
	}
	return best;
}

static bool has_speedup(const struct verdicts *j)
{
	for (size_t i = 0; i < j->rows.len; i++)
		if (j->rows.at[i].a.metric == METRIC_speedup)
			return true;
	return false;
}

/* The figures of a metric decide, with latencies what else a result is of; eager does not where it
 * is the control of others. */
static void let_decide(struct verdicts *j, enum figure_metric metric, bool control)
{
	for (size_t i = 0; i < j->rows.len; i++) {
		struct compared_figure *row = &j->rows.at[i];
		bool of_result = row->a.metric == METRIC_rate || row->a.metric == METRIC_amount;

		row->decides = (row->a.metric == metric ||
				(of_result && metric == METRIC_latency)) &&
			       !(control && is_eager(row));
	}
}

/* Latency, unless eager moved too: then the machine did, or the library, and the speedup decides.
 * Where eager may have moved, a latency that did is not believed either.  What is asked for
 * decides in any case. */
static enum figure_metric judge_by(struct verdicts *j, const struct compared_figure *control,
				   const char *asked)
{
	bool known = control && has_speedup(j);
	bool other = asked && strcmp(asked, "speedup") == 0;
	int counts[VERDICT_COUNT];
	enum verdict latency;

	let_decide(j, METRIC_latency, known);
	latency = verdict_of_all(j, counts);
	if (!asked && known)
		other = moved(control) ||
			(control->verdict == VERDICT_AMBIGUOUS &&
			 (latency == VERDICT_FASTER || latency == VERDICT_SLOWER));
	if (!other)
		return METRIC_latency;
	let_decide(j, METRIC_speedup, known);
	for (size_t i = 0; !asked && i < j->rows.len; i++)
		j->rows.at[i].overruled = j->rows.at[i].a.metric == METRIC_latency;
	return METRIC_speedup;
}

static struct report_setting_difference_list differences_of(const struct pair *p)
{
	size_t n = p->differences.rows.len;
	struct report_setting_difference *all = report_new_setting_difference(n, &p->draft->arena);

	for (size_t i = 0; all && i < n; i++) {
		const struct setting_difference *row = &p->differences.rows.at[i];

		REPORT_SET(&all[i], key, row->key);
		REPORT_SET(&all[i], title, row->title);
		REPORT_SET(&all[i], a, row->a);
		REPORT_SET(&all[i], b, row->b);
		REPORT_SET(&all[i], matters, row->matters);
		REPORT_SET(&all[i], parts, row->parts);
	}
	return (struct report_setting_difference_list){ all, n };
}

/* ---- the parts of a comparison */

static struct report_compared_figure *figure_of(const struct pair *p,
						const struct compared_figure *row)
{
	struct report_compared_figure *to = report_new_compared_figure(1, &p->draft->arena);

	if (to)
		verdicts_fill(to, row, p->verdicts.family, p->draft);
	return to;
}

static struct report_compared_figure_list all_figures(const struct pair *p)
{
	size_t n = p->verdicts.rows.len;
	struct report_compared_figure *all = report_new_compared_figure(n, &p->draft->arena);

	for (size_t i = 0; all && i < n; i++)
		verdicts_fill(&all[i], &p->verdicts.rows.at[i], p->verdicts.family, p->draft);
	return (struct report_compared_figure_list){ all, n };
}

static struct report_numbers count_words(const struct pair *p, const int counts[VERDICT_COUNT])
{
	static const enum verdict words[] = { VERDICT_DISAGREES, VERDICT_SLOWER,
					      VERDICT_FASTER,    VERDICT_SAME,
					      VERDICT_AMBIGUOUS, VERDICT_NOT_ENOUGH };
	size_t n = sizeof(words) / sizeof(words[0]);
	double *numbers = ARENA_ARRAY(&p->draft->arena, double, n);
	const char **names = ARENA_ARRAY(&p->draft->arena, const char *, n);

	for (size_t i = 0; numbers && names && i < n; i++) {
		numbers[i] = counts[words[i]];
		names[i] = verdict_word(words[i]);
	}
	return (struct report_numbers){ numbers, n, names };
}

static void put_figures(struct pair *p)
{
	struct verdicts *j = &p->verdicts;
	const struct compared_figure *headline,
	    *control = same_in_eager(&p->differences) ? control_of(j) : NULL;
	enum figure_metric metric = judge_by(j, control, p->o->metric);
	int counts[VERDICT_COUNT];
	enum verdict all = verdict_of_all(j, counts);

	headline = headline_of(j, all);
	REPORT_SET(p->out, verdict, verdict_word(all));
	REPORT_SET(p->out, judged_by, metric_info(metric)->name);
	REPORT_SET_OR_NULL(p->out, headline, headline, figure_of(p, headline));
	REPORT_SET_OR_NULL(p->out, control, control, figure_of(p, control));
	REPORT_SET(p->out, counts, count_words(p, counts));
	REPORT_SET(p->out, family, j->family);
	REPORT_SET(p->out, figures, all_figures(p));
}

/* Modes and points that one side alone has: "graphs", "static at n = 30". */
static struct report_texts only_in(const struct pair *p, const struct figures *x,
				   const struct figures *y)
{
	struct arena *arena = &p->draft->arena;
	const char **list = ARENA_ARRAY(arena, const char *, x->rows.len + 1);
	size_t n = 0;

	for (size_t i = 0; list && i < x->rows.len; i++) {
		const struct figure *f = &x->rows.at[i];

		if (f->metric != METRIC_launches || figures_find(y, f))
			continue;
		list[n++] = isnan(f->n) ? f->mode
					: arena_printf(arena, "%s at n = %.6g", f->mode, f->n);
	}
	return (struct report_texts){ list, list ? n : 1 };
}

static void put_only(struct pair *p)
{
	struct report_compared_only *only = report_new_compared_only(1, &p->draft->arena);

	REPORT_SET(p->out, only, only);
	if (!only)
		return;
	REPORT_SET(only, a, only_in(p, &p->in_a, &p->in_b));
	REPORT_SET(only, b, only_in(p, &p->in_b, &p->in_a));
}

static struct compared_program program_of(const struct report_run *run,
					  const struct report_point *point)
{
	return (struct compared_program){ run->workload, point->source };
}

/* The last point that both have, and its counterpart. */
static bool last_points(const struct pair *p, struct report_point *a, struct report_point *b)
{
	for (size_t i = figures_points(p->a); i-- > 0;) {
		*a = figures_point(p->a, i);
		for (size_t k = figures_points(p->b); k-- > 0;) {
			*b = figures_point(p->b, k);
			if (a->n == b->n || (isnan(a->n) && isnan(b->n)))
				return true;
		}
	}
	return false;
}

static struct report_line_change_list lines_of(const struct pair *p, const struct lines *lines)
{
	struct report_line_change *all = report_new_line_change(lines->n, &p->draft->arena);

	for (size_t i = 0; all && i < lines->n; i++) {
		const struct line_change *l = &lines->at[i];

		REPORT_SET_IF(&all[i], file, l->file, l->file);
		REPORT_SET(&all[i], sign, l->sign);
		REPORT_SET_IF(&all[i], a, l->in_a, l->in_a);
		REPORT_SET_IF(&all[i], b, l->in_b, l->in_b);
		REPORT_SET(&all[i], text, l->text);
	}
	return (struct report_line_change_list){ all, lines->n };
}

/* Line by line; of a sweep what ran at the last point, with the statements it put in. */
static bool put_source(struct pair *p, struct err *err)
{
	struct report_source_change *to = report_new_source_change(1, &p->draft->arena);
	struct compared_program in_a, in_b;
	struct report_point a, b;
	struct lines lines;

	if (!last_points(p, &a, &b))
		a = b = (struct report_point){ .n = NAN };
	in_a = program_of(p->a, &a);
	in_b = program_of(p->b, &b);
	if (!to || !lines_compare(&in_a, &in_b, &p->draft->arena, &lines))
		return err_set(err, ERR_MEMORY, "out of memory for lines");
	REPORT_SET_IF(to, added, lines.counted, lines.added);
	REPORT_SET_IF(to, gone, lines.counted, lines.gone);
	REPORT_SET_IF(to, lines, lines.n, lines_of(p, &lines));
	REPORT_SET_IF(to, n, !isnan(a.n), a.n);
	REPORT_SET(p->out, source, to);
	return true;
}

/* The modes that both have at a point. */
static bool compare_modes(struct changes *c, const struct report_point *a,
			  const struct report_point *b, double margin)
{
	bool ok;

	c->graphs.at = report_new_graph_change(a->modes.n, &c->draft->arena);
	ok = c->graphs.at != NULL;
	for (size_t i = 0; ok && i < a->modes.n; i++) {
		c->mode = a->modes.keys[i];
		c->a = &a->modes.at[i];
		c->b = report_get(b->modes, c->mode);
		ok = !c->b ||
		     (changes_breaks(c) && changes_graphs(c) && changes_kernels(c, margin));
	}
	return ok;
}

static bool put_changes(struct pair *p, struct err *err)
{
	struct changes c = { .draft = p->draft };
	struct report_point a, b;
	bool ok = true;

	if (last_points(p, &a, &b)) {
		c.n = a.n;
		c.program_a = program_of(p->a, &a);
		c.program_b = program_of(p->b, &b);
		ok = compare_modes(&c, &a, &b, p->margin);
	}
	REPORT_SET(p->out, breaks, c.breaks);
	REPORT_SET(p->out, kernels, c.kernels);
	REPORT_SET(p->out, kernels_same, c.kernels_same);
	REPORT_SET(p->out, graphs, c.graphs);
	return ok || err_set(err, ERR_MEMORY, "out of memory for a comparison");
}

/* ---- the fixed control */

static const double least_drift = 0.01;

static bool drift_between(const struct report_control *a, const struct report_control *b,
			  struct interval *out)
{
	struct interval x, y;

	if (!a || !b || a->launches != b->launches) /* another work */
		return false;
	x = (struct interval){ a->ci_us.low, a->median_us, a->ci_us.high };
	y = (struct interval){ b->ci_us.low, b->median_us, b->ci_us.high };
	return ratio_of(&x, &y, out);
}

/* Whether both controls are of one machine and one Breakeven. */
static bool same_machine(const struct report_run *a, const struct report_run *b)
{
	const struct report_environment *x = a->environment, *y = b->environment;

	return x && y && same_text(x->cpu, y->cpu) && same_text(x->breakeven, y->breakeven);
}

/* Whether the machine drifted, and by what; false: nothing tells. */
static bool put_drift(struct pair *p, struct drift *drift)
{
	struct report_compared_drift *to = report_new_compared_drift(1, &p->draft->arena);
	const struct interval *ratio = &drift->ratio;

	if (!to || !drift_between(p->a->control, p->b->control, &drift->ratio))
		return false;
	drift->moved = fabs(ratio->mid - 1) >= least_drift && (ratio->low > 1 || ratio->high < 1);
	drift->same_machine = same_machine(p->a, p->b);
	REPORT_SET(to, ratio, ratio->mid);
	REPORT_SET(to, ci, (struct report_interval){ ratio->low, ratio->high });
	REPORT_SET(to, moved, drift->moved);
	REPORT_SET(to, text,
		   arena_printf(&p->draft->arena,
				drift->moved
				    ? "The fixed control took %.2fx (%.2f–%.2f) as long: the "
				      "machine drifted. A latency's ratio is without the drift: "
				      "its interval holds the least and the most of it that the "
				      "latency can have felt."
				    : "The fixed control took %.2fx (%.2f–%.2f) as long: the "
				      "machine did not drift.",
				ratio->mid, ratio->low, ratio->high));
	REPORT_SET(p->out, drift, to);
	return true;
}

static bool put_compared(struct pair *p, struct err *err)
{
	struct drift drift;
	bool known;

	if (!figures_of(p->a, &p->in_a, err) || !figures_of(p->b, &p->in_b, err))
		return false;
	figures_spread(&p->in_a, p->run_a->repeats, p->run_a->n_repeats);
	figures_spread(&p->in_b, p->run_b->repeats, p->run_b->n_repeats);
	known = put_drift(p, &drift);
	if (!verdicts_of(&p->in_a, &p->in_b, p->margin, known ? &drift : NULL, &p->verdicts, err))
		return false;
	put_figures(p);
	put_only(p);
	return put_source(p, err) && put_changes(p, err);
}

static bool put_pair(struct pair *p, const char *label, struct err *err)
{
	struct report_compared *to = p->out;
	struct buf refused;
	bool bars;

	buf_init(&refused, 4096);
	bars = settings_refusal(&p->differences, &refused);
	REPORT_SET(to, a, "A");
	REPORT_SET(to, b, report_draft_text(p->draft, label));
	REPORT_SET(to, comparable, !bars);
	REPORT_SET(to, forced, bars && p->o->force);
	REPORT_SET_IF(to, refused, bars, report_draft_text(p->draft, refused.data));
	REPORT_SET(to, differences, differences_of(p));
	REPORT_SET_IF(to, of_results, p->a->result && p->b->result, true);
	buf_finish(&refused);
	if (!bars || p->o->force)
		return put_compared(p, err);
	REPORT_SET(to, verdict, "REFUSED");
	return true;
}

static bool compare_pair(struct pair *p, const char *label, struct err *err)
{
	bool ok = settings_differences(p->a, p->b, &p->draft->arena, &p->differences, err) &&
		  put_pair(p, label, err);

	if (ok && !compared_say(p->out, p->margin, &p->draft->arena))
		ok = err_set(err, ERR_MEMORY, "out of memory for a comparison");
	differences_finish(&p->differences);
	figures_finish(&p->in_a);
	figures_finish(&p->in_b);
	verdicts_finish(&p->verdicts);
	return ok;
}

/* ---- all of them */

/* What is compared, read. */
struct run_compared {
	const struct compared_run *runs;
	const struct report_run *reports[COMPARE_MAX_RUNS];
	int n;
	struct report_draft draft;
};

static bool read_runs(struct run_compared *s, const struct compare_options *o, struct err *err)
{
	if (o->metric && strcmp(o->metric, "latency") != 0 && strcmp(o->metric, "speedup") != 0)
		return err_set(err, ERR_BAD_REQUEST, "metric %.40s: latency or speedup is needed",
			       o->metric);
	for (int i = 0; i < s->n; i++) {
		s->reports[i] = report_read_run(s->runs[i].report, &s->draft.arena, err);
		if (!s->reports[i])
			return false;
		if (figures_point(s->reports[i], 0).modes.n == 0)
			return err_set(err, ERR_BAD_REQUEST,
				       "run %c measured no mode of a workload: there is nothing to "
				       "compare",
				       'A' + i);
	}
	return true;
}

/* What disagrees outweighs all, then what is SLOWER, then a refusal. */
static const char *worst(struct report_compared_list comparisons)
{
	static const char *const order[] = { "DISAGREES", "SLOWER", "REFUSED",   "FASTER",
					     "AMBIGUOUS", "SAME",   "NOT ENOUGH" };

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < comparisons.n; i++)
			if (strcmp(comparisons.at[i].verdict, order[k]) == 0)
				return order[k];
	return "NOT ENOUGH";
}

/* The heads of the runs, which are their owner's, with a label each. */
static bool label_runs(struct run_compared *s, struct report_compared_run_list *out,
		       struct err *err)
{
	out->at = report_new_compared_run((size_t)s->n, &s->draft.arena);
	for (int i = 0; out->at && i < s->n; i++) {
		const json_t *head = report_draft_value(&s->draft, json_copy(s->runs[i].head));
		const struct report_compared_run *run = report_read_compared_run(
		    head, &s->draft.arena, err);
		const char label[2] = { (char)('A' + i), '\0' };

		if (!run)
			return false;
		out->at[out->n] = *run;
		REPORT_SET(&out->at[out->n], label, report_draft_text(&s->draft, label));
		out->n++;
	}
	return out->at || err_set(err, ERR_MEMORY, "out of memory for a comparison");
}

/* What A's points vary, without the lines of a pool. */
static struct report_compared_sweep *sweep_of(const struct report_sweep *sweep,
					      struct report_draft *draft)
{
	struct report_compared_sweep *to = report_new_compared_sweep(1, &draft->arena);
	struct report_compared_input *input = report_new_compared_input(1, &draft->arena);

	if (!to || !input)
		return NULL;
	if (!sweep->input) {
		REPORT_SET(to, statements, report_draft_value(draft, json_object()));
		return to;
	}
	REPORT_SET_IF(input, arg, sweep->input->has.arg, sweep->input->arg);
	REPORT_SET_IF(input, dim, sweep->input->has.dim, sweep->input->dim);
	REPORT_SET(to, input, input);
	return to;
}

/* Each run against the first. */
static bool compare_each(struct run_compared *s, const struct compare_options *o, double margin,
			 struct report_compared_list *out, struct err *err)
{
	out->at = report_new_compared((size_t)s->n, &s->draft.arena);
	if (!out->at)
		return err_set(err, ERR_MEMORY, "out of memory for a comparison");
	for (int i = 1; i < s->n; i++) {
		const char label[2] = { (char)('A' + i), '\0' };
		struct pair p = { .run_a = &s->runs[0],
				  .run_b = &s->runs[i],
				  .a = s->reports[0],
				  .b = s->reports[i],
				  .o = o,
				  .margin = margin,
				  .draft = &s->draft,
				  .out = &out->at[out->n++] };

		if (!compare_pair(&p, label, err))
			return false;
	}
	return true;
}

static json_t *compare_all(struct run_compared *s, const struct compare_options *o, struct err *err)
{
	double margin = o->margin > 0 ? o->margin : RATIO_MARGIN;
	struct report_compare *to = report_new_compare(1, &s->draft.arena);
	const struct report_sweep *sweep;
	struct report_compared_run_list runs = { 0 };
	struct report_compared_list all = { 0 };
	json_t *json;

	if (!to)
		err_set(err, ERR_MEMORY, "out of memory for a comparison");
	if (!to || !read_runs(s, o, err) || !label_runs(s, &runs, err) ||
	    !compare_each(s, o, margin, &all, err))
		return NULL;
	sweep = s->reports[0]->workload ? s->reports[0]->workload->sweep : NULL;
	REPORT_SET(to, margin, margin);
	REPORT_SET(to, confidence, confidence);
	REPORT_SET(to, verdict, worst(all));
	REPORT_SET(to, comparable, true);
	for (size_t i = all.n; i-- > 0;)
		if (all.at[i].refused) {
			REPORT_SET(to, comparable, false);
			REPORT_SET(to, refused, all.at[i].refused);
		}
	REPORT_SET_IF(to, sweep, sweep, sweep_of(sweep, &s->draft));
	REPORT_SET(to, runs, runs);
	REPORT_SET(to, comparisons, all);
	json = report_write_compare(to);
	if (!json)
		err_set(err, ERR_MEMORY, "out of memory for a comparison");
	return json;
}

json_t *compare_runs(const struct compared_run *runs, int n, const struct compare_options *o,
		     struct err *err)
{
	struct run_compared s = { .runs = runs, .n = n };
	json_t *json = compare_all(&s, o, err);

	report_draft_finish(&s.draft);
	return json;
}
