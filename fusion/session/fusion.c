/* fusion/session/fusion.c -- programs and sessions: the public functions of fusion.h.
 *
 * A session's strings and graphs are borrowed out.
 */
#include "fusion/fusion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/lazy/lazy.h"
#include "fusion/session/fusion_private.h"
#include "fusion/session/registry.h"
#include "fusion/tensor/shadow.h"
#include "fusion/vm/prelude.h"

static const char *const mode_names[FUSION_MODE_COUNT] = {
	[FUSION_EAGER] = "eager", [FUSION_STATIC] = "static", [FUSION_DYNAMIC] = "dynamic",
	[FUSION_AUTO] = "auto",   [FUSION_LAZY] = "lazy",     [FUSION_GRAPHS] = "graphs",
};

static const char *const policy_names[FUSION_POLICY_COUNT] = {
	[FUSION_DYNAMO] = "dynamo",
	[FUSION_NATIVE] = "native",
};

const char *fusion_mode_name(enum fusion_mode mode)
{
	return mode_names[mode];
}

bool fusion_mode_from_name(const char *name, enum fusion_mode *out)
{
	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		if (strcmp(mode_names[i], name) == 0) {
			*out = (enum fusion_mode)i;
			return true;
		}
	return false;
}

const char *fusion_policy_name(enum fusion_policy policy)
{
	return policy_names[policy];
}

bool fusion_policy_from_name(const char *name, enum fusion_policy *out)
{
	for (int i = 0; i < FUSION_POLICY_COUNT; i++)
		if (strcmp(policy_names[i], name) == 0) {
			*out = (enum fusion_policy)i;
			return true;
		}
	return false;
}

static struct fusion_recording recording_of(const struct exec *x, const struct recorded *r)
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
	r.why_guards = replay_why_not(e);
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

bool fusion_watch_passes(const struct fusion_session *s, int index, struct watched *out,
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

bool fusion_op_has_gradient(enum op op)
{
	const struct op_info *info = op_info(op);
	char name[128];

	snprintf(name, sizeof(name), "%s_all", info->id);
	if (prelude_defines("_grads", name))
		return true;
	for (int i = 0; i < info->n_params; i++) {
		snprintf(name, sizeof(name), "%s_%s", info->id, info->params[i].name);
		if (prelude_defines("_grads", name))
			return true;
	}
	return false;
}

struct fusion_program {
	struct lang_program *lang;
	char *entry;
};

/* Names that the module's code assigns, functions first of all. */
static bool assigns(const struct code *module, const char *name)
{
	for (int i = 0; i < module->n_insts; i++)
		if (module->insts[i].op == CODE_STORE_GLOBAL &&
		    strcmp(module->names[module->insts[i].arg], name) == 0)
			return true;
	return false;
}

/* The entry must exist; what it is shows when the module runs. */
static bool check_entry(const struct code *module, const char *entry, struct err *err)
{
	struct buf names;

	if (assigns(module, entry))
		return true;
	buf_init(&names, 300);
	for (int i = 0; i < module->n_nested; i++)
		if (assigns(module, module->nested[i]->name))
			buf_printf(&names, "%s%s", names.len ? ", " : "", module->nested[i]->name);
	if (names.len)
		err_set(err, ERR_NAME, "the source defines no function %.100s; it defines %s",
			entry, names.data);
	else
		err_set(err, ERR_NAME,
			"the source defines no function %.100s; write def %.100s(x): ...", entry,
			entry);
	buf_finish(&names);
	return false;
}

struct fusion_program *fusion_parse(const char *source, size_t len, const char *entry,
				    struct err *err)
{
	return fusion_parse_in(NULL, source, len, entry, err);
}

struct fusion_program *fusion_parse_in(const struct registry *registry, const char *source,
				       size_t len, const char *entry, struct err *err)
{
	struct fusion_program *p = calloc(1, sizeof(*p));
	struct torch_names names;
	struct vm_host host;
	bool ok;

	if (!p || !(p->entry = strdup(entry))) {
		err_set(err, ERR_MEMORY, "out of memory for a program");
		fusion_program_destroy(p);
		return NULL;
	}
	p->lang = lang_compile(source, len, NULL, err);
	if (!p->lang) {
		fusion_program_destroy(p);
		return NULL;
	}
	torch_names_init(&names);
	names.custom = registry_ops(registry);
	torch_check_host(&host, &names);
	ok = vm_check_names(p->lang, &host, err) && check_entry(p->lang->module, entry, err);
	torch_names_finish(&names);
	if (ok)
		return p;
	fusion_program_destroy(p);
	return NULL;
}

void fusion_program_destroy(struct fusion_program *p)
{
	if (!p)
		return;
	lang_destroy(p->lang);
	free(p->entry);
	free(p);
}

const struct code *fusion_entry_code(const struct fusion_program *p)
{
	const struct code *module = p->lang->module, *found = NULL;

	for (int i = 0; i < module->n_nested; i++)
		if (strcmp(module->nested[i]->name, p->entry) == 0)
			found = module->nested[i];
	return found;
}

struct fusion_session *fusion_session(struct fusion *f, const struct fusion_program *p,
				      enum fusion_mode mode, struct err *err)
{
	struct fusion_session *s = calloc(1, sizeof(*s));
	struct session_options options = {
		.env = &f->env,
		.backend = f->backend,
		.passes_disabled = f->options.passes_disabled,
		.recompile_limit = f->options.recompile_limit,
		.steps = f->options.steps,
		.mode = mode,
		.policy = f->options.policy,
		.deny = f->options.deny,
		.n_deny = f->options.n_deny,
		.grad = f->options.grad,
		.autocast = autocast_ambient(f->options.autocast, f->env.device != NULL),
		.shadows = mode == FUSION_EAGER ? f->options.references : 0,
		.compiled = mode != FUSION_EAGER && mode != FUSION_LAZY
	};

	if (!s)
		err_set(err, ERR_MEMORY, "out of memory for a session");
	else if (session_init(&s->session, &options, p->lang, p->entry, err))
		return s;
	free(s);
	return NULL;
}

void fusion_session_destroy(struct fusion_session *s)
{
	if (!s)
		return;
	session_finish(&s->session);
	free(s);
}

struct value fusion_value(struct tensor *t)
{
	return tensor_wrap(tensor_ref(t));
}

/* What is handed out or asked for here may change what programs hold. */
static void note_change(struct fusion_session *s)
{
	++*s->session.options.env->changes;
}

bool fusion_set_parameter(struct fusion_session *s, const char *name, const struct tensor *t,
			  struct err *err)
{
	note_change(s);
	return session_set_parameter(&s->session, name, t, err);
}

enum fusion_found fusion_probe(struct fusion_session *s, const struct value *args, int n,
			       struct buf *why)
{
	switch (capture_probe(&s->session, args, n, why)) {
	case CAPTURE_FOUND:
		return FUSION_FOUND;
	case CAPTURE_MISSED:
		return FUSION_MISSED;
	default:
		return FUSION_UNKNOWN;
	}
}

const char *fusion_parameter_name(const struct fusion_session *s, int index)
{
	return session_parameter_name(&s->session, index);
}

/* What a device that has failed gave may be why a program fails: the device comes first.  So
 * does an index that a kernel has found out of bounds. */
static bool device_well(const struct fusion_session *s, bool ok, struct err *err)
{
	const struct device_memory *device = allocator_device(s->session.options.env->allocator);

	if (!device)
		return true;
	device->late(device->self, false);
	if (!ok)
		device->wait(device->self);
	return device->check(device->self, err);
}

/* Memory that was overwritten may be why a program fails, too. */
static bool memory_well(const struct fusion_session *s, struct err *err)
{
	struct fence *fence = allocator_fence(s->session.options.env->allocator);

	return !fence || fence_check(fence, err);
}

static bool all_well(const struct fusion_session *s, bool ok, struct value *out, struct err *err)
{
	if (device_well(s, ok, err) && memory_well(s, err))
		return ok;
	if (ok && out) {
		value_unref(*out);
		*out = (struct value){ .kind = VALUE_UNSET };
	}
	return false;
}

static void let_device_be_late(const struct fusion_session *s)
{
	const struct device_memory *device = allocator_device(s->session.options.env->allocator);

	if (device && s->session.blind)
		device->late(device->self, true);
}

bool fusion_call(struct fusion_session *s, const struct value *args, int n, struct value *out,
		 struct err *err)
{
	let_device_be_late(s);
	return all_well(s, session_call(&s->session, args, n, out, err), out, err);
}

bool fusion_require_grad(struct fusion_session *s, struct value v, struct err *err)
{
	note_change(s);
	return autograd_leaves(&s->session.eager.autograd, v, err);
}

bool fusion_backward(struct fusion_session *s, struct value out, struct err *err)
{
	note_change(s);
	let_device_be_late(s);
	return all_well(s, autograd_from(&s->session.eager.autograd, out, err), NULL, err);
}

_Static_assert((int)FUSION_MOST_REFERENCES == (int)MAX_SHADOWS, "one number");

struct tensor *fusion_reference(struct tensor *t, int which, struct err *err)
{
	return shadow_view(t, which, err);
}

struct value fusion_grad(struct value t)
{
	const struct tensor_grad *r = t.tensor->grad;

	return r ? r->grad : (struct value){ .kind = VALUE_UNSET };
}

void fusion_drop_grad(struct value t)
{
	struct tensor_grad *r = t.kind == VALUE_TENSOR ? t.tensor->grad : NULL;
	struct value old;

	if (!r)
		return;
	old = r->grad;
	r->grad = (struct value){ .kind = VALUE_UNSET };
	value_unref(old);
}

void fusion_parameters(struct fusion_session *s, fusion_parameter_fn *each, void *self)
{
	note_change(s);
	session_parameters(&s->session, each, self);
}

void fusion_kept(const struct fusion_session *s, fusion_parameter_fn *each, void *self)
{
	session_tensors(&s->session, each, self);
}

void fusion_observe(struct fusion_session *s, const struct fusion_observer *observer)
{
	session_observe(&s->session, observer);
}

struct buf *fusion_stdout(struct fusion_session *s)
{
	return &s->session.out;
}

struct fusion_counts fusion_counts(const struct fusion_session *s)
{
	const struct session_counts *c = &s->session.report.counts;

	return (struct fusion_counts){ .graphs = c->graphs,
				       .kernels_built = c->kernels_built,
				       .launches = c->launches,
				       .guard_checks = c->guard_checks,
				       .eager_fallbacks = c->eager_fallbacks,
				       .lowered = c->lowered,
				       .executions = c->executions,
				       .cache_hits = c->cache_hits };
}

/* A compiled trace of mode lazy: it has no guards, its key is compared. */
static struct fusion_graph_info lazy_graph(const struct fusion_session *s, int index)
{
	const struct lazy_program *p = s->session.lazy->programs.at[index];

	return (struct fusion_graph_info){
		.frame = s->session.report.frame,
		.compile_id = index,
		.captured = p->captured,
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
	};
}

void fusion_lazy_log(const struct fusion_session *s, struct buf *out)
{
	if (s->session.lazy)
		lazy_print(s->session.lazy, out);
}

int fusion_barrier_count(const struct fusion_session *s)
{
	return s->session.lazy ? (int)s->session.lazy->events.len : 0;
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

int64_t fusion_barriers_left_out(const struct fusion_session *s)
{
	return s->session.lazy ? s->session.lazy->events_left_out : 0;
}

void fusion_barrier_message(const struct fusion_session *s, int index, struct buf *out)
{
	struct lazy_reason why = s->session.lazy->events.at[index].reason;

	if (why.id != BREAK_STEP_END)
		break_message(out, why.id, why.subject);
}

int fusion_graph_count(const struct fusion_session *s)
{
	if (s->session.lazy)
		return (int)s->session.lazy->programs.len;
	return (int)s->session.graphs.len;
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
		.uses = e->uses,
		.n_pieces = exec_lowered_count(x),
		.recording = recording_of_graph(s, index),
		.backward = recording_of_backward(s, index),
	};
}

bool fusion_kernel_use(const struct fusion_session *s, int graph, int kernel,
		       struct kernel_use *out)
{
	const struct entry *e = s->session.lazy ? NULL : s->session.graphs.at[graph];
	const struct exec *x = e ? e->exec : NULL;

	return x && !x->parts && x->executable && x->bound && x->backend->use && kernel >= 0 &&
	       kernel < x->lowered->n_kernels && x->backend->use(x->executable, kernel, out);
}

int fusion_recompile_count(const struct fusion_session *s)
{
	return (int)s->session.recompiles.len;
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

int fusion_break_count(const struct fusion_session *s)
{
	return (int)s->session.report.breaks.len;
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

int fusion_frame_count(const struct fusion_session *s)
{
	return (int)s->session.report.frames.len;
}

struct fusion_frame_info fusion_frame(const struct fusion_session *s, int index)
{
	const struct session_frame *f = &s->session.report.frames.at[index];

	return (struct fusion_frame_info){ .name = f->name,
					   .frame_id = f->frame_id,
					   .line = f->line,
					   .skipped = f->skipped,
					   .run_only = f->run_only };
}

int fusion_entry_count(const struct fusion_session *s)
{
	return (int)s->session.report.entries.len;
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
