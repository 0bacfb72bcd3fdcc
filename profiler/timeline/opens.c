/* profiler/timeline/opens.c -- the part of a window that a page shows first. */
#include "profiler/timeline/opens.h"

#include <stdlib.h>

enum { SMALL_PART = 2, ROOM_PART = 20 };

struct bin {
	double ns;    /* of what begins or ends in it */
	int64_t over; /* how many more events than in the bin before run through all of it */
	int64_t from_ns, to_ns; /* of the first start and the last end; to < from: none */
};

struct busy {
	double ns; /* of all events; of overlapping ones each */
	struct bin bins[OPENS_BINS];
};

struct opens {
	int64_t t0_ns, t1_ns;
	struct busy device, host;
	bool has_call;
	int64_t call_ns, call_end_ns; /* of the last */
};

static double bin_ns(const struct opens *o)
{
	return (double)(o->t1_ns - o->t0_ns) / OPENS_BINS;
}

static int64_t begin_of(const struct opens *o, int bin)
{
	return o->t0_ns + (int64_t)(bin * bin_ns(o));
}

static int bin_of(const struct opens *o, int64_t at_ns)
{
	double at = o->t1_ns > o->t0_ns ? (double)(at_ns - o->t0_ns) / bin_ns(o) : 0;

	return at >= OPENS_BINS - 1 ? OPENS_BINS - 1 : at > 0 ? (int)at : 0;
}

static void reach(struct bin *bin, int64_t from_ns, int64_t to_ns)
{
	bin->from_ns = from_ns < bin->from_ns ? from_ns : bin->from_ns;
	bin->to_ns = to_ns > bin->to_ns ? to_ns : bin->to_ns;
	bin->ns += (double)(to_ns - from_ns);
}

struct opens *opens_create(int64_t t0_ns, int64_t t1_ns)
{
	struct opens *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->t0_ns = t0_ns;
	o->t1_ns = t1_ns;
	for (int i = 0; i < OPENS_BINS; i++)
		o->device.bins[i] = o->host.bins[i] = (struct bin){ .from_ns = INT64_MAX,
								    .to_ns = INT64_MIN };
	return o;
}

void opens_destroy(struct opens *o)
{
	free(o);
}

void opens_add(struct opens *o, const struct timeline_event *e, int64_t from_ns, int64_t to_ns)
{
	struct busy *b = timeline_kind_runs(e->kind) ? &o->device : &o->host;
	int first = bin_of(o, from_ns), last = bin_of(o, to_ns);

	if (e->kind == TIMELINE_CALL && (!o->has_call || e->start_ns >= o->call_ns)) {
		o->has_call = true;
		o->call_ns = e->start_ns;
		o->call_end_ns = e->start_ns + e->duration_ns;
	}
	b->ns += (double)(to_ns - from_ns);
	if (first == last) {
		reach(&b->bins[first], from_ns, to_ns);
		return;
	}
	reach(&b->bins[first], from_ns, begin_of(o, first + 1));
	reach(&b->bins[last], begin_of(o, last), to_ns);
	b->bins[first + 1].over++;
	b->bins[last].over--;
}

/* What lies in each bin, with what runs through all of it. */
static void fill_bins(const struct opens *o, const struct busy *b, struct bin out[OPENS_BINS])
{
	int64_t over = 0;

	for (int i = 0; i < OPENS_BINS; i++) {
		out[i] = b->bins[i];
		over += b->bins[i].over;
		if (over > 0) {
			out[i].from_ns = begin_of(o, i);
			out[i].to_ns = begin_of(o, i + 1);
			out[i].ns += (double)over * bin_ns(o);
		}
	}
}

/* The shortest span from a bin's first start to a bin's last end that holds so much of the time;
 * false: no event took any. */
static bool busy_find(const struct opens *o, const struct busy *b, int64_t *from_ns, int64_t *to_ns)
{
	struct bin bins[OPENS_BINS];
	double wanted = b->ns * (OPENS_PERCENT / 100.0 - 1e-9), held = 0; /* sums are not exact */
	bool any = false;

	fill_bins(o, b, bins);
	for (int first = 0, next = 0; b->ns > 0 && first < OPENS_BINS; held -= bins[first++].ns) {
		while (next < OPENS_BINS && (held < wanted || next <= first))
			held += bins[next++].ns;
		if (held < wanted)
			break;
		if (bins[first].from_ns > bins[next - 1].to_ns) /* one of them is empty */
			continue;
		if (any && bins[next - 1].to_ns - bins[first].from_ns >= *to_ns - *from_ns)
			continue;
		*from_ns = bins[first].from_ns;
		*to_ns = bins[next - 1].to_ns;
		any = true;
	}
	return any;
}

static json_t *part_json(const struct opens *o, int64_t begin_ns, const char *of, int64_t from_ns,
			 int64_t to_ns)
{
	from_ns = from_ns < o->t0_ns ? o->t0_ns : from_ns;
	to_ns = to_ns > o->t1_ns ? o->t1_ns : to_ns;
	return json_pack("{s:s, s:I, s:I, s:i}", "of", of, "t0_ns",
			 (json_int_t)(from_ns - begin_ns), "t1_ns", (json_int_t)(to_ns - begin_ns),
			 "percent", OPENS_PERCENT);
}

json_t *opens_json(const struct opens *o, int64_t begin_ns, bool sampled)
{
	bool device = o->device.ns > 0;
	int64_t from = o->t0_ns, to = o->t1_ns, room;

	if (o->has_call && !sampled)
		return part_json(o, begin_ns, "call", o->call_ns, o->call_end_ns);
	if (!o->has_call && busy_find(o, device ? &o->device : &o->host, &from, &to) &&
	    to - from < (o->t1_ns - o->t0_ns) / SMALL_PART) {
		room = (to - from) / ROOM_PART;
		return part_json(o, begin_ns, device ? "device" : "host", from - room, to + room);
	}
	return part_json(o, begin_ns, "whole", o->t0_ns, o->t1_ns);
}
