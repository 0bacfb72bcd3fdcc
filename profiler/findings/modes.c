/* profiler/findings/modes.c -- what is said of a mode beside its verdict: of what it captured (its
 * graphs, what passes made of them, their recordings and kernels), and of watched calls (where
 * their time goes).
 *
 * Calls are watched after the latencies were taken: the parts of one add up to it, and it is near
 * the median but not equal to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/findings/maker.h"

/* Texts that are added one after another, to a list with room for them. */
static void add(struct maker *m, struct report_texts *to, const char *text)
{
	if (!m->wording.failed)
		to->at[to->n++] = text;
}

static struct report_texts begin(struct maker *m, size_t most)
{
	struct report_texts texts = { ARENA_ARRAY(m->wording.arena, const char *, most), 0 };

	m->wording.failed |= !texts.at;
	return texts;
}

/* ---- recordings ---- */

/* Watched calls beyond it are said to be of another pace than those that were timed. */
static const double far_from_median = 1.25;

enum { MOST_FACTS = 6, MOST_SENTENCES = 10 /* five of each recording */ };

/* What became of one; `part` is of which part of the graph it is, in front of each sentence. */
static void say_recording(struct maker *m, struct report_texts *to,
			  const struct report_recording *r, const char *part)
{
	if (r->made)
		add(m, to,
		    maker_text(m, "%s%s, replayed %s; %s updated; %s held between calls", part,
			       plural(m, r->made, "recording", "recordings"),
			       plural(m, r->replays, "time", "times"),
			       plural(m, r->pointed, "pointer", "pointers"),
			       size_text(m, r->held_bytes)));
	if (r->direct && r->direct < r->made)
		add(m, to,
		    maker_text(m, "%s%s launched kernel by kernel: %s", part,
			       plural(m, r->direct, "recording", "recordings"),
			       report_text(r->why_direct)));
	else if (r->direct)
		add(m, to,
		    maker_text(m, "%sLaunched kernel by kernel: %s", part,
			       report_text(r->why_direct)));
	if (r->because)
		add(m, to, maker_text(m, "%sRecorded again: %s", part, r->because));
	if (r->refused)
		add(m, to,
		    maker_text(m, "%s%s, runs as in static: %s", part,
			       r->made ? maker_text(m, "%s not recorded",
						    plural(m, r->refused, "piece", "pieces"))
				       : "Not recorded",
			       report_text(r->why_not)));
	if (!r->made && !r->refused)
		add(m, to, maker_text(m, "%sNothing to record: no kernel is launched", part));
}

static struct report_texts recording_of(struct maker *m, const struct report_graph *g)
{
	const struct report_recording *r = g->recording, *backward = g->backward_recording;
	struct report_texts out = begin(m, MOST_SENTENCES + 1);

	if (r)
		say_recording(m, &out, r, "");
	if (r && r->why_guards)
		add(m, &out,
		    maker_text(m, "All guards are checked in every call: %s", r->why_guards));
	else if (r)
		add(m, &out,
		    maker_text(m, "Guards on the program's objects skipped in %s",
			       plural(m, r->guards_left_out, "call", "calls")));
	if (backward)
		say_recording(m, &out, backward, "Backward: ");
	return out;
}

/* ---- a graph ---- */

/* Kernels that do nothing but copy. */
static int64_t copies_of(const struct report_graph *g)
{
	int64_t n = 0;

	for (size_t i = 0; i < g->kernel_details.n; i++)
		n += g->kernel_details.at[i].copies && g->kernel_details.at[i].ops == 1;
	return n;
}

static struct report_texts facts_of(struct maker *m, const struct report_graph *g)
{
	struct report_texts out = begin(m, MOST_FACTS);
	int64_t copies = copies_of(g);
	char text[NUMBER_BYTES];

	add(m, &out, plural(m, (int64_t)g->ops.n, "op", "ops"));
	add(m, &out, plural(m, (int64_t)g->kernels.n, "kernel", "kernels"));
	if (copies)
		add(m, &out,
		    maker_text(m, "%lld of them only %s", (long long)copies,
			       copies == 1 ? "copies" : "copy"));
	if (g->has.compile_ms) {
		number_duration(text, g->compile_ms * 1e3);
		add(m, &out,
		    maker_text(m, "compiled in %s%s", text, g->cached ? " from the cache" : ""));
	}
	if (g->later)
		add(m, &out, "compiled for a later call, when timing began");
	else if (g->has.uses)
		add(m, &out, maker_text(m, "used by %s", plural(m, g->uses, "call", "calls")));
	return out;
}

static const char *title_of(struct maker *m, const struct report_graph *g, size_t i)
{
	const char *version = report_text(g->compile);

	return maker_text(m, "Graph %.0f, %s%s%s", g->has.id ? g->id : (double)i,
			  g->frame ? g->frame : "model", *version ? " " : "", version);
}

/* ---- its ops ---- */

struct op_count {
	const char *op;
	int64_t n;
};

static int by_count(const void *a, const void *b)
{
	const struct op_count *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->op < y->op ? -1 : x->op > y->op;
}

/* "3 add, mul"; "" where each is there once. */
static const char *op_counts(struct maker *m, const struct report_texts *ops)
{
	struct op_count *all = ARENA_ARRAY(m->wording.arena, struct op_count, ops->n + 1);
	const char *text = "";
	size_t n = 0, k;

	m->wording.failed |= !all;
	for (size_t i = 0; all && i < ops->n; i++) {
		for (k = 0; k < n && strcmp(all[k].op, ops->at[i]) != 0; k++)
			;
		if (k == n)
			all[n++].op = ops->at[i];
		all[k].n++;
	}
	if (!all || n < 2)
		return "";
	qsort(all, n, sizeof(*all), by_count);
	for (size_t i = 0; all[0].n > 1 && i < n; i++)
		text = all[i].n > 1 ? maker_text(m, "%s%s%lld %s", text, i ? ", " : "",
						 (long long)all[i].n, all[i].op)
				    : maker_text(m, "%s%s%s", text, i ? ", " : "", all[i].op);
	return text;
}

/* ---- what passes made of them ---- */

struct pass_tally {
	int64_t graphs, kernels, passes, changed, from, to, fired, left_out_bytes;
	const char *off; /* names, with commas */
};

static void add_step(struct maker *m, struct pass_tally *t, const struct report_pass_step *s)
{
	size_t len = strlen(s->pass);
	const char *at = s->off ? t->off : NULL;

	t->passes++;
	t->changed += !s->off && s->changed;
	t->fired += s->has.rules_left_out ? s->rules_left_out : 0;
	for (size_t i = 0; i < s->rules.n; i++)
		t->fired += s->rules.at[i].count;
	while (at && (at = strstr(at, s->pass)) && at[len] != ',' && at[len] != '\0')
		at += len;
	if (s->off && !at)
		t->off = maker_text(m, "%s%s%s", t->off, *t->off ? ", " : "", s->pass);
}

static struct pass_tally passes_of(struct maker *m, const struct report_graph_list *graphs)
{
	struct pass_tally t = { .off = "" };

	for (size_t i = 0; i < graphs->n; i++) {
		const struct report_graph *g = &graphs->at[i];

		if (!g->has.passes)
			continue;
		t.graphs++;
		t.kernels += (int64_t)g->kernels.n;
		for (size_t k = 0; k < g->passes.n; k++) {
			const struct report_pass_part *part = &g->passes.at[k];
			int64_t nodes = part->has.nodes ? part->nodes : 0, last = nodes;

			for (size_t j = 0; j < part->steps.n; j++) {
				add_step(m, &t, &part->steps.at[j]);
				last = part->steps.at[j].nodes;
			}
			t.from += nodes;
			t.to += last;
			t.left_out_bytes += part->has.left_out_bytes ? part->left_out_bytes : 0;
		}
	}
	return t;
}

static void put_passes(struct maker *m, const char *mode, const struct report_mode *at,
		       struct report_findings_mode *to)
{
	struct pass_tally t = passes_of(m, &at->graphs);
	struct report_findings_verdict *verdict;
	struct sentence s;

	if (!t.graphs || !(verdict = maker_verdict(m, &s)))
		return;
	sentence_add(&s, PART_CLAIM, "%s became %s", plural(m, t.from, "node", "nodes"),
		     plural(m, t.to, "node", "nodes"));
	sentence_add(&s, PART_PLAIN, " in %s: %lld of %s changed the ",
		     plural(m, t.kernels, "kernel", "kernels"), (long long)t.changed,
		     plural(m, t.passes, "pass", "passes"));
	if (t.graphs > 1)
		sentence_add(&s, PART_PLAIN, "%lld graphs of %s.", (long long)t.graphs, mode);
	else
		sentence_add(&s, PART_PLAIN, "graph of %s.", mode);
	REPORT_SET(verdict, how,
		   maker_text(m,
			      "Rules fired %s. The passes were run again for this view; no figure "
			      "includes that.%s%s%s%s",
			      plural(m, t.fired, "time", "times"),
			      *t.off ? " Switched off in this run: " : "", t.off, *t.off ? "." : "",
			      t.left_out_bytes
				  ? maker_text(m,
					       " %s of graphs are left out of the report: they are "
					       "over its limits.",
					       size_text(m, t.left_out_bytes))
				  : ""));
	REPORT_SET(to, passes, verdict);
}

/* ---- its kernels ---- */

struct kernel_units {
	struct number_unit time, bytes;
	bool watched; /* any of the mode's kernels */
};

/* A share of what is not nothing is not "0 %". */
static const char *share_text(struct maker *m, double share)
{
	int percent = (int)round(100 * share);

	return percent == 0 && share > 0 ? "<1 %" : maker_text(m, "%d %%", percent);
}

static int64_t moved_bytes(const struct report_kernel *k)
{
	return k->read_bytes + k->written_bytes;
}

static void put_tried(struct maker *m, const struct report_kernel *k,
		      struct report_findings_kernel *to)
{
	size_t n = k->has.schedules ? k->schedules.n : 0;
	const char **texts = n ? ARENA_ARRAY(m->wording.arena, const char *, n) : NULL;

	for (size_t i = 0; texts && i < n; i++)
		texts[i] = maker_text(m, "%s, %s µs%s", k->schedules.at[i].what,
				      figure_text(m, k->schedules.at[i].us),
				      k->schedules.at[i].chosen ? ", chosen" : "");
	if (texts)
		REPORT_SET(to, tried, (struct report_texts){ texts, n });
}

static void put_kernel(struct maker *m, const struct report_kernel *k, const struct kernel_units *u,
		       struct report_findings_kernel *to)
{
	double scale = u->time.scale;

	REPORT_SET(to, about,
		   maker_text(m, "%s, %s read, %s written%s", plural(m, k->ops, "op", "ops"),
			      size_text(m, k->read_bytes), size_text(m, k->written_bytes),
			      k->ops > 1 ? maker_text(m, ", %s saved by fusion",
						      size_text(m, k->saved_bytes))
					 : ""));
	put_tried(m, k, to);
	if (!u->watched)
		return;
	if (k->has.median_us)
		REPORT_SET(
		    to, median,
		    wording_figure(&m->wording,
				   &(struct interval){ k->ci_us.low / scale, k->median_us / scale,
						       k->ci_us.high / scale },
				   ""));
	REPORT_SET(to, moves, figure_text(m, (double)moved_bytes(k) / u->bytes.scale));
	REPORT_SET_IF(to, bandwidth, k->has.bandwidth_gbps, figure_text(m, k->bandwidth_gbps));
	REPORT_SET_IF(to, of_copy, k->has.copy_share, share_text(m, k->copy_share));
	REPORT_SET_IF(to, operations, k->has.operations, figure_text(m, (double)k->operations));
	REPORT_SET_IF(to, rate, k->has.rate_gflops, figure_text(m, k->rate_gflops));
	REPORT_SET_IF(to, intensity, k->has.intensity, figure_text(m, k->intensity));
	REPORT_SET_IF(to, occupancy, k->has.occupancy, share_text(m, k->occupancy));
	REPORT_SET_IF(to, shared, k->has.shared_bytes, size_text(m, k->shared_bytes));
}

/* What kernels take beyond copies of as many bytes. */
struct beyond {
	int64_t kernels, far; /* far: they take more than twice as long */
	double over_us, whole_us;
};

static const char *say_beyond(struct maker *m, const struct beyond *b)
{
	int percent = b->whole_us > 0 ? (int)round(100 * b->over_us / b->whole_us) : 0;

	if (!b->far)
		return maker_text(m,
				  "No kernel takes more than twice as long as a copy of the same "
				  "size: %d %% of their time is more than such copies take.",
				  percent);
	return maker_text(m,
			  "%lld of %s %s more than twice as long as a copy of the same size: "
			  "%s of %s µs (%d %%) is more than such copies take.",
			  (long long)b->far, plural(m, b->kernels, "kernel", "kernels"),
			  b->far == 1 ? "takes" : "take", figure_text(m, b->over_us),
			  figure_text(m, b->whole_us), percent);
}

/* The units of a mode's kernels, and what is said of all of them. */
static struct kernel_units put_kernels(struct maker *m, const struct report_mode *at,
				       struct report_findings_mode *to)
{
	double longest = 0, least = INFINITY, most = 0;
	struct report_findings_kernels *all;
	struct kernel_units units = { 0 };
	struct beyond b = { 0 };

	for (size_t i = 0; i < at->graphs.n; i++)
		for (size_t j = 0; j < at->graphs.at[i].kernel_details.n; j++) {
			const struct report_kernel *k = &at->graphs.at[i].kernel_details.at[j];
			double bytes = (double)moved_bytes(k);

			b.kernels++;
			most = fmax(most, bytes);
			least = bytes > 0 ? fmin(least, bytes) : least;
			units.watched |= k->has.median_us;
			longest = fmax(longest, k->median_us);
			if (!k->has.median_us || !k->has.copy_share)
				continue;
			b.far += k->copy_share < 0.5;
			b.over_us += k->median_us * fmax(0, 1 - k->copy_share);
			b.whole_us += k->median_us;
		}
	units.time = number_time_unit(longest);
	units.bytes = number_bytes_unit(least, most);
	all = units.watched ? report_new_findings_kernels(1, m->wording.arena) : NULL;
	m->wording.failed |= units.watched && !all;
	if (all) {
		REPORT_SET(all, sentence, say_beyond(m, &b));
		REPORT_SET(all, time_unit, units.time.name);
		REPORT_SET(all, bytes_unit, units.bytes.name);
		REPORT_SET(to, kernels, all);
	}
	return units;
}

/* Of its kernels, each launched once; "" where one was not watched. */
static const char *kernels_time(struct maker *m, const struct report_graph *g)
{
	char text[NUMBER_BYTES];
	double us = 0;

	for (size_t i = 0; i < g->kernel_details.n; i++) {
		if (!g->kernel_details.at[i].has.median_us)
			return "";
		us += g->kernel_details.at[i].median_us;
	}
	number_duration(text, us);
	return g->kernel_details.n ? maker_text(m, "%s", text) : "";
}

static void put_graph(struct maker *m, const struct report_graph *g, size_t i,
		      const struct kernel_units *units, struct report_findings_graph *to)
{
	size_t n = g->kernel_details.n;

	REPORT_SET(to, title, title_of(m, g, i));
	REPORT_SET(to, facts, facts_of(m, g));
	REPORT_SET_IF(to, time, *kernels_time(m, g), kernels_time(m, g));
	REPORT_SET_IF(to, op_counts, *op_counts(m, &g->ops), op_counts(m, &g->ops));
	REPORT_SET(to, recording, recording_of(m, g));
	REPORT_SET(to, kernels,
		   (struct report_findings_kernel_list){
		       report_new_findings_kernel(n, m->wording.arena), n });
	m->wording.failed |= !to->kernels.at;
	for (size_t k = 0; !m->wording.failed && k < n; k++)
		put_kernel(m, &g->kernel_details.at[k], units, &to->kernels.at[k]);
}

/* ---- all of them ---- */

static void put_graphs(struct maker *m, const char *mode, const struct report_mode *at,
		       struct report_findings_mode *to)
{
	struct kernel_units units = put_kernels(m, at, to);

	put_breaks(m, mode, at, to);
	put_guards(m, mode, at, to);
	put_passes(m, mode, at, to);
	REPORT_SET(to, graphs,
		   (struct report_findings_graph_list){
		       report_new_findings_graph(at->graphs.n, m->wording.arena), at->graphs.n });
	m->wording.failed |= !to->graphs.at;
	for (size_t i = 0; !m->wording.failed && i < at->graphs.n; i++)
		put_graph(m, &at->graphs.at[i], i, &units, &to->graphs.at[i]);
}

/* ---- where the time of a call goes: in a sentence */

/* The mode that is spoken of: static, else the first compiled one that was watched, else eager. */
static const struct report_mode *watched_mode(const struct report_point *p, const char **name)
{
	static const char *const order[] = {
		"static", "lazy", "dynamic", "auto", "graphs", "eager"
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct report_mode *at = report_get(p->modes, order[i]);

		*name = order[i];
		if (at && at->split_us && at->latency)
			return at;
	}
	return NULL;
}

/* Whole percents that add up to the whole's own (largest remainder). */
static void shares_of(const double *parts, size_t n, double whole, int *percents)
{
	double sum = 0;
	int left;

	for (size_t i = 0; i < n; i++) {
		percents[i] = whole > 0 ? (int)floor(100 * parts[i] / whole) : 0;
		sum += whole > 0 ? 100 * parts[i] / whole : 0;
	}
	left = (int)round(sum);
	for (size_t i = 0; i < n; i++)
		left -= percents[i];
	for (; left > 0; left--) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			if (100 * parts[i] / whole - percents[i] >
			    100 * parts[most] / whole - percents[most])
				most = i;
		percents[most]++;
	}
}

/* That the calls that were watched are not as those that were timed. */
static const char *other_pace(struct maker *m, double ratio)
{
	if (ratio < far_from_median && ratio > 1 / far_from_median)
		return "";
	return maker_text(m,
			  " The watched calls took %sx the median latency: this is the split of %s "
			  "calls than usual.",
			  figure_text(m, ratio), ratio > 1 ? "slower" : "quicker");
}

/* ---- each mode's parts */

enum { PARTS = 6 /* the last: what no part claims */ };

static double part(bool known, double us)
{
	return known ? us : 0;
}

/* Of the watched call, in us, which is returned.  The report has them by their shares of the median
 * where that call was slower; no part is larger than its whole. */
static double parts_of(const struct report_mode *at, double parts[PARTS])
{
	const struct report_split *s = at->split_us;
	double named = 0, median = at->latency->median_us, watched, pace = 1;

	parts[0] = part(s->has.guards, s->guards);
	parts[1] = part(s->has.dispatch, s->dispatch);
	parts[2] = part(s->has.alloc, s->alloc);
	parts[3] = part(s->has.launch, s->launch);
	parts[4] = part(s->has.kernel, s->kernel);
	for (int i = 0; i < PARTS - 1; i++)
		named += parts[i];
	watched = s->has.observed ? s->observed : fmax(named, median);
	if (watched > median && median > 0)
		pace = watched / median;
	if (named * pace > watched)
		pace = watched / named;
	for (int i = 0; i < PARTS - 1; i++)
		parts[i] *= pace;
	parts[PARTS - 1] = fmax(watched - named * pace, 0);
	return watched;
}

/* Of the mode that is spoken of. */
static void say_split(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	const char *name, *rest = "";
	const struct report_mode *at = watched_mode(p, &name);
	double parts[PARTS], overhead, whole;
	char text[NUMBER_BYTES];
	int percents[3];

	if (!at)
		return;
	whole = parts_of(at, parts);
	overhead = parts[0] + parts[1] + parts[2] + parts[3];
	shares_of((double[]){ parts[4], overhead, parts[PARTS - 1] }, 3, whole, percents);
	number_duration(text, overhead);
	if (percents[2] >= 10)
		rest = maker_text(m, " %d %% is not attributed to any phase.", percents[2]);
	rest = maker_text(m, "%s%s", rest, other_pace(m, whole / at->latency->median_us));
	REPORT_SET(to, split,
		   maker_text(m,
			      "%s spends %d %% of a call in kernels. Fixed overhead per call: %s "
			      "(guards, dispatch, allocation, launch).%s",
			      name, percents[0], text, rest));
}

static void put_parts(struct maker *m, const struct report_mode *at, double scale,
		      struct report_findings_mode *to)
{
	struct report_findings_split *out = report_new_findings_split(1, m->wording.arena);
	double parts[PARTS], watched = parts_of(at, parts) / scale,
			     step = number_step(watched, NAN, NAN);
	const struct report_latency *l = at->latency;
	struct number_triple median; /* in the digits of the modes' table */

	m->wording.failed |= !out;
	if (!out)
		return;
	for (int i = 0; i < PARTS; i++)
		parts[i] /= scale;
	watched = number_add_up(parts, PARTS, watched, step);
	number_triple(&median, l->median_us / scale, l->ci_us.low / scale, l->ci_us.high / scale,
		      NAN);
	REPORT_SET(out, guards, step_text(m, parts[0], step));
	REPORT_SET(out, dispatch, step_text(m, parts[1], step));
	REPORT_SET(out, alloc, step_text(m, parts[2], step));
	REPORT_SET(out, launch, step_text(m, parts[3], step));
	REPORT_SET(out, kernel, step_text(m, parts[4], step));
	REPORT_SET(out, rest, step_text(m, parts[5], step));
	REPORT_SET(out, watched, step_text(m, watched, step));
	REPORT_SET(out, median, maker_text(m, "%s", median.mid));
	REPORT_SET(to, split, out);
}

static bool is_watched(const struct report_mode *at)
{
	return at->split_us && at->latency;
}

static void put_split(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	double most = 0; /* a call that was watched in a bad moment does not choose the unit */
	struct number_unit unit;

	say_split(m, p, to);
	for (size_t i = 0; i < p->modes.n; i++)
		if (is_watched(&p->modes.at[i]))
			most = fmax(most, p->modes.at[i].latency->median_us);
	unit = number_time_unit(most);
	for (size_t i = 0; i < p->modes.n; i++) {
		if (!is_watched(&p->modes.at[i]))
			continue;
		REPORT_SET(to, split_unit, unit.name);
		put_parts(m, &p->modes.at[i], unit.scale, &to->modes.at[i]);
	}
}

/* ---- all of it */

void put_modes(struct maker *m, const struct report_point *p, struct report_findings_point *to)
{
	put_split(m, p, to);
	for (size_t i = 0; i < p->modes.n; i++)
		if (strcmp(p->modes.keys[i], "eager") != 0)
			put_graphs(m, p->modes.keys[i], &p->modes.at[i], &to->modes.at[i]);
	put_memory(m, p, to);
}
