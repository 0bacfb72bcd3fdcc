/* tests/break_set.h -- timelines of calls with breaks, whose gaps are known. */
#ifndef TESTS_BREAK_SET_H
#define TESTS_BREAK_SET_H

#include "profiler/cost/cost.h"
#include "tests/report_help.h"

/* A set of lanes, as the recorder writes it. */
struct set {
	struct timeline_writer *w;
	uint32_t calls, breaks, graphs, host, kernels;
	uint32_t call, brk[2], graph, phase, kernel;
};

static inline uint32_t add_lane(struct timeline_writer *w, const char *role)
{
	return timeline_writer_lane(
	    w, json_pack("{s:s, s:s, s:s}", "name", role, "role", role, "mode", "static"));
}

static inline void open_set(struct set *s)
{
	s->calls = add_lane(s->w, "calls");
	s->breaks = add_lane(s->w, "breaks");
	s->graphs = add_lane(s->w, "graphs");
	s->host = add_lane(s->w, "host");
	s->kernels = add_lane(s->w, "kernels");
	s->call = timeline_writer_name(s->w, json_pack("{s:s}", "name", "calls[0]"));
	for (int i = 0; i < 2; i++)
		s->brk[i] = timeline_writer_name(
		    s->w, json_pack("{s:s, s:i}", "name", "break", "break", i));
	s->graph = timeline_writer_name(s->w, json_pack("{s:s, s:i}", "name", "graph", "graph", 0));
	s->phase = timeline_writer_name(s->w, json_pack("{s:s}", "name", "host"));
	s->kernel = timeline_writer_name(s->w, json_pack("{s:s, s:i, s:i}", "name", "fused",
							 "read_bytes", 400, "written_bytes", 400));
}

static inline void put(struct set *s, enum timeline_kind kind, uint32_t lane, uint32_t name,
		       int64_t from, int64_t to, uint32_t correlation)
{
	struct timeline_event e = { .start_ns = from,
				    .duration_ns = to - from,
				    .lane = lane,
				    .kind = kind,
				    .name = name,
				    .correlation = correlation };
	struct err err = { 0 };

	assert_true(timeline_writer_add(s->w, &e, &err));
}

static inline void host(struct set *s, enum timeline_kind kind, int64_t from, int64_t to)
{
	put(s, kind, s->host, s->phase, from, to, 0);
}

static inline void piece(struct set *s, int64_t from, int64_t to)
{
	put(s, TIMELINE_PIECE, s->graphs, s->graph, from, to, 0);
}

static inline void meet(struct set *s, int index, int64_t from, int64_t to)
{
	put(s, TIMELINE_BREAK, s->breaks, s->brk[index], from, to, 0);
}

static inline void launch(struct set *s, int64_t from, int64_t to)
{
	put(s, TIMELINE_KERNEL, s->kernels, s->kernel, from, to, 0);
}

/* A call of 3,000 ns at t: guards, piece, break 0, guards, piece, break 1, guards,
 * piece.  The gaps take 610 and 700 ns. */
static inline void a_call_with_two_breaks(struct set *s, int64_t t)
{
	put(s, TIMELINE_CALL, s->calls, s->call, t, t + 3000, 0);
	host(s, TIMELINE_GUARDS, t + 0, t + 50);
	piece(s, t + 70, t + 420); /* 20 before it */
	launch(s, t + 100, t + 400);
	meet(s, 0, t + 500, t + 700);
	host(s, TIMELINE_GUARDS, t + 800, t + 830);
	piece(s, t + 850, t + 1350);
	host(s, TIMELINE_ALLOC, t + 900, t + 970);
	launch(s, t + 1010, t + 1310);
	meet(s, 1, t + 1400, t + 1410);
	host(s, TIMELINE_GUARDS, t + 1500, t + 1700);
	piece(s, t + 1800, t + 2600);
	launch(s, t + 2010, t + 2500);
	/* 400 after the last piece */
}

static inline struct timeline_writer *open_writer(struct break_costs *c)
{
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(timeline_events_block, &c->seen, &err);

	assert_non_null(w);
	return w;
}

static inline void close_writer(struct timeline_writer *w)
{
	struct err err = { 0 };

	assert_true(timeline_writer_finish(w, NULL, &err)); /* watching costs nothing */
	timeline_writer_destroy(w);
}

/* 100 ns at least, 1 ns a byte from 100 bytes on. */
static const struct copy_curve curve = { .n = 3,
					 .bytes = { 10, 100, 10000 },
					 .ns = { 100, 100, 10000 } };

#endif
