/* profiler/timeline/groups.c -- the events of a window, summed by what they are. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profiler/timeline/timeline.h"
#include "profiler/timeline/window.h"

enum { GROUP_TEXT_CHARS = TIMELINE_NAME_CHARS, GROUP_NAMES = 64 };

struct event_sum {
	int64_t count, ns, most_ns;
};

struct event_group {
	char *text; /* owned */
	const char *as;
	struct event_sum sum;
	json_t *names; /* numbers; at most GROUP_NAMES */
	size_t next;   /* of the same hash, + 1; 0: none */
};

struct timeline_groups {
	struct timeline_query query;
	struct timeline_grouping how;
	struct timeline_tables tables;
	struct timeline_chunk chunk;
	struct window w;
	bool ready, failed;     /* failed: out of memory */
	struct event_sum *sums; /* by name and kind */
	size_t n_names;
	struct event_group *groups;
	size_t n_groups, room, *slots, n_slots;
	struct event_sum all;
};

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for sums of the timeline");
}

struct timeline_groups *timeline_groups_create(const struct timeline_query *q,
					       const struct timeline_grouping *how, struct err *err)
{
	struct timeline_groups *g = calloc(1, sizeof(*g));

	if (g && timeline_chunk_create(&g->chunk, err)) {
		g->query = *q;
		g->tables.as_recorded = q->as_recorded;
		g->how = *how;
		return g;
	}
	timeline_groups_destroy(g);
	out_of_memory(err);
	return NULL;
}

void timeline_groups_destroy(struct timeline_groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_groups; i++) {
		free(g->groups[i].text);
		json_decref(g->groups[i].names);
	}
	timeline_tables_finish(&g->tables);
	timeline_chunk_destroy(&g->chunk);
	window_close(&g->w);
	free(g->groups);
	free(g->slots);
	free(g->sums);
	free(g);
}

bool timeline_groups_tables(struct timeline_groups *g, const void *block, size_t len,
			    struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(block, len, &b, err) &&
	       timeline_tables_read(&g->tables, &b, err);
}

bool timeline_groups_range(struct timeline_groups *g, int64_t *t0_ns, int64_t *t1_ns,
			   struct err *err)
{
	if (!g->ready) {
		g->n_names = json_array_size(g->tables.names);
		g->sums = calloc((g->n_names + 1) * TIMELINE_KIND_COUNT, sizeof(*g->sums));
		if (!g->sums || !window_open(&g->w, &g->tables, &g->query))
			return out_of_memory(err);
		g->ready = true;
	}
	*t0_ns = g->w.t0_ns;
	*t1_ns = g->w.t1_ns;
	timeline_recorded_span(&g->tables, t0_ns, t1_ns);
	return true;
}

/* A counter's value and an arrow take no time; kernels are what devices run. */
static bool counts(const struct timeline_groups *g, uint32_t kind)
{
	if (kind == TIMELINE_COUNTER || kind == TIMELINE_FLOW)
		return false;
	return g->how.by == TIMELINE_BY_NAME || timeline_kind_runs(kind) ||
	       (g->how.by == TIMELINE_BY_OP && kind == TIMELINE_OP);
}

static void add_sum(struct event_sum *to, const struct event_sum *s)
{
	to->count += s->count;
	to->ns = timeline_add(to->ns, s->ns);
	to->most_ns = s->most_ns > to->most_ns ? s->most_ns : to->most_ns;
}

bool timeline_groups_chunk(struct timeline_groups *g, const void *block, size_t len,
			   struct err *err)
{
	const struct timeline_chunk *c = &g->chunk;
	struct timeline_block b;
	int64_t t0, t1;

	if (!timeline_groups_range(g, &t0, &t1, err) || !timeline_block_read(block, len, &b, err) ||
	    !timeline_chunk_read(&g->chunk, &g->tables, &b, err))
		return false;
	for (int i = 0; i < c->n; i++) {
		struct timeline_event e = timeline_chunk_event(c, i);
		int64_t end = e.start_ns + e.duration_ns;
		struct event_sum s = { .count = 1 };

		if (!window_has(&g->w, &e) || !counts(g, e.kind))
			continue;
		/* What lies in the window, as all figures of it. */
		s.ns = s.most_ns = (end < t1 ? end : t1) - (e.start_ns > t0 ? e.start_ns : t0);
		if (e.name >= g->n_names)
			e.name = 0;
		add_sum(&g->sums[(size_t)e.name * TIMELINE_KIND_COUNT + e.kind], &s);
	}
	return true;
}

/* ---- from names to groups ---- */

static size_t hash_of(const char *text, const char *as)
{
	size_t h = 1469598103934665603u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return h ^ (as[0] + 31u * (unsigned char)as[1]);
}

static bool grow(struct timeline_groups *g)
{
	size_t room = g->room ? 2 * g->room : 1024, *slots = calloc(2 * room, sizeof(*slots));
	struct event_group *groups = realloc(g->groups, room * sizeof(*groups));

	g->groups = groups ? groups : g->groups;
	if (!groups || !slots) {
		free(slots);
		return false;
	}
	free(g->slots);
	g->slots = slots;
	g->n_slots = 2 * room;
	g->room = room;
	for (size_t i = 0; i < g->n_groups; i++) {
		size_t *slot = &slots[hash_of(groups[i].text, groups[i].as) % g->n_slots];

		groups[i].next = *slot;
		*slot = i + 1;
	}
	return true;
}

/* NULL: out of memory. */
static struct event_group *group_of(struct timeline_groups *g, const char *text, const char *as)
{
	size_t *slot;

	if (g->n_groups == g->room && !grow(g))
		return NULL;
	slot = &g->slots[hash_of(text, as) % g->n_slots];
	for (size_t i = *slot; i; i = g->groups[i - 1].next)
		if (strcmp(g->groups[i - 1].text, text) == 0 &&
		    strcmp(g->groups[i - 1].as, as) == 0)
			return &g->groups[i - 1];
	g->groups[g->n_groups] = (struct event_group){ .text = strndup(text, GROUP_TEXT_CHARS),
						       .as = as,
						       .names = json_array(),
						       .next = *slot };
	if (!g->groups[g->n_groups].text || !g->groups[g->n_groups].names) {
		free(g->groups[g->n_groups].text);
		json_decref(g->groups[g->n_groups].names);
		return NULL;
	}
	*slot = ++g->n_groups;
	return &g->groups[g->n_groups - 1];
}

static void add_to_group(struct timeline_groups *g, const char *text, const char *as, size_t name,
			 const struct event_sum *s)
{
	char cut[GROUP_TEXT_CHARS + 1];
	struct event_group *to;

	snprintf(cut, sizeof(cut), "%s", text);
	if (g->how.find && !strcasestr(cut, g->how.find))
		return;
	to = group_of(g, cut, as);
	if (!to) {
		g->failed = true;
		return;
	}
	add_sum(&to->sum, s);
	if (json_array_size(to->names) < GROUP_NAMES)
		json_array_append_new(to->names, json_integer((json_int_t)name));
}

/* An event of several ops counts for each of them. */
static void add_by_op(struct timeline_groups *g, size_t at, enum timeline_kind kind,
		      const struct timeline_name *name, const struct event_sum *s)
{
	const char *as = timeline_drawn_as(kind, name->name, NULL);
	const json_t *op;
	size_t i;

	if (kind == TIMELINE_OP)
		add_to_group(g, name->name ? name->name : "", as, at, s);
	else if (json_array_size(name->ops) == 0)
		add_to_group(g, "no op known", as, at, s);
	else
		json_array_foreach(name->ops, i, op)
		    add_to_group(g, json_is_string(op) ? json_string_value(op) : "", as, at, s);
}

/* Likewise for each of its lines. */
static void add_by_line(struct timeline_groups *g, size_t at, const struct timeline_name *name,
			const struct event_sum *s)
{
	const json_t *files = json_object_get(json_array_get(g->tables.names, at), "files"), *line;
	char text[GROUP_TEXT_CHARS];
	size_t i;

	if (json_array_size(name->lines) == 0) {
		add_to_group(g, "no line known", "line", at, s);
		return;
	}
	json_array_foreach(name->lines, i, line)
	{
		const char *file = json_string_value(json_array_get(files, i));

		snprintf(text, sizeof(text), "%s%s%lld", file ? file : "", file ? ":" : "",
			 (long long)json_integer_value(line));
		add_to_group(g, text, "line", at, s);
	}
}

static void gather(struct timeline_groups *g)
{
	for (size_t i = 0; i < (g->n_names + 1) * TIMELINE_KIND_COUNT && !g->failed; i++) {
		enum timeline_kind kind = (enum timeline_kind)(i % TIMELINE_KIND_COUNT);
		size_t at = i / TIMELINE_KIND_COUNT;
		const struct event_sum *s = &g->sums[i];
		struct timeline_name name;

		if (!s->count)
			continue;
		add_sum(&g->all, s);
		name = timeline_name_at(&g->tables, at);
		if (g->how.by == TIMELINE_BY_OP)
			add_by_op(g, at, kind, &name, s);
		else if (g->how.by == TIMELINE_BY_LINE)
			add_by_line(g, at, &name, s);
		else
			add_to_group(g,
				     g->how.by == TIMELINE_BY_KERNEL && name.symbol ? name.symbol
				     : name.name                                    ? name.name
										    : "",
				     timeline_drawn_as(kind, name.name, NULL), at, s);
	}
}

/* ---- the answer ---- */

static double key_of(const struct event_group *x, enum timeline_order order)
{
	switch (order) {
	case TIMELINE_ORDER_COUNT:
		return (double)x->sum.count;
	case TIMELINE_ORDER_MEAN:
		return (double)x->sum.ns / (double)x->sum.count;
	case TIMELINE_ORDER_MAX:
		return (double)x->sum.most_ns;
	default:
		return (double)x->sum.ns;
	}
}

/* Two that are equal have the order of their texts. */
static int compare(const void *a, const void *b, void *order)
{
	const struct event_group *x = a, *y = b;
	double p = key_of(x, *(enum timeline_order *)order);
	double q = key_of(y, *(enum timeline_order *)order);

	return p != q ? (p < q) - (p > q) : strcmp(x->text, y->text);
}

static json_t *row_json(const struct timeline_groups *g, const struct event_group *x)
{
	return json_pack(
	    "{s:s, s:s, s:I, s:I, s:f, s:I, s:f, s:O}", "text", x->text, "as", x->as, "count",
	    (json_int_t)x->sum.count, "sum_ns", (json_int_t)x->sum.ns, "mean_ns",
	    (double)x->sum.ns / (double)x->sum.count, "max_ns", (json_int_t)x->sum.most_ns, "share",
	    g->all.ns ? (double)x->sum.ns / (double)g->all.ns : 0.0, "names", x->names);
}

json_t *timeline_groups_json(struct timeline_groups *g, struct err *err)
{
	struct event_sum rest = { 0 };
	json_t *rows, *out;
	int64_t t0, t1;

	if (!timeline_groups_range(g, &t0, &t1, err))
		return NULL;
	gather(g);
	if (g->n_groups)
		qsort_r(g->groups, g->n_groups, sizeof(*g->groups), compare, &g->how.order);
	rows = json_array();
	for (size_t i = 0; i < g->n_groups; i++) {
		if (i < (size_t)g->how.limit)
			json_array_append_new(rows, row_json(g, &g->groups[i]));
		else
			add_sum(&rest, &g->groups[i].sum);
	}
	out = json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:{s:I, s:I, s:I}}", "t0_ns",
			(json_int_t)(g->w.t0_ns - g->w.begin_ns), "t1_ns",
			(json_int_t)(g->w.t1_ns - g->w.begin_ns), "events",
			(json_int_t)g->all.count, "sum_ns", (json_int_t)g->all.ns, "groups",
			(json_int_t)g->n_groups, "rows", rows, "left_out", "groups",
			(json_int_t)(g->n_groups - json_array_size(rows)), "count",
			(json_int_t)rest.count, "sum_ns", (json_int_t)rest.ns);
	if (!out || g->failed) {
		json_decref(out);
		out_of_memory(err);
		return NULL;
	}
	return out;
}
