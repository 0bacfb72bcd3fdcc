/* fusion/compile/record.c -- records the launches of an exec once and replays them. */
#include "fusion/compile/record.h"

#include <stdio.h>
#include <string.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/clock.h"
#include "fusion/compile/partition.h"

enum { ALTERNATE_BYTES = 128 << 10 };

/* ---- memory */

void record_memory_finish(struct record_memory *m)
{
	if (m->block)
		allocator_put(m->allocator, m->block, m->bytes);
	m->block = NULL;
	m->bytes = 0;
}

static bool reserve(struct record_memory *m, size_t bytes, struct err *err)
{
	struct fusion_memory *what = allocator_label(m->allocator);
	void *block;

	if (bytes <= m->bytes)
		return true;
	if (what)
		what->use = USE_RECORDING;
	block = allocator_get(m->allocator, bytes, err);
	if (!block)
		return false;
	record_memory_finish(m);
	m->block = block;
	m->bytes = bytes;
	m->moves++;
	return true;
}

struct live { /* a chain of temporaries that has its memory */
	int index;
	size_t offset, bytes;
};

/* The lowest place among the live ones, which are in order, that is free. */
static size_t first_fit(struct live *live, int *n, int index, size_t bytes)
{
	size_t offset = 0;
	int at = 0;

	while (at < *n && live[at].offset < offset + bytes) {
		offset = live[at].offset + live[at].bytes;
		at++;
	}
	memmove(&live[at + 1], &live[at], sizeof(*live) * (size_t)(*n - at));
	live[at] = (struct live){ index, offset, bytes };
	++*n;
	return offset;
}

static void drop(struct live *live, int *n, int index)
{
	int at = 0;

	while (at < *n && live[at].index != index)
		at++;
	if (at == *n)
		return;
	--*n;
	memmove(&live[at], &live[at + 1], sizeof(*live) * (size_t)(*n - at));
}

/* The buffers of a chain that end at `buffer`, into `to`; how many. */
static int chain_of(const struct exec *e, int buffer, int *to)
{
	int n = 0;

	for (; buffer >= 0 && e->lowered->buffers[buffer].kind != BUFFER_INPUT;
	     buffer = e->over[buffer])
		to[n++] = buffer;
	return n;
}

/* Temporaries where the steps of exec.c take and drop them, all in one block. */
static bool lay_out(struct record *r)
{
	struct exec *e = r->exec;
	struct arena scratch = { 0 };
	struct live *live = ARENA_ARRAY(&scratch, struct live, (size_t)e->n_temps + 1);
	int *chain = ARENA_ARRAY(&scratch, int, (size_t)e->lowered->n_buffers + 1);
	int n_live = 0;

	r->temps = ARENA_ARRAY(e->arena, struct record_temp, (size_t)e->lowered->n_buffers + 1);
	for (int i = 0; live && chain && r->temps && i < e->n_steps; i++) {
		const struct exec_step *step = &e->steps[i];
		size_t bytes, offset;
		int n;

		if (step->kind == STEP_DROP_TEMP)
			drop(live, &n_live, step->index);
		if (step->kind != STEP_TAKE_TEMP)
			continue;
		bytes = e->temps[step->index].bytes; /* with room for vectors */
		offset = first_fit(live, &n_live, step->index, bytes);
		if (offset + bytes > r->temp_bytes)
			r->temp_bytes = offset + bytes;
		n = chain_of(e, e->temps[step->index].buffer, chain);
		for (int k = 0; k < n; k++)
			r->temps[r->n_temps++] = (struct record_temp){ chain[k], offset };
	}
	arena_finish(&scratch);
	return live && chain && r->temps;
}

/* ---- making */

static bool is_large(const struct exec *e)
{
	for (int i = 0; i < e->lowered->n_buffers; i++) {
		const struct buffer *b = &e->lowered->buffers[i];

		if (sym_eval(b->numel, e->vars) * (int64_t)dtype_bytes(b->dtype) >= ALTERNATE_BYTES)
			return true;
	}
	return false;
}

static bool describe(struct record *r)
{
	struct exec *e = r->exec;

	r->inputs = ARENA_ARRAY(e->arena, struct record_input, (size_t)e->n_inputs + 1);
	r->outputs = ARENA_ARRAY(e->arena, struct record_output, (size_t)e->n_outputs + 1);
	r->counts = ARENA_ARRAY(e->arena, int, (size_t)e->lowered->n_kernels + 1);
	if (!r->inputs || !r->outputs || !r->counts)
		return false;
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0)
			r->inputs[r->n_inputs++] = (struct record_input){ .index = i,
									  .buffer = e->inputs[i] };
	for (int i = 0; i < e->n_outputs; i++) {
		struct record_output *out = &r->outputs[i];

		r->copies |= e->outputs[i].copy;
		if (e->outputs[i].copy)
			continue;
		out->chain = ARENA_ARRAY(e->arena, int, (size_t)e->lowered->n_buffers + 1);
		if (!out->chain)
			return false;
		out->n = chain_of(e, e->outputs[i].buffer, out->chain);
	}
	r->alternates = is_large(e);
	return lay_out(r);
}

static bool create(struct exec *e, struct record_memory *memory, struct err *err)
{
	struct record *r = ARENA_NEW(e->arena, struct record);
	void **buffers;

	if (!r)
		return err_set(err, ERR_MEMORY, "out of memory for a recording");
	r->exec = e;
	r->memory = memory;
	r->moves = -1;
	buffers = ARENA_ARRAY(e->arena, void *, (size_t)e->lowered->n_buffers + 1);
	if (!buffers || !describe(r))
		return err_set(err, ERR_MEMORY, "out of memory for a recording");
	for (int i = 0; i < e->lowered->n_buffers; i++)
		if (e->lowered->buffers[i].kind == BUFFER_CONST)
			buffers[i] = e->buffers[i];
	if (!reserve(memory, r->temp_bytes, err))
		return false;
	r->recording = e->backend->record(e->executable, buffers, err);
	if (!r->recording)
		return false;
	e->record = r;
	return true;
}

static bool refuse(struct exec_recorded *out, const char *why)
{
	if (out->refused++ == 0)
		snprintf(out->why, sizeof(out->why), "%s", why);
	return false;
}

static bool record_one(struct exec *e, struct record_memory *memory, struct exec_recorded *out)
{
	struct err err = { 0 };
	char why[128];

	if (!e->executable || e->record) /* no kernel: results are copies */
		return true;
	if (!e->backend->record) {
		snprintf(why, sizeof(why), "the backend %.64s cannot record launches",
			 e->backend->name);
		return refuse(out, why);
	}
	if (e->n_vars > 0)
		return refuse(out, "its sizes or numbers are symbols, and a recording has one "
				   "size: it was compiled for many");
	if (!create(e, memory, &err))
		return refuse(out, err.message);
	out->made++;
	return true;
}

static void record_all(struct exec *e, struct record_memory *memory, struct exec_recorded *out)
{
	if (!e->parts) {
		record_one(e, memory, out);
		return;
	}
	for (int i = 0; i < e->parts->n_pieces; i++)
		record_all(e->parts->pieces[i].exec, memory, out);
}

void exec_record(struct exec *e, struct record_memory *memory, struct exec_recorded *out)
{
	int64_t begin = clock_ns();

	*out = (struct exec_recorded){ .tried = true };
	record_all(e, memory, out);
	out->record_ns = clock_ns() - begin;
}

struct tensor *exec_recorded_output(const struct exec *e)
{
	return e->record->outputs[0].kept;
}

void exec_record_totals(const struct exec *e, struct record_totals *sum)
{
	for (int i = 0; e->parts && i < e->parts->n_pieces; i++)
		exec_record_totals(e->parts->pieces[i].exec, sum);
	if (!e->record)
		return;
	sum->recordings++;
	if (e->backend->why_direct && e->backend->why_direct(e->record->recording)) {
		if (sum->direct++ == 0)
			sum->why_direct = e->backend->why_direct(e->record->recording);
	}
	sum->replays += e->record->replays;
	sum->pointed += e->record->pointed;
	if (e->record->temp_bytes > sum->temp_bytes)
		sum->temp_bytes = e->record->temp_bytes;
	for (int i = 0; i < e->n_outputs; i++)
		if (e->record->outputs[i].kept)
			sum->kept_bytes += e->record->outputs[i].kept->storage->bytes;
}
