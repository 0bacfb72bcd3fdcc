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
	return value_distance(a, b) <= most_error && a.kind == b.kind;
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
static json_t *gain(const struct candidate *before, const struct candidate *after)
{
	int graphs[2] = { fusion_graph_count(before->session), fusion_graph_count(after->session) };
	int breaks[2] = { fusion_break_count(before->session), fusion_break_count(after->session) };

	if (graphs[1] > graphs[0] + (breaks[1] < breaks[0]) || breaks[1] > breaks[0] ||
	    (graphs[1] >= graphs[0] && breaks[1] >= breaks[0]))
		return NULL;
	return json_pack("{s:[i, i], s:[i, i]}", "graphs", graphs[0], graphs[1], "breaks",
			 breaks[0], breaks[1]);
}

json_t *rewrites_try(char *source, size_t len, const struct candidate *before,
		     const struct workload *w, bool printed)
{
	struct err ignored = { 0 };
	struct point changed = { .source = source };
	struct candidate after = { 0 };
	json_t *gained = NULL;

	changed.program = workload_program(w, source, len, &ignored);
	if (!changed.program)
		return NULL;
	if (candidate_create_beside(&after, before, w, &changed, &ignored) &&
	    same_calls(&after, before, printed))
		gained = gain(before, &after);
	candidate_destroy(&after);
	fusion_program_destroy(changed.program);
	return gained;
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

static void add(struct proposals *all, const json_t *item)
{
	struct proposal c = { .line = profiler_break_place(item).line };

	if (!rewrites_kind(json_string_value(json_object_get(item, "kind")), &c.kind))
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

static void note(json_t *breaks, const struct proposal *c, json_t *gained)
{
	enum lang_rewrite kind;
	size_t i;
	json_t *item;

	json_array_foreach(breaks, i, item)
	{
		if (profiler_break_place(item).line != c->line ||
		    !rewrites_kind(json_string_value(json_object_get(item, "kind")), &kind) ||
		    kind != c->kind)
			continue;
		json_object_set_new(item, "rewrite", json_string(c->changed.data));
		json_object_set(item, "rewrite_gain", gained);
	}
}

static void try_each(json_t *breaks, const struct proposals *all, const struct candidate *candidate,
		     const struct workload *w, int64_t end_ns)
{
	for (size_t i = 0; i < all->list.len && clock_cpu_ns() < end_ns; i++) {
		const struct proposal *c = &all->list.at[i];
		json_t *gained = rewrites_try(c->changed.data, c->changed.len, candidate, w, true);

		if (gained)
			note(breaks, c, gained);
		json_decref(gained);
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

static void try_together(json_t *breaks, struct proposals *all, const struct candidate *candidate,
			 const struct workload *w)
{
	json_t *gained = NULL;
	struct buf source;

	buf_init(&source, WORKLOAD_MAX_SOURCE_BYTES);
	if (put_together(all, &source))
		gained = rewrites_try(source.data, source.len, candidate, w, true);
	if (gained)
		json_object_set_new(gained, "together", json_integer((json_int_t)all->list.len));
	for (size_t i = 0; gained && i < all->list.len; i++)
		note(breaks, &all->list.at[i], gained);
	json_decref(gained);
	buf_finish(&source);
}

static void find_candidates(struct proposals *all, const json_t *breaks)
{
	struct lang_rewriter *rewriter = lang_rewriter_create(all->source, strlen(all->source));
	size_t i;
	json_t *item;

	all->rewriter = rewriter;
	json_array_foreach((json_t *)breaks, i, item)
	{
		if (rewriter)
			add(all, item);
	}
	lang_rewriter_destroy(rewriter);
}

/* Whether a change could be offered for any of them. */
static bool any_could(json_t *breaks)
{
	enum lang_rewrite kind;
	bool any = false;
	size_t i;
	json_t *item;

	json_array_foreach(breaks, i, item)
	{
		json_object_set_new(item, "rewrite", json_null());
		any |= rewrites_kind(json_string_value(json_object_get(item, "kind")), &kind);
	}
	return any;
}

bool rewrites_offer(json_t *breaks, const struct candidate *candidate, const struct workload *w,
		    const struct point *p, double limit_ms, int64_t base_ns)
{
	int64_t left_ns = limit_ms < 0 ? INT64_MAX / 2 : (int64_t)(limit_ms * 1e6);
	int64_t end_ns = clock_cpu_ns() + left_ns;
	struct proposals all = { .source = point_source(w, p) };

	if (!any_could(breaks))
		return true;
	if (base_ns > left_ns)
		return false;
	find_candidates(&all, breaks);
	if ((int64_t)all.list.len * base_ns <= left_ns)
		try_each(breaks, &all, candidate, w, end_ns);
	else
		try_together(breaks, &all, candidate, w);
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
	struct err ignored = { 0 };

	return candidate_create(again, quick, p, candidate->mode, candidate->originals,
				(struct candidate_cache){ 0 }, &ignored) &&
	       make_calls(again);
}

void rewrites_offer_run(json_t *breaks, const struct candidate *candidate, const struct workload *w,
			const struct point *p, double limit_ms)
{
	struct workload quick = workload_quick(w);
	int64_t begin = clock_cpu_ns(), base_ns;
	struct candidate again = { 0 };

	if (any_could(breaks) && rewrites_again(&again, candidate, &quick, p)) {
		base_ns = clock_cpu_ns() - begin;
		rewrites_offer(breaks, &again, &quick, p, limit_ms, base_ns);
	}
	candidate_destroy(&again);
}
