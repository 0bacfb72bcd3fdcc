/* fusion/capture/session_compile.c -- a new entry: why, and what is told of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/decide.h"
#include "fusion/capture/frames.h"

bool session_note(struct session *s, const struct point *p, const char *reason)
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
static bool note_miss(struct session *s, struct point *p, const struct roots *roots,
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
	return text->data && session_note(s, p, text->data);
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
	if (!partition_report(e->exec, &s->report, e->graph, e->slots.code->name))
		return false;
	if (s->report.observer && s->report.observer->compiled)
		s->report.observer->compiled(s->report.observer->self, e->graph, e->compile_ns,
					     kernels, e->exec && e->exec->stats.cached);
	return true;
}

/* The point as a frame of the report. */
static bool tell_point(struct session *s, struct point *p)
{
	struct session_frame frame = { .line = p->code->insts[p->inst].line };
	struct buf name;
	bool ok;

	if (p->frame_index >= 0)
		return true;
	p->frame_id = s->n_frames++;
	buf_init(&name, 256);
	point_name(p, &name);
	frame.name = name.data ? name.data : p->code->name;
	frame.frame_id = p->frame_id;
	ok = report_add_frame(&s->report, &frame, &p->frame_index);
	buf_finish(&name);
	return ok;
}

static bool tell_entry(struct session *s, const struct point *p, const struct entry *e,
		       const char *reason)
{
	struct session_entry told = { .frame = p->frame_index,
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
	bool ok = guards_symbols(&e->guards, &scratch, &symbols, &told.n_symbols);

	told.symbols = symbols;
	ok = ok && report_add_entry(&s->report, &told);
	arena_finish(&scratch);
	return ok;
}

/* *index: its place in the report; -1: it is no break. */
static bool tell_break(struct session *s, struct entry_break *b, int graph, int *index)
{
	struct session_break told = { .stage = STAGE_CAPTURE,
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
	told.stack = b->at.stack.at;
	/* natively rounds of a loop come to the same place again and again */
	return (s->options.policy == FUSION_NATIVE && report_again(&s->report, &told, index)) ||
	       report_add_break(&s->report, &told, index);
}

/* Past the limits nothing is compiled any more. */
static bool refuse(struct session *s, struct point *p)
{
	struct fusion_line line = { .line = p->code->line, .function = p->code->name };
	struct entry_break b = { .outcome = OUTCOME_SKIP };
	char reason[128];
	bool ok;

	if (p->run_only)
		return true;
	if (!tell_point(s, p))
		return false;
	p->run_only = true;
	s->report.frames.at[p->frame_index].run_only = true;
	snprintf(reason, sizeof(reason),
		 "the limit of %d compiled versions is reached: calls that fit none run in eager",
		 p->n_entries);
	b.at.id = BREAK_RECOMPILE_LIMIT;
	if (s->options.policy == FUSION_NATIVE && decide_round_end(p->code, p->inst) >= 0) {
		line.line = p->code->insts[p->inst].line; /* of the round, not of the function */
		b.at.column = p->code->insts[p->inst].column;
		b.at.end_column = p->code->insts[p->inst].end_column;
	}
	snprintf(b.at.subject, sizeof(b.at.subject), "%s", p->code->name);
	ok = VEC_PUSH(&b.at.stack, line) && tell_break(s, &b, -1, &p->broke) &&
	     session_note(s, p, reason);
	VEC_FREE(&b.at.stack);
	return ok;
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

static struct entry *create(struct session *s, struct point *p, struct frame *base,
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
	*fate = entry_create(&options, e, &from, brk, &why);
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
		*fate = entry_create(&options, e, &from, brk, &why);
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

static bool tell(struct session *s, struct point *p, struct entry *e, struct entry_break *brk,
		 const char *reason)
{
	if (!tell_point(s, p))
		return false;
	if (e && (!point_add(p, e) || !count_entry(s, e) || !tell_entry(s, p, e, reason)))
		return false;
	return tell_break(s, brk, e && brk->ended ? e->graph : -1, e ? &e->broke : &p->broke);
}

struct entry *session_compile(struct session *s, struct point *p, struct frame *base,
			      const struct roots *roots, enum entry_fate *fate, struct err *err)
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
	buf_init(&reason, 16384);
	ok = p->n_entries == 0 || note_miss(s, p, roots, &reason);
	if (ok) {
		e = create(s, p, base, &brk, fate, err);
		s->n_compiled += e != NULL;
		p->skip |= *fate == ENTRY_SKIP;
		ok = *fate == ENTRY_FAILED || tell(s, p, e, &brk, reason.len ? reason.data : NULL);
	}
	if (p->skip && p->frame_index >= 0)
		s->report.frames.at[p->frame_index].skipped = true;
	if (!ok) {
		*fate = ENTRY_FAILED;
		entry_no_memory(err);
		e = NULL; /* the point has it, if anyone */
	}
	buf_finish(&reason);
	free(brk.at.stack.at);
	return e;
}
