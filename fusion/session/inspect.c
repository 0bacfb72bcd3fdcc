/* fusion/session/inspect.c -- what a session has compiled, as plain structs.
 *
 * Strings and graphs are borrowed out.
 */
#include "fusion/inspect.h"

#include <stdlib.h>

#include "fusion/compile/watch.h"
#include "fusion/graph/operations.h"
#include "fusion/lazy/lazy.h"
#include "fusion/lower/lower.h"
#include "fusion/session/fusion_private.h"

struct fusion_counts fusion_counts(const struct fusion_session *s)
{
	const struct session_report *r = &s->session.report;
	const struct session_counts *c = &r->counts;
	const struct lazy *lazy = s->session.lazy;

	return (struct fusion_counts){ .graphs = c->graphs,
				       .kernels_built = c->kernels_built,
				       /* and those of a backward after the call */
				       .launches = c->launches + s->session.eager.launches,
				       .guard_checks = c->guard_checks,
				       .eager_fallbacks = c->eager_fallbacks,
				       .lowered = c->lowered,
				       .executions = c->executions,
				       .cache_hits = c->cache_hits,
				       .n_graphs = (int)(lazy ? lazy->programs.len
							      : s->session.graphs.len),
				       .n_barriers = lazy ? (int)lazy->events.len : 0,
				       .n_recompiles = (int)s->session.recompiles.len,
				       .n_breaks = (int)r->breaks.len,
				       .n_frames = (int)r->frames.len,
				       .n_entries = (int)r->entries.len,
				       .barriers_left_out = lazy ? lazy->events_left_out : 0,
				       .eager_compile_ns = s->session.eager.compile_ns };
}

static struct fusion_recording recording_of(const struct exec *x, const struct exec_recorded *r)
{
	struct record_totals sum = { 0 };

	if (!x || !r->tried)
		return (struct fusion_recording){ 0 };
	exec_record_totals(x, &sum);
	return (struct fusion_recording){ .tried = true,
					  .made = r->made,
					  .refused = r->refused,
					  .why_not = r->refused ? r->why : NULL,
					  .direct = sum.direct,
					  .why_direct = sum.why_direct,
					  .record_ns = r->record_ns,
					  .replays = sum.replays,
					  .pointed = sum.pointed,
					  .held_bytes = sum.temp_bytes + sum.kept_bytes };
}

/* for fusion_graph(). */
static struct fusion_recording recording_of_graph(const struct fusion_session *s, int index)
{
	const struct session_report *report = &s->session.report;
	const struct entry *e = s->session.graphs.at[index];
	struct fusion_recording r = recording_of(e->exec, &e->recorded);

	r.left_out = e->replay.left_out;
	r.why_guards = entry_why_guarded(e);
	for (size_t i = 0; i < report->entries.len; i++)
		if (report->entries.at[i].graph == index)
			r.because = report->entries.at[i].reason;
	return r;
}

static struct fusion_recording recording_of_backward(const struct fusion_session *s, int index)
{
	const struct entry_grad *grad = s->session.graphs.at[index]->grad;

	return grad ? recording_of(grad->exec, &grad->recorded) : (struct fusion_recording){ 0 };
}

/* A compiled trace of mode lazy: it has no guards, its key is compared. */
static struct fusion_graph_info lazy_graph(const struct fusion_session *s, int index)
{
	const struct lazy_program *p = s->session.lazy->programs.at[index];

	return (struct fusion_graph_info){
		.frame = s->session.report.frame,
		.compile_id = index,
		.captured = p->captured,
		.n_nodes = p->captured->n_nodes,
		.outputs = p->captured->outputs,
		.n_outputs = p->captured->n_outputs,
		.has_symbols = sym_var_count(p->captured->syms) > 0,
		.optimised = p->exec->graph,
		.n_placeholders = p->captured->n_inputs,
		.n_kernels = p->exec->lowered->n_kernels,
		.kernels = p->exec->lowered->kernels,
		.source = p->exec->stats.source,
		.compile_ns = p->trace_ns + p->compile_ns,
		.capture_ns = p->trace_ns,
		.passes_ns = p->exec->passes_ns,
		.backend_ns = p->exec->backend_ns,
		.cached = p->exec->stats.cached,
		.uses = p->uses,
		.n_pieces = exec_lowered_count(p->exec),
		.lowered = p->exec->parts ? NULL : p->exec->lowered,
	};
}

void fusion_lazy_log(const struct fusion_session *s, struct buf *out)
{
	if (s->session.lazy)
		lazy_print(s->session.lazy, out);
}

struct fusion_barrier fusion_barrier(const struct fusion_session *s, int index)
{
	const struct lazy_event *e = &s->session.lazy->events.at[index];

	return (struct fusion_barrier){ .cause = lazy_cause(e->reason),
					.call = e->call,
					.function = e->function,
					.line = e->line,
					.hash = e->hex,
					.compiled = e->compiled,
					.graph = e->graph,
					.n_inputs = e->n_inputs,
					.n_outputs = e->n_outputs };
}

void fusion_barrier_message(const struct fusion_session *s, int index, struct buf *out)
{
	struct lazy_reason why = s->session.lazy->events.at[index].reason;

	if (why.id != BREAK_STEP_END)
		break_message(out, why.id, why.subject);
}

/* The frame that a graph was captured in; graphs and entries come in one order. */
static const struct session_frame *frame_of_graph(const struct fusion_session *s, int index)
{
	const struct session_report *r = &s->session.report;

	for (size_t i = 0; i < r->entries.len; i++)
		if (r->entries.at[i].graph == index)
			return &r->frames.at[r->entries.at[i].frame];
	return NULL;
}

struct fusion_graph_info fusion_graph(const struct fusion_session *s, int index)
{
	const struct entry *e;
	const struct session_frame *frame;
	const struct exec *x;

	if (s->session.lazy)
		return lazy_graph(s, index);
	e = s->session.graphs.at[index];
	frame = frame_of_graph(s, index);
	x = e->exec;
	return (struct fusion_graph_info){
		.frame = frame ? frame->name : s->session.report.frame,
		.frame_id = frame ? frame->frame_id : 0,
		.compile_id = e->compile_id,
		.captured = e->captured,
		.n_nodes = e->captured->n_nodes,
		.outputs = e->captured->outputs,
		.n_outputs = e->captured->n_outputs,
		.has_symbols = sym_var_count(e->captured->syms) > 0,
		.optimised = x ? x->graph : e->captured,
		.n_placeholders = e->n_placeholders,
		.n_kernels = x ? x->lowered->n_kernels : 0,
		.kernels = x ? x->lowered->kernels : NULL,
		.source = x ? x->stats.source : NULL,
		.compile_ns = e->compile_ns,
		.capture_ns = e->capture_ns,
		.passes_ns = x ? x->passes_ns : 0,
		.backend_ns = x ? x->backend_ns : 0,
		.cached = x && x->stats.cached,
		.cache_note = x ? x->stats.note : NULL,
		.guards = e->guards.texts,
		.n_guards = e->guards.n,
		.origins = e->origins,
		.n_origins = e->n_origins,
		.uses = e->uses,
		.n_pieces = exec_lowered_count(x),
		.lowered = x && !x->parts ? x->lowered : NULL,
		.recording = recording_of_graph(s, index),
		.backward = recording_of_backward(s, index),
	};
}

void fusion_tile_program(const struct fusion_graph_info *info, struct buf *out)
{
	if (info->lowered)
		lower_print(out, info->lowered);
}

bool fusion_kernel_use(const struct fusion_session *s, int graph, int kernel,
		       struct kernel_use *out)
{
	const struct entry *e = s->session.lazy ? NULL : s->session.graphs.at[graph];
	const struct exec *x = e ? e->exec : NULL;

	return x && !x->parts && x->executable && x->bound && x->backend->use && kernel >= 0 &&
	       kernel < x->lowered->n_kernels && x->backend->use(x->executable, kernel, out);
}

struct fusion_recompile fusion_recompile(const struct fusion_session *s, int index)
{
	const struct session_recompile *r = &s->session.recompiles.at[index];

	return (struct fusion_recompile){ .call = r->call,
					  .frame = r->frame < 0
						       ? s->session.report.frame
						       : s->session.report.frames.at[r->frame].name,
					  .reason = r->reason };
}

struct fusion_break fusion_break(const struct fusion_session *s, int index)
{
	const struct session_break *b = &s->session.report.breaks.at[index];
	const struct break_row *row = break_row(b->id), *because = break_row(b->because);

	return (struct fusion_break){
		.stage = break_stage_name(b->stage),
		.kind = break_kind_name(row->kind),
		.outcome = break_outcome_name(b->outcome),
		.gb = row->gb,
		.subject = b->subject,
		.hint = b->hint ? b->hint : row->hint,
		.because = b->because ? because->message : NULL,
		.because_hint = because->hint,
		.because_gb = because->gb,
		.call = b->call,
		.graph = b->graph,
		.stack = b->stack,
		.n_stack = b->n_stack,
		.column = b->column,
		.end_column = b->end_column,
		.cause = b->cause.at,
		.cause_column = b->cause.column,
		.cause_end_column = b->cause.end_column,
		.count = b->count,
		.cost_ns = b->cost_ns,
	};
}

void fusion_break_message(const struct fusion_session *s, int index, struct buf *out)
{
	const struct session_break *b = &s->session.report.breaks.at[index];

	if (b->message)
		buf_puts(out, b->message);
	else
		break_message(out, b->id, b->subject);
}

struct fusion_frame_info fusion_frame(const struct fusion_session *s, int index)
{
	const struct session_frame *f = &s->session.report.frames.at[index];

	return (struct fusion_frame_info){ .name = f->name,
					   .frame_id = f->frame_id,
					   .line = f->line,
					   .skipped = f->skipped,
					   .run_only = f->run_only,
					   .broke = f->broke,
					   .lines = f->lines,
					   .n_lines = f->n_lines };
}

struct fusion_entry_info fusion_entry(const struct fusion_session *s, int index)
{
	const struct session_entry *e = &s->session.report.entries.at[index];

	return (struct fusion_entry_info){ .frame = e->frame,
					   .compile_id = e->compile_id,
					   .graph = e->graph,
					   .call = e->call,
					   .compile_ns = e->compile_ns,
					   .uses = e->uses ? *e->uses : 0,
					   .refuted = e->refuted ? *e->refuted : 0,
					   .reason = e->reason,
					   .guards = e->guards,
					   .n_guards = e->n_guards,
					   .symbols = e->symbols,
					   .n_symbols = e->n_symbols };
}

/* ---- the nodes of a graph */

struct fusion_node fusion_node(const struct graph *g, int id)
{
	const struct node *n = g->nodes[id];

	return (struct fusion_node){
		.kind = n->op == OP_input      ? FUSION_PLACEHOLDER
			: n->op == OP_constant ? FUSION_CONSTANT
					       : FUSION_OP,
		.name = n->name,
		.op = op_info(n->op)->id,
		.fx = n->fx,
		.dtype = n->dtype,
		.shape = { .kind = FUSION_ARG_INTS, .n = n->shape.rank, .items = n->shape.size },
		.n_args = n->n_args,
		.line = n->line,
		.column = n->column,
		.module = n->module,
	};
}

static struct fusion_arg number(const struct sym *sym)
{
	if (sym_is_const(sym))
		return (struct fusion_arg){ .kind = FUSION_ARG_INT, .i = sym->value };
	return (struct fusion_arg){ .kind = FUSION_ARG_SYMBOL, .symbol = sym };
}

struct fusion_arg fusion_arg(const struct graph *g, int id, int index)
{
	const struct arg *a = &g->nodes[id]->args[index];

	switch (a->kind) {
	case ARG_NONE:
		break;
	case ARG_NODE:
		return (struct fusion_arg){ .kind = FUSION_ARG_NODE, .node = a->node };
	case ARG_INT:
	case ARG_REAL:
		return number(a->sym);
	case ARG_FLOAT:
		return (struct fusion_arg){ .kind = FUSION_ARG_FLOAT, .f = a->f };
	case ARG_BOOL:
		return (struct fusion_arg){ .kind = FUSION_ARG_BOOL, .i = a->b };
	case ARG_DTYPE:
		return (struct fusion_arg){ .kind = FUSION_ARG_DTYPE, .dtype = a->dtype };
	case ARG_INTS:
		return (struct fusion_arg){ .kind = FUSION_ARG_INTS, .n = a->n, .items = a->ints };
	case ARG_STR:
		return (struct fusion_arg){ .kind = FUSION_ARG_STR, .str = a->str };
	}
	return (struct fusion_arg){ .kind = FUSION_ARG_NONE };
}

struct fusion_arg fusion_arg_item(const struct fusion_arg *list, int index)
{
	return number(list->items[index]);
}

void fusion_print_symbol(struct buf *out, const struct fusion_arg *a)
{
	sym_print(out, a->symbol);
}

/* ---- its kernels */

/* The graph that the kernel's nodes are of; NULL: where something falls back each piece has
 * a graph of its own. */
static const struct graph *graph_of_kernels(const struct fusion_graph_info *info)
{
	return info->n_pieces == 1 ? info->optimised : NULL;
}

struct fusion_kernel fusion_kernel(const struct fusion_graph_info *info, int kernel)
{
	const struct graph *g = graph_of_kernels(info);
	const struct kernel *k = &info->kernels[kernel];

	return (struct fusion_kernel){
		.name = k->name,
		.form = lower_form_name(k->form),
		.why = k->why,
		.lines = k->lines,
		.n_lines = k->n_lines,
		.n_ops = k->n_nodes,
		.read_bytes = k->read_bytes,
		.written_bytes = k->written_bytes,
		.saved_bytes = k->saved_bytes,
		.copies = k->copies,
		.is_library = k->form == FORM_LIBRARY,
		.calls_library = k->library != NULL,
		.operations = g ? graph_operations(g, k->nodes, k->n_nodes) : -1,
	};
}

const char *fusion_kernel_op(const struct fusion_graph_info *info, int kernel, int index)
{
	const struct graph *g = graph_of_kernels(info);
	int id = info->kernels[kernel].nodes[index];
	const struct node *n;

	if (!g || id < 0 || id >= g->n_nodes)
		return NULL;
	n = g->nodes[id];
	return n->fx && n->fx[0] ? n->fx : op_info(n->op)->id;
}

/* ---- what each pass did */

static bool watch_graph(const struct fusion_session *s, int index, struct watched *out,
			struct err *err)
{
	const struct entry *e;

	if (s->session.lazy) {
		const struct lazy_program *p = s->session.lazy->programs.at[index];

		return watch_exec(out, p->exec, p->captured, "", err);
	}
	e = s->session.graphs.at[index];
	if (!e->exec)
		return true;
	if (!e->grad)
		return watch_exec(out, e->exec, e->captured, "", err);
	return watch_exec(out, e->exec, e->grad->forward, "forward", err) &&
	       (!e->grad->exec ||
		watch_exec(out, e->grad->exec, e->grad->backward, "backward", err));
}

/* What the caller sees, in the arena of what was watched. */
struct watched_passes {
	struct fusion_watched shown;
	struct watched own;
};

static const struct fusion_firing *firings_of(const struct pass_step *s, struct arena *arena)
{
	struct fusion_firing *all = ARENA_ARRAY(arena, struct fusion_firing, s->firings.len + 1);

	for (size_t i = 0; all && i < s->firings.len; i++) {
		const struct pass_firing *f = &s->firings.at[i];

		all[i] = (struct fusion_firing){ f->rule, f->node, f->with, f->line, f->column };
	}
	return all;
}

static const struct fusion_watched_step *steps_of(const struct pass_log *log, struct arena *arena)
{
	struct fusion_watched_step *all = ARENA_ARRAY(arena, struct fusion_watched_step,
						      (size_t)log->n + 1);

	for (int i = 0; all && i < log->n; i++) {
		const struct pass_step *s = &log->steps[i];

		all[i] = (struct fusion_watched_step){ .name = s->name,
						       .plugin = s->plugin,
						       .off = s->off,
						       .changed = s->changed,
						       .n_nodes = s->n_nodes,
						       .ns = s->ns,
						       .after = s->after,
						       .firings = firings_of(s, arena),
						       .n_firings = (int)s->firings.len,
						       .firings_left_out = s->firings_left_out };
		if (!all[i].firings)
			return NULL;
	}
	return all;
}

static bool show(struct watched_passes *w, struct err *err)
{
	struct arena *arena = &w->own.arena;
	struct fusion_watched_part *all = ARENA_ARRAY(arena, struct fusion_watched_part,
						      w->own.parts.len + 1);

	for (size_t i = 0; all && i < w->own.parts.len; i++) {
		const struct watched_part *p = &w->own.parts.at[i];

		all[i] = (struct fusion_watched_part){ .name = p->name,
						       .loop = p->loop,
						       .takes = p->takes,
						       .gives = p->gives,
						       .n_takes = p->n_takes,
						       .n_gives = p->n_gives,
						       .first_kernel = p->first_kernel,
						       .n_kernels = p->n_kernels,
						       .before = p->log.before,
						       .n_nodes = p->log.n_nodes,
						       .steps = steps_of(&p->log, arena),
						       .n_steps = p->log.n,
						       .left_out_bytes = p->log.left_out_bytes };
		if (!all[i].steps)
			all = NULL;
	}
	w->shown = (struct fusion_watched){ all, (int)w->own.parts.len };
	return all || err_set(err, ERR_MEMORY, "out of memory while watching the passes");
}

struct fusion_watched *fusion_watch_passes(const struct fusion_session *s, int graph, size_t *bytes,
					   struct err *err)
{
	struct watched_passes *w = calloc(1, sizeof(*w));
	bool ok;

	if (!w) {
		err_set(err, ERR_MEMORY, "out of memory while watching the passes");
		return NULL;
	}
	w->own.max_bytes = *bytes;
	ok = watch_graph(s, graph, &w->own, err) && show(w, err);
	*bytes = w->own.bytes;
	if (ok)
		return &w->shown;
	fusion_watched_destroy(&w->shown);
	return NULL;
}

void fusion_watched_destroy(struct fusion_watched *w)
{
	struct watched_passes *all = (struct watched_passes *)w; /* its first member */

	if (!all)
		return;
	watched_finish(&all->own);
	free(all);
}
