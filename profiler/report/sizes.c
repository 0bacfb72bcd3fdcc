/* profiler/report/sizes.c -- tries other sizes, dtypes and ranks against an entry.
 *
 * Dims of equal size change together: in a program that adds x and y, a size
 * of x alone would only show that the shapes no longer fit.
 */
#include "profiler/report/sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/workload/call.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/value_json.h"

enum { MAX_GROUPS = 8, MOST_TRIES = 2 * MAX_GROUPS + 3, MAX_CHANGED_ELEMENTS = 1 << 22 };

struct
try {
	const struct candidate *candidate;
	const struct workload *w;
	const struct point *p;
	json_t *specs; /* of the first call */
	struct report_draft *draft;
	struct report_size_try *list; /* results: MOST_TRIES */
	size_t n;
	int64_t end_ns, base_ns; /* when to stop; what a session and its first call take */
	bool limited;
};

/* Argument k of a call where it is a tensor; of rank 0 and false where it is not. */
static bool tensor_at(const json_t *specs, size_t k, struct spec_tensor *out)
{
	struct err ignored = { 0 };

	*out = (struct spec_tensor){ 0 };
	return spec_tensor(json_array_get(specs, k), "", out, &ignored);
}

/* What a tensor's spec says, under its only key. */
static json_t *fields_of(json_t *spec)
{
	return json_object_iter_value(json_object_iter(spec));
}

/* Every dim of size `from` made `to`; NULL where it cannot be. */
static json_t *resize_all(const struct try *t, int64_t from, int64_t to)
{
	json_t *specs = json_deep_copy(t->specs);
	struct err ignored = { 0 };

	for (size_t k = 0; k < json_array_size(specs); k++) {
		struct spec_tensor x;

		tensor_at(specs, k, &x);
		for (int d = 0; d < x.rank; d++) {
			json_t *changed;

			if (x.size[d] != from)
				continue;
			changed = spec_resize(json_array_get(specs, k), "", d, to, &ignored);
			if (!changed) {
				json_decref(specs);
				return NULL;
			}
			json_array_set_new(specs, k, changed);
		}
	}
	return specs;
}

struct call_args {
	struct value at[WORKLOAD_MAX_ARGS];
	int n;
};

static void drop_args(struct call_args *a)
{
	for (int k = 0; k < a->n; k++)
		value_unref(a->at[k]);
}

/* False where a value cannot be made, or is too large to try; then none is left. */
static bool make_args(const struct try *t, struct fusion_session *s, const json_t *specs,
		      struct call_args *out, struct err *err)
{
	struct value_scope scope = { .session = s, .label = "" };
	int64_t bytes = 0;

	out->n = 0;
	for (size_t k = 0; k < json_array_size(specs); k++) {
		const json_t *spec = json_array_get(specs, k);
		struct value v = value_none();
		bool ok = spec_check(spec, "input", &bytes, err) &&
			  bytes <= (int64_t)MAX_CHANGED_ELEMENTS * 8;

		if (ok)
			v = value_in_scope(spec, fusion_allocator(t->candidate->engine), &scope,
					   err);
		if (!ok || v.kind == VALUE_UNSET) {
			drop_args(out);
			return false;
		}
		out->at[out->n++] = v;
	}
	return true;
}

/* One call with the values of `specs`; *new_graphs: captured during it. */
static bool call_once(const struct try *t, struct fusion_session *s, const json_t *specs,
		      int64_t *new_graphs, struct err *err)
{
	int64_t before = fusion_counts(s).graphs;
	struct call_args args;
	struct value out;
	bool ok;

	if (!make_args(t, s, specs, &args, err))
		return false;
	ok = fusion_call_named(s,
			       &(struct fusion_arguments){ args.at, args.n,
							   t->candidate->originals->names[0],
							   t->candidate->originals->n_named[0] },
			       &out, err);
	if (ok)
		value_unref(out);
	drop_args(&args);
	*new_graphs = fusion_counts(s).graphs - before;
	return ok;
}

/* Asks the guards of the entries that are there; nothing is run. */
static void probe(const struct try *t, const json_t *changed, struct report_size_try *row)
{
	struct err ignored = { 0 };
	struct call_args args;
	struct buf why;
	enum fusion_found found;

	if (t->candidate->originals->n_named[0] ||
	    !make_args(t, t->candidate->session, changed, &args, &ignored))
		return;
	buf_init(&why, 4096);
	found = fusion_probe(t->candidate->session, args.at, args.n, &why);
	REPORT_SET_IF(row, result, found != FUSION_UNKNOWN,
		      found == FUSION_FOUND ? "same entry" : "recompiled");
	REPORT_SET_IF(row, reason, found == FUSION_MISSED && why.data,
		      report_draft_text(t->draft, why.data));
	buf_finish(&why);
	drop_args(&args);
}

/* What the changed call leads to, and `then`, where a third call is made. */
static void try_in(const struct try *t, struct fusion_session *s, const json_t *changed,
		   const json_t *third, struct report_size_try *row)
{
	int64_t graphs, again;
	struct err err = { 0 };
	int recompiles, entries;

	if (!call_once(t, s, t->specs, &graphs, &err))
		return;
	recompiles = fusion_counts(s).n_recompiles;
	entries = fusion_counts(s).n_entries;
	if (!call_once(t, s, changed, &graphs, &err)) {
		REPORT_SET(row, result, "error");
		REPORT_SET(row, reason, report_draft_text(t->draft, err.message));
		return;
	}
	if (fusion_counts(s).n_recompiles == recompiles && graphs == 0 &&
	    fusion_counts(s).n_entries == entries) {
		REPORT_SET(row, result, "same entry");
		return;
	}
	REPORT_SET(row, result,
		   fusion_counts(s).n_recompiles > recompiles ? "recompiled" : "new frames");
	REPORT_SET(row, new_graphs, graphs);
	/* Of the first frame that did not fit: the others follow from it. */
	REPORT_SET_IF(row, reason, fusion_counts(s).n_recompiles > recompiles,
		      report_draft_text(t->draft, fusion_recompile(s, recompiles).reason));
	recompiles = fusion_counts(s).n_recompiles;
	if (third && call_once(t, s, third, &again, &err))
		REPORT_SET(row, then,
			   again || fusion_counts(s).n_recompiles > recompiles ? "recompiled again"
									       : "same entry");
}

/* Takes over `changed` and `third` (both may be NULL). */
static void add_try(struct try *t, const char *change, struct report_texts where, json_t *changed,
		    json_t *third)
{
	struct report_size_try *row = &t->list[t->n++];
	struct fusion_session *s = NULL;
	struct err err = { 0 };

	int64_t begin = clock_cpu_ns();

	REPORT_SET(row, change, report_draft_text(t->draft, change));
	REPORT_SET(row, where, where);
	REPORT_SET(row, result, "not tried");
	if (changed && t->limited && begin + t->base_ns > t->end_ns)
		probe(t, changed, row);
	else if (changed)
		s = fusion_session(t->candidate->engine, point_program(t->w, t->p),
				   t->candidate->mode, &err);
	if (s) {
		try_in(t, s, changed, third, row);
		fusion_session_destroy(s);
	}
	json_decref(changed);
	json_decref(third);
}

/* "x.size(0)" of each dim of the size. */
static struct report_texts dims_of(const struct try *t, int64_t size)
{
	struct arena *arena = &t->draft->arena;
	const char **names = ARENA_ARRAY(arena, const char *,
					 json_array_size(t->specs) * MAX_RANK + 1);
	size_t n = 0;

	for (size_t k = 0; names && k < json_array_size(t->specs); k++) {
		const char *name = fusion_parameter_name(t->candidate->session, (int)k);
		struct spec_tensor x;

		tensor_at(t->specs, k, &x);
		for (int d = 0; d < x.rank; d++)
			if (x.size[d] == size)
				names[n++] = name ? arena_printf(arena, "%s.size(%d)", name, d)
						  : arena_printf(arena, "args[%zu].size(%d)", k, d);
	}
	return (struct report_texts){ names, n };
}

/* A program that changes what its guards read compiles again whatever the sizes are:
 * that is said first. */
static void try_again(struct try *t)
{
	struct report_size_try *row = &t->list[0];

	REPORT_SET(row, result, "not tried");
	probe(t, t->specs, row);
	if (strcmp(row->result, "recompiled") != 0) {
		*row = t->list[1]; /* which has nothing yet */
		return;
	}
	REPORT_SET(row, change, "none");
	REPORT_SET(row, where, (struct report_texts){ NULL, 0 });
	t->n = 1;
}

static void try_size(struct try *t, int64_t size)
{
	int64_t to[2] = { size == 1 ? 2 : 1, size < 2 ? 5 : size + 1 };

	for (int i = 0; i < 2; i++) {
		char change[64];

		snprintf(change, sizeof(change), "%" PRId64 " to %" PRId64, size, to[i]);
		add_try(t, change, dims_of(t, size), resize_all(t, size, to[i]),
			i ? resize_all(t, size, to[i] + 1) : NULL);
	}
}

static void try_sizes(struct try *t)
{
	int64_t seen[MAX_GROUPS];
	int n = 0;

	for (size_t k = 0; k < json_array_size(t->specs); k++) {
		struct spec_tensor x;

		tensor_at(t->specs, k, &x);
		for (int d = 0; d < x.rank && n < MAX_GROUPS; d++) {
			bool known = false;

			for (int i = 0; i < n; i++)
				known = known || seen[i] == x.size[d];
			if (!known) {
				seen[n++] = x.size[d];
				try_size(t, x.size[d]);
			}
		}
	}
}

/* [1, sizes...] */
static json_t *unsqueezed_shape(const struct spec_tensor *x)
{
	json_t *shape = json_array();

	json_array_append_new(shape, json_integer(1));
	for (int d = 0; d < x->rank; d++)
		json_array_append_new(shape, json_integer(x->size[d]));
	return shape;
}

/* The first floating tensor in double, and with a dim more. */
static void try_form(struct try *t)
{
	for (size_t k = 0; k < json_array_size(t->specs); k++) {
		const char *name = fusion_parameter_name(t->candidate->session, (int)k);
		struct report_texts where;
		struct spec_tensor x;
		json_t *copy;

		name = name ? name : "args";
		if (!tensor_at(t->specs, k, &x) || x.dtype != DTYPE_F32)
			continue;
		copy = json_deep_copy(t->specs);
		json_object_set_new(fields_of(json_array_get(copy, k)), "dtype",
				    json_string("float64"));
		where = report_draft_texts(t->draft, &name, 1);
		add_try(t, "float32 to float64", where, copy, NULL);
		copy = json_deep_copy(t->specs);
		json_object_set_new(fields_of(json_array_get(copy, k)), "shape",
				    unsqueezed_shape(&x));
		add_try(t, "a dimension more", where, copy, NULL);
		return;
	}
}

/* What an expression gave, as a spec; NULL where that has none. */
static json_t *spec_of(struct value v)
{
	json_t *spec = value_is_plain(v) ? value_to_json(v, true) : NULL;

	if (fusion_requires_grad(v))
		json_object_set_new(fields_of(spec), "requires_grad", json_true());
	return spec;
}

static bool is_large(struct value v)
{
	return v.kind == VALUE_TENSOR && tensor_numel(fusion_tensor(v)) > SPEC_MAX_RESIZED_DATA / 4;
}

/* The specs of the first call, with what its expressions gave in their place; NULL where some
 * argument has no spec. */
static json_t *first_specs(const struct sizes_of *of)
{
	const struct inputs *in = of->candidate->originals;
	const json_t *call = json_array_get(in->calls, 0);
	json_t *specs = json_array();

	for (int k = 0; k < in->n_args[0]; k++) {
		json_t *spec = (json_t *)call_spec(call, (size_t)k);

		if (!of->w->evaluates || !spec_has_python(spec))
			json_array_append(specs, spec);
		else if (in->own[0][k] || is_large(in->args[0][k]) ||
			 json_array_append_new(specs, spec_of(in->args[0][k])) != 0) {
			json_decref(specs);
			return NULL;
		}
	}
	return specs;
}

struct report_size_try_list sizes_try(const struct sizes_of *of, struct report_draft *draft)
{
	struct try t = { .candidate = of->candidate,
			 .w = of->w,
			 .p = of->p,
			 .specs = first_specs(of),
			 .draft = draft,
			 .list = report_new_size_try(MOST_TRIES, &draft->arena),
			 .limited = of->limit_ms >= 0,
			 .base_ns = 2 * of->base_ns, /* two calls, or three */
			 .end_ns = clock_cpu_ns() + (int64_t)(of->limit_ms * 1e6) };

	if (t.list && t.specs && t.candidate->mode != FUSION_EAGER &&
	    t.candidate->mode != FUSION_LAZY) {
		try_again(&t);
		try_sizes(&t);
		try_form(&t);
	}
	json_decref(t.specs);
	return (struct report_size_try_list){ t.list, t.list ? t.n : 1 };
}
