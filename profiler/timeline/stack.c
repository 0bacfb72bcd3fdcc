/* profiler/timeline/stack.c -- what a thread was in at a moment, and of a backward its forward.
 *
 * The chunks are read in rounds: for what lies around the moment; for the arrows that end in it;
 * for where the last of these begins; for what lies around that.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/window.h"

enum { MOST_FRAMES = 256 };
enum round { AROUND, ARROWS, OTHER_END, AROUND_OTHER, DONE };

struct thread_moment {
	uint32_t lane;
	int64_t at_ns;
	VEC(struct timeline_event) frames; /* around it */
};

struct timeline_stack {
	struct timeline_query query;
	struct timeline_tables tables;
	struct timeline_chunk chunk;
	struct window w;
	struct thread_moment own, forward;
	struct timeline_event arrow; /* the last that ends in an op around the moment */
	bool ready, has_arrow, has_forward, failed;
	enum round round;
};

static bool stack_out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for a stack");
}

struct timeline_stack *timeline_stack_create(const struct timeline_query *q, struct err *err)
{
	struct timeline_stack *s = calloc(1, sizeof(*s));

	if (s && timeline_chunk_create(&s->chunk, err)) {
		s->query = *q;
		s->tables.as_recorded = q->as_recorded;
		return s;
	}
	timeline_stack_destroy(s);
	stack_out_of_memory(err);
	return NULL;
}

void timeline_stack_destroy(struct timeline_stack *s)
{
	if (!s)
		return;
	timeline_tables_finish(&s->tables);
	timeline_chunk_destroy(&s->chunk);
	window_close(&s->w);
	VEC_FREE(&s->own.frames);
	VEC_FREE(&s->forward.frames);
	free(s);
}

bool timeline_stack_tables(struct timeline_stack *s, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(block, len, &b, err) &&
	       timeline_tables_read(&s->tables, &b, err);
}

/* Of the outermost op around the moment; the moment itself without one. */
static int64_t op_begin(const struct timeline_stack *s)
{
	int64_t begin = s->own.at_ns;

	for (size_t i = 0; i < s->own.frames.len; i++)
		if (s->own.frames.at[i].kind == TIMELINE_OP && s->own.frames.at[i].start_ns < begin)
			begin = s->own.frames.at[i].start_ns;
	return begin;
}

bool timeline_stack_next(struct timeline_stack *s, int64_t *t0_ns, int64_t *t1_ns, struct err *err)
{
	if (!s->ready) {
		if (!window_open(&s->w, &s->tables, &s->query))
			return stack_out_of_memory(err);
		s->own.lane = (uint32_t)s->query.seek.lane;
		s->own.at_ns = s->w.begin_ns + s->query.seek.at_ns;
		s->ready = true;
	} else {
		s->round++;
	}
	if (s->failed)
		return stack_out_of_memory(err);
	if (s->round == OTHER_END && !s->has_arrow)
		s->round = DONE;
	if (s->round == AROUND_OTHER && !s->has_forward)
		s->round = DONE;
	*t0_ns = s->round == AROUND      ? s->own.at_ns
		 : s->round == ARROWS    ? op_begin(s)
		 : s->round == OTHER_END ? s->w.begin_ns
					 : s->forward.at_ns;
	*t1_ns = s->round == AROUND_OTHER ? s->forward.at_ns : s->own.at_ns;
	timeline_recorded_span(&s->tables, t0_ns, t1_ns);
	return s->round != DONE;
}

static void around(struct timeline_stack *s, struct thread_moment *m,
		   const struct timeline_event *e)
{
	if (e->lane == m->lane && e->start_ns <= m->at_ns &&
	    e->start_ns + e->duration_ns >= m->at_ns && e->duration_ns &&
	    e->kind != TIMELINE_COUNTER && m->frames.len < MOST_FRAMES && !VEC_PUSH(&m->frames, *e))
		s->failed = true;
}

/* Autograd's: it ends where an op of the backward begins. */
static bool is_of_autograd(const struct timeline_stack *s, const struct timeline_event *e,
			   const char *end)
{
	struct timeline_name name;

	if (e->kind != TIMELINE_FLOW)
		return false;
	name = timeline_name_at(&s->tables, e->name);
	return name.name && strstr(name.name, "fwdbwd") && name.flow && strcmp(name.flow, end) == 0;
}

static void take(struct timeline_stack *s, const struct timeline_event *e)
{
	switch (s->round) {
	case AROUND:
		around(s, &s->own, e);
		break;
	case ARROWS:
		if (e->lane == s->own.lane && e->start_ns >= op_begin(s) &&
		    e->start_ns <= s->own.at_ns && is_of_autograd(s, e, "f")) {
			s->arrow = *e;
			s->has_arrow = true;
		}
		break;
	case OTHER_END:
		if (e->correlation == s->arrow.correlation && is_of_autograd(s, e, "s")) {
			s->forward.lane = e->lane;
			s->forward.at_ns = e->start_ns;
			s->has_forward = true;
		}
		break;
	default:
		around(s, &s->forward, e);
	}
}

bool timeline_stack_chunk(struct timeline_stack *s, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err) ||
	    !timeline_chunk_read(&s->chunk, &s->tables, &b, err))
		return false;
	for (int i = 0; i < s->chunk.n; i++) {
		struct timeline_event e = timeline_chunk_event(&s->chunk, i);

		if (e.lane < s->w.n_lanes && s->w.wanted[e.lane])
			take(s, &e);
	}
	return true;
}

static int by_depth(const void *a, const void *b)
{
	const struct timeline_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static json_t *frames_json(struct timeline_stack *s, struct thread_moment *m)
{
	json_t *list = json_array();

	if (m->frames.len)
		qsort(m->frames.at, m->frames.len, sizeof(*m->frames.at), by_depth);
	for (size_t i = 0; i < m->frames.len; i++) {
		const struct timeline_event *e = &m->frames.at[i];
		struct timeline_name name = timeline_name_at(&s->tables, e->name);
		enum timeline_kind kind = (enum timeline_kind)e->kind;

		if (kind == TIMELINE_FLOW)
			continue;
		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:I, s:I}", "name", name.name ? name.name : "",
				    "as", timeline_drawn_as(kind, name.name, NULL), "start_ns",
				    (json_int_t)(e->start_ns - s->w.begin_ns), "duration_ns",
				    (json_int_t)e->duration_ns));
	}
	return list;
}

json_t *timeline_stack_json(struct timeline_stack *s, struct err *err)
{
	json_t *out = json_pack("{s:o, s:o}", "frames", frames_json(s, &s->own), "forward",
				frames_json(s, &s->forward));

	if (!out)
		stack_out_of_memory(err);
	return out;
}
