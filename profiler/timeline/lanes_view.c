/* profiler/timeline/lanes_view.c -- all of a timeline in memory, and one set of its lanes. */
#include "profiler/timeline/lanes_view.h"

#include <stdlib.h>
#include <string.h>

static bool is_span(uint32_t kind)
{
	return kind != TIMELINE_MEMORY && kind != TIMELINE_COUNTER && kind != TIMELINE_FLOW;
}

static bool add_events(struct timeline_events *to, const struct timeline_chunk *chunk,
		       struct err *err)
{
	for (int i = 0; i < chunk->n; i++) {
		struct timeline_event e = timeline_chunk_event(chunk, i);

		if (to->spans && !is_span(e.kind))
			continue;
		if (to->most && to->list.len >= to->most)
			to->left_out++;
		else if (!VEC_PUSH(&to->list, e))
			return err_set(err, ERR_MEMORY, "out of memory for a timeline");
	}
	return true;
}

bool timeline_events_block(void *self, const void *block, size_t len, struct err *err)
{
	struct timeline_events *to = self;
	struct timeline_chunk chunk = { 0 };
	struct timeline_block head;
	bool ok;

	if (!timeline_block_read(block, len, &head, err))
		return false;
	to->tables.as_recorded = true; /* what clocks are apart comes after the events */
	if (head.kind == TIMELINE_TABLES)
		return timeline_tables_read(&to->tables, &head, err);
	if (head.kind != TIMELINE_CHUNK)
		return true;
	ok = timeline_chunk_create(&chunk, err) &&
	     timeline_chunk_read(&chunk, &to->tables, &head, err) && add_events(to, &chunk, err);
	timeline_chunk_destroy(&chunk);
	return ok;
}

void timeline_events_finish(struct timeline_events *e)
{
	VEC_FREE(&e->list);
	timeline_tables_finish(&e->tables);
}

static bool is_kernel(uint32_t kind)
{
	return kind == TIMELINE_KERNEL || kind == TIMELINE_LIBRARY || kind == TIMELINE_EAGER;
}

bool lanes_view_add(struct lanes_view *v, const struct timeline_event *e)
{
	switch (e->kind) {
	case TIMELINE_CALL:
		return VEC_PUSH(&v->calls, e);
	case TIMELINE_PIECE:
		return VEC_PUSH(&v->pieces, e);
	case TIMELINE_BREAK:
		return VEC_PUSH(&v->breaks, e);
	case TIMELINE_GUARDS:
	case TIMELINE_DISPATCH:
	case TIMELINE_ALLOC:
	case TIMELINE_LAUNCH:
		return VEC_PUSH(&v->host, e);
	default:
		return !is_kernel(e->kind) || VEC_PUSH(&v->kernels, e);
	}
}

static int by_correlation(const void *a, const void *b)
{
	const struct timeline_event *x = *(const struct timeline_event *const *)a,
				    *y = *(const struct timeline_event *const *)b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static const struct timeline_event *piece_around(const struct lanes_view *v, int64_t at_ns)
{
	size_t from = 0, to = v->pieces.len;

	while (from < to) { /* the last that begins before; pieces do not overlap */
		size_t middle = (from + to) / 2;

		if (v->pieces.at[middle]->start_ns <= at_ns)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == 0 || event_end(v->pieces.at[from - 1]) < at_ns)
		return NULL;
	return v->pieces.at[from - 1];
}

static int by_in(const void *a, const void *b)
{
	const struct launch_at *x = a, *y = b;

	return (x->in_ns > y->in_ns) - (x->in_ns < y->in_ns);
}

/* What the device ran for a launch: its kernels are side by side in `sorted`. */
static int64_t device_ns(const struct timeline_event *const *sorted, size_t n,
			 const struct timeline_event *launch, int *kernels)
{
	size_t from = 0, to = n;
	int64_t ns = 0;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (sorted[middle]->correlation < launch->correlation)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < n && sorted[from]->correlation == launch->correlation; from++) {
		ns += sorted[from]->duration_ns;
		++*kernels;
	}
	return ns;
}

/* The host goes on after each launch; ops that run by themselves stand in no piece. */
static bool launches_of_device(struct lanes_view *v)
{
	if (v->kernels.len)
		qsort(v->kernels.at, v->kernels.len, sizeof(*v->kernels.at), by_correlation);
	for (size_t i = 0; i < v->host.len; i++) {
		const struct timeline_event *l = v->host.at[i];
		struct launch_at at = { .begin_ns = l->start_ns,
					.in_ns = event_end(l),
					.out_ns = event_end(l),
					.name = l->name,
					.piece = piece_around(v, event_end(l)) };

		if (l->kind != TIMELINE_LAUNCH)
			continue;
		at.eager = !at.piece;
		at.ns = device_ns(v->kernels.at, v->kernels.len, l, &at.kernels);
		if (!VEC_PUSH(&v->launches, at))
			return false;
	}
	return true;
}

static bool launches_of_host(struct lanes_view *v)
{
	for (size_t i = 0; i < v->kernels.len; i++) {
		const struct timeline_event *k = v->kernels.at[i];
		struct launch_at at = { .begin_ns = k->start_ns,
					.in_ns = k->start_ns,
					.out_ns = event_end(k),
					.ns = k->duration_ns,
					.eager = k->kind == TIMELINE_EAGER,
					.name = k->name,
					.piece = piece_around(v, k->start_ns) };

		if (!VEC_PUSH(&v->launches, at))
			return false;
	}
	return true;
}

bool lanes_view_launches(struct lanes_view *v, bool device)
{
	if (!(device ? launches_of_device(v) : launches_of_host(v)))
		return false;
	if (v->launches.len)
		qsort(v->launches.at, v->launches.len, sizeof(*v->launches.at), by_in);
	return true;
}

void lanes_view_finish(struct lanes_view *v)
{
	VEC_FREE(&v->calls);
	VEC_FREE(&v->host);
	VEC_FREE(&v->pieces);
	VEC_FREE(&v->breaks);
	VEC_FREE(&v->kernels);
	VEC_FREE(&v->launches);
}

/* The part of a sorted list that begins within the span. */
#define CUT(list, start, span)                                                                     \
	do {                                                                                       \
		size_t from_ = 0, to_;                                                             \
		while (from_ < (list)->len && (list)->at[from_] start < (span)->from_ns)           \
			from_++;                                                                   \
		for (to_ = from_; to_ < (list)->len && (list)->at[to_] start <= (span)->to_ns;)    \
			to_++;                                                                     \
		if (from_) /* none: there may be no list */                                        \
			(list)->at += from_;                                                       \
		(list)->len = to_ - from_;                                                         \
	} while (0)

struct lanes_view lanes_cut_view(const struct lanes_view *v, const struct span *s)
{
	struct lanes_view part = *v; /* borrows */

	CUT(&part.host, ->start_ns, s);
	CUT(&part.pieces, ->start_ns, s);
	CUT(&part.breaks, ->start_ns, s);
	CUT(&part.kernels, ->start_ns, s); /* of a device: nobody asks */
	CUT(&part.launches, .in_ns, s);
	return part;
}
