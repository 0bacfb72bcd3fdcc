/* profiler/findings/modes.c -- what is said of a mode beside its verdict: of what it captured (its
 * breaks and guards, its graphs, their recordings and kernels), and of watched calls (where their
 * time goes, and what memory they take beside what eager takes).
 *
 * Calls are watched after the latencies were taken: the parts of one add up to it, and it is near
 * the median but not equal to it. */
#include <math.h>
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

#define plural(m, n, one, many) wording_plural(&(m)->wording, (n), (one), (many))

static const char *size(struct wording *w, int64_t bytes)
{
	char text[NUMBER_BYTES];

	number_bytes(text, (double)bytes);
	return wording_text(w, "%s", text);
}

#define size_text(m, bytes) size(&(m)->wording, (bytes))

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

/* ---- its breaks ---- */

static bool same_text(const char *a, const char *b)
{
	return strcmp(report_text(a), report_text(b)) == 0;
}

static bool same_stack(const struct report_stack_line_list *a,
		       const struct report_stack_line_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].line != b->at[i].line ||
		    !same_text(a->at[i].function, b->at[i].function) ||
		    !same_text(a->at[i].file, b->at[i].file))
			return false;
	return true;
}

static bool same_cause(const struct report_break *a, const struct report_break *b)
{
	if (!a->cause || !b->cause)
		return a->cause == b->cause && a->column == b->column;
	return a->cause->line == b->cause->line && a->cause->column == b->cause->column &&
	       same_text(a->cause->file, b->cause->file);
}

/* The same break, met again for other sizes or values. */
static bool same_break(const struct report_break *a, const struct report_break *b)
{
	return same_text(a->kind, b->kind) && same_text(a->stage, b->stage) &&
	       same_text(a->outcome, b->outcome) && same_cause(a, b) &&
	       same_text(a->message, b->message) && same_stack(&a->stack, &b->stack);
}

struct break_tally {
	int64_t captured, lowering; /* distinct ones */
	int64_t met;                /* of capture */
};

static struct break_tally tally_of(const struct report_break_list *breaks)
{
	struct break_tally t = { 0 };

	for (size_t i = 0; i < breaks->n; i++) {
		const struct report_break *b = &breaks->at[i];
		bool lowering = same_text(b->stage, "lowering"), known = false;

		t.met += lowering ? 0 : b->count;
		for (size_t k = 0; k < i && !known; k++)
			known = same_break(&breaks->at[k], b);
		t.lowering += lowering && !known;
		t.captured += !lowering && !known;
	}
	return t;
}

static struct report_figure *us_figure(struct maker *m, double us, struct report_interval ci)
{
	return wording_figure(&m->wording, &(struct interval){ ci.low, us, ci.high }, "");
}

/* The same with its sign turned. */
static struct report_figure *turned(struct maker *m, double us, struct report_interval ci)
{
	return us_figure(m, -us, (struct report_interval){ -ci.high, -ci.low });
}

static const char *text_of(const struct report_figure *f)
{
	return f ? f->text : "";
}

/* What all breaks cost a call; nothing, where one graph's kernels would take longer than the pieces
 * do.  Bold alone has to be true: a figure whose interval holds 0 is no claim. */
static void say_cost(struct maker *m, struct sentence *s, const char *mode,
		     const struct report_mode *at, int64_t n)
{
	const struct report_break_costs *all = at->break_cost;
	struct report_figure *f = us_figure(m, all->sum_us, all->ci_us);
	const char *costs = maker_text(m, "%s %s", plural(m, n, "break", "breaks"),
				       n == 1 ? "costs" : "cost");

	if (all->ci_us.high < 0) {
		f = turned(m, all->sum_us, all->ci_us);
		sentence_add(s, PART_CLAIM, "%s nothing", costs);
		sentence_add(s, PART_PLAIN, " in %s: a call takes %s us", mode, text_of(f));
		sentence_interval(s, f);
		sentence_add(s, PART_PLAIN, " less than one graph's kernels would make it take.");
		return;
	}
	if (all->ci_us.low <= 0) {
		sentence_add(s, PART_CLAIM, "%s no more than the timing can tell", costs);
		sentence_add(s, PART_PLAIN, ": %s us", text_of(f));
	} else {
		sentence_add(s, PART_CLAIM, "%s %s us", costs, text_of(f));
	}
	sentence_interval(s, f);
	if (at->latency)
		sentence_add(s, PART_PLAIN, " of every %s us call in %s.",
			     figure_text(m, at->latency->median_us), mode);
	else
		sentence_add(s, PART_PLAIN, " of a call in %s.", mode);
}

/* What the function takes without its breaks, as it was timed. */
static void say_without(struct maker *m, struct sentence *s, const struct report_unbroken *w,
			int64_t n)
{
	double low = w->measured_ci_us.low, high = w->measured_ci_us.high;
	struct report_figure *by = high < 0 ? turned(m, w->measured_us, w->measured_ci_us)
					    : us_figure(m, w->measured_us, w->measured_ci_us);

	sentence_add(s, PART_PLAIN, " Without %s a call is ",
		     n == 1 ? "it"
		     : w->breaks_left
			 ? maker_text(m, "%lld of them", (long long)(n - w->breaks_left))
			 : "them");
	if (low <= 0 && high >= 0) {
		sentence_add(s, PART_CLAIM, "no shorter");
		sentence_add(s, PART_PLAIN, ", as far as the timing can tell.");
		return;
	}
	sentence_add(s, PART_CLAIM, "%s us", text_of(by));
	sentence_interval(s, by);
	sentence_add(s, PART_PLAIN, "%s, as timed.", high < 0 ? " longer" : " shorter");
}

/* "line 3", "lines 3, 5". */
static const char *lines_text(struct maker *m, const struct report_integers *lines)
{
	const char *text = lines->n == 1 ? "line" : "lines";

	for (size_t i = 0; i < lines->n; i++)
		text = maker_text(m, "%s%s %lld", text, i ? "," : "", (long long)lines->at[i]);
	return text;
}

/* How the computed cost lies to what was timed. */
static const char *say_explained(struct maker *m, const struct report_unbroken *w)
{
	struct report_figure *f;

	if (w->has.ratio && w->explained_ci_us.low > 0) {
		f = wording_figure(
		    &m->wording, &(struct interval){ w->ratio_ci.low, w->ratio, w->ratio_ci.high },
		    "x");
		return maker_text(m,
				  "The computed cost of those breaks is %s%s of the time saved "
				  "without them.",
				  text_of(f),
				  f && f->low ? maker_text(m, " (%s–%s)", f->low, f->high) : "");
	}
	if (w->measured_ci_us.high < 0)
		return "The changed function is slower as a whole, so that the two cannot be "
		       "compared.";
	return w->has.ratio ? "The computed cost of those breaks varies by more than itself."
			    : "The two differ by no more than the timing does from round to round.";
}

static const char *cost_method(struct maker *m, const struct report_break_costs *all)
{
	const struct report_unbroken *w = all->without;
	const char *from, *changed = "";
	char calls[NUMBER_BYTES];

	number_print(calls, (double)all->calls, 1);
	from = maker_text(m,
			  "From timelines of %s calls in %lld groups: the time between two graphs "
			  "in which no kernel runs, and what kernels take more than those of one "
			  "graph would.",
			  calls, (long long)all->groups);
	if (!w)
		return from;
	if (w->lines.n)
		changed = maker_text(m, "%s changed so that nothing breaks there",
				     lines_text(m, &w->lines));
	if (w->allowed)
		changed = maker_text(m, "%s%sthe denied ops lowered", changed,
				     *changed ? " and " : "");
	return maker_text(m, "%s Timed beside it, round by round: the same function with %s. %s",
			  from, changed, say_explained(m, w));
}

static void say_breaks(struct maker *m, struct sentence *s, const char *mode,
		       const struct report_mode *at)
{
	struct break_tally t = tally_of(&at->breaks);
	const char *graphs = plural(m, (int64_t)at->graphs.n, "graph", "graphs");

	if (at->break_cost) {
		say_cost(m, s, mode, at, t.captured + t.lowering);
		if (at->break_cost->without)
			say_without(m, s, at->break_cost->without, t.captured + t.lowering);
	} else if (t.captured) {
		sentence_add(s, PART_CLAIM, "%s in %s", plural(m, t.captured, "break", "breaks"),
			     mode);
		if (t.met > t.captured)
			sentence_add(s, PART_PLAIN, ", met %lld times", (long long)t.met);
		sentence_add(s, PART_PLAIN, "; %s captured %s.", mode, graphs);
	} else {
		sentence_add(s, PART_CLAIM, "%s captured without a break", mode);
		sentence_add(s, PART_PLAIN, ": %s.", graphs);
	}
	if (t.lowering)
		sentence_add(s, PART_PLAIN, " %s fell back to a library call in lowering.",
			     plural(m, t.lowering, "op", "ops"));
}

/* ---- its guards ---- */

struct version_tally {
	int64_t versions, again, once, guards; /* again: older ones should have served */
	double compile_ms, again_ms;
};

static struct version_tally versions_of(const struct report_mode *at)
{
	struct version_tally t = { 0 };

	for (size_t i = 0; i < at->tree.n; i++)
		for (size_t k = 0; k < at->tree.at[i].entries.n; k++) {
			const struct report_entry *e = &at->tree.at[i].entries.at[k];
			double ms = e->has.compile_ms ? e->compile_ms : 0;
			bool again = *report_text(e->reason) != '\0';

			t.versions++;
			t.again += again;
			t.once += e->uses <= 1;
			t.guards += (int64_t)e->guards.n;
			t.compile_ms += ms;
			t.again_ms += again ? ms : 0;
		}
	return t;
}

static void say_guards(struct maker *m, struct sentence *s, const char *mode,
		       const struct version_tally *t)
{
	const char *versions = plural(m, t->versions, "version", "versions");
	char took[NUMBER_BYTES];

	if (!t->again) {
		sentence_add(s, PART_CLAIM, "No guard failed in %s", mode);
		sentence_add(s, PART_PLAIN, ": %s %s every call.", versions,
			     t->versions == 1 ? "serves" : "serve");
		return;
	}
	number_duration(took, t->again_ms * 1e3);
	sentence_add(s, PART_CLAIM, "%s in %s took %s",
		     plural(m, t->again, "recompile", "recompiles"), mode, took);
	sentence_add(s, PART_PLAIN, ", %d %% of all compiling.",
		     t->compile_ms > 0 ? (int)round(100 * t->again_ms / t->compile_ms) : 0);
	if (t->once)
		sentence_add(s, PART_PLAIN, " %lld of %s served one call at most.",
			     (long long)t->once, versions);
}

static const char *guards_method(struct maker *m, const struct report_mode *at,
				 const struct version_tally *t)
{
	const char *looking = "";

	if (at->split_us && at->split_us->has.guards)
		looking = maker_text(m, " Looking for a version takes %s us of a call.",
				     figure_text(m, at->split_us->guards));
	return maker_text(m,
			  "A version is used where all its guards hold; where none fits, the frame "
			  "is compiled again. %s in all. Uses are those of the calls in order, "
			  "before timing.%s",
			  plural(m, t->guards, "guard", "guards"), looking);
}

/* ---- both ---- */

/* A verdict without words yet; NULL: no memory. */
static struct report_findings_verdict *begin_verdict(struct maker *m, struct sentence *s)
{
	struct report_findings_verdict *to = report_new_findings_verdict(1, m->wording.arena);

	m->wording.failed |= !to;
	if (to) {
		REPORT_SET(to, sentence, (struct report_sentence_part_list){ 0 });
		*s = sentence_begin(&m->wording, &to->sentence);
	}
	return to;
}

static void put_verdicts(struct maker *m, const char *mode, const struct report_mode *at,
			 struct report_findings_mode *to)
{
	struct version_tally t = versions_of(at);
	struct report_findings_verdict *verdict;
	struct sentence s;

	verdict = begin_verdict(m, &s);
	if (!verdict)
		return;
	say_breaks(m, &s, mode, at);
	REPORT_SET(verdict, how,
		   at->break_cost ? cost_method(m, at->break_cost)
				  : "A break is where a graph has to end: what follows is captured "
				    "again, or runs in eager.");
	REPORT_SET(to, breaks, verdict);
	if (!at->tree.n || strcmp(mode, "lazy") == 0 || !(verdict = begin_verdict(m, &s)))
		return;
	say_guards(m, &s, mode, &t);
	REPORT_SET(verdict, how, guards_method(m, at, &t));
	REPORT_SET(to, guards, verdict);
}

static void put_graphs(struct maker *m, const char *mode, const struct report_mode *at,
		       struct report_findings_mode *to)
{
	struct kernel_units units = put_kernels(m, at, to);

	put_verdicts(m, mode, at, to);
	REPORT_SET(to, graphs,
		   (struct report_findings_graph_list){
		       report_new_findings_graph(at->graphs.n, m->wording.arena), at->graphs.n });
	m->wording.failed |= !to->graphs.at;
	for (size_t i = 0; !m->wording.failed && i < at->graphs.n; i++)
		put_graph(m, &at->graphs.at[i], i, &units, &to->graphs.at[i]);
}

/* ---- memory */

/* Bytes are exact, so they have no interval. */

/* Beyond what is there before the call. */
static int64_t added(const struct report_memory *memory)
{
	return memory->peak_bytes > memory->held_bytes ? memory->peak_bytes - memory->held_bytes
						       : 0;
}

static bool same_shape(const struct report_integers *a, const struct report_integers *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof(*a->at)) == 0);
}

/* Of one statement, and alike. */
static bool alike(const struct report_memory_tensor *a, const struct report_memory_tensor *b)
{
	return a->bytes == b->bytes && a->values == b->values && a->has.line == b->has.line &&
	       a->line == b->line && a->has.graph == b->has.graph && a->graph == b->graph &&
	       same_text(a->op, b->op) && same_text(a->use, b->use) &&
	       same_text(a->dtype, b->dtype) && same_shape(&a->shape, &b->shape);
}

/* What takes most at the peak: the first of tensors that are alike, and what they take together. */
static const struct report_memory_tensor *largest(const struct report_memory *memory,
						  int64_t *bytes)
{
	const struct report_memory_tensor *found = NULL;

	*bytes = 0;
	for (size_t i = 0; i < memory->tensors.n; i++) {
		const struct report_memory_tensor *t = &memory->tensors.at[i];
		int64_t sum = 0;

		for (size_t k = 0; t->at_peak && k < memory->tensors.n; k++) {
			const struct report_memory_tensor *other = &memory->tensors.at[k];

			sum += other->at_peak && alike(t, other) ? other->bytes : 0;
		}
		if (sum > *bytes || (sum > 0 && sum == *bytes && t->from_us < found->from_us)) {
			*bytes = sum;
			found = t;
		}
	}
	return found;
}

static const char *what(struct wording *w, const struct report_memory_tensor *t)
{
	if (t->values > 1)
		return wording_text(w, "%lld temporaries in one block", (long long)t->values);
	if (t->op)
		return t->op;
	return same_text(t->use, "constant")    ? "a constant"
	       : same_text(t->use, "recording") ? "a recording"
	       : same_text(t->use, "temporary") ? "a temporary"
						: "no op";
}

static void say_own(struct sentence *s, const char *mode, const struct report_memory *memory,
		    const struct report_memory *eager)
{
	int64_t own = added(memory), bytes,
		more = eager ? memory->held_bytes - eager->held_bytes : 0;
	const struct report_memory_tensor *first = largest(memory, &bytes);

	if (!own) {
		sentence_add(s, PART_CLAIM,
			     "A call in %s needs no memory beyond what is held before it", mode);
	} else {
		sentence_add(s, PART_CLAIM, "A call in %s adds %s", mode, size(s->wording, own));
		sentence_add(s, PART_PLAIN, " at its peak to the %s held before it",
			     size(s->wording, memory->held_bytes));
		if (first)
			sentence_add(s, PART_PLAIN, "; the largest there is %s by %s%s",
				     size(s->wording, bytes), what(s->wording, first),
				     first->line > 0 ? wording_text(s->wording, ", line %lld",
								    (long long)first->line)
						     : "");
	}
	if (more > own / 100 && more > 0)
		sentence_add(s, PART_PLAIN, ", but between calls it keeps %s more than eager",
			     size(s->wording, more));
	sentence_add(s, PART_PLAIN, ".");
}

/* Beside eager's; NULL: it was not watched. */
static void say_memory(struct sentence *s, const char *mode, const struct report_memory *memory,
		       const struct report_memory *eager)
{
	int64_t own = added(memory), other = eager ? added(eager) : 0;
	char ratio[NUMBER_BYTES];

	say_own(s, mode, memory, eager);
	if (!eager || eager == memory)
		return;
	sentence_add(s, PART_PLAIN, own <= other ? " Eager adds " : " Eager adds only ");
	sentence_add(s, PART_CLAIM, "%s", own == other ? "as much" : size(s->wording, other));
	number_short(ratio,
		     own < other ? (double)other / (double)own : (double)own / (double)other);
	if (own < other && own)
		sentence_add(s, PART_PLAIN, ", %sx as much.", ratio);
	else if (own > other && other)
		sentence_add(s, PART_PLAIN, ": %s takes %sx as much.", mode, ratio);
	else
		sentence_add(s, PART_PLAIN, ".");
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

/* Of the mode that is spoken of. */
static void say_split(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	const char *name, *rest = "";
	const struct report_mode *at = watched_mode(p, &name);
	const struct report_split *s = at ? at->split_us : NULL;
	double kernel, overhead, whole;
	char text[NUMBER_BYTES];
	int percents[3];

	if (!s)
		return;
	kernel = s->has.kernel ? s->kernel : 0;
	overhead = (s->has.guards ? s->guards : 0) + (s->has.dispatch ? s->dispatch : 0) +
		   (s->has.alloc ? s->alloc : 0) + (s->has.launch ? s->launch : 0);
	whole = s->has.observed ? s->observed : fmax(kernel + overhead, at->latency->median_us);
	shares_of((double[]){ kernel, overhead, whole - kernel - overhead }, 3, whole, percents);
	number_duration(text, overhead);
	if (percents[2] >= 10)
		rest = maker_text(m, " %d %% are not attributed to any phase.", percents[2]);
	REPORT_SET(
	    to, split,
	    maker_text(m,
		       "%s spends %d %% of a call in kernels. Its floor, %s of guards, "
		       "dispatch, allocation and launch, stays however short the kernels are.%s",
		       name, percents[0], text, rest));
}

/* ---- and each mode's parts */

enum { PARTS = 6 /* the last: what no part claims */ };

static double part(bool known, double us)
{
	return known ? us : 0;
}

/* In us. */
static double parts_of(const struct report_mode *at, double parts[PARTS])
{
	const struct report_split *s = at->split_us;
	double named = 0, watched;

	parts[0] = part(s->has.guards, s->guards);
	parts[1] = part(s->has.dispatch, s->dispatch);
	parts[2] = part(s->has.alloc, s->alloc);
	parts[3] = part(s->has.launch, s->launch);
	parts[4] = part(s->has.kernel, s->kernel);
	for (int i = 0; i < PARTS - 1; i++)
		named += parts[i];
	watched = s->has.observed ? s->observed : fmax(named, at->latency->median_us);
	parts[PARTS - 1] = watched - named;
	return watched;
}

/* Rounds them to a step so that they add up to their rounded sum (largest remainder). */
static void add_up(double parts[PARTS], double *sum, double step)
{
	double rest[PARTS], left = round(*sum / step);

	*sum = left * step;
	for (int i = 0; i < PARTS; i++) {
		rest[i] = parts[i] / step - floor(parts[i] / step);
		parts[i] = floor(parts[i] / step);
		left -= parts[i];
	}
	for (int taken = 0; taken < PARTS && left > 0; taken++, left--) {
		int most = 0;

		for (int i = 1; i < PARTS; i++)
			if (rest[i] > rest[most])
				most = i;
		parts[most]++;
		rest[most] = -1;
	}
	for (int i = 0; i < PARTS; i++)
		parts[i] *= step;
}

static const char *to_step(struct maker *m, double x, double step)
{
	char text[NUMBER_BYTES];

	number_print(text, x, step);
	return maker_text(m, "%s", text);
}

static void put_parts(struct maker *m, const struct report_mode *at, double scale,
		      struct report_findings_mode *to)
{
	struct report_findings_split *out = report_new_findings_split(1, m->wording.arena);
	double parts[PARTS], watched = parts_of(at, parts) / scale, step = number_step(watched, 0);
	char median[NUMBER_BYTES];

	m->wording.failed |= !out;
	if (!out)
		return;
	for (int i = 0; i < PARTS; i++)
		parts[i] /= scale;
	add_up(parts, &watched, step);
	number_short(median, at->latency->median_us / scale);
	REPORT_SET(out, guards, to_step(m, parts[0], step));
	REPORT_SET(out, dispatch, to_step(m, parts[1], step));
	REPORT_SET(out, alloc, to_step(m, parts[2], step));
	REPORT_SET(out, launch, to_step(m, parts[3], step));
	REPORT_SET(out, kernel, to_step(m, parts[4], step));
	REPORT_SET(out, rest, to_step(m, parts[5], step));
	REPORT_SET(out, watched, to_step(m, watched, step));
	REPORT_SET(out, median, maker_text(m, "%s", median));
	REPORT_SET(to, split, out);
}

static bool is_watched(const struct report_mode *at)
{
	return at->split_us && at->latency;
}

static void put_split(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	double parts[PARTS], most = 0;
	struct number_unit unit;

	say_split(m, p, to);
	for (size_t i = 0; i < p->modes.n; i++)
		if (is_watched(&p->modes.at[i]))
			most = fmax(most, parts_of(&p->modes.at[i], parts));
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
	const struct report_mode *eager = report_get(p->modes, "eager");

	put_split(m, p, to);
	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_memory *memory = p->modes.at[i].memory;
		struct report_findings_mode *of = &to->modes.at[i];
		struct sentence s;

		if (strcmp(p->modes.keys[i], "eager") != 0)
			put_graphs(m, p->modes.keys[i], &p->modes.at[i], of);
		if (!memory)
			continue;
		REPORT_SET(of, memory, (struct report_sentence_part_list){ 0 });
		s = sentence_begin(&m->wording, &of->memory);
		say_memory(&s, p->modes.keys[i], memory, eager ? eager->memory : NULL);
	}
}
