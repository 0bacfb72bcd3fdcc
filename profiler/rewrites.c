/* profiler/rewrites.c -- offers a rewrite only after it has been run.
 *
 * lang_rewrite() is careful, not proved: `torch.where` broadcasts, a tensor is
 * no float.  So both programs make the same calls, and what they return, write
 * and print is compared.
 */
#include "profiler/rewrites.h"

#include <math.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/lang/rewrite.h"
#include "profiler/value_json.h"

static const double most_error = 1e-5; /* of float32 results, an op's rounding apart */

static bool kind_of(const char *kind, enum lang_rewrite *out)
{
	if (strcmp(kind, "data-dependent-branch") == 0)
		*out = REWRITE_WHERE;
	else if (strcmp(kind, "scalar-read") == 0)
		*out = REWRITE_TENSOR;
	else if (strcmp(kind, "host-call") == 0)
		*out = REWRITE_PRINT;
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
static bool same_calls(struct lane *after, const struct lane *before)
{
	const struct inputs *in = before->originals;
	struct err ignored = { 0 };

	for (int i = 0; i < in->n_calls; i++) {
		if (!lane_call(after, i, &after->outputs[i], &ignored) ||
		    !near(after->outputs[i], before->outputs[i]))
			return false;
		for (int k = 0; k < in->n_args[i]; k++)
			if (!near(after->args[i][k], before->args[i][k]))
				return false;
	}
	return same_text(fusion_stdout(after->session), fusion_stdout(before->session));
}

/* Fewer of one, and not more of the other. */
static json_t *gain(const struct lane *before, const struct lane *after)
{
	int graphs[2] = { fusion_graph_count(before->session), fusion_graph_count(after->session) };
	int breaks[2] = { fusion_break_count(before->session), fusion_break_count(after->session) };

	if (graphs[1] > graphs[0] + (breaks[1] < breaks[0]) || breaks[1] > breaks[0] ||
	    (graphs[1] >= graphs[0] && breaks[1] >= breaks[0]))
		return NULL;
	return json_pack("{s:[i, i], s:[i, i]}", "graphs", graphs[0], graphs[1], "breaks",
			 breaks[0], breaks[1]);
}

/* NULL where the changed program does not do the same, or gains nothing. */
static json_t *try_source(char *source, size_t len, const struct lane *before,
			  const struct workload *w)
{
	struct err ignored = { 0 };
	struct point changed = { .source = source };
	struct lane after = { 0 };
	json_t *gained = NULL;

	changed.program = fusion_parse(source, len, w->entry, &ignored);
	if (!changed.program)
		return NULL;
	if (lane_create(&after, w, &changed, before->mode, before->originals, NULL, &ignored) &&
	    same_calls(&after, before))
		gained = gain(before, &after);
	lane_destroy(&after);
	fusion_program_destroy(changed.program);
	return gained;
}

static void offer(json_t *item, const char *source, const struct lane *lane,
		  const struct workload *w)
{
	const json_t *stack = json_object_get(item, "stack");
	size_t n = json_array_size(stack);
	const json_t *inner = n ? json_array_get(stack, n - 1) : NULL;
	int line = (int)json_integer_value(json_object_get(inner, "line"));
	enum lang_rewrite kind;
	struct buf changed;
	json_t *gained;

	if (!kind_of(json_string_value(json_object_get(item, "kind")), &kind))
		return;
	buf_init(&changed, WORKLOAD_MAX_SOURCE_BYTES);
	if (lang_rewrite(source, strlen(source), kind, line, &changed)) {
		gained = try_source(changed.data, changed.len, lane, w);
		if (gained) {
			json_object_set_new(item, "rewrite", json_string(changed.data));
			json_object_set_new(item, "rewrite_gain", gained);
		}
	}
	buf_finish(&changed);
}

void rewrites_offer(json_t *breaks, const struct lane *lane, const struct workload *w,
		    const struct point *p, double limit_ms)
{
	int64_t end_ns = clock_ns() + (int64_t)(limit_ms * 1e6);
	const char *source = point_source(w, p);
	size_t i;
	json_t *item;

	json_array_foreach(breaks, i, item)
	{
		json_object_set_new(item, "rewrite", json_null());
		if (limit_ms < 0 || clock_ns() < end_ns)
			offer(item, source, lane, w);
	}
}
