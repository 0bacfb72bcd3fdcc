/* profiler/compare/compare.c -- did it change, and because of what? */
#include "profiler/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/judged.h"
#include "profiler/compare/lines.h"
#include "profiler/compare/settings.h"
#include "profiler/numbers/numbers.h"
#include "profiler/profiler.h"

/* ---- breaks and graphs that came, went or changed ---- */

enum { MOST_ITEMS = 2000 }; /* compared of a mode */

json_t *compare_number(double x)
{
	if (!isfinite(x))
		return json_null();
	return x == (double)(int64_t)x ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *of_place(const struct changes *c)
{
	return json_pack("{s:s, s:o}", "mode", c->mode, "n", compare_number(c->n));
}

/* ---- breaks */

static const char *line_of(const struct report_break *b, const char *source, int *line, int *len)
{
	*line = profiler_place_of(b).line;
	return lines_at(source, *line, len);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_break(const struct changes *c, const struct report_break *x,
		       const struct report_break *y)
{
	int line, len_x, len_y;
	const char *text_x = line_of(x, c->source_a, &line, &len_x),
		   *text_y = line_of(y, c->source_b, &line, &len_y);

	return strcmp(x->stage, y->stage) == 0 && strcmp(x->kind, y->kind) == 0 &&
	       same_text(x->gb, y->gb) && len_x == len_y &&
	       memcmp(text_x, text_y, (size_t)len_x) == 0;
}

static json_t *break_side(const struct report_break *b, int line)
{
	const struct report_break_cost *cost = b ? b->cost : NULL;

	if (!b)
		return json_null();
	return json_pack("{s:i, s:I, s:o, s:o}", "line", line, "count", (json_int_t)b->count,
			 "cost_us", b->has.cost_us ? json_real(b->cost_us) : json_null(), "ci_us",
			 cost ? json_pack("[f, f]", cost->ci_us.low, cost->ci_us.high)
			      : json_null());
}

static void add_break(struct changes *c, const struct report_break *x, const struct report_break *y)
{
	const struct report_break *either = y ? y : x;
	int line_x = 0, line_y = 0, len = 0;
	const char *text = x ? line_of(x, c->source_a, &line_x, &len) : "";
	json_t *row = of_place(c), *words;

	if (y)
		text = line_of(y, c->source_b, &line_y, &len);
	words = json_stringn(text, (size_t)len);
	json_object_set_new(row, "change", json_string(!x ? "added" : y ? "kept" : "gone"));
	json_object_set_new(row, "stage", json_string(either->stage));
	json_object_set_new(row, "kind", json_string(either->kind));
	json_object_set_new(row, "gb", either->gb ? json_string(either->gb) : json_null());
	json_object_set_new(row, "text", words ? words : json_string(""));
	json_object_set_new(row, "a", break_side(x, line_x));
	json_object_set_new(row, "b", break_side(y, line_y));
	json_array_append_new(c->breaks, row);
}

/* {"change": "added", "gone" or "kept", "stage", "kind", "gb", "text" (of the line), "a"
 * and "b": {"line", "count", "cost_us", "ci_us"} or null}.  The same break is one of the
 * same stage, kind and registry id at a line of the same text, wherever that is now. */
static void changes_breaks(struct changes *c)
{
	struct report_break_list in_a = c->a->breaks, in_b = c->b->breaks;
	bool met[MOST_ITEMS] = { false };

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
static void add_ops(json_t *list, const json_t *x, const json_t *y, bool missing)
{
	const char *op;
	json_t *n;

	json_object_foreach((json_t *)x, op, n)
	{
		json_int_t in_x = json_integer_value(n),
			   in_y = json_integer_value(json_object_get(y, op));

		if (missing ? in_y == 0 : in_x != in_y)
			json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "op", op, "a",
							      missing ? (json_int_t)0 : in_x, "b",
							      missing ? in_x : in_y));
	}
}

/* {"a" and "b": numbers of graphs, "ops": [{"op", "a", "b"}]} where they differ. */
static void changes_graphs(struct changes *c)
{
	size_t n_a = c->a->graphs.n, n_b = c->b->graphs.n;
	json_t *ops_a = ops_of(c->a->graphs), *ops_b = ops_of(c->b->graphs), *ops = json_array();

	add_ops(ops, ops_a, ops_b, false);
	add_ops(ops, ops_b, ops_a, true);
	if (json_array_size(ops) || n_a != n_b) {
		json_t *row = of_place(c);

		json_object_set_new(row, "a", json_integer((json_int_t)n_a));
		json_object_set_new(row, "b", json_integer((json_int_t)n_b));
		json_object_set(row, "ops", ops);
		json_array_append_new(c->graphs, row);
	}
	json_decref(ops);
	json_decref(ops_a);
	json_decref(ops_b);
}

static const double confidence = 0.95;

/* Two runs on their way to a comparison. */
struct pair {
	const struct compared_run *run_a, *run_b;
	const struct report_run *a, *b; /* their reports */
	const struct compare_options *o;
	double margin;
	struct arena *arena;
	struct figures in_a, in_b;
	struct judgement judged;
	struct differences differences;
	json_t *out;
};

/* ---- what the verdict rests on */

static bool counts_for(const struct judged *row, const char *metric)
{
	const struct metric_info *m = metric_info(row->a.metric);

	return strcmp(m->name, metric ? metric : "latency") == 0;
}

static enum verdict verdict_of_all(const struct judgement *j, const char *metric,
				   int counts[VERDICT_COUNT])
{
	int n = 0;

	for (size_t i = 0; i < j->rows.len; i++)
		if (counts_for(&j->rows.at[i], metric)) {
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
static int rank_of(const struct judged *row)
{
	if (strcmp(row->a.mode, "static") == 0)
		return 3;
	return strcmp(row->a.mode, "eager") == 0 ? 1 : 2;
}

/* Whether x says more than y: of two that hold the verdict, the mode that is spoken of,
 * the latency, the last point. */
static bool says_more(const struct judged *x, const struct judged *y)
{
	if (rank_of(x) != rank_of(y))
		return rank_of(x) > rank_of(y);
	if (x->a.metric != y->a.metric)
		return x->a.metric == METRIC_latency;
	return strcmp(x->a.mode, y->a.mode) == 0 && x->a.n > y->a.n;
}

static const struct judged *headline_of(const struct judgement *j, const char *metric,
					enum verdict verdict)
{
	const struct judged *best = NULL;

	for (size_t i = 0; i < j->rows.len; i++) {
		const struct judged *row = &j->rows.at[i];

		if (counts_for(row, metric) && row->verdict == verdict &&
		    (!best || says_more(row, best)))
			best = row;
	}
	return best;
}

/* Eager's latency at the headline's point. */
static const struct judged *control_of(const struct judgement *j, const struct judged *headline)
{
	for (size_t i = 0; headline && i < j->rows.len; i++) {
		const struct judged *row = &j->rows.at[i];

		if (row->a.metric == METRIC_latency && strcmp(row->a.mode, "eager") == 0 &&
		    (row->a.n == headline->a.n || isnan(headline->a.n)))
			return row;
	}
	return NULL;
}

static bool differs(const struct pair *p, const char *key)
{
	for (size_t i = 0; i < p->differences.rows.len; i++)
		if (strcmp(p->differences.rows.at[i].key, key) == 0)
			return true;
	return false;
}

static json_t *differences_json(const struct differences *d)
{
	json_t *list = json_array();

	for (size_t i = 0; i < d->rows.len; i++) {
		const struct setting_difference *row = &d->rows.at[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b}", "key", row->key,
						      "title", row->title, "a", row->a, "b", row->b,
						      "matters", row->matters));
	}
	return list;
}

/* ---- the parts of a comparison */

static void set(struct pair *p, const char *key, json_t *value)
{
	json_object_set_new(p->out, key, value ? value : json_null());
}

static void put_figures(struct pair *p)
{
	static const enum verdict words[] = { VERDICT_DISAGREES, VERDICT_SLOWER,
					      VERDICT_FASTER,    VERDICT_SAME,
					      VERDICT_AMBIGUOUS, VERDICT_NOT_ENOUGH };
	const struct judgement *j = &p->judged;
	int counts[VERDICT_COUNT] = { 0 };
	enum verdict all = verdict_of_all(j, p->o->metric, counts);
	const struct judged *headline = headline_of(j, p->o->metric, all);
	bool untouched = !differs(p, "source") && !differs(p, "pool") && !differs(p, "breakeven");
	const struct judged *control = untouched ? control_of(j, headline) : NULL;
	json_t *figures = json_array(), *numbers = json_object();

	for (size_t i = 0; i < j->rows.len; i++)
		json_array_append_new(figures, judged_json(&j->rows.at[i], j->family));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		json_object_set_new(numbers, verdict_word(words[i]),
				    json_integer(counts[words[i]]));
	set(p, "verdict", json_string(verdict_word(all)));
	set(p, "headline", headline ? judged_json(headline, j->family) : NULL);
	set(p, "control", control ? judged_json(control, j->family) : NULL);
	set(p, "counts", numbers);
	set(p, "family", json_integer(j->family));
	set(p, "figures", figures);
}

/* Modes and points that one side alone has: {"a": ["graphs", "static at n = 30"], "b"}. */
static json_t *only_in(const struct figures *x, const struct figures *y)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->rows.len; i++) {
		const struct figure *f = &x->rows.at[i];

		if (f->metric != METRIC_launches || figures_find(y, f))
			continue;
		if (isnan(f->n))
			json_array_append_new(list, json_string(f->mode));
		else
			json_array_append_new(list, json_sprintf("%s at n = %.6g", f->mode, f->n));
	}
	return list;
}

static const char *source_of(const struct report_run *run, const struct report_point *point)
{
	const char *all = run->workload ? run->workload->source : NULL;

	return point->source ? point->source : all ? all : "";
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

static json_t *line_json(const struct line_change *l)
{
	return json_pack("{s:s, s:o, s:o, s:s}", "sign", l->sign, "a",
			 l->in_a ? json_integer(l->in_a) : json_null(), "b",
			 l->in_b ? json_integer(l->in_b) : json_null(), "text", l->text);
}

/* Line by line; of a sweep what ran at the last point, with the statements it put in. */
static bool put_source(struct pair *p, struct err *err)
{
	struct report_point a, b;
	struct lines lines;
	json_t *list = NULL;

	if (!last_points(p, &a, &b))
		a = b = (struct report_point){ .n = NAN };
	if (!lines_compare(source_of(p->a, &a), source_of(p->b, &b), p->arena, &lines))
		return err_set(err, ERR_MEMORY, "out of memory for lines");
	for (size_t i = 0; i < lines.n; i++) {
		list = list ? list : json_array();
		json_array_append_new(list, line_json(&lines.at[i]));
	}
	set(p, "source",
	    json_pack("{s:o, s:o, s:o, s:o}", "added",
		      lines.counted ? json_integer(lines.added) : json_null(), "gone",
		      lines.counted ? json_integer(lines.gone) : json_null(), "lines",
		      list ? list : json_null(), "n", compare_number(a.n)));
	return true;
}

static bool put_changes(struct pair *p, struct err *err)
{
	struct changes c = { .breaks = json_array(),
			     .graphs = json_array(),
			     .kernels = json_array() };
	struct report_point a, b;
	bool ok = true;

	if (last_points(p, &a, &b)) {
		c.n = a.n;
		c.source_a = source_of(p->a, &a);
		c.source_b = source_of(p->b, &b);
		for (size_t i = 0; ok && i < a.modes.n; i++) {
			c.mode = a.modes.keys[i];
			c.a = &a.modes.at[i];
			c.b = report_get(b.modes, c.mode);
			if (!c.b)
				continue;
			changes_breaks(&c);
			changes_graphs(&c);
			ok = changes_kernels(&c, p->margin, err);
		}
	}
	set(p, "breaks", c.breaks);
	set(p, "kernels", c.kernels);
	set(p, "kernels_same", json_integer(c.kernels_same));
	set(p, "graphs", c.graphs);
	return ok;
}

static bool put_compared(struct pair *p, struct err *err)
{
	if (!figures_of(p->a, &p->in_a, err) || !figures_of(p->b, &p->in_b, err))
		return false;
	figures_spread(&p->in_a, p->run_a->repeats, p->run_a->n_repeats);
	figures_spread(&p->in_b, p->run_b->repeats, p->run_b->n_repeats);
	if (!judge_figures(&p->in_a, &p->in_b, p->margin, &p->judged, err))
		return false;
	put_figures(p);
	set(p, "only",
	    json_pack("{s:o, s:o}", "a", only_in(&p->in_a, &p->in_b), "b",
		      only_in(&p->in_b, &p->in_a)));
	return put_source(p, err) && put_changes(p, err);
}

/* {"a", "b", "comparable", ...}: see compare.h. */
static bool put_pair(struct pair *p, const char *label, struct err *err)
{
	struct buf refused;
	bool bars, ok = true;

	buf_init(&refused, 4096);
	bars = settings_refusal(&p->differences, &refused);
	p->out = json_pack("{s:s, s:s, s:b, s:b, s:o, s:o}", "a", "A", "b", label, "comparable",
			   !bars, "forced", bars && p->o->force, "refused",
			   bars ? json_string(refused.data) : json_null(), "differences",
			   differences_json(&p->differences));
	buf_finish(&refused);
	if (!p->out)
		ok = err_set(err, ERR_MEMORY, "out of memory for a comparison");
	else if (bars && !p->o->force)
		set(p, "verdict", json_string("REFUSED"));
	else
		ok = put_compared(p, err);
	return ok;
}

/* Finishes the pair; NULL with an error. */
static json_t *compare_pair(struct pair *p, const char *label, struct err *err)
{
	bool ok = settings_differences(p->a, p->b, p->arena, &p->differences, err) &&
		  put_pair(p, label, err);

	differences_finish(&p->differences);
	figures_finish(&p->in_a);
	figures_finish(&p->in_b);
	judgement_finish(&p->judged);
	if (ok)
		return p->out;
	json_decref(p->out);
	return NULL;
}

/* ---- all of them */

/* What is compared, read. */
struct run_compared {
	const struct compared_run *runs;
	const struct report_run *reports[COMPARE_MAX_RUNS];
	int n;
	struct arena arena;
};

static bool read_runs(struct run_compared *s, const struct compare_options *o, struct err *err)
{
	if (o->metric && strcmp(o->metric, "latency") != 0 && strcmp(o->metric, "speedup") != 0)
		return err_set(err, ERR_BAD_REQUEST, "metric %.40s: latency or speedup is needed",
			       o->metric);
	for (int i = 0; i < s->n; i++) {
		s->reports[i] = report_read_run(s->runs[i].report, &s->arena, err);
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
static const char *worst(const json_t *comparisons)
{
	static const char *const order[] = { "DISAGREES", "SLOWER", "REFUSED",   "FASTER",
					     "AMBIGUOUS", "SAME",   "NOT ENOUGH" };
	const json_t *c;
	size_t i;

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		json_array_foreach(comparisons, i, c)
		{
			const char *word = json_string_value(json_object_get(c, "verdict"));

			if (word && strcmp(word, order[k]) == 0)
				return order[k];
		}
	return "NOT ENOUGH";
}

static json_t *runs_json(const struct compared_run *runs, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++) {
		json_t *row = json_copy(runs[i].head);
		const char label[2] = { (char)('A' + i), '\0' };

		json_object_set_new(row, "label", json_string(label));
		json_array_append_new(list, row);
	}
	return list;
}

/* What A's points vary, without the lines of a pool; null where it has one point. */
static json_t *sweep_of(const struct report_run *run)
{
	const struct report_sweep *sweep = run->workload ? run->workload->sweep : NULL;

	if (sweep && sweep->input)
		return json_pack("{s:{s:I, s:I}}", "input", "arg", (json_int_t)sweep->input->arg,
				 "dim", (json_int_t)sweep->input->dim);
	return sweep ? json_pack("{s:{}}", "statements") : json_null();
}

static json_t *compare_all(struct run_compared *s, const struct compare_options *o, struct err *err)
{
	double margin = o->margin > 0 ? o->margin : RATIO_MARGIN;
	json_t *comparisons, *refused = json_null();

	if (!read_runs(s, o, err))
		return NULL;
	comparisons = json_array();
	for (int i = 1; i < s->n; i++) {
		const char label[2] = { (char)('A' + i), '\0' };
		struct pair p = { .run_a = &s->runs[0],
				  .run_b = &s->runs[i],
				  .a = s->reports[0],
				  .b = s->reports[i],
				  .o = o,
				  .margin = margin,
				  .arena = &s->arena };
		json_t *one = compare_pair(&p, label, err);

		if (!one) {
			json_decref(comparisons);
			return NULL;
		}
		if (json_is_null(refused))
			refused = json_object_get(one, "refused");
		json_array_append_new(comparisons, one);
	}
	return json_pack("{s:f, s:f, s:s, s:b, s:O, s:o, s:o, s:o}", "margin", margin, "confidence",
			 confidence, "verdict", worst(comparisons), "comparable",
			 json_is_null(refused), "refused", refused, "sweep",
			 sweep_of(s->reports[0]), "runs", runs_json(s->runs, s->n), "comparisons",
			 comparisons);
}

json_t *compare_runs(const struct compared_run *runs, int n, const struct compare_options *o,
		     struct err *err)
{
	struct run_compared s = { .runs = runs, .n = n };
	json_t *json = compare_all(&s, o, err);

	arena_finish(&s.arena);
	return json;
}
