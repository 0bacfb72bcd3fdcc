/* profiler/timeline/idle.c -- when a device ran nothing, and what the host did meanwhile.
 *
 * Of what the host does of each kind only the latest end is kept: up to there it does it, as
 * nothing of that kind can begin before the next event.
 */
#include "profiler/timeline/idle.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"

enum { MAX_SOURCES = 64, MAX_PARTS = 64, MAX_PENDING = 4 * TIMELINE_CHUNK_EVENTS };

/* What an event is to us: a cause, or one of these. */
enum { BUSY = IDLE_CAUSE_COUNT, IN_CALL, NOTHING };

/* Whose host it is: a process, or a file of a log. */
struct idle_source {
	json_int_t key;
	bool has_calls, has_devices;
	int64_t until_ns[IDLE_CAUSE_COUNT], call_until_ns;
	uint32_t break_name;
};

struct idle_device {
	int64_t number;
	int source;
	uint32_t lane;
	int64_t busy_until_ns, now_ns;
	struct idle_part parts[MAX_PARTS]; /* of the gap under way, since the last kernel */
	int n_parts;
};

struct pending {
	int64_t start_ns, end_ns;
	uint32_t name;
	int16_t source, device;
	uint8_t what;
};

struct idle_lane {
	int16_t source, device; /* -1: not wanted, or of no device */
};

struct idle {
	const struct timeline_tables *tables;
	idle_part_fn *put;
	void *self;
	int64_t t0_ns, t1_ns, late;
	struct idle_lane *lanes;
	size_t n_lanes, n_names;
	uint8_t *what[2]; /* of a name, as an API call and as an op; NOTHING: not yet looked at */
	struct idle_source sources[MAX_SOURCES];
	struct idle_device devices[IDLE_MAX_DEVICES];
	int n_sources, n_devices, left_out;
	VEC(struct pending) pending;
};

/* ---- lanes ---- */

static int find_source(struct idle *d, const struct timeline_lane *row)
{
	int64_t key = timeline_lane_source(row);

	for (int i = 0; i < d->n_sources; i++)
		if (d->sources[i].key == key)
			return i;
	if (d->n_sources == MAX_SOURCES)
		return -1;
	d->sources[d->n_sources] = (struct idle_source){ .key = key, .call_until_ns = INT64_MIN };
	for (int i = 0; i < IDLE_CAUSE_COUNT; i++)
		d->sources[d->n_sources].until_ns[i] = INT64_MIN;
	return d->n_sources++;
}

static int find_device(struct idle *d, int64_t number, int source, uint32_t lane)
{
	for (int i = 0; i < d->n_devices; i++)
		if (d->devices[i].source == source && d->devices[i].number == number)
			return i;
	if (d->n_devices == IDLE_MAX_DEVICES) {
		d->left_out++;
		return -1;
	}
	d->devices[d->n_devices] = (struct idle_device){ .number = number,
							 .source = source,
							 .lane = lane,
							 .busy_until_ns = INT64_MIN,
							 .now_ns = d->t0_ns };
	d->sources[source].has_devices = true;
	return d->n_devices++;
}

static void add_lane(struct idle *d, size_t i)
{
	struct timeline_lane row = timeline_lane_at(d->tables, i);
	const char *role = row.role;
	int source = find_source(d, &row);

	d->lanes[i] = (struct idle_lane){ (int16_t)source, -1 };
	if (source < 0 || !role)
		return;
	if (strcmp(role, "kernels") == 0)
		d->lanes[i].device = (int16_t)find_device(d, row.device, source, (uint32_t)i);
	d->sources[source].has_calls |= strcmp(role, "calls") == 0;
}

struct idle *idle_create(const struct timeline_tables *tables, const bool *wanted, int64_t t0_ns,
			 int64_t t1_ns, idle_part_fn *put, void *self)
{
	struct idle *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->tables = tables;
	d->put = put;
	d->self = self;
	d->t0_ns = t0_ns;
	d->t1_ns = t1_ns;
	d->n_lanes = json_array_size(tables->lanes);
	d->n_names = json_array_size(tables->names);
	d->lanes = calloc(d->n_lanes + 1, sizeof(*d->lanes));
	for (int i = 0; i < 2; i++)
		if ((d->what[i] = malloc(d->n_names + 1)))
			memset(d->what[i], NOTHING, d->n_names + 1);
	if (!d->lanes || !d->what[0] || !d->what[1]) {
		idle_destroy(d);
		return NULL;
	}
	for (size_t i = 0; i < d->n_lanes; i++) {
		d->lanes[i].source = -1;
		if (wanted[i])
			add_lane(d, i);
	}
	return d;
}

void idle_destroy(struct idle *d)
{
	if (!d)
		return;
	free(d->lanes);
	free(d->what[0]);
	free(d->what[1]);
	VEC_FREE(&d->pending);
	free(d);
}

int idle_devices(const struct idle *d, int *left_out)
{
	*left_out = d->left_out;
	return d->n_devices;
}

/* ---- what an event is ---- */

static uint8_t of_api(const char *name)
{
#define API(text, id)                                                                              \
	if (strstr(name, text))                                                                    \
		return IDLE_##id;
#include "profiler/timeline/idle.def"
#undef API
	return IDLE_DISPATCH;
}

static uint8_t of_op(const char *name)
{
#define OP(text, id)                                                                               \
	if (strstr(name, text))                                                                    \
		return IDLE_##id;
#include "profiler/timeline/idle.def"
#undef OP
	return IDLE_DISPATCH;
}

static uint8_t of_name(struct idle *d, uint32_t number, bool op)
{
	const char *name;

	if (number >= d->n_names)
		number = 0;
	if (d->what[op][number] == NOTHING) {
		name = timeline_name_at(d->tables, number).name;
		d->what[op][number] = op ? of_op(name ? name : "") : of_api(name ? name : "");
	}
	return d->what[op][number];
}

static uint8_t what_of(struct idle *d, const struct timeline_chunk *c, int i)
{
	switch (c->kind[i]) {
	case TIMELINE_KERNEL:
	case TIMELINE_LIBRARY:
	case TIMELINE_EAGER:
	case TIMELINE_COPY:
	case TIMELINE_SET:
		return BUSY;
	case TIMELINE_CALL:
		return IN_CALL;
	case TIMELINE_GUARDS:
		return IDLE_GUARDS;
	case TIMELINE_DISPATCH:
		return IDLE_DISPATCH;
	case TIMELINE_PIECE:
		return IDLE_PIECE;
	case TIMELINE_ALLOC:
		return IDLE_ALLOC;
	case TIMELINE_LAUNCH:
		return IDLE_LAUNCH;
	case TIMELINE_BREAK:
		return IDLE_BREAK;
	case TIMELINE_WAIT:
		return IDLE_WAIT;
	case TIMELINE_OVERHEAD:
		return IDLE_OVERHEAD;
	case TIMELINE_API:
	case TIMELINE_OP:
		return of_name(d, c->name[i], c->kind[i] == TIMELINE_OP);
	default:
		return NOTHING;
	}
}

/* ---- gaps ---- */

static void give_parts(struct idle *d, struct idle_device *v)
{
	for (int i = 0; i < v->n_parts; i++)
		d->put(d->self, &v->parts[i]);
	v->n_parts = 0;
}

/* After the last kernel of a call; `parts` begin at that. */
static void mark_end(struct idle_device *v)
{
	int n = 0;

	for (int i = 0; i < v->n_parts; i++) {
		struct idle_part p = v->parts[i];

		p.cause = p.cause == IDLE_PYTHON || p.cause == IDLE_PIECE ? IDLE_END : p.cause;
		if (n > 0 && p.cause == IDLE_END && v->parts[n - 1].cause == IDLE_END &&
		    v->parts[n - 1].to_ns == p.from_ns)
			v->parts[n - 1].to_ns = p.to_ns;
		else
			v->parts[n++] = p;
	}
	v->n_parts = n;
}

static void add_part(struct idle *d, struct idle_device *v, enum idle_cause cause, int64_t from_ns,
		     int64_t to_ns)
{
	const struct idle_source *s = &d->sources[v->source];
	struct idle_part p = { from_ns, to_ns, cause, 0, v->lane, (int)(v - d->devices) };
	struct idle_part *last = v->n_parts ? &v->parts[v->n_parts - 1] : NULL;

	p.name = cause == IDLE_BREAK ? s->break_name : 0;
	if (last && last->cause == cause && last->name == p.name && last->to_ns == from_ns) {
		last->to_ns = to_ns;
		return;
	}
	if (v->n_parts == MAX_PARTS)
		give_parts(d, v);
	v->parts[v->n_parts++] = p;
}

/* What the host does at `at_ns`, and until when at most. */
static enum idle_cause doing(const struct idle_source *s, int64_t at_ns, int64_t *until_ns)
{
	for (int i = 0; i < IDLE_PYTHON; i++)
		if (s->until_ns[i] > at_ns) {
			*until_ns = s->until_ns[i] < *until_ns ? s->until_ns[i] : *until_ns;
			return (enum idle_cause)i;
		}
	if (s->call_until_ns > at_ns) {
		*until_ns = s->call_until_ns < *until_ns ? s->call_until_ns : *until_ns;
		return IDLE_PYTHON;
	}
	return s->has_calls ? IDLE_BETWEEN : IDLE_UNKNOWN;
}

/* The device up to `to_ns`, with nothing new in between. */
static void advance(struct idle *d, struct idle_device *v, int64_t to_ns)
{
	const struct idle_source *s = &d->sources[v->source];

	to_ns = to_ns < d->t1_ns ? to_ns : d->t1_ns;
	if (v->busy_until_ns > v->now_ns)
		v->now_ns = v->busy_until_ns < to_ns ? v->busy_until_ns : to_ns;
	while (v->now_ns < to_ns) {
		int64_t from = v->now_ns, until = to_ns;
		enum idle_cause cause = doing(s, from, &until);

		if ((cause == IDLE_BETWEEN || cause == IDLE_UNKNOWN) && v->n_parts > 0 &&
		    v->parts[v->n_parts - 1].to_ns == s->call_until_ns) {
			mark_end(v);
			give_parts(d, v);
		}
		add_part(d, v, cause, from, until);
		v->now_ns = until;
	}
}

static void start_kernel(struct idle *d, struct idle_device *v, const struct pending *e)
{
	/* what was idle is reported already */
	d->late += e->start_ns < v->now_ns && v->now_ns > d->t0_ns && v->busy_until_ns < v->now_ns;
	advance(d, v, e->start_ns);
	give_parts(d, v);
	v->busy_until_ns = e->end_ns > v->busy_until_ns ? e->end_ns : v->busy_until_ns;
}

/* The host of all devices that the event is of goes on to another thing. */
static void change_host(struct idle *d, const struct pending *e, bool all)
{
	for (int i = 0; i < d->n_devices; i++) {
		struct idle_device *v = &d->devices[i];

		if (!all && v->source != e->source)
			continue;
		advance(d, v, e->start_ns);
		if (e->what == IN_CALL &&
		    d->sources[v->source].call_until_ns == e->start_ns) { /* the one before */
			mark_end(v);
			give_parts(d, v);
		}
	}
}

static void begin_on_host(struct idle_source *s, const struct pending *e)
{
	int64_t *until = e->what == IN_CALL ? &s->call_until_ns : &s->until_ns[e->what];

	*until = e->end_ns > *until ? e->end_ns : *until;
	if (e->what == IDLE_BREAK)
		s->break_name = e->name;
}

static void take(struct idle *d, const struct pending *e)
{
	bool all = !d->sources[e->source].has_devices; /* of whom nothing ran on one */

	if (e->what == BUSY) {
		start_kernel(d, &d->devices[e->device], e);
		return;
	}
	change_host(d, e, all);
	for (int i = 0; i < d->n_sources; i++)
		if (all || i == e->source)
			begin_on_host(&d->sources[i], e);
}

static void take_before(struct idle *d, int64_t at_ns)
{
	size_t n = 0;

	while (n < d->pending.len && d->pending.at[n].start_ns < at_ns)
		take(d, &d->pending.at[n++]);
	d->pending.len -= n;
	if (d->pending.len)
		memmove(d->pending.at, d->pending.at + n, d->pending.len * sizeof(*d->pending.at));
}

/* What holds another comes before it. */
static int by_start(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

bool idle_chunk(struct idle *d, const struct timeline_chunk *c)
{
	bool back;

	if (c->n == 0)
		return true;
	take_before(d, d->pending.len > MAX_PENDING ? INT64_MAX : c->start_ns[0]);
	back = d->pending.len > 0;
	for (int i = 0; i < c->n; i++) {
		struct pending e = { .start_ns = c->start_ns[i],
				     .end_ns = c->start_ns[i] + c->duration_ns[i],
				     .name = c->name[i] };
		const struct idle_lane *lane;

		if (c->lane[i] >= d->n_lanes || e.start_ns > d->t1_ns || e.end_ns < d->t0_ns)
			continue;
		lane = &d->lanes[c->lane[i]];
		e.what = what_of(d, c, i);
		e.source = lane->source;
		e.device = lane->device;
		if (e.source < 0 || e.what == NOTHING || (e.what == BUSY && e.device < 0))
			continue;
		if (!VEC_PUSH(&d->pending, e))
			return false;
	}
	if (back)
		qsort(d->pending.at, d->pending.len, sizeof(*d->pending.at), by_start);
	return true;
}

int64_t idle_finish(struct idle *d)
{
	take_before(d, INT64_MAX);
	for (int i = 0; i < d->n_devices; i++) {
		struct idle_device *v = &d->devices[i];

		advance(d, v, d->t1_ns);
		if (v->n_parts > 0 &&
		    v->parts[v->n_parts - 1].to_ns == d->sources[v->source].call_until_ns)
			mark_end(v);
		give_parts(d, v);
	}
	return d->late;
}
