/* profiler/ranks/events.c -- the events of the file that is read, and what is kept of it.
 *
 * A kernel is communication where HolisticTraceAnalysis says so: its name begins with "nccl" and
 * has "Kernel" in it (RCCL's too; older traces "ncclKernel", newer "ncclDevKernel").  Copies and
 * sets are memory, whatever their category.  All others are computation.
 */
#include "profiler/ranks/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/utf8.h"

const char *path_kind_name(enum path_kind kind)
{
	static const char *const names[] = {
#define PATH(id, name, label) name,
#include "profiler/ranks/kinds.def"
#undef PATH
	};

	return names[kind];
}

const char *path_kind_label(const char *name)
{
	static const char *const labels[][2] = {
#define PATH(id, name, label) { name, label },
#include "profiler/ranks/kinds.def"
#undef PATH
	};

	for (size_t i = 0; i < PATH_KINDS; i++)
		if (strcmp(labels[i][0], name) == 0)
			return labels[i][1];
	return name;
}

const char *rank_kernel_name(enum rank_kernel kind)
{
	static const char *const names[] = {
#define KERNEL(id, name) name,
#include "profiler/ranks/kinds.def"
#undef KERNEL
	};

	return names[kind];
}

void rank_events_finish(struct rank_events *e)
{
	VEC_FREE(&e->rows);
	VEC_FREE(&e->lanes);
	VEC_FREE(&e->copied);
	VEC_FREE(&e->waits);
	VEC_FREE(&e->collectives);
	VEC_FREE(&e->of_host);
}

/* ---- what an event is ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_communication(const char *name)
{
	return strncasecmp(name, "nccl", 4) == 0 && strcasestr(name + 4, "kernel");
}

/* Of a backend that runs them on threads of the host: c10d notes "gloo:all_reduce". */
static bool is_host_collective(const char *name)
{
	return begins(name, "gloo:") || begins(name, "mpi:") || begins(name, "ucc:");
}

/* -1: it says nothing of ranks. */
static int kind_of(const struct ranks_event *event)
{
	switch (event->kind) {
	case TIMELINE_KERNEL:
		if (begins(event->name, "Memcpy") || begins(event->name, "Memset"))
			return RANK_MEMORY;
		return is_communication(event->name) ? RANK_COMMUNICATION : RANK_COMPUTATION;
	case TIMELINE_COPY:
	case TIMELINE_SET:
		return RANK_MEMORY;
	case TIMELINE_API:
		return RANK_CALL;
	case TIMELINE_OP:
		return begins(event->name, "ProfilerStep") ? RANK_STEP : RANK_OP;
	case TIMELINE_RANGE:
		return begins(event->name, "ProfilerStep") ? RANK_STEP
		       : is_host_collective(event->name)   ? RANK_HOST_COLLECTIVE
							   : -1;
	case TIMELINE_WAIT:
		return RANK_WAIT;
	default:
		return -1;
	}
}

/* What a call of CUDA or HIP does; the first that fits. */
static enum rank_call call_of(const char *name)
{
	static const struct {
		const char *part;
		enum rank_call call;
	} calls[] = {
		{ "Synchronize", CALL_SYNCHRONIZE }, { "EventRecord", CALL_RECORD },
		{ "MemcpyAsync", CALL_ENQUEUE },     { "Memcpy", CALL_COPY },
		{ "MemsetAsync", CALL_ENQUEUE },     { "LaunchKernel", CALL_ENQUEUE },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strstr(name, calls[i].part))
			return calls[i].call;
	return CALL_OTHER;
}

/* ---- collectives ---- */

enum { MOST_KNOWN = 512 };

void rank_texts_finish(struct rank_texts *t)
{
	arena_finish(&t->arena);
	VEC_FREE(&t->known);
}

const char *rank_valid(struct arena *arena, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *copy;

	if (!text || utf8_valid(text, len))
		return text;
	copy = arena_strndup(arena, text, len);
	for (size_t i = 0; copy && i < len;) {
		uint32_t point;
		int n = utf8_decode(copy + i, len - i, &point);

		if (n == 0)
			copy[i] = '?';
		i += n ? (size_t)n : 1;
	}
	return copy;
}

/* The same pointer for the same text, up to a bound; NULL: out of memory. */
static const char *rank_text(struct rank_texts *t, const char *text)
{
	const char *copy;

	for (size_t i = t->known.len; i-- > 0;)
		if (strcmp(t->known.at[i], text) == 0)
			return t->known.at[i];
	copy = arena_strdup(&t->arena, text);
	return copy && (t->known.len >= MOST_KNOWN || VEC_PUSH(&t->known, copy)) ? copy : NULL;
}

static int64_t number_of(const json_t *args, const char *key)
{
	const json_t *value = json_object_get(args, key);

	static const json_int_t most = INT64_C(1) << 53; /* as far as JSON is exact */

	return json_is_integer(value) && json_integer_value(value) >= 0 &&
		       json_integer_value(value) <= most
		   ? json_integer_value(value)
		   : -1;
}

/* The first stream on which collectives run, the second, ...; 16: any after the 15th. */
static int stream_number(struct rank_events *e, uint16_t lane)
{
	int most = (int)(sizeof(e->collective_lanes) / sizeof(e->collective_lanes[0])), k = 0;

	while (k < e->n_collective_lanes && e->collective_lanes[k] != lane)
		k++;
	if (k == e->n_collective_lanes && k < most)
		e->collective_lanes[e->n_collective_lanes++] = lane;
	return k < most ? k + 1 : most;
}

/* "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)": AllReduce. */
static const char *name_in_kernel(struct rank_texts *texts, const char *kernel)
{
	const char *from = strchr(kernel, '_');
	size_t len = from ? strcspn(from + 1, "_(") : 0;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", len < 60 ? (int)len : 60, len ? from + 1 : "");
	return len ? rank_text(texts, name) : kernel;
}

static bool is_pairwise(const char *name)
{
	return begins(name, "send") || begins(name, "recv") || begins(name, "SendRecv") ||
	       begins(name, "batch_isend");
}

/* A group is known by its name and its ranks: names are counted by each rank for itself. */
static const char *group_of(struct rank_events *e, uint16_t lane, const json_t *args,
			    struct rank_texts *texts)
{
	char text[512];
	const char *name = json_string_value(json_object_get(args, "Process Group Name"));
	const char *ranks = json_string_value(json_object_get(args, "Process Group Ranks"));

	if (name)
		snprintf(text, sizeof(text), "%.100s%s%.300s", name, ranks ? " " : "",
			 ranks ? ranks : "");
	else
		snprintf(text, sizeof(text), "stream %d", stream_number(e, lane));
	return rank_text(texts, text);
}

static bool add_collective(struct rank_events *e, const struct ranks_event *event,
			   struct rank_texts *texts)
{
	uint32_t row = (uint32_t)(e->rows.len - 1);
	json_t *json = json_loadb(event->text, event->text_bytes, JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *args = json_object_get(json, "args");
	const char *name = json_string_value(json_object_get(args, "Collective name"));
	const char *dtype = json_string_value(json_object_get(args, "dtype"));
	struct rank_collective c = {
		.start_ns = event->start_ns,
		.end_ns = event->start_ns + event->duration_ns,
		.name = name ? rank_text(texts, name) : name_in_kernel(texts, event->name),
		.group = group_of(e, e->rows.at[row].lane, args, texts),
		.dtype = rank_text(texts, dtype ? dtype : ""),
		.in = number_of(args, "In msg nelems"),
		.out = number_of(args, "Out msg nelems"),
		.seq = number_of(args, "Seq"),
		.event = row,
	};

	json_decref(json);
	c.pairwise = c.name && is_pairwise(c.name);
	return c.name && c.group && c.dtype && VEC_PUSH(&e->collectives, c);
}

/* "[[64, 32]]": 2048; -1: not said, or too many. */
static int64_t elements_of(const json_t *dims)
{
	const json_t *first = json_array_get(dims, 0), *dim;
	int64_t n = json_is_array(first) ? 1 : -1;
	size_t i;

	json_array_foreach(first, i, dim)
	{
		if (n < 0 || !json_is_integer(dim) || json_integer_value(dim) < 0 ||
		    __builtin_mul_overflow(n, json_integer_value(dim), &n))
			return -1;
	}
	return n;
}

/* Its threads take turns: the order is that of the backend. */
static bool add_of_host(struct rank_events *e, const struct ranks_event *event,
			struct rank_texts *texts)
{
	json_t *json = json_loadb(event->text, event->text_bytes, JSON_DISABLE_EOF_CHECK, NULL);
	const json_t *args = json_object_get(json, "args");
	const char *name = strchr(event->name, ':') + 1, *dtype;
	char backend[8];
	struct rank_collective c = { .start_ns = event->start_ns,
				     .end_ns = event->start_ns + event->duration_ns,
				     .in = elements_of(json_object_get(args, "Input Dims")),
				     .out = -1,
				     .seq = -1,
				     .event = (uint32_t)(e->rows.len - 1) };

	snprintf(backend, sizeof(backend), "%.*s", (int)(name - 1 - event->name), event->name);
	dtype = json_string_value(json_array_get(json_object_get(args, "Input type"), 0));
	c.name = rank_text(texts, name);
	c.group = rank_text(texts, backend);
	c.dtype = rank_text(texts, dtype ? dtype : "");
	json_decref(json);
	c.pairwise = c.name && is_pairwise(c.name);
	return c.name && c.group && c.dtype && VEC_PUSH(&e->of_host, c);
}

/* ---- taking events over ---- */

static bool take_lane(struct rank_events *e, const struct ranks_event *event, bool is_device)
{
	while (e->lanes.len <= event->lane)
		if (!VEC_PUSH(&e->lanes, ((struct rank_lane){ 0 })))
			return false;
	e->lanes.at[event->lane] = (struct rank_lane){ event->device, event->stream, is_device };
	return true;
}

bool rank_events_add(struct rank_events *e, const struct ranks_event *event,
		     struct rank_texts *texts)
{
	int kind = kind_of(event);
	uint32_t row = (uint32_t)e->rows.len;
	struct rank_event kept = { .start_ns = event->start_ns,
				   .end_ns = timeline_add(event->start_ns, event->duration_ns),
				   .name = event->name,
				   .correlation = event->correlation,
				   .lane = (uint16_t)event->lane,
				   .kind = (uint8_t)kind };

	if (kind < 0 || event->lane >= RANKS_MAX_LANES)
		return true;
	if (e->rows.len >= RANKS_MAX_EVENTS) {
		e->left_out++;
		return true;
	}
	if (kind == RANK_CALL)
		kept.call = (uint8_t)call_of(event->name);
	if (!take_lane(e, event, kind < RANK_KERNELS) || !VEC_PUSH(&e->rows, kept))
		return false;
	if (kind == RANK_MEMORY &&
	    !VEC_PUSH(&e->copied, ((struct rank_copied){ row, event->bytes })))
		return false;
	if (kind == RANK_WAIT &&
	    !VEC_PUSH(&e->waits, ((struct rank_wait){ row, event->recorded, event->on_stream })))
		return false;
	if (kind == RANK_HOST_COLLECTIVE)
		return add_of_host(e, event, texts);
	return kind != RANK_COMMUNICATION || add_collective(e, event, texts);
}

/* ---- a file without a device ---- */

static int by_thread(const void *a, const void *b, void *rows)
{
	const struct rank_event *x = &((const struct rank_event *)rows)[*(const uint32_t *)a],
				*y = &((const struct rank_event *)rows)[*(const uint32_t *)b];

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void take_as(struct rank_events *e, struct rank_event *row, enum rank_kernel kind)
{
	row->kind = (uint8_t)kind;
	e->lanes.at[row->lane] = (struct rank_lane){ .stream = row->lane, .is_device = true };
}

static bool take_outermost_ops(struct rank_events *e)
{
	uint32_t *at = malloc((e->rows.len + 1) * sizeof(*at));
	const struct rank_event *around = NULL;
	size_t n = 0;

	for (size_t i = 0; at && i < e->rows.len; i++)
		if (e->rows.at[i].kind == RANK_OP)
			at[n++] = (uint32_t)i;
	if (at && n)
		qsort_r(at, n, sizeof(*at), by_thread, e->rows.at);
	for (size_t i = 0; i < n; i++) {
		struct rank_event *row = &e->rows.at[at[i]];

		if (around && around->lane == row->lane && row->start_ns < around->end_ns)
			continue;
		around = row;
		if (!begins(row->name, "c10d::"))
			take_as(e, row, RANK_COMPUTATION);
	}
	free(at);
	return at != NULL;
}

static bool take_host(struct rank_events *e)
{
	e->on_host = e->of_host.len > 0;
	for (size_t i = 0; i < e->rows.len; i++)
		e->on_host = e->on_host && e->rows.at[i].kind >= RANK_KERNELS;
	if (!e->on_host)
		return true;
	for (size_t i = 0; i < e->of_host.len; i++) {
		take_as(e, &e->rows.at[e->of_host.at[i].event], RANK_COMMUNICATION);
		if (!VEC_PUSH(&e->collectives, e->of_host.at[i]))
			return false;
	}
	return take_outermost_ops(e);
}

/* ---- launches ---- */

static size_t slot_of(const struct rank_launches *l, uint32_t correlation)
{
	return (correlation * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (l->n_slots - 1);
}

bool rank_launches_init(struct rank_launches *l, const struct rank_events *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->rows.len; i++)
		n += e->rows.at[i].kind == RANK_CALL && e->rows.at[i].correlation;
	*l = (struct rank_launches){ .n_slots = 16, .events = e };
	while (l->n_slots < 2 * n)
		l->n_slots *= 2;
	l->slots = calloc(l->n_slots, sizeof(*l->slots));
	for (size_t i = 0; l->slots && i < e->rows.len; i++) {
		const struct rank_event *row = &e->rows.at[i];
		size_t at = slot_of(l, row->correlation);

		if (row->kind != RANK_CALL || !row->correlation)
			continue;
		while (l->slots[at] && e->rows.at[l->slots[at] - 1].correlation != row->correlation)
			at = (at + 1) & (l->n_slots - 1);
		if (!l->slots[at])
			l->slots[at] = (uint32_t)i + 1;
	}
	return l->slots != NULL;
}

void rank_launches_finish(struct rank_launches *l)
{
	free(l->slots);
	l->slots = NULL;
}

uint32_t rank_launch_of(const struct rank_launches *l, uint32_t correlation)
{
	size_t at = slot_of(l, correlation);

	for (; correlation && l->slots[at]; at = (at + 1) & (l->n_slots - 1))
		if (l->events->rows.at[l->slots[at] - 1].correlation == correlation)
			return l->slots[at] - 1;
	return UINT32_MAX;
}

/* ---- steps ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Distinct steps (by name), and where the last one begins; -1: out of memory. */
static int count_steps(const struct rank_events *e, int64_t *last_ns)
{
	VEC(const char *) names = { 0 };
	int n = 0;

	*last_ns = INT64_MIN;
	for (size_t i = 0; i < e->rows.len && n == 0; i++) {
		const struct rank_event *row = &e->rows.at[i];

		if (row->kind != RANK_STEP)
			continue;
		*last_ns = row->start_ns > *last_ns ? row->start_ns : *last_ns;
		n = VEC_PUSH(&names, row->name) ? 0 : -1;
	}
	if (names.len)
		qsort(names.at, names.len, sizeof(*names.at), by_text);
	for (size_t i = 0; i < names.len && n >= 0; i++)
		n += i == 0 || strcmp(names.at[i - 1], names.at[i]) != 0;
	VEC_FREE(&names);
	return n;
}

/* Takes rows out for which keep[] is false; what names rows follows. */
static void drop_rows(struct rank_events *e, uint32_t *to)
{
	size_t n = 0, k;

	for (size_t i = 0; i < e->rows.len; i++) {
		bool kept = to[i] == 0;

		to[i] = kept ? (uint32_t)n : UINT32_MAX;
		if (kept)
			e->rows.at[n++] = e->rows.at[i];
	}
	e->rows.len = n;
#define FOLLOW(list)                                                                               \
	k = 0;                                                                                     \
	for (size_t i = 0; i < (list).len; i++) {                                                  \
		(list).at[i].event = to[(list).at[i].event];                                       \
		if ((list).at[i].event != UINT32_MAX)                                              \
			(list).at[k++] = (list).at[i];                                             \
	}                                                                                          \
	(list).len = k
	FOLLOW(e->copied);
	FOLLOW(e->waits);
	FOLLOW(e->collectives);
#undef FOLLOW
}

/* -1: out of memory. */
static int leave_last_step(struct rank_events *e, bool *left_out)
{
	int64_t last_ns;
	int n = count_steps(e, &last_ns);
	struct rank_launches launches;
	uint32_t *drop;

	*left_out = false;
	if (n < 2)
		return n;
	drop = calloc(e->rows.len, sizeof(*drop));
	if (!drop || !rank_launches_init(&launches, e)) {
		free(drop);
		return -1;
	}
	for (size_t i = 0; i < e->rows.len; i++) {
		const struct rank_event *row = &e->rows.at[i];
		uint32_t launch = row->kind < RANK_KERNELS && !e->on_host
				      ? rank_launch_of(&launches, row->correlation)
				      : (uint32_t)i;

		drop[i] = launch == UINT32_MAX || e->rows.at[launch].start_ns >= last_ns;
	}
	rank_launches_finish(&launches);
	drop_rows(e, drop);
	free(drop);
	*left_out = true;
	return n - 1;
}

/* Its first event on a device. */
static int64_t begin_of(const struct rank_events *e)
{
	int64_t begin_ns = INT64_MAX;

	for (size_t i = 0; i < e->rows.len; i++)
		if (e->rows.at[i].kind < RANK_KERNELS && e->rows.at[i].start_ns < begin_ns)
			begin_ns = e->rows.at[i].start_ns;
	return begin_ns;
}

bool rank_events_end(struct rank_events *e)
{
	size_t collectives;

	if (!take_host(e))
		return false;
	e->begin_ns = begin_of(e);
	collectives = e->collectives.len;
	e->steps = leave_last_step(e, &e->last_left_out);
	e->in_last_step = (int64_t)(collectives - e->collectives.len);
	return e->steps >= 0;
}

/* ---- order ---- */

static int by_start(const void *a, const void *b, void *rows)
{
	const struct rank_event *x = &((const struct rank_event *)rows)[*(const uint32_t *)a],
				*y = &((const struct rank_event *)rows)[*(const uint32_t *)b];

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

uint32_t *rank_events_sorted(const struct rank_events *e, int kinds, size_t *n)
{
	uint32_t *at = malloc((e->rows.len ? e->rows.len : 1) * sizeof(*at));

	*n = 0;
	for (size_t i = 0; at && i < e->rows.len; i++)
		if (e->rows.at[i].kind < kinds)
			at[(*n)++] = (uint32_t)i;
	if (at && *n)
		qsort_r(at, *n, sizeof(*at), by_start, e->rows.at);
	return at;
}
