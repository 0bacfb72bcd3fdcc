/* fusion/capture/frames.c -- runs a frame: pieces, each by an entry that fits or a new one, and
 * what is between them.
 */
#include "fusion/capture/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/capture/attempt.h"
#include "fusion/capture/capture.h"
#include "fusion/capture/decide.h"
#include "fusion/vm/frame.h"

/* ---- Resume points. */

/* The one of frame f, where the frames out to `base` wait. */
static struct resume_point *resume_point_of(struct resume_points *p, const struct frame *base,
					    const struct frame *f)
{
	struct resume_point *caller = f == base ? NULL : resume_point_of(p, base, f->up);

	return f == base || caller ? resume_point_at(p, caller, f->code, f->inst) : NULL;
}

static void resume_points_finish(struct resume_points *p)
{
	for (size_t i = 0; i < p->list.len; i++) {
		struct resume_point *point = p->list.at[i];

		for (int j = 0; j < point->n_entries; j++)
			entry_destroy(point->entries[j]);
		free(point->entries);
		memory_finish(&point->memory);
		pointers_finish(&point->called);
		free(point);
	}
	VEC_FREE(&p->list);
	pointers_finish(&p->by_inst);
}

/* "model", "torch_dynamo_resume_in_model_at_4"; into `out`. */
static void resume_point_name(const struct resume_point *p, struct buf *out)
{
	if (p->inst == 0)
		buf_puts(out, p->code->name);
	else
		buf_printf(out, "torch_dynamo_resume_in_%s_at_%d", p->code->name,
			   p->code->insts[p->inst].line - p->code->lines_before);
}

/* A new entry, to the front; false when out of memory. */
static bool resume_point_add(struct resume_point *p, struct entry *e)
{
	if (p->n_entries == p->cap_entries) {
		int cap = p->cap_entries ? 2 * p->cap_entries : 4;
		struct entry **grown = realloc(p->entries, sizeof(struct entry *) * (size_t)cap);

		if (!grown)
			return false;
		p->entries = grown;
		p->cap_entries = cap;
	}
	memmove(&p->entries[1], &p->entries[0], sizeof(struct entry *) * (size_t)p->n_entries);
	p->entries[0] = e;
	e->compile_id = p->n_entries++;
	return true;
}

/* ---- Tensors that a break lies between. */

enum { DEPTH = 3 }; /* of lists within lists */

static bool has(const struct storages *s, const struct storage *storage)
{
	for (size_t i = 0; i < s->list.len; i++)
		if (s->list.at[i] == storage)
			return true;
	return false;
}

/* Short of memory some are not counted. */
static void gather(struct storages *s, struct value v, int depth)
{
	if (v.kind == VALUE_CELL && depth > 0) {
		gather(s, v.cell->content, depth - 1);
	} else if ((v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) && depth > 0) {
		for (int i = 0; i < v.list->len; i++)
			gather(s, v.list->at[i], depth - 1);
	} else if (v.kind == VALUE_TENSOR && v.tensor->memory &&
		   !has(s, v.tensor->memory->storage)) {
		VEC_PUSH(&s->list, v.tensor->memory->storage);
	}
}

static void gather_frame(struct storages *s, const struct frame *f)
{
	for (int i = 0; i < f->code->n_locals; i++)
		gather(s, f->locals[i], DEPTH);
	for (int i = 0; i < f->code->n_cells; i++)
		gather(s, f->cells[i], DEPTH);
	for (const struct value *v = f->stack; v < f->top; v++)
		gather(s, *v, DEPTH);
}

static bool wanted(const struct session *s)
{
	return __builtin_expect(s->report.observer && s->report.observer->crossed, 0);
}

/* A call begins. */
static void crossing_begin(struct session *s, const struct value *args, int n)
{
	struct crossing *c = &s->crossing;

	if (!wanted(s))
		return;
	c->given.list.len = c->held.list.len = 0;
	c->index = -1;
	c->used_bytes = allocator_used_bytes(s->options.env->allocator);
	for (int i = 0; i < n; i++)
		gather(&c->given, args[i], DEPTH);
}

/* The frames are where a break was met. */
static void crossing_leave(struct session *s, int index)
{
	struct crossing *c = &s->crossing;
	size_t used;

	if (!wanted(s) || index < 0)
		return;
	c->index = index;
	c->held.list.len = 0;
	for (const struct frame *f = s->vm->frame; f; f = f->up)
		gather_frame(&c->held, f);
	used = allocator_used_bytes(s->options.env->allocator);
	s->report.observer->crossed(s->report.observer->self, index,
				    used > c->used_bytes ? (int64_t)(used - c->used_bytes) : 0, 0);
}

static bool loads(const struct inst *list, int n, int buffer)
{
	for (int i = 0; i < n; i++) {
		if (list[i].kind != INST_LOAD)
			continue;
		for (int p = 0; list[i].join && p < list[i].join->n; p++)
			if (list[i].join->part[p].at.buffer == buffer)
				return true;
		for (int k = 0; list[i].lookup && k < list[i].lookup->n; k++)
			if (list[i].lookup->index[k].at.buffer == buffer)
				return true;
		if (!list[i].join && list[i].at.buffer == buffer)
			return true;
	}
	return false;
}

/* Whether a kernel reads the graph's input element by element. */
static bool reads(const struct exec *e, int input)
{
	int buffer;

	if (e->parts) /* its pieces know; some of them is likely to */
		return true;
	buffer = e->inputs[input];
	for (int i = 0; buffer >= 0 && i < e->lowered->n_kernels; i++) {
		const struct kernel *k = &e->lowered->kernels[i];

		if (loads(k->setup, k->n_setup, buffer) ||
		    loads(k->prologue, k->n_prologue, buffer))
			return true;
		for (int g = 0; g < k->n_stages; g++)
			if (loads(k->stages[g].body, k->stages[g].n_body, buffer) ||
			    loads(k->stages[g].post, k->stages[g].n_post, buffer))
				return true;
	}
	return false;
}

/* An entry will run on what its guards have found. */
static void crossing_enter(struct session *s, const struct entry *e)
{
	struct crossing *c = &s->crossing;
	int64_t moved = 0;

	if (!wanted(s) || c->index < 0 || !e->exec)
		return;
	for (int i = 0; i < e->n_inputs; i++) {
		struct value v = e->inputs[i].source >= 0 ? e->guards.values[e->inputs[i].source]
							  : e->lifted[i];
		const struct tensor *t = v.kind == VALUE_TENSOR ? v.tensor->memory : NULL;

		if (!t || i >= e->exec->n_inputs || has(&c->given, t->storage) ||
		    !has(&c->held, t->storage) || !reads(e->exec, i))
			continue;
		moved += 2 * tensor_numel(t) * (int64_t)dtype_bytes(t->dtype);
	}
	if (moved)
		s->report.observer->crossed(s->report.observer->self, c->index, 0, moved);
	c->index = -1;
}

static void crossing_finish(struct crossing *c)
{
	VEC_FREE(&c->given.list);
	VEC_FREE(&c->held.list);
}

/* ---- A new entry: why, and what the report has of it. */

static bool note_recompile(struct session *s, const struct resume_point *p, const char *reason)
{
	struct session_recompile r = { .call = s->report.calls - 1,
				       .frame = p->frame_index,
				       .reason = strdup(reason) };

	if (!r.reason || !VEC_PUSH(&s->recompiles, r)) {
		free(r.reason);
		return false;
	}
	if (s->report.observer && s->report.observer->recompiled)
		s->report.observer->recompiled(s->report.observer->self, p->code->name, reason);
	return true;
}

/* Why the entries of the point did not serve: the first guard of each that does
 * not hold, the latest used first. */
static bool note_miss(struct session *s, struct resume_point *p, const struct roots *roots,
		      struct buf *text)
{
	for (int i = 0; i < p->n_entries; i++) {
		struct guards *g = &p->entries[i]->guards;
		int failed = guards_check(g, roots);

		if (p->n_entries > 1)
			buf_printf(text, "%s%d/%d: ", i ? "; " : "", p->frame_id,
				   p->entries[i]->compile_id);
		guards_reason(g, failed, roots, text);
	}
	return text->data && note_recompile(s, p, text->data);
}

static bool count_entry(struct session *s, struct entry *e)
{
	int kernels = e->exec ? e->exec->lowered->n_kernels : 0;

	if (e->exec)
		s->report.counts.kernels_built += e->exec->stats.kernels_built;
	if (e->graph < 0)
		return true;
	e->graph = (int)s->graphs.len;
	if (!VEC_PUSH(&s->graphs, e))
		return false;
	s->report.counts.graphs++;
	if (!partition_report(e->exec, &s->report, e->graph, e->sources.code->name))
		return false;
	if (s->report.observer && s->report.observer->compiled)
		s->report.observer->compiled(s->report.observer->self, e->graph, e->compile_ns,
					     kernels, e->exec && e->exec->stats.cached);
	return true;
}

/* The point as a frame of the report. */
static bool note_frame(struct session *s, struct resume_point *p)
{
	struct session_frame frame = { .line = p->code->insts[p->inst].line, .broke = -1 };
	struct buf name;
	bool ok;

	if (p->frame_index >= 0)
		return true;
	p->frame_id = s->n_frames++;
	buf_init(&name, 256);
	resume_point_name(p, &name);
	frame.name = name.data ? name.data : p->code->name;
	frame.frame_id = p->frame_id;
	ok = report_add_frame(&s->report, &frame, &p->frame_index);
	buf_finish(&name);
	return ok;
}

static int compare_lines(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The point's frame runs in eager from here on: always, or where no entry serves. */
static bool note_eager(struct session *s, const struct resume_point *p)
{
	struct session_frame *f = &s->report.frames.at[p->frame_index];
	const struct code *code = p->code;
	size_t most = (size_t)(code->n_insts - p->inst);
	int *lines = ARENA_ARRAY(&s->report.arena, int, most + 1);
	int n = 0, kept = 0;

	if (!lines || f->lines || s->vm->frame->unit->hidden)
		return lines != NULL;
	for (int i = p->inst; i < code->n_insts; i++)
		if (code->insts[i].line > 0 && (n == 0 || lines[n - 1] != code->insts[i].line))
			lines[n++] = code->insts[i].line;
	qsort(lines, (size_t)n, sizeof(*lines), compare_lines);
	for (int i = 0; i < n; i++)
		if (kept == 0 || lines[kept - 1] != lines[i])
			lines[kept++] = lines[i];
	f->lines = lines;
	f->n_lines = kept;
	f->broke = p->broke;
	return true;
}

static bool note_entry(struct session *s, const struct resume_point *p, const struct entry *e,
		       const char *reason)
{
	struct session_entry row = { .frame = p->frame_index,
				     .compile_id = e->compile_id,
				     .graph = e->graph,
				     .call = s->report.calls - 1,
				     .compile_ns = e->compile_ns,
				     .reason = reason,
				     .uses = &e->uses,
				     .refuted = &e->refuted,
				     .guards = e->guards.texts,
				     .n_guards = e->guards.n };
	struct arena scratch = { 0 };
	struct fusion_symbol *symbols;
	bool ok = guards_symbols(&e->guards, &scratch, &symbols, &row.n_symbols);

	row.symbols = symbols;
	ok = ok && report_add_entry(&s->report, &row);
	arena_finish(&scratch);
	return ok;
}

/* *index: its place in the report; -1: it is no break. */
static bool note_break(struct session *s, struct entry_break *b, int graph, int *index)
{
	struct session_break row = { .stage = STAGE_CAPTURE,
				     .id = b->at.id,
				     .outcome = b->outcome,
				     .because = b->because,
				     .subject = b->at.subject[0] ? b->at.subject : NULL,
				     .message = b->at.message[0] ? b->at.message : NULL,
				     .call = s->report.calls - 1,
				     .graph = graph,
				     .n_stack = (int)b->at.stack.len,
				     .column = b->at.column,
				     .end_column = b->at.end_column,
				     .cause = b->cause };
	size_t n = b->at.stack.len;

	*index = -1;
	if (b->at.id == BREAK_NONE)
		return true;
	for (size_t i = 0; i < n / 2; i++) { /* outermost first */
		struct fusion_line line = b->at.stack.at[i];

		b->at.stack.at[i] = b->at.stack.at[n - 1 - i];
		b->at.stack.at[n - 1 - i] = line;
	}
	row.stack = b->at.stack.at;
	/* natively rounds of a loop come to the same place again and again */
	return (s->options.policy == FUSION_NATIVE && report_again(&s->report, &row, index)) ||
	       report_add_break(&s->report, &row, index);
}

/* Past the limits nothing is compiled any more. */
static bool refuse(struct session *s, struct resume_point *p)
{
	struct fusion_line line = { .line = p->code->line, .function = p->code->name };
	struct entry_break b = { .outcome = OUTCOME_SKIP };
	char reason[128];
	bool ok;

	if (p->run_only)
		return true;
	if (!note_frame(s, p))
		return false;
	p->run_only = true;
	s->report.frames.at[p->frame_index].run_only = true;
	snprintf(reason, sizeof(reason),
		 "the recompile limit (%d) is reached: calls matching no cache entry run in eager",
		 p->n_entries);
	b.at.id = BREAK_RECOMPILE_LIMIT;
	if (s->options.policy == FUSION_NATIVE && decide_round_end(p->code, p->inst) >= 0) {
		line.line = p->code->insts[p->inst].line; /* of the round, not of the function */
		b.at.column = p->code->insts[p->inst].column;
		b.at.end_column = p->code->insts[p->inst].end_column;
	}
	snprintf(b.at.subject, sizeof(b.at.subject), "%s", p->code->name);
	ok = VEC_PUSH(&b.at.stack, line) && note_break(s, &b, -1, &p->broke) && note_eager(s, p) &&
	     note_recompile(s, p, reason);
	VEC_FREE(&b.at.stack);
	return ok;
}

/* ---- Frames without tensors: torch's has_tensor_in_frame().  What is called from outside a graph
 * with nothing of torch in its arguments is never compiled, nor is it later on. */

enum { TENSOR_DEPTH = 16 }; /* of lists, tuples and dicts within each other */

static bool any_holds_tensor(const struct value *values, int n, int depth);

static bool holds_tensor(struct value v, int depth)
{
	switch (v.kind) {
	case VALUE_TENSOR:
		return true;
	case VALUE_CELL:
		return holds_tensor(v.cell->content, depth);
	case VALUE_TUPLE:
	case VALUE_LIST:
		return any_holds_tensor(v.list->at, v.list->len, depth - 1);
	case VALUE_DICT:
		return any_holds_tensor(v.dict->values, v.dict->len, depth - 1);
	case VALUE_CLASS:
		return v.class->is_module;
	case VALUE_INSTANCE: /* a named tuple has its fields there */
		return v.instance->class->is_module || value_is_array(v) ||
		       (v.instance->class->names && holds_tensor(v.instance->payload, depth));
	default:
		return false;
	}
}

static bool any_holds_tensor(const struct value *values, int n, int depth)
{
	for (int i = 0; depth > 0 && i < n; i++)
		if (holds_tensor(values[i], depth))
			return true;
	return false;
}

static bool names_torch(const struct vm *vm, const struct frame *f)
{
	for (int i = 0; i < f->code->n_names; i++) {
		int slot = f->unit->globals[i];
		struct value v = slot < 0 ? value_none() : vm->globals[slot].value;

		if (v.kind == VALUE_MODULE &&
		    (strcmp(v.module->name, "torch") == 0 ||
		     strncmp(v.module->name, "torch.", strlen("torch.")) == 0 ||
		     strncmp(v.module->name, "numpy", strlen("numpy")) == 0))
			return true;
	}
	return false;
}

/* After a break a frame is only of what it goes on with. */
static bool has_tensor_in_locals(const struct frame *f)
{
	int inst = (int)(f->inst - f->code->insts);
	struct arena scratch = { 0 };
	const bool *live = inst > 0 ? live_locals(f->code, inst, &scratch) : NULL;
	bool found = false;

	for (int i = 0; i < f->code->n_locals && !found; i++)
		found = (!live || live[i]) && holds_tensor(f->locals[i], TENSOR_DEPTH);
	arena_finish(&scratch);
	return found;
}

static bool has_tensor(const struct vm *vm, const struct frame *f)
{
	return names_torch(vm, f) || has_tensor_in_locals(f) ||
	       any_holds_tensor(f->cells, f->code->n_cells, TENSOR_DEPTH) ||
	       any_holds_tensor(f->stack, (int)(f->top - f->stack), TENSOR_DEPTH);
}

/* The function that is asked for, and what torch has as frames, is compiled all the same. */
static bool may_be_compiled(const struct session *s, const struct resume_point *p,
			    const struct frame *f)
{
	return s->options.policy != FUSION_DYNAMO || f->unit->hidden || (!f->up && p->inst == 0) ||
	       has_tensor(s->vm, f);
}

static bool is_of_symbols(const struct err *why)
{
	return why->code == ERR_SHAPE || why->code == ERR_UNSUPPORTED || why->code == ERR_TYPE;
}

/* What cannot be lowered with symbols may be without; what is too much with both
 * sides of every branch, or a loop round by round, may be done with breaks. */
static bool make_simpler(struct entry_options *options, const struct err *why)
{
	if (options->mode != FUSION_STATIC && is_of_symbols(why)) {
		options->mode = FUSION_STATIC;
		return true;
	}
	if (options->policy == FUSION_NATIVE && !options->constants && is_of_symbols(why)) {
		options->constants = true;
		return true;
	}
	if (options->policy == FUSION_NATIVE && (is_of_symbols(why) || why->code == ERR_BOUND)) {
		options->policy = FUSION_DYNAMO;
		return true;
	}
	return false;
}

static struct entry *create(struct session *s, struct resume_point *p, struct frame *base,
			    struct entry_break *brk, enum entry_fate *fate, struct err *err)
{
	struct entry_options options = { .names = &s->names,
					 .operators = &s->eager.operators,
					 .env = s->options.env,
					 .backend = s->options.backend,
					 .passes_disabled = s->options.passes_disabled,
					 .lowering = { s->options.deny, s->options.n_deny },
					 .autograd = &s->eager.autograd,
					 .mode = s->options.mode,
					 .policy = s->options.policy };
	struct entry_source from = {
		.vm = s->vm, .frame = s->vm->frame, .base = base, .memory = &p->memory
	};
	struct entry *e = calloc(1, sizeof(*e));
	struct vm_evaluator evaluator;
	int64_t steps;
	struct err why = { 0 };

	if (!e) {
		*fate = ENTRY_FAILED;
		entry_no_memory(err);
		return NULL;
	}
	if (options.mode == FUSION_GRAPHS) {
		options.mode = FUSION_STATIC;
		options.record = &s->record;
	}
	steps = s->vm->steps_left; /* a capture is no part of the run */
	vm_get_evaluator(s->vm, &evaluator);
	*fate = attempt_entry(&options, e, &from, brk, &why);
	while (*fate == ENTRY_FAILED && make_simpler(&options, &why)) {
		entry_destroy(e);
		free(brk->at.stack.at);
		memset(brk, 0, sizeof(*brk));
		memset(&why, 0, sizeof(why));
		e = calloc(1, sizeof(*e));
		if (!e) {
			entry_no_memory(&why);
			break;
		}
		*fate = attempt_entry(&options, e, &from, brk, &why);
	}
	if (*fate == ENTRY_FAILED && err)
		*err = why;
	vm_set_host(s->vm, &s->eager.host);
	vm_set_evaluator(s->vm, &evaluator);
	s->vm->steps_left = steps;
	if (*fate == ENTRY_MADE)
		return e;
	entry_destroy(e);
	return NULL;
}

static bool note_compiled(struct session *s, struct resume_point *p, struct entry *e,
			  struct entry_break *brk, const char *reason)
{
	if (!note_frame(s, p))
		return false;
	if (e && (!resume_point_add(p, e) || !count_entry(s, e) || !note_entry(s, p, e, reason)))
		return false;
	return note_break(s, brk, e && brk->ended ? e->graph : -1, e ? &e->broke : &p->broke);
}

static struct entry *compile_entry(struct session *s, struct resume_point *p, struct frame *base,
				   const struct roots *roots, enum entry_fate *fate,
				   struct err *err)
{
	struct entry_break brk = { 0 };
	struct entry *e = NULL;
	struct buf reason;
	bool ok = true;

	*fate = ENTRY_EAGER;
	if (s->frozen > 0)
		return NULL;
	if (p->n_entries >= s->options.recompile_limit || s->n_compiled >= ALL_RECOMPILES) {
		if (refuse(s, p))
			s->report.counts.eager_fallbacks++;
		else
			*fate = ENTRY_FAILED, entry_no_memory(err);
		return NULL;
	}
	if (!may_be_compiled(s, p, s->vm->frame)) {
		p->skip = true;
		*fate = ENTRY_SKIP;
		return NULL;
	}
	buf_init(&reason, 16384);
	ok = p->n_entries == 0 || note_miss(s, p, roots, &reason);
	if (ok) {
		e = create(s, p, base, &brk, fate, err);
		s->n_compiled += e != NULL;
		p->skip |= *fate == ENTRY_SKIP;
		ok = *fate == ENTRY_FAILED ||
		     note_compiled(s, p, e, &brk, reason.len ? reason.data : NULL);
	}
	/* one that has computed nothing has nothing to tell */
	if (p->skip && p->frame_index >= 0 && brk.at.id != BREAK_NONE) {
		s->report.frames.at[p->frame_index].skipped = true;
		ok = note_eager(s, p) && ok;
	}
	if (!ok) {
		*fate = ENTRY_FAILED;
		entry_no_memory(err);
		e = NULL; /* the point has it, if anyone */
	}
	buf_finish(&reason);
	free(brk.at.stack.at);
	return e;
}

/* The values that a call of f brings, for the guards of its place. */
struct call_roots {
	struct roots roots;
	struct value few[16], *values; /* parameters that cells have taken over */
};

static bool call_roots_init(struct call_roots *r, const struct frame *f, const struct vm *vm)
{
	const struct code *code = f->code;
	int n = code->n_locals;

	r->roots = (struct roots){
		.locals = f->locals, .cells = f->cells, .stack = f->stack, .frame = f, .vm = vm
	};
	r->values = r->few;
	if (f->inst != code->insts || code->n_own_cells == 0)
		return true;
	/* at the start a parameter is a local, wherever it is kept */
	if (n > (int)(sizeof(r->few) / sizeof(r->few[0])))
		r->values = malloc(sizeof(struct value) * (size_t)n);
	if (!r->values)
		return false;
	memcpy(r->values, f->locals, sizeof(struct value) * (size_t)n);
	for (int i = 0; i < code->n_own_cells; i++)
		if (code->cell_local[i] >= 0)
			r->values[code->cell_local[i]] = f->cells[i].cell->content;
	r->roots.locals = r->values;
	return true;
}

static void call_roots_finish(struct call_roots *r)
{
	if (r->values != r->few)
		free(r->values);
}

static struct entry *find_entry(struct session *s, struct resume_point *p,
				const struct roots *roots)
{
	bool watched = __builtin_expect(s->report.observer && s->report.observer->phase, 0);
	int64_t begin = watched ? clock_ns() : 0;
	struct entry *e = resume_point_find(p, roots, &s->report.counts.guard_checks);

	if (watched)
		s->report.observer->phase(s->report.observer->self, PHASE_GUARDS, begin,
					  clock_ns());
	return e;
}

/* A piece that is about to run. */
struct frame_piece {
	struct session *session;
	struct frames_found *first;
	struct resume_point *point; /* where it begins */
	struct frame *base;         /* the outermost frame: those from it on wait in their calls */
	struct entry *entry;        /* what serves it; NULL: eager does */
	bool ran;                   /* false: eager goes on */
};

/* The inputs of a new entry that hold what other graphs have given. */
static void note_origins(struct entry *e)
{
	int n = e->graph < 0 ? 0 : e->captured->n_nodes;

	e->origins = ARENA_ARRAY(&e->arena, struct fusion_origin, (size_t)e->n_inputs + 1);
	for (int k = 0; e->origins && k < n; k++) {
		const struct node *node = e->captured->nodes[k];
		int i = node->op == OP_input ? node->input : e->n_inputs;
		struct value v = { .kind = VALUE_UNSET };
		const struct storage *s;

		if (i < e->n_inputs)
			v = e->inputs[i].source >= 0 ? e->guards.values[e->inputs[i].source]
						     : e->lifted[i];
		s = v.kind == VALUE_TENSOR && v.tensor->memory ? v.tensor->memory->storage : NULL;
		if (s && s->graph > 0)
			e->origins[e->n_origins++] = (struct fusion_origin){ k, s->graph - 1,
									     s->output };
	}
}

/* An entry that fits, or a new one; NULL: eager goes on (*fate), or an error. */
static struct entry *entry_for(const struct frame_piece *piece, const struct roots *roots,
			       enum entry_fate *fate, struct err *err)
{
	struct session *s = piece->session;
	struct entry *e = piece->first->entry;
	bool none = piece->first->none && piece->point == s->start;

	*piece->first = (struct frames_found){ 0 };
	if (autograd_hooks_saved(&s->eager.autograd))
		return NULL;
	if (!e && !none)
		e = find_entry(s, piece->point, roots);
	if (e)
		return e;
	e = compile_entry(s, piece->point, piece->base, roots, fate, err);
	if (e && !guards_hold(&e->guards, roots)) { /* gathers values */
		*fate = ENTRY_FAILED;
		err_set(err, ERR_INTERNAL, "the guards of a new entry do not hold: %s",
			e->guards.texts[guards_check(&e->guards, roots)]);
		return NULL;
	}
	if (e)
		note_origins(e);
	return e;
}

/* Finds its entry and runs it. */
static bool run_piece(struct frame_piece *piece, struct value *out, struct err *err)
{
	struct session *s = piece->session;
	enum entry_fate fate = ENTRY_SKIP;
	struct call_roots roots;
	struct entry *e;
	bool ok = true;

	if (!piece->point || !call_roots_init(&roots, s->vm->frame, s->vm))
		return err_set(err, ERR_MEMORY, "out of memory for a call");
	e = piece->entry = piece->point->skip ? NULL : entry_for(piece, &roots.roots, &fate, err);
	if (e) {
		bool watched = __builtin_expect(s->report.observer && s->report.observer->piece, 0);
		int64_t begin;

		crossing_enter(s, e);
		begin = watched ? clock_ns() : 0;
		ok = entry_run(e, &roots.roots, s->vm, out, s->report.observer, err);
		piece->ran = true;
		if (watched)
			s->report.observer->piece(s->report.observer->self, e->graph, begin,
						  clock_ns());
		if (e->exec)
			s->report.counts.launches += e->exec->launched;
		if (!ok && entry_refuted(err)) {
			*err = (struct err){ 0 };
			piece->ran = false;
			ok = true;
		}
	} else {
		ok = fate != ENTRY_FAILED;
	}
	call_roots_finish(&roots);
	return ok;
}

/* What is left of the frame, without pieces of its own. */
static bool run_rest(struct session *s, struct frame *f, struct value *out, struct err *err)
{
	bool stopped;

	return vm_run_until(s->vm, f, -1, &stopped, out, err);
}

/* Where the comprehension ends that begins at `inst`; -1: none begins there.  A break inside one
 * ends the piece before it. */
static int comprehension_end(const struct code *code, int inst)
{
	for (int i = code->n_comprehensions - 1; i >= 0; i--)
		if (inst == code->comprehensions[i].start)
			return code->comprehensions[i].end;
	return -1;
}

/* What ended a piece, in eager: an instruction, or a whole comprehension. */
static bool run_between(struct session *s, struct frame *f, bool *returned, struct value *out,
			struct err *err)
{
	int end = comprehension_end(f->code, (int)(f->inst - f->code->insts));
	enum vm_step how;
	bool stopped, ok;

	if (end >= 0) {
		ok = vm_run_until(s->vm, f, end, &stopped, out, err);
		*returned = ok && !stopped;
		return ok;
	}
	ok = vm_step(s->vm, f, &how, out, err);
	*returned = ok && how == VM_RETURNED;
	return ok;
}

/* Past the limit of entries the frames below are not compiled either. */
static bool run_frozen(struct session *s, struct frame *f, struct value *out, struct err *err)
{
	bool ok;

	s->frozen++;
	ok = run_rest(s, f, out, err);
	s->frozen--;
	return ok;
}

/* The innermost frame in eager: to its end, or past what ended the piece `e`
 * (NULL: there is none). */
static bool run_unwatched(struct session *s, const struct resume_point *p, const struct entry *e,
			  bool *returned, struct value *out, struct err *err)
{
	struct frame *f = s->vm->frame;

	if (e && !e->rest_eager)
		return run_between(s, f, returned, out, err);
	*returned = true;
	return !e && p && p->run_only ? run_frozen(s, f, out, err) : run_rest(s, f, out, err);
}

static bool run_eager(struct session *s, const struct resume_point *p, const struct entry *e,
		      bool *returned, struct value *out, struct err *err)
{
	int index = e ? e->broke : p ? p->broke : -1;
	bool watched = __builtin_expect(s->report.observer && s->report.observer->broke, 0) &&
		       index >= 0,
	     ok;
	int64_t begin;

	crossing_leave(s, index);
	begin = watched ? clock_ns() : 0;
	ok = run_unwatched(s, p, e, returned, out, err);
	if (watched)
		s->report.observer->broke(s->report.observer->self, index, begin, clock_ns());
	return ok;
}

/* What a frame returned goes to the one that waits for it, and is no result of the call. */
static void return_to(struct frame *f, struct value *v)
{
	*f->top++ = *v;
	v->kind = VALUE_UNSET;
	f->inst++;
}

/* A call of a program's function: `base`, and natively the frames called from there that
 * pieces leave unfinished. */
static bool run_frame(struct session *s, struct frames_found *first, struct frame *base,
		      struct value *out, struct err *err)
{
	struct vm *vm = s->vm;

	for (;;) {
		struct frame_piece piece = { .session = s, .first = first, .base = base };
		struct frame *f = vm->frame, *up;
		bool ran, returned = false;
		struct entry *e;

		/* the prelude's functions are captured as entries, else only inlined */
		if (f == base || !f->unit->hidden) {
			piece.point = resume_point_of(&s->resume_points, base, f);
			if (!run_piece(&piece, out, err))
				return false;
		}
		e = piece.entry;
		ran = piece.ran;
		if (!ran || !entry_returns(e)) /* what follows runs in the function's grad mode */
			frame_mark(vm, base);
		if (ran && e->sets_modes)
			entry_set_modes(e, s->vm, &s->eager.autocast);
		if (ran && entry_returns(e)) {
			vm_unwind(vm, base);
			return true;
		}
		if (ran && e->at_return)
			continue;
		f = vm->frame;
		up = f->up;
		if (!run_eager(s, piece.point, ran ? e : NULL, &returned, out, err)) {
			if (f == base || !vm_catch(vm, base, err))
				return false;
		} else if (returned && f == base) {
			return true;
		} else if (returned) {
			return_to(up, out);
		}
	}
}

static bool run_disabled(struct session *s, struct frame *f, struct value *out, struct err *err)
{
	bool ok;

	if (f->function->disabled != DISABLED)
		return run_rest(s, f, out, err);
	s->eager_depth++;
	frame_mark(s->vm, f);
	ok = run_rest(s, f, out, err);
	s->eager_depth--;
	return ok;
}

/* The prelude's functions are captured as entries, else only inlined; but not what is a frame
 * in torch. */
static bool is_frame(const struct frame *f)
{
	return !f->unit->hidden || !f->up || code_is_frame(f->code);
}

/* The virtual machine's evaluator while a call is under way. */
struct frames_call {
	struct session *session;
	struct frames_found first;
};

static bool evaluate(void *self, struct vm *vm, struct frame *f, bool *done, struct value *out,
		     struct err *err)
{
	struct frames_call *call = self;
	struct session *s = call->session;

	(void)vm;
	*done = false;
	if (s->eager_depth > 0 || !f->function ||
	    (!is_frame(f) && f->function->disabled != DISABLED))
		return true;
	*done = true;
	if (f->function->disabled)
		return run_disabled(s, f, out, err);
	return run_frame(s, &call->first, f, out, err);
}

bool frames_call(struct session *s, const struct arguments *args, struct frames_found first,
		 struct value *out, struct err *err)
{
	struct frames_call call = { .session = s, .first = first };
	struct vm_evaluator evaluator = { .self = &call, .evaluate = evaluate };
	bool ok;

	crossing_begin(s, args->at, args->n);
	vm_set_evaluator(s->vm, &evaluator);
	ok = vm_call(s->vm, s->callee, args, out, err);
	vm_set_evaluator(s->vm, NULL);
	s->report.counts.launches += s->eager.launches;
	s->eager.launches = 0;
	return ok;
}

void capture_finish(struct session *s)
{
	resume_points_finish(&s->resume_points);
	crossing_finish(&s->crossing);
	record_memory_finish(&s->record);
	for (size_t i = 0; i < s->recompiles.len; i++)
		free(s->recompiles.at[i].reason);
	VEC_FREE(&s->recompiles);
	VEC_FREE(&s->graphs);
}
