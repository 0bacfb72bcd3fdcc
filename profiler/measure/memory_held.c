/* profiler/measure/memory_held.c -- see memory_held.h. */
#include "profiler/measure/memory_held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "profiler/measure/memory.h"

struct held {
	const char *kind;
	char name[96];
	const struct tensor *t;
};

struct holding {
	const struct allocator *allocator;
	VEC(struct held) all; /* each storage once */
	const char *kind;     /* of what is added */
};

static void add(struct holding *l, const char *name, struct value v)
{
	struct held h = { .kind = l->kind };

	h.t = fusion_tensor(v);
	if (!h.t)
		return;
	snprintf(h.name, sizeof(h.name), "%s", name);
	for (size_t i = 0; i < l->all.len; i++)
		if (l->all.at[i].t->storage == h.t->storage)
			return;
	if (fusion_tensor_allocator(h.t) == l->allocator)
		(void)!VEC_PUSH(&l->all, h); /* else it counts as other */
}

static void add_kept(void *self, const char *name, struct value v)
{
	struct holding *l = self;

	l->kind = fusion_is_parameter(v) ? "parameter" : "state";
	add(l, name, v);
	l->kind = "gradient";
	add(l, name, fusion_grad(v));
}

static int largest_first(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	size_t m = fusion_tensor_bytes(x->t), n = fusion_tensor_bytes(y->t);

	return m != n ? (m < n ? 1 : -1) : strcmp(x->name, y->name);
}

static json_t *held_json(const struct held *h)
{
	json_t *shape = json_array(), *name = json_string(h->name);

	for (int d = 0; d < h->t->rank; d++)
		json_array_append_new(shape, json_integer(h->t->size[d]));
	return json_pack("{s:s, s:o, s:s, s:o, s:I}", "kind", h->kind, "name",
			 name ? name : json_string(""), "dtype", dtype_name(h->t->dtype), "shape",
			 shape, "bytes", (json_int_t)fusion_tensor_bytes(h->t));
}

/* Bytes of the arguments of other calls: they are there all the time. */
static int64_t other_inputs(struct holding *l, const struct lane *lane, int call)
{
	size_t before = l->all.len;
	int64_t bytes = 0;

	for (int i = 0; i < lane->originals->n_calls; i++)
		for (int k = 0; i != call && k < lane->originals->n_args[i]; k++)
			add(l, "", lane->args[i][k]);
	for (size_t i = before; i < l->all.len; i++)
		bytes += (int64_t)fusion_tensor_bytes(l->all.at[i].t);
	l->all.len = before;
	return bytes;
}

void memory_held_report(const struct lane *lane, int call, int64_t held_bytes, json_t *json)
{
	struct holding l = { .allocator = fusion_allocator(lane->engine), .kind = "input" };
	json_t *rows = json_array();
	int64_t others, rest = held_bytes;

	for (int k = 0; k < lane->originals->n_args[call]; k++) {
		const char *name = fusion_parameter_name(lane->session, k);

		add(&l, name ? name : "", lane->args[call][k]);
	}
	fusion_kept(lane->session, add_kept, &l);
	others = other_inputs(&l, lane, call);
	if (l.all.len > 0)
		qsort(l.all.at, l.all.len, sizeof(*l.all.at), largest_first);
	for (size_t i = 0; i < l.all.len && i < MEMORY_MAX_HELD; i++) {
		json_array_append_new(rows, held_json(&l.all.at[i]));
		rest -= (int64_t)fusion_tensor_bytes(l.all.at[i].t);
	}
	json_object_set_new(json, "held", rows);
	json_object_set_new(json, "other_inputs_bytes", json_integer(others));
	json_object_set_new(json, "other_bytes", json_integer(rest - others));
	VEC_FREE(&l.all);
}
