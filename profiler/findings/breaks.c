/* profiler/findings/breaks.c -- what is said of the breaks of a mode: the verdict, each distinct
 * break with what it costs, and each kind. */
#include <math.h>
#include <string.h>

#include "profiler/fields/breaks.h"
#include "profiler/findings/maker.h"

/* ---- the distinct ones ---- */

/* What a break's microseconds are, in their order; a part of several is told apart in the facts. */
enum { PARTS = 5 };

/* Those that are the same: the first of them, and all of them together. */
struct broken {
	const struct report_break *first;
	int64_t at, met;
	bool lowering, priced;
	int priced_ones;
	double us, parts[PARTS];
	double step;                     /* the coarsest that the interval of one allows */
	struct report_interval ci;       /* NAN: not known of each */
	const struct report_break *dear; /* the first one with a cost */
	struct report_integers calls;
};

struct broken_list {
	struct broken *at;
	size_t n;
	const struct report_break_costs *all; /* what they cost together; NULL: not known */
	double call_us;                       /* of the mode; infinite where that is not known */
};

/* In us; infinite where that is not known. */
static double call_of(const struct report_mode *at)
{
	return at->latency ? at->latency->median_us : (double)INFINITY;
}

static void add_parts(const struct report_break_cost *c, double parts[PARTS])
{
	const double finer[PARTS] = {
		c->has.statement_us ? c->statement_us : 0,
		(c->has.outputs_us ? c->outputs_us : 0) + (c->has.frame_us ? c->frame_us : 0) +
		    (c->has.entry_us ? c->entry_us : 0),
		(c->has.guards_us ? c->guards_us : 0) + (c->has.replay_us ? c->replay_us : 0),
		(c->has.dispatch_us ? c->dispatch_us : 0) + (c->has.alloc_us ? c->alloc_us : 0) +
		    (c->has.launch_us ? c->launch_us : 0),
		c->kernel_us,
	};

	for (int i = 0; i < PARTS; i++)
		parts[i] += finer[i];
}

static void add_call(struct broken *to, int64_t call)
{
	for (size_t i = 0; i < to->calls.n; i++)
		if (to->calls.at[i] == call)
			return;
	to->calls.at[to->calls.n++] = call;
}

/* Of a break that is met for several sizes the costs of a call add up. */
static void add_break(struct broken *to, const struct report_break *b)
{
	double step;

	to->met += b->count;
	add_call(to, b->call);
	if (!b->has.cost_us)
		return;
	to->us += b->cost_us;
	to->dear = to->priced ? to->dear : b;
	to->priced = true;
	to->priced_ones++;
	step = b->cost ? number_step(b->cost_us, b->cost->ci_us.low, b->cost->ci_us.high)
		       : number_step(b->cost_us, NAN, NAN);
	to->step = fmax(to->step, step);
	to->ci.low += b->cost ? b->cost->ci_us.low : NAN;
	to->ci.high += b->cost ? b->cost->ci_us.high : NAN;
	if (b->cost)
		add_parts(b->cost, to->parts);
}

/* The dearest first where costs are known, those of lowering last. */
static bool goes_before(const struct broken *a, const struct broken *b)
{
	return a->lowering != b->lowering ? b->lowering : a->us > b->us;
}

static void sort_broken(struct broken_list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		struct broken moved = l->at[i];
		size_t k = i;

		for (; k > 0 && goes_before(&moved, &l->at[k - 1]); k--)
			l->at[k] = l->at[k - 1];
		l->at[k] = moved;
	}
}

static struct broken_list distinct_of(struct maker *m, const struct report_mode *at)
{
	const struct report_break_list *breaks = &at->breaks;
	struct broken_list l = { .at = ARENA_ARRAY(m->wording.arena, struct broken, breaks->n + 1),
				 .all = at->break_cost,
				 .call_us = call_of(at) };
	size_t k;

	m->wording.failed |= !l.at;
	for (size_t i = 0; !m->wording.failed && i < breaks->n; i++) {
		const struct report_break *b = &breaks->at[i];

		for (k = 0; k < l.n && !break_same(l.at[k].first, b); k++)
			;
		if (k == l.n) {
			l.at[l.n++] = (struct broken){
				.first = b,
				.at = (int64_t)i,
				.lowering = same_text(b->stage, "lowering"),
				.calls = { ARENA_ARRAY(m->wording.arena, int64_t, breaks->n), 0 },
			};
			m->wording.failed |= !l.at[k].calls.at;
		}
		if (!m->wording.failed)
			add_break(&l.at[k], b);
	}
	sort_broken(&l);
	return l;
}

struct break_tally {
	int64_t captured, lowering; /* distinct ones */
	int64_t met;                /* of capture */
};

static struct break_tally tally_of(const struct broken_list *l)
{
	struct break_tally t = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		t.lowering += l->at[i].lowering;
		t.captured += !l->at[i].lowering;
		t.met += l->at[i].lowering ? 0 : l->at[i].met;
	}
	return t;
}

/* ---- the verdict ---- */

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

/* As it is written: "-100 (-200 to 0)" tells nothing either. */
static bool holds_zero(const struct report_figure *f)
{
	return f && f->low && (*f->low == '-' || !f->low[strspn(f->low, "0.")]) && *f->high != '-';
}

/* What is known where the interval of a cost holds 0.  A bound beyond the call itself is none. */
static const char *open_text(struct maker *m, double high, double call_us)
{
	if (high >= call_us)
		high = 0;
	return maker_text(m, "cannot be told apart from 0%s%s%s", high > 0 ? ": at most " : "",
			  high > 0 ? figure_text(m, high) : "", high > 0 ? " µs" : "");
}

/* What can be said of a break's cost. */
enum cost_known { KNOWN_FIGURE, KNOWN_OPEN, KNOWN_NOTHING };

/* Of a break that was met for several sizes the intervals add up.  No part says more than is said
 * of all of them: where that is no figure neither is a part, and none is larger. */
static enum cost_known known_of(struct maker *m, const struct broken_list *l,
				const struct broken *b)
{
	const struct report_break_costs *all = l->all;
	bool open = all && holds_zero(us_figure(m, all->sum_us, all->ci_us));

	if ((all && !open && all->ci_us.high < 0) || b->ci.high <= 0)
		return KNOWN_NOTHING;
	open = open || holds_zero(us_figure(m, b->us, b->ci)) || (all && b->us > all->ci_us.high);
	return open ? KNOWN_OPEN : KNOWN_FIGURE;
}

/* Where it is no figure, in the words of the sentence on all. */
static const char *untold_text(struct maker *m, const struct broken_list *l, const struct broken *b)
{
	double most = l->all ? fmin(b->ci.high, l->all->ci_us.high) : b->ci.high;

	if (known_of(m, l, b) == KNOWN_OPEN)
		return maker_text(m, "Its cost %s%s.", open_text(m, most, l->call_us),
				  most > 0 && most < l->call_us ? " a call" : "");
	if (!l->all || l->all->ci_us.high >= 0)
		return "It costs nothing: a call without it would be no shorter.";
	return l->n == 1
		   ? "It costs nothing: without it a call is no shorter."
		   : maker_text(m, "It costs nothing: without all %zu a call is no shorter.", l->n);
}

/* Of a call of so much, in this mode. */
static void say_of_call(struct maker *m, struct sentence *s, const char *mode,
			const struct report_mode *at)
{
	if (at->latency)
		sentence_add(s, PART_PLAIN, " of every %s µs call in %s",
			     figure_text(m, at->latency->median_us), mode);
	else
		sentence_add(s, PART_PLAIN, " of a call in %s", mode);
}

/* What breaks cost a call, with the evidence for it.  Bold alone has to be true: a figure whose
 * interval holds 0 is no claim. */
struct cost_claim {
	const char *subject; /* "2 breaks cost" */
	double us;
	struct report_interval ci;
	const char *evidence, *less; /* of a cost; of one below nothing, where `less` is said */
};

static void say_claim(struct maker *m, struct sentence *s, const char *mode,
		      const struct report_mode *at, const struct cost_claim *c)
{
	struct report_figure *f = us_figure(m, c->us, c->ci);

	if (holds_zero(f)) {
		bool noisy = c->ci.high >= call_of(at);

		sentence_add(s, PART_CLAIM, "What %s %s", c->subject,
			     open_text(m, c->ci.high, call_of(at)));
		if (c->ci.high > 0 && !noisy)
			say_of_call(m, s, mode, at);
		else
			sentence_add(s, PART_PLAIN, " in %s", mode);
		sentence_add(s, PART_PLAIN, "%s%s.", c->evidence,
			     noisy ? ": from round to round it varies by more than a call takes"
				   : "");
	} else if (c->ci.high < 0) {
		f = turned(m, c->us, c->ci);
		sentence_add(s, PART_CLAIM, "%s nothing", c->subject);
		sentence_add(s, PART_PLAIN, " in %s: %s %s µs", mode, c->less, text_of(f));
		sentence_interval(s, f);
		sentence_add(s, PART_PLAIN, " longer%s.", c->evidence);
	} else {
		sentence_add(s, PART_CLAIM, "%s %s µs", c->subject, text_of(f));
		sentence_interval(s, f);
		say_of_call(m, s, mode, at);
		sentence_add(s, PART_PLAIN, "%s.", c->evidence);
	}
}

/* Where the function was timed without its breaks, that is what they cost: no estimate is as good.
 */
static void say_cost(struct maker *m, struct sentence *s, const char *mode,
		     const struct report_mode *at, int64_t n)
{
	const struct report_break_costs *all = at->break_cost;
	const char *subject = maker_text(m, "%s %s", plural(m, n, "break", "breaks"),
					 n == 1 ? "costs" : "cost");
	struct cost_claim claim = { subject, all->sum_us, all->ci_us,
				    ", as estimated from its timeline",
				    "with the kernels of one graph a call would be" };

	if (all->timed && all->without) {
		int64_t gone = n - all->without->breaks_left;

		claim.evidence =
		    gone == n ? n == 1 ? ", as timed beside the same function without it"
				       : ", as timed beside the same function without them"
			      : maker_text(m,
					   ", as timed beside the same function without %s of them "
					   "and estimated for the rest",
					   gone > 0 ? figure_text(m, (double)gone) : "some");
		claim.less = n == 1 ? "without it a call is" : "without them a call is";
	}
	say_claim(m, s, mode, at, &claim);
}

/* "line 3", "lines 3, 5". */
static const char *lines_text(struct maker *m, const struct report_integers *lines)
{
	const char *text = lines->n == 1 ? "line" : "lines";

	for (size_t i = 0; i < lines->n; i++)
		text = maker_text(m, "%s%s %lld", text, i ? "," : "", (long long)lines->at[i]);
	return text;
}

/* How what the timelines add up to lies to what was timed. */
static const char *say_explained(struct maker *m, const struct report_unbroken *w)
{
	struct report_figure *f;

	if (!w->has.ratio || w->explained_ci_us.low <= 0)
		return "";
	f = wording_figure(&m->wording,
			   &(struct interval){ w->ratio_ci.low, w->ratio, w->ratio_ci.high }, "x");
	return maker_text(m, " By themselves the timelines add up to %s%s of it.", text_of(f),
			  f && f->low ? maker_text(m, " (%s–%s)", f->low, f->high) : "");
}

/* What watching took, which is in no cost. */
static const char *say_watching(struct maker *m, const struct report_break_costs *all)
{
	if (!all->watching || all->watching->added_us <= 0)
		return "";
	return maker_text(m, " Watching added %s µs to a call, which is taken off.",
			  figure_text(m, all->watching->added_us));
}

static const char *cost_method(struct maker *m, const struct report_break_costs *all)
{
	const struct report_unbroken *w = all->without;
	const char *from, *changed = "";
	char calls[NUMBER_BYTES];

	number_print(calls, (double)all->calls, 1);
	from = maker_text(m,
			  "timelines of %s calls in %lld groups: the time between two graphs "
			  "in which no kernel runs, and the time that their kernels take beyond "
			  "those of one graph.",
			  calls, (long long)all->groups);
	if (!w)
		return maker_text(m, "From %s%s", from, say_watching(m, all));
	if (w->lines.n)
		changed = maker_text(m, "%s changed so that nothing breaks there",
				     lines_text(m, &w->lines));
	if (w->allowed)
		changed = maker_text(m, "%s%sthe denied ops lowered", changed,
				     *changed ? " and " : "");
	return maker_text(
	    m,
	    "Timed round by round beside the same function with %s. The share of each "
	    "break is by %s%s%s",
	    changed, from, say_explained(m, w), say_watching(m, all));
}

static void say_breaks(struct maker *m, struct sentence *s, const char *mode,
		       const struct report_mode *at, struct break_tally t)
{
	const char *graphs = at->graphs.n ? plural(m, (int64_t)at->graphs.n, "graph", "graphs")
					  : "no graph";

	if (at->break_cost) {
		say_cost(m, s, mode, at, t.captured + t.lowering);
	} else if (t.captured) {
		sentence_add(s, PART_CLAIM, "%s in %s", plural(m, t.captured, "break", "breaks"),
			     mode);
		if (t.met > t.captured)
			sentence_add(s, PART_PLAIN, ", hit %lld times", (long long)t.met);
		sentence_add(s, PART_PLAIN, "; %s captured %s.", mode, graphs);
	} else {
		sentence_add(s, PART_CLAIM, "%s captured without a break", mode);
		sentence_add(s, PART_PLAIN, ": %s.", graphs);
	}
	if (t.lowering)
		sentence_add(s, PART_PLAIN, " %s fell back to a library call in lowering.",
			     plural(m, t.lowering, "op", "ops"));
}

/* ---- each of them ---- */

static void put_fact(struct report_named_value_list *to, const char *name, const char *value)
{
	struct report_named_value *fact = &to->at[to->n++];

	REPORT_SET(fact, name, name);
	REPORT_SET(fact, value, value);
}

/* Parts of a part, where the report tells them apart: "sizes 0.500, allocation 1.50, launch 5". */
static const char *finer_parts(struct maker *m, const struct report_break_cost *c)
{
	const struct {
		const char *name;
		bool has, last; /* last of its part */
		double us;
	} all[] = {
		{ "results to the frame", c->has.outputs_us, false, c->outputs_us },
		{ "interpreter", c->has.frame_us, false, c->frame_us },
		{ "the call's own frame", c->has.entry_us, true, c->entry_us },
		{ "cache lookup", c->has.guards_us, false, c->guards_us },
		{ "no replay as one graph", c->has.replay_us, true, c->replay_us },
		{ "sizes", c->has.dispatch_us, false, c->dispatch_us },
		{ "allocation", c->has.alloc_us, false, c->alloc_us },
		{ "launch", c->has.launch_us, true, c->launch_us },
	};
	const char *text = "", *part = "";
	int n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].has && all[i].us != 0)
			part = maker_text(m, "%s%s%s %s", part, n++ ? ", " : "", all[i].name,
					  figure_text(m, all[i].us));
		if (!all[i].last)
			continue;
		if (n > 1)
			text = maker_text(m, "%s%s%s", text, *text ? "; " : "", part);
		part = "";
		n = 0;
	}
	return text;
}

enum { MOST_FACTS = 6 };

/* Counts of a break, each with its name. */
static void put_facts(struct maker *m, const struct report_break_cost *c, bool open,
		      struct report_findings_break *to)
{
	struct report_named_value_list facts = {
		report_new_named_value(MOST_FACTS, m->wording.arena), 0
	};
	const char *finer = open ? "" : finer_parts(m, c), *eager = "";

	m->wording.failed |= !facts.at;
	if (m->wording.failed)
		return;
	if (c->met != 1)
		put_fact(&facts, "Hit", maker_text(m, "%s times a call", figure_text(m, c->met)));
	if (*finer)
		put_fact(&facts, "In detail, µs", finer);
	if (c->eager_launches > 0)
		eager = maker_text(m, ", %s of them single ops in eager",
				   figure_text(m, c->eager_launches));
	put_fact(&facts, "Extra launches",
		 maker_text(m, "%s a call%s", figure_text(m, c->launches), eager));
	put_fact(&facts, "Extra guards", figure_text(m, c->guards));
	put_fact(&facts, "Moved twice",
		 maker_text(m, "%s: written by one graph and read by the next, each time",
			    size_text(m, c->moved_bytes)));
	put_fact(&facts, "Kept alive",
		 maker_text(m, "%s made in this call and held across the break",
			    size_text(m, c->kept_bytes)));
	REPORT_SET(to, facts, facts);
}

/* They add up to the cost as it is written. */
static void put_parts(struct maker *m, const struct broken *b, struct report_findings_break *to)
{
	double parts[PARTS];
	struct report_findings_parts *out = report_new_findings_parts(1, m->wording.arena);

	m->wording.failed |= !out;
	if (m->wording.failed)
		return;
	memcpy(parts, b->parts, sizeof(parts));
	number_add_up(parts, PARTS, b->us, b->step);
	REPORT_SET(out, statement, step_text(m, parts[0], b->step));
	REPORT_SET(out, frame, step_text(m, parts[1], b->step));
	REPORT_SET(out, guards, step_text(m, parts[2], b->step));
	REPORT_SET(out, launch, step_text(m, parts[3], b->step));
	REPORT_SET(out, kernel, step_text(m, parts[4], b->step));
	REPORT_SET(to, parts, out);
}

/* What all breaks of its line cost, as far as that can be told; NULL for nothing. */
static const char *line_text(struct maker *m, const struct broken_list *l, const struct broken *b)
{
	struct break_place here = break_place_of(b->first), there;
	double us = 0, step = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct broken *other = &l->at[i];

		there = break_place_of(other->first);
		if (there.line != here.line || !same_text(there.file, here.file) ||
		    !other->priced || known_of(m, l, other) != KNOWN_FIGURE)
			continue;
		us += other->us;
		step = fmax(step, other->step);
	}
	return us > 0 ? step_text(m, us, step) : NULL;
}

/* "It runs after its graph." of "runs after its graph". */
static const char *sentence_of(struct maker *m, const char *words)
{
	bool bare = strncmp(words, "runs ", 5) == 0;

	if (!*words)
		return "";
	return bare ? maker_text(m, "It %s.", words)
		    : maker_text(m, "%c%s.", *words - 'a' + 'A', words + 1);
}

static void put_words(struct maker *m, const struct report_break *b,
		      struct report_findings_break *to)
{
	const char *then = b->because ? "" : sentence_of(m, break_outcome_words(b->outcome));
	struct buf gain;

	REPORT_SET_IF(to, then, *then, then);
	buf_init(&gain, 0);
	break_gain_print(&gain, b);
	if (gain.len)
		REPORT_SET(to, gain, sentence_of(m, gain.data));
	buf_finish(&gain);
}

static void put_break(struct maker *m, const struct broken_list *l, const struct broken *b,
		      struct report_findings_break *to)
{
	const struct report_interval unknown = { NAN, NAN };
	const char *on_line = line_text(m, l, b);
	struct report_figure *cost;

	REPORT_SET(to, first, b->at);
	REPORT_SET(to, met, b->met);
	REPORT_SET(to, calls, b->calls);
	put_words(m, b->first, to);
	if (on_line)
		REPORT_SET(to, line_cost, on_line);
	if (!b->priced && l->all)
		REPORT_SET(to, cost_open,
			   "Its cost is not known: the timed calls do not come here.");
	if (!b->priced)
		return;
	/* of a sum the interval is not known; its digits are those of the coarsest part */
	cost = us_figure(m, b->us, b->priced_ones == 1 ? b->ci : unknown);
	if (cost)
		REPORT_SET(cost, text, step_text(m, b->us, b->step));
	REPORT_SET(to, cost, cost);
	if (known_of(m, l, b) != KNOWN_FIGURE)
		REPORT_SET(to, cost_open, untold_text(m, l, b));
	put_parts(m, b, to);
	if (b->dear->cost)
		put_facts(m, b->dear->cost, to->cost_open != NULL, to);
}

/* ---- each kind ---- */

struct kind {
	const char *name;
	bool priced, open, nothing; /* open: no cost is a figure; nothing: nor more than 0 */
	double us, step;
	int64_t n;
};

static size_t kinds_of(struct maker *m, const struct broken_list *l, struct kind *kinds)
{
	size_t n = 0, k;

	for (size_t i = 0; i < l->n; i++) {
		for (k = 0; k < n && !same_text(kinds[k].name, l->at[i].first->kind); k++)
			;
		if (k == n)
			kinds[n++] = (struct kind){ .name = l->at[i].first->kind,
						    .open = true,
						    .nothing = true };
		kinds[k].n++;
		if (!l->at[i].priced)
			continue;
		kinds[k].priced = true;
		kinds[k].nothing &= known_of(m, l, &l->at[i]) == KNOWN_NOTHING;
		if (known_of(m, l, &l->at[i]) != KNOWN_FIGURE)
			continue;
		kinds[k].open = false;
		kinds[k].us += l->at[i].us;
		kinds[k].step = fmax(kinds[k].step, l->at[i].step);
	}
	for (size_t i = 1; i < n; i++) { /* the dearest first */
		struct kind moved = kinds[i];

		for (k = i; k > 0 && moved.us > kinds[k - 1].us; k--)
			kinds[k] = kinds[k - 1];
		kinds[k] = moved;
	}
	return n;
}

static void put_kind(struct maker *m, const struct broken_list *l, const struct kind *k,
		     struct report_findings_break_kind *to)
{
	struct report_integers rows = { ARENA_ARRAY(m->wording.arena, int64_t, (size_t)k->n), 0 };

	m->wording.failed |= !rows.at;
	for (size_t i = 0; !m->wording.failed && i < l->n; i++)
		if (same_text(l->at[i].first->kind, k->name))
			rows.at[rows.n++] = (int64_t)i;
	REPORT_SET(to, kind, k->name);
	REPORT_SET(to, rows, rows);
	REPORT_SET(to, says, plural(m, k->n, "break", "breaks"));
	if (k->priced)
		REPORT_SET(to, says,
			   k->open && k->nothing ? maker_text(m, "%s, which %s nothing", to->says,
							      k->n == 1 ? "costs" : "cost")
			   : k->open ? maker_text(m, "%s, whose cost cannot be told apart from 0",
						  to->says)
				     : maker_text(m, "%s, %s µs a call", to->says,
						  step_text(m, k->us, k->step)));
}

static void put_kinds(struct maker *m, const struct broken_list *l, struct report_findings_mode *to)
{
	struct kind *kinds = ARENA_ARRAY(m->wording.arena, struct kind, l->n + 1);
	size_t n = kinds ? kinds_of(m, l, kinds) : 0;

	m->wording.failed |= !kinds;
	REPORT_SET(to, break_kinds,
		   (struct report_findings_break_kind_list){
		       report_new_findings_break_kind(n, m->wording.arena), n });
	m->wording.failed |= !to->break_kinds.at;
	for (size_t i = 0; !m->wording.failed && i < n; i++)
		put_kind(m, l, &kinds[i], &to->break_kinds.at[i]);
}

void put_breaks(struct maker *m, const char *mode, const struct report_mode *at,
		struct report_findings_mode *to)
{
	struct broken_list l = distinct_of(m, at);
	struct sentence s;
	struct report_findings_verdict *verdict = maker_verdict(m, &s);

	if (m->wording.failed)
		return;
	say_breaks(m, &s, mode, at, tally_of(&l));
	REPORT_SET(verdict, how,
		   at->break_cost ? cost_method(m, at->break_cost)
				  : "A break is where a graph has to end: what follows is captured "
				    "as another graph, or runs in eager.");
	REPORT_SET(to, breaks, verdict);
	REPORT_SET(to, distinct,
		   (struct report_findings_break_list){
		       report_new_findings_break(l.n, m->wording.arena), l.n });
	m->wording.failed |= !to->distinct.at;
	for (size_t i = 0; !m->wording.failed && i < l.n; i++)
		put_break(m, &l, &l.at[i], &to->distinct.at[i]);
	if (!m->wording.failed)
		put_kinds(m, &l, to);
}
