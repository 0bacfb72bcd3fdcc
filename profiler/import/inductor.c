/* profiler/import/inductor.c -- what Inductor tells of its graphs: collectives, estimates, order.
 *
 * Collectives are counted as tlparse does: by kind, whatever their variant; of generated code the
 * calls of torch.ops._c10d_functional, comments left out.
 */
#include "profiler/import/inductor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "profiler/import/repair.h"
#include "profiler/ranks/ranks.h"

/* ---- collectives ---- */

/* The kind of a collective's name, "_c10d_functional.all_reduce_.default"; NULL: it is none. */
static const char *kind_of(const char *op)
{
	static const char *const kinds[] = { "all_reduce", "reduce_scatter", "all_gather",
					     "broadcast",  "all_to_all",     "reduce" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strstr(op, kinds[i]))
			return kinds[i];
	return NULL;
}

static void count_in(json_t *counts, const char *kind)
{
	json_object_set_new(counts, kind,
			    json_integer(1 + json_integer_value(json_object_get(counts, kind))));
}

static void take_schedule(struct compiles *c, const struct inductor_said *said)
{
	json_t *row = said->row, *ops = json_of_log(said->payload, said->len, c->ledger),
	       *scheduled = json_object(), *op;
	size_t i;

	if (!json_is_array(ops))
		c->ledger->n[LEDGER_BROKEN_PAYLOAD]++;
	json_array_foreach(ops, i, op)
	{
		const char *name = json_string_value(op), *kind = name ? kind_of(name) : NULL;

		compiles_append(c, row, "collectives",
				name ? json_incref(op) : json_string("not named"));
		if (kind)
			count_in(scheduled, kind);
	}
	if (row && json_is_array(ops))
		json_object_set(row, "scheduled", scheduled); /* until its code comes */
	json_decref(scheduled);
	json_decref(ops);
}

/* What follows white space and `token`; NULL: something else does. */
static const char *past(const char *at, const char *token)
{
	size_t n = strlen(token);

	if (!at)
		return NULL;
	at += strspn(at, " \t\r\n");
	return strncmp(at, token, n) == 0 ? at + n : NULL;
}

/* The end of a call "torch.ops._c10d_functional.NAME.default(" at `at`, with its name; NULL: there
 * is none. */
static const char *call_at(const char *at, char name[64])
{
	const char *space = past(past(past(past(at, "torch"), "."), "ops"), "."), *rest;
	size_t n;

	rest = past(space, "_c10d_functional");
	rest = past(rest ? rest : past(space, "c10d_functional"), ".");
	if (!rest)
		return NULL;
	rest += strspn(rest, " \t\r\n");
	n = strspn(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (n == 0 || n >= 64)
		return NULL;
	memcpy(name, rest, n);
	name[n] = '\0';
	return past(past(past(rest + n, "."), "default"), "(");
}

/* Calls of collectives by kind, and how many waits there are. */
static json_t *calls_in(const char *at, int64_t *waits)
{
	json_t *calls = json_object();

	for (at += strcspn(at, "#t"); *at; at += strcspn(at, "#t")) {
		char name[64];
		const char *end = call_at(at, name), *kind = end ? kind_of(name) : NULL;

		*waits += end && strcmp(name, "wait_tensor") == 0;
		if (kind)
			count_in(calls, kind);
		at += *at == '#' ? strcspn(at, "\n") : 1;
	}
	return calls;
}

/* By how many they differ, over all kinds. */
static int64_t difference(const json_t *a, const json_t *b)
{
	int64_t sum = 0;
	const char *kind;
	json_t *n;

	json_object_foreach((json_t *)a, kind, n)
	    sum += llabs(json_integer_value(n) - json_integer_value(json_object_get(b, kind)));
	json_object_foreach((json_t *)b, kind, n)
	    sum += json_object_get(a, kind) ? 0 : json_integer_value(n);
	return sum;
}

static void take_code(struct compiles *c, const struct inductor_said *said)
{
	int64_t waits = 0, all = 0;
	json_t *row = said->row, *calls, *scheduled = json_object_get(row, "scheduled"), *n;
	const char *kind;

	(void)c;
	if (!row)
		return;
	calls = calls_in(said->payload, &waits);
	json_object_foreach(calls, kind, n)
	{
		compiles_add_in(row, "collective_calls", kind, (double)json_integer_value(n));
		all += json_integer_value(n);
	}
	if (waits)
		compiles_add(row, "collective_waits", waits);
	if (scheduled) {
		compiles_add(row, "schedule_offset", difference(scheduled, calls));
		compiles_add(row, "missing_waits", all > waits ? all - waits : 0);
		json_object_del(row, "scheduled");
	}
	json_decref(calls);
}

/* ---- estimates, and tensors of ops ---- */

static void say_sizes(struct buf *out, const json_t *sizes, const char *open, const char *close)
{
	const json_t *n;
	size_t i;

	buf_puts(out, open);
	json_array_foreach((json_t *)sizes, i, n)
	    buf_printf(out, "%s%lld", i ? ", " : "", (long long)json_integer_value(n));
	buf_puts(out, close);
}

/* "buf0: float32[8, 16] (16, 1)", of each output. */
static void say_tensors(struct buf *out, const json_t *op)
{
	const json_t *outputs = json_object_get(op, "outputs"), *o;
	size_t i;

	buf_clear(out);
	buf_printf(out, "%s:", json_text(op, "name"));
	json_array_foreach((json_t *)outputs, i, o)
	{
		buf_printf(out, "%s %s", i ? "," : "", json_text(o, "dtype"));
		say_sizes(out, json_object_get(o, "shape"), "[", "]");
		say_sizes(out, json_object_get(o, "stride"), " (", ")");
	}
	buf_add(out, "", 1);
}

/* All tensors of a compilation in one number, and those of each op as long as there is room. */
static void add_tensors(struct compiles *c, json_t *row, const char *text)
{
	size_t len = strlen(text);
	json_t *list;
	uint64_t hash = strtoull(json_text(row, "tensors_hash"), NULL, 16);
	char said[20];

	hash = hash * UINT64_C(0x100000001b3) + ranks_graph_hash(text, len);
	snprintf(said, sizeof(said), "%016llx", (unsigned long long)hash);
	json_object_set_new(row, "tensors_hash", json_string(said));
	if (c->tensors_bytes + len > INDUCTOR_TENSORS_BYTES)
		return;
	c->tensors_bytes += len;
	list = json_object_get(row, "op_tensors");
	if (!list)
		json_object_set_new(row, "op_tensors", list = json_array());
	if (json_array_size(list) < COMPILES_LIST_MAX)
		json_array_append_new(list, json_string(text));
}

static void add_estimate(json_t *row, double ns)
{
	double us = json_number_value(json_object_get(row, "estimated_us"));

	compiles_add(row, "estimated_ops", 1);
	json_object_set_new(row, "estimated_us", json_real(us + ns / 1e3));
}

static void take_estimates(struct compiles *c, const struct inductor_said *said)
{
	json_t *json = json_of_log(said->payload, said->len, c->ledger),
	       *ops = json_object_get(json, "ops"), *op;
	struct buf text;
	size_t i;

	if (!json_is_array(ops))
		c->ledger->n[LEDGER_BROKEN_PAYLOAD]++;
	buf_init(&text, 0);
	json_array_foreach(ops, i, op)
	{
		double ns = json_number_value(json_object_get(op, "estimated_runtime_ns"));

		if (!json_is_string(json_object_get(op, "name")) || !(ns >= 0) || ns > 1e18) {
			c->ledger->n[LEDGER_BROKEN_PAYLOAD]++;
			continue;
		}
		say_tensors(&text, op);
		if (!said->row || text.failed)
			continue;
		add_estimate(said->row, ns);
		add_tensors(c, said->row, text.data);
	}
	buf_finish(&text);
	json_decref(json);
}

/* ---- the order in which graphs ran ---- */

static void take_order(struct compiles *c, const struct inductor_said *said)
{
	json_t *json = json_of_log(said->payload, said->len, c->ledger), *graph,
	       *kept = json_array(), *order = json_object_get(json, "graph_execution_order");
	size_t i;

	if (!json_is_array(order))
		c->ledger->n[LEDGER_BROKEN_PAYLOAD]++;
	json_array_foreach(order, i, graph)
	{
		const char *id = json_string_value(
		    json_is_object(graph) ? json_object_get(graph, "compile_id") : graph);

		if (!id)
			c->ledger->n[LEDGER_BROKEN_PAYLOAD]++;
		else if (json_array_size(kept) < INDUCTOR_ORDER_MAX)
			json_array_append_new(
			    kept, json_stringn(id + (*id == '['), strcspn(id + (*id == '['), "]")));
	}
	if (json_is_array(order) && said->process) {
		json_object_set_new(said->process, "graphs_ran",
				    json_integer((json_int_t)json_array_size(order)));
		json_object_set(said->process, "graph_order", kept);
	}
	json_decref(kept);
	json_decref(json);
}

void inductor_take(struct compiles *c, const char *name, const struct inductor_said *said)
{
	static const struct {
		const char *name;
		void (*take)(struct compiles *c, const struct inductor_said *said);
	} readers[] = {
		{ "inductor_collective_schedule", take_schedule },
		{ "inductor_output_code", take_code },
		{ "inductor_runtime_and_tensor_meta", take_estimates },
		{ "graph_execution", take_order },
	};

	for (size_t i = 0; said->payload && i < sizeof(readers) / sizeof(readers[0]); i++)
		if (strcmp(name, readers[i].name) == 0)
			readers[i].take(c, said);
}
