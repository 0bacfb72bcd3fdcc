/* profiler/ranks/path.c -- what the moments of one rank waited for. */
#include "profiler/ranks/path.h"

#include <stdlib.h>
#include <string.h>

enum {
	NONE = UINT32_MAX,
	MOST_STEPS = 8192, /* that are looked through for the names of a segment */
	NAMES = 48,        /* of a segment that are told apart */
	/* Where no note says which stream waited for which, a kernel that began so soon after
	 * another stream's ended, and so long after its own launch and stream let it, waited for
	 * that. */
	SOON_NS = 20000,
};

struct moment {
	int64_t at_ns;
	uint32_t event, before;
	uint32_t after; /* the collective that the way passed last; PATH_BEGIN */
	uint8_t kind;   /* of the time since `before` */
	bool is_end;
	int64_t ns[PATH_KINDS]; /* since that collective */
};

/* Ops of a thread that lie in no other of it, by start: a part of finder.outer. */
struct outer_ops {
	uint32_t first, n;
};

struct path_finder {
	struct rank_events *e;
	struct rank_launches launches;
	struct moment *moments; /* in the order of time */
	size_t n;
	uint32_t *starts, *ends; /* of an event: its moments, once they came; NONE */
	uint32_t *collective;    /* of an event: which; NONE */
	uint32_t *waits_for;     /* of an event: the kernel that its stream, or call, waited for */
	uint32_t last[RANKS_MAX_LANES];  /* of a stream or a thread: the end that came last */
	uint32_t last_device, last_call; /* of all streams, of all threads */
	struct outer_ops ops[RANKS_MAX_LANES];
	uint32_t *outer;
	bool recorded;
};

static struct rank_event *row_of(const struct path_finder *f, uint32_t event)
{
	return &f->e->rows.at[event];
}

/* ---- moments in order ---- */

static bool is_on_path(const struct rank_event *row)
{
	return row->kind < RANK_KERNELS || row->kind == RANK_CALL;
}

/* Ends before starts, but of an event without a length. */
static int rank_of_moment(const struct path_finder *f, const struct moment *m)
{
	const struct rank_event *row = row_of(f, m->event);

	return !m->is_end ? 1 : row->end_ns == row->start_ns ? 2 : 0;
}

static int by_time(const void *a, const void *b, void *self)
{
	const struct moment *x = a, *y = b;
	int p, q;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	p = rank_of_moment(self, x);
	q = rank_of_moment(self, y);
	if (p != q)
		return p - q;
	return (x->event > y->event) - (x->event < y->event);
}

static bool make_moments(struct path_finder *f)
{
	size_t rows = f->e->rows.len, n = 0;

	for (size_t i = 0; i < rows; i++)
		n += 2 * (size_t)is_on_path(&f->e->rows.at[i]);
	f->moments = malloc((n + 1) * sizeof(*f->moments));
	f->starts = malloc((rows + 1) * sizeof(*f->starts));
	f->ends = malloc((rows + 1) * sizeof(*f->ends));
	f->collective = malloc((rows + 1) * sizeof(*f->collective));
	f->waits_for = malloc((rows + 1) * sizeof(*f->waits_for));
	if (!f->moments || !f->starts || !f->ends || !f->collective || !f->waits_for)
		return false;
	for (size_t i = 0; i < rows; i++) {
		const struct rank_event *row = &f->e->rows.at[i];

		f->starts[i] = f->ends[i] = f->collective[i] = f->waits_for[i] = NONE;
		if (!is_on_path(row))
			continue;
		f->moments[f->n++] = (struct moment){ .at_ns = row->start_ns,
						      .event = (uint32_t)i };
		f->moments[f->n++] =
		    (struct moment){ .at_ns = row->end_ns, .event = (uint32_t)i, .is_end = true };
	}
	if (f->n)
		qsort_r(f->moments, f->n, sizeof(*f->moments), by_time, f);
	for (size_t i = 0; i < f->e->collectives.len; i++)
		f->collective[f->e->collectives.at[i].event] = (uint32_t)i;
	return true;
}

/* ---- which stream waited for which ---- */

struct launched {
	int64_t stream, at_ns; /* when the host launched it */
	uint32_t event;
};

static int by_launch(const void *a, const void *b)
{
	const struct launched *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* What the host launched on the stream last before a time (-1), or first after it (1). */
static uint32_t launched_next(const struct launched *list, size_t n, int64_t stream, int64_t at_ns,
			      int direction)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		bool before = list[mid].stream != stream ? list[mid].stream < stream
			      : direction < 0            ? list[mid].at_ns < at_ns
							 : list[mid].at_ns <= at_ns;

		if (before)
			low = mid + 1;
		else
			high = mid;
	}
	if (direction < 0)
		return low > 0 && list[low - 1].stream == stream ? list[low - 1].event : NONE;
	return low < n && list[low].stream == stream ? list[low].event : NONE;
}

static struct launched *all_launched(const struct path_finder *f, size_t *n)
{
	struct launched *list = malloc((f->e->rows.len + 1) * sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < f->e->rows.len; i++) {
		const struct rank_event *row = &f->e->rows.at[i];
		uint32_t call = row->kind < RANK_KERNELS
				    ? rank_launch_of(&f->launches, row->correlation)
				    : NONE;

		if (call != NONE)
			list[(*n)++] = (struct launched){ f->e->lanes.at[row->lane].stream,
							  row_of(f, call)->start_ns, (uint32_t)i };
	}
	if (list && *n)
		qsort(list, *n, sizeof(*list), by_launch);
	return list;
}

static void set_wait(struct path_finder *f, uint32_t waits, uint32_t on)
{
	uint32_t *is = &f->waits_for[waits];

	if (*is == NONE || row_of(f, *is)->end_ns < row_of(f, on)->end_ns)
		*is = on;
}

/* An event is recorded after what was launched on its stream before; the stream that waits for it
 * holds up what is launched there next. */
static void take_wait(struct path_finder *f, const struct rank_wait *wait,
		      const struct launched *list, size_t n)
{
	const struct rank_event *row = row_of(f, wait->event);
	uint32_t call = rank_launch_of(&f->launches, row->correlation);
	uint32_t record = rank_launch_of(&f->launches, wait->recorded);
	int64_t stream = f->e->lanes.at[row->lane].stream;
	uint32_t from = record != NONE ? record : call, kernel, next;

	if (from == NONE || call == NONE)
		return;
	kernel = launched_next(list, n, record != NONE ? wait->on_stream : stream,
			       row_of(f, from)->start_ns, -1);
	next = row_of(f, call)->call == CALL_SYNCHRONIZE
		   ? call
		   : launched_next(list, n, stream, row_of(f, call)->start_ns, 1);
	if (kernel == NONE || next == NONE || next == kernel)
		return;
	f->recorded = f->recorded || record != NONE;
	set_wait(f, next, kernel);
}

/* A copy that ends within the call that asked for it was waited for. */
static bool find_waits(struct path_finder *f)
{
	size_t n;
	struct launched *list = all_launched(f, &n);

	for (size_t i = 0; list && i < f->e->waits.len; i++)
		take_wait(f, &f->e->waits.at[i], list, n);
	for (size_t i = 0; list && i < n; i++) {
		const struct rank_event *row = row_of(f, list[i].event);
		uint32_t call = rank_launch_of(&f->launches, row->correlation);

		if (row->kind == RANK_MEMORY && row->end_ns <= row_of(f, call)->end_ns)
			set_wait(f, call, list[i].event);
	}
	free(list);
	return list != NULL;
}

/* ---- what a thread does ---- */

static int by_place(const void *a, const void *b, void *rows)
{
	const struct rank_event *x = &((const struct rank_event *)rows)[*(const uint32_t *)a],
				*y = &((const struct rank_event *)rows)[*(const uint32_t *)b];

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static bool find_outer_ops(struct path_finder *f)
{
	size_t n = 0, kept = 0;

	f->outer = malloc((f->e->rows.len + 1) * sizeof(*f->outer));
	for (size_t i = 0; f->outer && i < f->e->rows.len; i++)
		if (f->e->rows.at[i].kind == RANK_OP)
			f->outer[n++] = (uint32_t)i;
	if (f->outer && n)
		qsort_r(f->outer, n, sizeof(*f->outer), by_place, f->e->rows.at);
	for (size_t i = 0; i < n; i++) {
		const struct rank_event *row = row_of(f, f->outer[i]);
		struct outer_ops *of = &f->ops[row->lane];

		if (of->n && row->start_ns < row_of(f, f->outer[of->first + of->n - 1])->end_ns)
			continue;
		if (of->n++ == 0)
			of->first = (uint32_t)kept;
		f->outer[kept++] = f->outer[i];
	}
	return f->outer != NULL;
}

/* The op that a thread is in; NULL: none. */
static const struct rank_event *op_at(const struct path_finder *f, uint16_t lane, int64_t at_ns)
{
	const struct outer_ops *of = &f->ops[lane];
	uint32_t low = 0, high = of->n;
	const struct rank_event *op;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (row_of(f, f->outer[of->first + mid])->start_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	op = low ? row_of(f, f->outer[of->first + low - 1]) : NULL;
	return op && op->end_ns >= at_ns ? op : NULL;
}

/* ---- what a moment waited for ---- */

static uint32_t later(const struct path_finder *f, uint32_t a, uint32_t b)
{
	if (a == NONE || b == NONE)
		return a == NONE ? b : a;
	return f->moments[b].at_ns > f->moments[a].at_ns ? b : a;
}

static uint32_t end_of(const struct path_finder *f, uint32_t event)
{
	return event == NONE ? NONE : f->ends[event];
}

static void start_of_kernel(const struct path_finder *f, struct moment *m)
{
	const struct rank_event *row = row_of(f, m->event);
	uint32_t call = rank_launch_of(&f->launches, row->correlation);
	uint32_t launch = call == NONE ? NONE : f->starts[call];
	uint32_t before = later(f, f->last[row->lane], end_of(f, f->waits_for[m->event]));
	int64_t free_ns = INT64_MIN;

	if (before != NONE)
		free_ns = f->moments[before].at_ns;
	if (launch != NONE && row_of(f, call)->end_ns > free_ns)
		free_ns = row_of(f, call)->end_ns;
	m->before = before;
	m->kind = PATH_GAP;
	if (f->last_device == NONE) /* what came before is not in the file */
		return;
	if (f->e->on_host) { /* whatever ended last, the program went on from there */
		m->before = f->last_device;
		m->kind = PATH_HOST;
		return;
	}
	if (launch != NONE &&
	    (before == NONE || f->moments[before].at_ns < f->moments[launch].at_ns)) {
		m->before = launch;
		m->kind = PATH_LAUNCH;
	}
	if (!f->recorded && f->last_device != NONE && m->at_ns - SOON_NS > free_ns &&
	    f->moments[f->last_device].at_ns >= m->at_ns - SOON_NS) {
		m->before = f->last_device;
		m->kind = PATH_GAP;
	}
}

static void end_of_call(const struct path_finder *f, struct moment *m)
{
	const struct rank_event *row = row_of(f, m->event);
	uint32_t on = end_of(f, f->waits_for[m->event]);

	m->before = f->starts[m->event];
	m->kind = PATH_CALL;
	if (f->waits_for[m->event] == NONE && row->call == CALL_SYNCHRONIZE)
		on = f->last_device;
	if (on != NONE && f->moments[on].at_ns > row->start_ns) {
		m->before = on;
		m->kind = PATH_SYNC;
	}
}

/* A thread that began what it does after its last call ended was waiting for another until then. */
static void start_of_call(const struct path_finder *f, struct moment *m)
{
	const struct rank_event *row = row_of(f, m->event);
	const struct rank_event *op = op_at(f, row->lane, m->at_ns);
	uint32_t own = f->last[row->lane];

	m->kind = PATH_HOST;
	m->before = own;
	if (f->last_call != NONE &&
	    (own == NONE || (f->moments[f->last_call].at_ns > f->moments[own].at_ns &&
			     !(op && op->start_ns < f->moments[f->last_call].at_ns))))
		m->before = f->last_call;
}

static void find_before(const struct path_finder *f, struct moment *m)
{
	bool is_call = row_of(f, m->event)->kind == RANK_CALL;

	if (!is_call && m->is_end) {
		static const enum path_kind kinds[] = { [RANK_COMPUTATION] = PATH_COMPUTATION,
							[RANK_COMMUNICATION] = PATH_COMMUNICATION,
							[RANK_MEMORY] = PATH_MEMORY };

		m->before = f->starts[m->event];
		m->kind = kinds[row_of(f, m->event)->kind];
	} else if (!is_call) {
		start_of_kernel(f, m);
	} else if (m->is_end) {
		end_of_call(f, m);
	} else {
		start_of_call(f, m);
	}
}

static void add_up(const struct path_finder *f, struct moment *m)
{
	const struct moment *b = m->before == NONE ? NULL : &f->moments[m->before];

	m->after = PATH_BEGIN;
	if (!b)
		return;
	if (b->is_end && f->collective[b->event] != NONE) {
		m->after = f->collective[b->event];
	} else {
		m->after = b->after;
		memcpy(m->ns, b->ns, sizeof(m->ns));
	}
	m->ns[m->kind] += m->at_ns - b->at_ns;
}

/* Whether a thread may hold others up by this call: one that runs no op and launches nothing looks
 * after collectives, again and again. */
static bool is_of_program(const struct path_finder *f, const struct moment *m)
{
	const struct rank_event *row = row_of(f, m->event);

	return row->call == CALL_ENQUEUE || op_at(f, row->lane, m->at_ns);
}

/* Moments come in their order: what a moment waited for is one that came. */
static void walk(struct path_finder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct moment *m = &f->moments[i];
		const struct rank_event *row = row_of(f, m->event);
		find_before(f, m);
		add_up(f, m);
		(m->is_end ? f->ends : f->starts)[m->event] = (uint32_t)i;
		if (m->is_end)
			f->last[row->lane] = (uint32_t)i;
		if (m->is_end && row->kind != RANK_CALL)
			f->last_device = (uint32_t)i;
		else if (m->is_end && is_of_program(f, m))
			f->last_call = (uint32_t)i;
	}
}

/* ---- segments ---- */

void path_top_add(struct path_top *top, int n, struct path_top more)
{
	int i = 0;

	while (i < n && top[i].name && (top[i].name != more.name || top[i].kind != more.kind))
		i++;
	if (i == n && top[--i].ns >= more.ns)
		return;
	if (top[i].name == more.name && top[i].kind == more.kind)
		more.ns = timeline_add(more.ns, top[i].ns);
	for (; i > 0 && top[i - 1].ns < more.ns; i--)
		top[i] = top[i - 1];
	top[i] = more;
}

static struct path_top piece_of(const struct path_finder *f, const struct moment *m)
{
	const struct rank_event *row = row_of(f, m->event);
	const struct rank_event *op = m->kind == PATH_HOST ? op_at(f, row->lane, m->at_ns) : NULL;

	return (struct path_top){ op                     ? op->name
				  : m->kind == PATH_HOST ? "host"
							 : row->name,
				  (enum path_kind)m->kind, m->at_ns - f->moments[m->before].at_ns };
}

/* What came before a moment, back to a collective. */
static void set_segment(const struct path_finder *f, uint32_t at, struct path_segment *out)
{
	const struct moment *m = &f->moments[at];
	struct path_top names[NAMES] = { 0 };

	*out = (struct path_segment){ .after = m->after, .from_ns = m->at_ns, .to_ns = m->at_ns };
	if (m->is_end && f->collective[m->event] != NONE) {
		out->after = f->collective[m->event];
		return;
	}
	memcpy(out->ns, m->ns, sizeof(out->ns));
	for (int k = 0; k < PATH_KINDS; k++)
		out->from_ns -= m->ns[k];
	for (int i = 0; i < MOST_STEPS && m->before != NONE; i++) {
		const struct moment *b = &f->moments[m->before];

		if (m->at_ns > b->at_ns)
			path_top_add(names, NAMES, piece_of(f, m));
		if (b->is_end && f->collective[b->event] != NONE)
			break;
		m = b;
	}
	memcpy(out->top, names, sizeof(out->top));
}

static void finder_destroy(struct path_finder *f)
{
	if (!f)
		return;
	rank_launches_finish(&f->launches);
	free(f->moments);
	free(f->starts);
	free(f->ends);
	free(f->collective);
	free(f->waits_for);
	free(f->outer);
	free(f);
}

bool rank_paths(struct rank_events *e, struct path_segment *last, bool *recorded,
		struct arena *arena)
{
	struct path_finder *f = calloc(1, sizeof(*f));
	bool ok = f != NULL;

	*last = (struct path_segment){ .after = PATH_BEGIN };
	if (ok) {
		f->e = e;
		f->last_device = f->last_call = NONE;
		memset(f->last, 0xff, sizeof(f->last));
		ok = rank_launches_init(&f->launches, e) && make_moments(f) && find_waits(f) &&
		     find_outer_ops(f);
	}
	if (ok)
		walk(f);
	for (size_t i = 0; ok && i < e->collectives.len; i++) {
		struct rank_collective *c = &e->collectives.at[i];

		c->before = ARENA_NEW(arena, struct path_segment);
		ok = c->before != NULL;
		if (ok)
			set_segment(f, f->starts[c->event], c->before);
	}
	if (ok && f->last_device != NONE)
		set_segment(f, f->last_device, last);
	if (ok)
		*recorded = f->recorded;
	finder_destroy(f);
	return ok;
}
