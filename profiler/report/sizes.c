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
#include "profiler/workload/spec.h"
#include "profiler/workload/value_json.h"

enum { MAX_GROUPS = 8, MAX_CHANGED_ELEMENTS = 1 << 22 };

struct
try {
	const struct candidate *candidate;
	const struct workload *w;
	const struct point *p;
	json_t *specs;           /* of the first call */
	json_t *list;            /* results */
	int64_t end_ns, base_ns; /* when to stop; what a session and its first call take */
	bool limited;
};

/* The fields of a top-level tensor spec; NULL for any other value. */
static json_t *fields_of(json_t *spec)
{
	json_t *fields = json_object_get(spec, "tensor");

	return fields ? fields : json_object_get(spec, "random");
}

/* Every dim of size `from` made `to`; NULL where it cannot be. */
static json_t *resize_all(const struct try *t, int64_t from, int64_t to)
{
	json_t *specs = json_deep_copy(t->specs);
	struct err ignored = { 0 };

	for (size_t k = 0; k < json_array_size(specs); k++) {
		json_t *shape = json_object_get(fields_of(json_array_get(specs, k)), "shape");

		for (size_t d = 0; d < json_array_size(shape); d++) {
			json_t *spec = json_array_get(specs, k), *changed;

			if (json_integer_value(json_array_get(shape, d)) != from)
				continue;
			changed = spec_resize(spec, "", (int)d, to, &ignored);
			if (!changed) {
				json_decref(specs);
				return NULL;
			}
			json_array_set_new(specs, k, changed);
			shape = json_object_get(fields_of(changed), "shape");
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
static bool make_args(const struct try *t, const json_t *specs, struct call_args *out,
		      struct err *err)
{
	int64_t bytes = 0;

	out->n = 0;
	for (size_t k = 0; k < json_array_size(specs); k++) {
		const json_t *spec = json_array_get(specs, k);
		struct value v = value_none();
		bool ok = spec_check(spec, "input", &bytes, err) &&
			  bytes <= (int64_t)MAX_CHANGED_ELEMENTS * 8;

		if (ok)
			v = value_from_json(spec, fusion_allocator(t->candidate->engine), err);
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

	if (!make_args(t, specs, &args, err))
		return false;
	ok = fusion_call(s, args.at, args.n, &out, err);
	if (ok)
		value_unref(out);
	drop_args(&args);
	*new_graphs = fusion_counts(s).graphs - before;
	return ok;
}

/* Asks the guards of the entries that are there; nothing is run. */
static void probe(const struct try *t, const json_t *changed, json_t *row)
{
	struct err ignored = { 0 };
	struct call_args args;
	struct buf why;
	enum fusion_found found;

	if (!make_args(t, changed, &args, &ignored))
		return;
	buf_init(&why, 4096);
	found = fusion_probe(t->candidate->session, args.at, args.n, &why);
	if (found != FUSION_UNKNOWN)
		json_object_set_new(
		    row, "result",
		    json_string(found == FUSION_FOUND ? "same entry" : "recompiled"));
	if (found == FUSION_MISSED && why.data)
		json_object_set_new(row, "reason", json_string(why.data));
	buf_finish(&why);
	drop_args(&args);
}

/* Of the first frame that did not fit: the others follow from it. */
static json_t *first_reason(const struct fusion_session *s, int since)
{
	return fusion_recompile_count(s) > since ? json_string(fusion_recompile(s, since).reason)
						 : json_null();
}

/* What the changed call leads to, and `then`, where a third call is made. */
static void try_in(const struct try *t, struct fusion_session *s, const json_t *changed,
		   const json_t *third, json_t *row)
{
	int64_t graphs, again;
	struct err err = { 0 };
	int recompiles, entries;

	if (!call_once(t, s, t->specs, &graphs, &err))
		return;
	recompiles = fusion_recompile_count(s);
	entries = fusion_entry_count(s);
	if (!call_once(t, s, changed, &graphs, &err)) {
		json_object_set_new(row, "result", json_string("error"));
		json_object_set_new(row, "reason", json_string(err.message));
		return;
	}
	if (fusion_recompile_count(s) == recompiles && graphs == 0 &&
	    fusion_entry_count(s) == entries) {
		json_object_set_new(row, "result", json_string("same entry"));
		return;
	}
	json_object_set_new(
	    row, "result",
	    json_string(fusion_recompile_count(s) > recompiles ? "recompiled" : "new frames"));
	json_object_set_new(row, "new_graphs", json_integer(graphs));
	json_object_set_new(row, "reason", first_reason(s, recompiles));
	recompiles = fusion_recompile_count(s);
	if (third && call_once(t, s, third, &again, &err))
		json_object_set_new(row, "then",
				    json_string(again || fusion_recompile_count(s) > recompiles
						    ? "recompiled again"
						    : "same entry"));
}

/* Takes over `changed` and `third` (both may be NULL). */
static void add_try(struct try *t, const char *change, json_t *where, json_t *changed,
		    json_t *third)
{
	json_t *row = json_pack("{s:s, s:o, s:s, s:n, s:n, s:n}", "change", change, "where", where,
				"result", "not tried", "new_graphs", "reason", "then");
	struct fusion_session *s = NULL;
	struct err err = { 0 };

	int64_t begin = clock_cpu_ns();

	json_array_append_new(t->list, row);
	if (changed && t->limited && begin + t->base_ns > t->end_ns)
		probe(t, changed, row);
	else if (changed)
		s = fusion_session(t->candidate->engine,
				   t->p->program ? t->p->program : t->w->points[0].program,
				   t->candidate->mode, &err);
	if (s) {
		try_in(t, s, changed, third, row);
		fusion_session_destroy(s);
	}
	json_decref(changed);
	json_decref(third);
}

/* "x.size(0)" of each dim of the size. */
static json_t *dims_of(const struct try *t, int64_t size)
{
	json_t *names = json_array();

	for (size_t k = 0; k < json_array_size(t->specs); k++) {
		json_t *shape = json_object_get(fields_of(json_array_get(t->specs, k)), "shape");
		const char *name = fusion_parameter_name(t->candidate->session, (int)k);

		for (size_t d = 0; d < json_array_size(shape); d++)
			if (json_integer_value(json_array_get(shape, d)) == size)
				json_array_append_new(
				    names, name ? json_sprintf("%s.size(%zu)", name, d)
						: json_sprintf("args[%zu].size(%zu)", k, d));
	}
	return names;
}

/* A program that changes what its guards read compiles anew whatever the sizes are:
 * that is said first. */
static void try_again(const struct try *t)
{
	json_t *row = json_pack("{s:s, s:[], s:s, s:n, s:n, s:n}", "change", "none", "where",
				"result", "not tried", "new_graphs", "reason", "then");

	probe(t, t->specs, row);
	if (strcmp(json_string_value(json_object_get(row, "result")), "recompiled") == 0)
		json_array_append_new(t->list, row);
	else
		json_decref(row);
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
		json_t *shape = json_object_get(fields_of(json_array_get(t->specs, k)), "shape");

		for (size_t d = 0; d < json_array_size(shape) && n < MAX_GROUPS; d++) {
			int64_t size = json_integer_value(json_array_get(shape, d));
			bool known = false;

			for (int i = 0; i < n; i++)
				known = known || seen[i] == size;
			if (!known) {
				seen[n++] = size;
				try_size(t, size);
			}
		}
	}
}

/* The first floating tensor in double, and with a dim more. */
static void try_form(struct try *t)
{
	for (size_t k = 0; k < json_array_size(t->specs); k++) {
		json_t *fields = fields_of(json_array_get(t->specs, k));
		const char *dtype = json_string_value(json_object_get(fields, "dtype"));
		const char *name = fusion_parameter_name(t->candidate->session, (int)k);
		json_t *copy;

		if (!fields || (dtype && strcmp(dtype, "float32") != 0))
			continue;
		copy = json_deep_copy(t->specs);
		json_object_set_new(fields_of(json_array_get(copy, k)), "dtype",
				    json_string("float64"));
		add_try(t, "float32 to float64", json_pack("[s]", name ? name : "args"), copy,
			NULL);
		copy = json_deep_copy(t->specs);
		json_array_insert_new(json_object_get(fields_of(json_array_get(copy, k)), "shape"),
				      0, json_integer(1));
		add_try(t, "a dimension more", json_pack("[s]", name ? name : "args"), copy, NULL);
		return;
	}
}

json_t *sizes_try(const struct candidate *candidate, const struct workload *w,
		  const struct point *p, double limit_ms, int64_t base_ns)
{
	struct err ignored = { 0 };
	json_t *calls = workload_calls(w, p, &ignored);
	struct try t = { .candidate = candidate,
			 .w = w,
			 .p = p,
			 .specs = json_array_get(calls, 0),
			 .list = json_array(),
			 .limited = limit_ms >= 0,
			 .base_ns = 2 * base_ns, /* two calls, or three */
			 .end_ns = clock_cpu_ns() + (int64_t)(limit_ms * 1e6) };

	if (t.specs && t.candidate->mode != FUSION_EAGER && t.candidate->mode != FUSION_LAZY) {
		try_again(&t);
		try_sizes(&t);
		try_form(&t);
	}
	json_decref(calls);
	return t.list;
}
