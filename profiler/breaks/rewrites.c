/* profiler/breaks/rewrites.c -- offers a rewrite only after it has been run.
 *
 * lang_rewrite() is careful, not proved: `torch.where` broadcasts, a tensor is
 * no float.  So both programs make the same calls, and what they return, write
 * and print is compared.
 */
#include "profiler/breaks/rewrites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "fusion/source.h"
#include "profiler/fields/breaks.h"
#include "profiler/profiler.h"
#include "profiler/workload/value_json.h"

static const double most_error = 1e-5; /* of float32 results, an op's rounding apart */

bool rewrites_kind(const char *kind, enum lang_rewrite *out)
{
	if (strcmp(kind, "data-dependent-branch") == 0)
		*out = REWRITE_WHERE;
	else if (strcmp(kind, "scalar-read") == 0)
		*out = REWRITE_TENSOR;
	else if (strcmp(kind, "host-call") == 0)
		*out = REWRITE_PRINT;
	else if (strcmp(kind, "explicit") == 0)
		*out = REWRITE_DROP;
	else
		return false;
	return true;
}

static bool near(struct value a, struct value b)
{
	return value_distance(a, b, false) <= most_error && a.kind == b.kind;
}

static bool same_text(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* Makes the calls; false where one differs from `before`'s. */
static bool same_calls(struct candidate *after, const struct candidate *before, bool printed)
{
	const struct inputs *in = before->originals;
	struct err ignored = { 0 };

	for (int i = 0; i < in->n_calls; i++) {
		if (!candidate_call(after, i, &after->outputs[i], &ignored) ||
		    !near(after->outputs[i], before->outputs[i]))
			return false;
		for (int k = 0; k < in->n_args[i]; k++)
			if (!near(after->args[i][k], before->args[i][k]))
				return false;
	}
	return !printed || same_text(fusion_stdout(after->session), fusion_stdout(before->session));
}

/* Fewer of one, and not more of the other. */
static bool gains(const struct candidate *before, const struct candidate *after,
		  struct rewrites_gain *to)
{
	struct report_counts graphs = { fusion_counts(before->session).n_graphs,
					fusion_counts(after->session).n_graphs };
	struct report_counts breaks = { fusion_counts(before->session).n_breaks,
					fusion_counts(after->session).n_breaks };

	*to = (struct rewrites_gain){ graphs, breaks };
	return graphs.after <= graphs.before + (breaks.after < breaks.before) &&
	       breaks.after <= breaks.before &&
	       (graphs.after < graphs.before || breaks.after < breaks.before);
}

bool rewrites_try(const struct buf *source, const struct candidate *before,
		  const struct workload *w, bool printed, struct rewrites_gain *gain)
{
	struct err ignored = { 0 };
	struct point changed = { .source = source->data };
	struct candidate after = { 0 };
	bool ok;

	changed.program = workload_program(w, source->data, source->len, &ignored);
	if (!changed.program)
		return false;
	ok = candidate_create_beside(&after, before, w, &changed, &ignored) &&
	     same_calls(&after, before, printed) && gains(before, &after, gain);
	candidate_destroy(&after);
	fusion_program_destroy(changed.program);
	return ok;
}

/* A change of the source that may take a break away: its bytes from `from` to `to`
 * become `bytes` bytes of `changed`, at the same place. */
struct proposal {
	enum lang_rewrite kind;
	int line;
	struct buf changed; /* the source with this change alone */
	size_t from, to, bytes;
};

struct proposals {
	VEC(struct proposal) list; /* each line once */
	const char *source;
	const struct lang_rewriter *rewriter;
};

/* What both texts do not begin or end with. */
static void find_bytes(struct proposal *c, const char *source)
{
	size_t n = strlen(source), m = c->changed.len, same = 0;

	while (same < n && same < m && source[same] == c->changed.data[same])
		same++;
	while (n > same && m > same && source[n - 1] == c->changed.data[m - 1])
		n--, m--;
	c->from = same;
	c->to = n;
	c->bytes = m - same;
}

static void add(struct proposals *all, const struct report_break *b)
{
	struct proposal c = { .line = break_place_of(b).line };

	if (!rewrites_kind(b->kind, &c.kind))
		return;
	for (size_t i = 0; i < all->list.len; i++)
		if (all->list.at[i].line == c.line)
			return;
	buf_init(&c.changed, WORKLOAD_MAX_SOURCE_BYTES);
	if (lang_rewrite(all->rewriter, c.kind, c.line, &c.changed)) {
		find_bytes(&c, all->source);
		if (VEC_PUSH(&all->list, c))
			return;
	}
	buf_finish(&c.changed);
}

/* `together`: how many changes were run as one; 0: this one alone. */
static struct report_rewrite_gain *gain_of(const struct rewrites_gain *gain, size_t together,
					   struct report_draft *draft)
{
	struct report_rewrite_gain *to = report_new_rewrite_gain(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, graphs, gain->graphs);
	REPORT_SET(to, breaks, gain->breaks);
	REPORT_SET_IF(to, together, together, (int64_t)together);
	return to;
}

static void note(struct report_break_list breaks, const struct proposal *c,
		 struct report_rewrite_gain *gain, struct report_draft *draft)
{
	enum lang_rewrite kind;

	for (size_t i = 0; i < breaks.n; i++) {
		struct report_break *b = &breaks.at[i];

		if (break_place_of(b).line != c->line || !rewrites_kind(b->kind, &kind) ||
		    kind != c->kind)
			continue;
		REPORT_SET(b, rewrite, report_draft_text(draft, c->changed.data));
		REPORT_SET(b, rewrite_gain, gain);
	}
}

static void try_each(struct report_break_list breaks, const struct proposals *all,
		     const struct rewrites_of *of, int64_t end_ns, struct report_draft *draft)
{
	struct rewrites_gain gain;

	for (size_t i = 0; i < all->list.len && clock_cpu_ns() < end_ns; i++) {
		const struct proposal *c = &all->list.at[i];

		if (rewrites_try(&c->changed, of->candidate, of->w, true, &gain))
			note(breaks, c, gain_of(&gain, 0, draft), draft);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct proposal *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* One program with all the changes; false where two of them overlap. */
static bool put_together(struct proposals *all, struct buf *out)
{
	size_t at = 0;

	if (all->list.len > 1)
		qsort(all->list.at, all->list.len, sizeof(*all->list.at), by_place);
	for (size_t i = 0; i < all->list.len; i++) {
		const struct proposal *c = &all->list.at[i];

		if (c->from < at)
			return false;
		buf_add(out, all->source + at, c->from - at);
		buf_add(out, c->changed.data + c->from, c->bytes);
		at = c->to;
	}
	buf_puts(out, all->source + at);
	return !out->failed;
}

static void try_together(struct report_break_list breaks, struct proposals *all,
			 const struct rewrites_of *of, struct report_draft *draft)
{
	struct report_rewrite_gain *shared;
	struct rewrites_gain gain;
	struct buf source;

	buf_init(&source, WORKLOAD_MAX_SOURCE_BYTES);
	if (put_together(all, &source) &&
	    rewrites_try(&source, of->candidate, of->w, true, &gain)) {
		shared = gain_of(&gain, all->list.len, draft);
		for (size_t i = 0; i < all->list.len; i++)
			note(breaks, &all->list.at[i], shared, draft);
	}
	buf_finish(&source);
}

static void find_candidates(struct proposals *all, struct report_break_list breaks)
{
	struct lang_rewriter *rewriter = lang_rewriter_create(all->source, strlen(all->source));

	all->rewriter = rewriter;
	for (size_t i = 0; rewriter && i < breaks.n; i++)
		add(all, &breaks.at[i]);
	lang_rewriter_destroy(rewriter);
}

/* Whether a change could be offered for any of them. */
static bool any_could(struct report_break_list breaks)
{
	enum lang_rewrite kind;
	bool any = false;

	for (size_t i = 0; i < breaks.n; i++) {
		breaks.at[i].written.rewrite = REPORT_NULL;
		any |= rewrites_kind(breaks.at[i].kind, &kind);
	}
	return any;
}

bool rewrites_offer(struct report_break_list breaks, const struct rewrites_of *of,
		    struct report_draft *draft)
{
	int64_t left_ns = of->limit_ms < 0 ? INT64_MAX / 2 : (int64_t)(of->limit_ms * 1e6);
	int64_t end_ns = clock_cpu_ns() + left_ns;
	struct proposals all = { .source = point_source(of->w, of->p) };

	if (!any_could(breaks))
		return true;
	if (of->base_ns > left_ns)
		return false;
	find_candidates(&all, breaks);
	if ((int64_t)all.list.len * of->base_ns <= left_ns)
		try_each(breaks, &all, of, end_ns, draft);
	else
		try_together(breaks, &all, of, draft);
	for (size_t i = 0; i < all.list.len; i++)
		buf_finish(&all.list.at[i].changed);
	VEC_FREE(&all.list);
	return true;
}

static bool make_calls(struct candidate *candidate)
{
	struct err ignored = { 0 };

	for (int i = 0; i < candidate->originals->n_calls; i++)
		if (!candidate_call(candidate, i, &candidate->outputs[i], &ignored))
			return false;
	return true;
}

bool rewrites_again(struct candidate *again, const struct candidate *candidate,
		    const struct workload *quick, const struct point *p)
{
	const struct candidate_spec spec = {
		.w = quick, .p = p, .mode = candidate->mode, .originals = candidate->originals
	};
	struct err ignored = { 0 };

	return candidate_create(again, &spec, &ignored) && make_calls(again);
}

void rewrites_offer_run(struct report_break_list breaks, const struct rewrites_of *of,
			struct report_draft *draft)
{
	struct workload quick = workload_quick(of->w);
	int64_t begin = clock_cpu_ns();
	struct candidate again = { 0 };

	if (any_could(breaks) && rewrites_again(&again, of->candidate, &quick, of->p)) {
		struct rewrites_of quicker = *of;

		quicker.candidate = &again;
		quicker.w = &quick;
		quicker.base_ns = clock_cpu_ns() - begin;
		rewrites_offer(breaks, &quicker, draft);
	}
	candidate_destroy(&again);
}
