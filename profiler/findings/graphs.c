/* profiler/findings/graphs.c -- what is said of captured graphs, of their recordings and of their
 * kernels. */
#include <math.h>

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

#define plural(m, n, one, many) wording_plural(&(m)->wording, (n), (one), (many))

static const char *size_text(struct maker *m, int64_t bytes)
{
	char text[NUMBER_BYTES];

	number_bytes(text, (double)bytes);
	return maker_text(m, "%s", text);
}

/* ---- recordings ---- */

enum { MOST_FACTS = 6, MOST_SENTENCES = 10 /* five of each recording */ };

/* What became of one; `part` is of which part of the graph it is, in front of each sentence. */
static void say_recording(struct maker *m, struct report_texts *to,
			  const struct report_recording *r, const char *part)
{
	if (r->made)
		add(m, to,
		    maker_text(m, "%s%s, replayed %s; %s set again; %s held between calls", part,
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
		    maker_text(m, "All guards are checked in each call: %s", r->why_guards));
	else if (r)
		add(m, &out,
		    maker_text(m, "Guards of the program's objects left out in %s",
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
		add(m, &out, "compiled for a later call, as timing began");
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

/* ---- its kernels ---- */

struct kernel_units {
	struct number_unit time, bytes;
	bool watched; /* any of the mode's kernels */
};

static const char *figure_text(struct maker *m, double x)
{
	char text[NUMBER_BYTES];

	number_short(text, x);
	return maker_text(m, "%s", text);
}

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
				  "No kernel takes more than twice as long as a copy of as many "
				  "bytes: %d %% of their time is no memory time.",
				  percent);
	return maker_text(m,
			  "%s of %lld %s more than twice as long as a copy of as many bytes; %s us "
			  "of %s us, %d %%, are no memory time.",
			  plural(m, b->far, "kernel", "kernels"), (long long)b->kernels,
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

static void put_graph(struct maker *m, const struct report_graph *g, size_t i,
		      const struct kernel_units *units, struct report_findings_graph *to)
{
	size_t n = g->kernel_details.n;

	REPORT_SET(to, title, title_of(m, g, i));
	REPORT_SET(to, facts, facts_of(m, g));
	REPORT_SET(to, recording, recording_of(m, g));
	REPORT_SET(to, kernels,
		   (struct report_findings_kernel_list){
		       report_new_findings_kernel(n, m->wording.arena), n });
	m->wording.failed |= !to->kernels.at;
	for (size_t k = 0; !m->wording.failed && k < n; k++)
		put_kernel(m, &g->kernel_details.at[k], units, &to->kernels.at[k]);
}

void put_graphs(struct maker *m, const struct report_mode *at, struct report_findings_mode *to)
{
	struct kernel_units units = put_kernels(m, at, to);

	REPORT_SET(to, graphs,
		   (struct report_findings_graph_list){
		       report_new_findings_graph(at->graphs.n, m->wording.arena), at->graphs.n });
	m->wording.failed |= !to->graphs.at;
	for (size_t i = 0; !m->wording.failed && i < at->graphs.n; i++)
		put_graph(m, &at->graphs.at[i], i, &units, &to->graphs.at[i]);
}
