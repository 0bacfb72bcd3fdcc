/* profiler/compare/compare.c -- did it change, and because of what?. */
#include "profiler/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/compare.h"
#include "profiler/compare/judged.h"
#include "profiler/compare/lines.h"
#include "profiler/compare/settings.h"
#include "profiler/numbers.h"
#include "profiler/profiler.h"

/* ---- breaks and graphs that came, went or changed ---- */

enum { MOST_ITEMS = 2000 }; /* compared of a mode */

static json_t *of_place(struct place at)
{
	return json_pack("{s:s, s:o}", "mode", at.mode, "n",
			 at.n ? json_incref((json_t *)at.n) : json_null());
}

static json_t *kept_or_null(const json_t *value)
{
	return value ? json_incref((json_t *)value) : json_null();
}

/* ---- breaks */

static const char *line_of(const json_t *item, const char *source, int *line, int *len)
{
	*line = profiler_break_place(item).line;
	return lines_at(source, *line, len);
}

static bool same_break(const json_t *x, const char *in_x, const json_t *y, const char *in_y)
{
	static const char *const keys[] = { "stage", "kind", "gb" };
	const char *text_x, *text_y;
	int line, len_x, len_y;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		json_t *of_x = json_object_get(x, keys[k]), *of_y = json_object_get(y, keys[k]);

		if (!(of_x == of_y || (of_x && of_y && json_equal(of_x, of_y))))
			return false;
	}
	text_x = line_of(x, in_x, &line, &len_x);
	text_y = line_of(y, in_y, &line, &len_y);
	return len_x == len_y && memcmp(text_x, text_y, (size_t)len_x) == 0;
}

static json_t *break_side(const json_t *item, int line)
{
	if (!item)
		return json_null();
	return json_pack("{s:i, s:o, s:o, s:o}", "line", line, "count",
			 kept_or_null(json_object_get(item, "count")), "cost_us",
			 kept_or_null(json_object_get(item, "cost_us")), "ci_us",
			 kept_or_null(json_object_get(json_object_get(item, "cost"), "ci_us")));
}

static void add_break(json_t *list, struct place at, const json_t *x, const char *in_x,
		      const json_t *y, const char *in_y)
{
	const json_t *either = y ? y : x;
	int line_x = 0, line_y = 0, len = 0;
	const char *text = x ? line_of(x, in_x, &line_x, &len) : "";
	json_t *row = of_place(at), *words;

	if (y)
		text = line_of(y, in_y, &line_y, &len);
	words = json_stringn(text, (size_t)len);
	json_object_set_new(row, "change", json_string(!x ? "added" : y ? "kept" : "gone"));
	json_object_set_new(row, "stage", kept_or_null(json_object_get(either, "stage")));
	json_object_set_new(row, "kind", kept_or_null(json_object_get(either, "kind")));
	json_object_set_new(row, "gb", kept_or_null(json_object_get(either, "gb")));
	json_object_set_new(row, "text", words ? words : json_string(""));
	json_object_set_new(row, "a", break_side(x, line_x));
	json_object_set_new(row, "b", break_side(y, line_y));
	json_array_append_new(list, row);
}

/* {"change": "added", "gone" or "kept", "stage", "kind", "gb", "text" (of the line), "a"
 * and "b": {"line", "count", "cost_us", "ci_us"} or null}.  The same break is one of the
 * same stage, kind and registry id at a line of the same text, wherever that stands now. */
static void changes_breaks(json_t *list, struct place at, struct measured a, struct measured b)
{
	const json_t *in_a = json_object_get(a.mode, "breaks"),
		     *in_b = json_object_get(b.mode, "breaks");
	bool met[MOST_ITEMS] = { false };

	for (size_t i = 0; i < json_array_size(in_a) && i < MOST_ITEMS; i++) {
		const json_t *x = json_array_get(in_a, i), *y = NULL;

		for (size_t k = 0; !y && k < json_array_size(in_b) && k < MOST_ITEMS; k++)
			if (!met[k] && same_break(x, a.source, json_array_get(in_b, k), b.source)) {
				y = json_array_get(in_b, k);
				met[k] = true;
			}
		add_break(list, at, x, a.source, y, b.source);
	}
	for (size_t k = 0; k < json_array_size(in_b) && k < MOST_ITEMS; k++)
		if (!met[k])
			add_break(list, at, NULL, a.source, json_array_get(in_b, k), b.source);
}

/* ---- graphs */

/* How often each op stands in the graphs. */
static json_t *ops_of(const json_t *graphs)
{
	json_t *counts = json_object();
	const json_t *graph, *op;
	size_t i, k;

	json_array_foreach(graphs, i, graph)
	{
		json_array_foreach(json_object_get(graph, "ops"), k, op)
		{
			const char *name = json_string_value(op);
			json_t *n = name ? json_object_get(counts, name) : NULL;

			if (n)
				json_integer_set(n, json_integer_value(n) + 1);
			else if (name)
				json_object_set_new(counts, name, json_integer(1));
		}
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
static void changes_graphs(json_t *list, struct place at, struct measured a, struct measured b)
{
	const json_t *in_a = json_object_get(a.mode, "graphs"),
		     *in_b = json_object_get(b.mode, "graphs");
	size_t n_a = json_array_size(in_a), n_b = json_array_size(in_b);
	json_t *ops_a = ops_of(in_a), *ops_b = ops_of(in_b), *ops = json_array();

	add_ops(ops, ops_a, ops_b, false);
	add_ops(ops, ops_b, ops_a, true);
	if (json_array_size(ops) || n_a != n_b) {
		json_t *row = of_place(at);

		json_object_set_new(row, "a", json_integer((json_int_t)n_a));
		json_object_set_new(row, "b", json_integer((json_int_t)n_b));
		json_object_set(row, "ops", ops);
		json_array_append_new(list, row);
	}
	json_decref(ops);
	json_decref(ops_a);
	json_decref(ops_b);
}

static const double confidence = 0.95;

/* Two runs on their way to a comparison. */
struct pair {
	const struct compared_run *run_a, *run_b;
	const json_t *a, *b; /* their reports */
	const struct compare_options *o;
	double margin;
	struct figures in_a, in_b;
	struct judgement judged;
	json_t *differences;
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
	const json_t *d;
	size_t i;

	json_array_foreach(p->differences, i, d)
	{
		if (strcmp(json_string_value(json_object_get(d, "key")), key) == 0)
			return true;
	}
	return false;
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

static const char *source_of(const json_t *report, const json_t *point)
{
	const char *own = json_string_value(json_object_get(point, "source"));
	const char *all = json_string_value(
	    json_object_get(json_object_get(report, "workload"), "source"));

	return own ? own : all ? all : "";
}

/* The last point that both have, and its counterpart. */
static bool last_points(const struct pair *p, const json_t **a, const json_t **b)
{
	for (size_t i = report_point_count(p->a); i-- > 0;) {
		const json_t *n;

		*a = report_point(p->a, i);
		n = json_object_get(*a, "n");
		for (size_t k = report_point_count(p->b); k-- > 0;) {
			const json_t *m;

			*b = report_point(p->b, k);
			m = json_object_get(*b, "n");
			if ((!n && !m) || (n && m && json_equal((json_t *)n, (json_t *)m)))
				return true;
		}
	}
	return false;
}

/* Line by line; of a sweep what ran at the last point, with the statements it put in. */
static void put_source(struct pair *p)
{
	const json_t *a = p->a, *b = p->b;
	json_t *lines, *n;

	if (!last_points(p, &a, &b))
		a = p->a, b = p->b;
	lines = lines_compare(source_of(p->a, a), source_of(p->b, b));
	n = json_object_get(a, "n");
	json_object_set_new(lines, "n", n ? json_incref(n) : json_null());
	set(p, "source", lines);
}

static bool put_changes(struct pair *p, struct err *err)
{
	json_t *breaks = json_array(), *kernels = json_array(), *graphs = json_array(), *m;
	const json_t *a, *b;
	bool ok = true;
	const char *mode;
	int same = 0;

	if (last_points(p, &a, &b))
		json_object_foreach(json_object_get(a, "modes"), mode, m)
		{
			struct place at = { mode, json_object_get(a, "n") };
			struct measured x = { m, source_of(p->a, a) };
			struct measured y = { json_object_get(json_object_get(b, "modes"), mode),
					      source_of(p->b, b) };

			if (!y.mode || !ok)
				continue;
			changes_breaks(breaks, at, x, y);
			changes_graphs(graphs, at, x, y);
			ok = changes_kernels(kernels, at, x, y, p->margin, &same, err);
		}
	set(p, "breaks", breaks);
	set(p, "kernels", kernels);
	set(p, "kernels_same", json_integer(same));
	set(p, "graphs", graphs);
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
	put_source(p);
	return put_changes(p, err);
}

static json_t *compare_pair(const struct compared_run *a, const struct compared_run *b,
			    const char *label, const struct compare_options *o, double margin,
			    struct err *err)
{
	struct pair p = {
		.run_a = a, .run_b = b, .a = a->report, .b = b->report, .o = o, .margin = margin
	};
	struct buf refused;
	bool bars, ok = true;

	buf_init(&refused, 4096);
	p.differences = settings_differences(a->report, b->report);
	bars = settings_refusal(p.differences, &refused);
	p.out = json_pack("{s:s, s:s, s:b, s:b, s:o, s:O}", "a", "A", "b", label, "comparable",
			  !bars, "forced", bars && o->force, "refused",
			  bars ? json_string(refused.data) : json_null(), "differences",
			  p.differences);
	if (!p.out)
		ok = err_set(err, ERR_MEMORY, "out of memory for a comparison");
	else if (bars && !o->force)
		set(&p, "verdict", json_string("REFUSED"));
	else
		ok = put_compared(&p, err);
	buf_finish(&refused);
	json_decref(p.differences);
	figures_finish(&p.in_a);
	figures_finish(&p.in_b);
	judgement_finish(&p.judged);
	if (ok)
		return p.out;
	json_decref(p.out);
	return NULL;
}

/* ---- all of them */

static bool check(const struct compared_run *runs, int n, const struct compare_options *o,
		  struct err *err)
{
	if (o->metric && strcmp(o->metric, "latency") != 0 && strcmp(o->metric, "speedup") != 0)
		return err_set(err, ERR_BAD_REQUEST, "metric %.40s: latency or speedup is needed",
			       o->metric);
	for (int i = 0; i < n; i++) {
		const json_t *first = report_point(runs[i].report, 0);

		if (json_object_size(json_object_get(first, "modes")) == 0)
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
static json_t *sweep_of(const json_t *report)
{
	const json_t *sweep = json_object_get(json_object_get(report, "workload"), "sweep");
	const json_t *input = json_object_get(sweep, "input");

	if (input)
		return json_pack("{s:{s:O?, s:O?}}", "input", "arg", json_object_get(input, "arg"),
				 "dim", json_object_get(input, "dim"));
	return json_is_object(sweep) ? json_pack("{s:{}}", "statements") : json_null();
}

json_t *compare_runs(const struct compared_run *runs, int n, const struct compare_options *o,
		     struct err *err)
{
	double margin = o->margin > 0 ? o->margin : RATIO_MARGIN;
	json_t *comparisons, *refused = json_null();

	if (!check(runs, n, o, err))
		return NULL;
	comparisons = json_array();
	for (int i = 1; i < n; i++) {
		const char label[2] = { (char)('A' + i), '\0' };
		json_t *one = compare_pair(&runs[0], &runs[i], label, o, margin, err);

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
			 sweep_of(runs[0].report), "runs", runs_json(runs, n), "comparisons",
			 comparisons);
}
