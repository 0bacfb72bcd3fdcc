/* fusion/session/session.c -- a mode's own state: begins it, calls its entry, ends it. */
#include "fusion/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/generators.h"
#include "fusion/eager/autograd.h"
#include "fusion/fusion.h"
#include "fusion/lazy/lazy.h"
#include "fusion/session/fusion_private.h"
#include "fusion/session/plugin_private.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/classes.h"

/* ---- arguments and entries that are written as Python expressions.
 *
 * An expression is compiled by itself and run in the scope of the program's module, after it: its
 * names are those of the file, and what it makes are objects of the file's classes.  Lines of it
 * count on from the program's, so that an error says which of the two it is in.
 */

static int lines_of(const struct lang_program *program)
{
	const struct lang_files *files = program ? program->files : NULL;
	const struct lang_file *last = files ? &files->at[files->n - 1] : NULL;

	return last ? last->lines_before + last->n_lines : program ? program->n_lines : 0;
}

/* An error of the expression is one of its text; else it is where the program was. */
static bool place(const struct lang_program *program, const struct fusion_expression *e,
		  struct err *err)
{
	int before = lines_of(program);
	const struct lang_file *f;

	if (!err || err->line == 0)
		return false;
	if (err->line > before) {
		err->line -= before;
		snprintf(err->file, sizeof(err->file), "%s", e->label);
	} else if (program && (f = lang_file_at(program->files, err->line))) {
		snprintf(err->file, sizeof(err->file), "%s", f->path);
		err->line -= f->lines_before;
	}
	return false;
}

static struct lang_program *compile(const struct lang_program *program,
				    const struct fusion_expression *e, struct err *err)
{
	const struct lang_limits limits = { .source_bytes = FUSION_EXPRESSION_BYTES,
					    .lines_before = lines_of(program),
					    .expression = true };
	size_t len = strlen(e->text);
	struct lang_program *made;

	if (len > FUSION_EXPRESSION_BYTES) {
		err_set(err, ERR_BOUND, "an expression has %zu bytes; the limit is %d", len,
			FUSION_EXPRESSION_BYTES);
		return NULL;
	}
	made = lang_compile(e->text, len, &limits, err);
	if (!made)
		place(program, e, err);
	return made;
}

static bool check(const struct fusion_program *p, const struct registry *registry,
		  const struct lang_program *made, const struct fusion_expression *e,
		  struct vm_problems *found, struct err *err)
{
	struct torch_names names;
	struct vm_host host;
	bool ok;

	torch_names_init(&names);
	names.custom = registry_ops(registry);
	torch_check_host(&host, &names);
	ok = vm_check_expression(p->lang, made, e->with_n ? "n" : NULL, &host, found, err);
	torch_names_finish(&names);
	return ok;
}

int fusion_expression_problems(const struct fusion_program *p, const struct registry *registry,
			       const struct fusion_expression *e, fusion_problem_fn *each,
			       void *self)
{
	const struct lang_program *program = p ? p->lang : NULL;
	struct vm_problems *found = calloc(1, sizeof(*found));
	struct err err = { 0 };
	struct lang_program *made = found ? compile(program, e, &err) : NULL;
	int n = 0;

	if (!found)
		err_set(&err, ERR_MEMORY, "out of memory for an expression");
	if (!made || (p && !check(p, registry, made, e, found, &err))) {
		each(self, &err, true);
		n = 1;
	} else {
		for (int i = 0; i < found->n; i++) {
			place(program, e, &found->at[i].err);
			each(self, &found->at[i].err, true);
		}
		n = found->n;
	}
	lang_destroy(made);
	free(found);
	return n;
}

bool fusion_expression_uses_n(const char *text)
{
	const struct lang_limits limits = { .source_bytes = FUSION_EXPRESSION_BYTES,
					    .expression = true };
	struct lang_program *made = lang_compile(text, strlen(text), &limits, NULL);
	bool found = false;

	for (int i = 0; made && i < made->module->n_insts; i++)
		found |= made->module->insts[i].op == CODE_LOAD_GLOBAL &&
			 strcmp(made->module->names[made->module->insts[i].arg], "n") == 0;
	lang_destroy(made);
	return found;
}

/* The numbers of a seed, made as before the first call, and none that the program draws. */
struct aside {
	struct generators *random, before;
	enum gpu_use gpu;
	int shadows;
	struct vm_host *host;
};

static struct aside step_aside(struct session *s, uint64_t seed)
{
	struct aside a = { .random = s->options.env->backend_env.random,
			   .gpu = s->vm->modes.gpu,
			   .shadows = s->eager.shadows,
			   .host = s->vm->host };

	if (a.random) {
		a.before = *a.random;
		generators_seed(a.random, seed);
	}
	if (s->vm->modes.gpu == GPU_DEFAULT)
		s->vm->modes.gpu = GPU_NAMED;
	s->eager.shadows = 0;
	vm_set_host(s->vm, &s->eager.host);
	return a;
}

static void step_back(struct session *s, const struct aside *a)
{
	vm_set_host(s->vm, a->host);
	s->eager.shadows = a->shadows;
	s->eager.launches = 0;
	s->vm->modes.gpu = a->gpu;
	if (a->random)
		*a->random = a->before;
}

/* Compiled, and kept as long as the session: what it makes may need its code.  NULL with *err. */
static const struct lang_program *keep(struct session *s, const struct fusion_expression *e,
				       struct err *err)
{
	struct lang_program *made = compile(s->vm->program, e, err);

	if (!made || VEC_PUSH(&s->expressions, made))
		return made;
	lang_destroy(made);
	err_set(err, ERR_MEMORY, "out of memory for an expression");
	return NULL;
}

/* What an entry that is an expression, "Net(64)", makes in the scope of the module; the caller's.
 */
static bool session_evaluate_entry(struct session *s, const char *text, struct value *out,
				   struct err *err)
{
	const struct fusion_expression e = { .text = text, .label = "entry" };
	const struct lang_program *made = keep(s, &e, err);

	return made && (vm_evaluate(s->vm, &(struct vm_expression){ made, NULL, 0 }, out, err) ||
			place(s->vm->program, &e, err));
}

bool fusion_evaluate(struct fusion_session *session, const struct fusion_expression *e,
		     struct value *out, struct err *err)
{
	struct session *s = &session->session;
	const struct lang_program *program = s->vm->program;
	const struct lang_program *made = keep(s, e, err);
	struct aside aside;
	bool ok;

	if (!made)
		return false;
	aside = step_aside(s, e->seed);
	ok = vm_evaluate(s->vm, &(struct vm_expression){ made, e->with_n ? "n" : NULL, e->n }, out,
			 err);
	step_back(s, &aside);
	++*s->options.env->changes;
	return ok || place(program, e, err);
}

bool fusion_requires_grad(struct value v)
{
	return v.kind == VALUE_TENSOR && autograd_requires(v);
}

/* ---- a session ---- */

static bool find_entry(struct session *s, const char *entry, struct err *err)
{
	if (strchr(entry, '(')) /* Net(3): what that makes */
		return session_evaluate_entry(s, entry, &s->callee, err);
	if (!vm_global(s->vm, entry, &s->callee))
		return err_set(err, ERR_NAME, "the source defines no %s", entry);
	value_ref(s->callee);
	return true;
}

/* The function of the entry: that of a module is its forward. */
static bool find_callee(struct session *s, const char *entry, struct err *err)
{
	if (!find_entry(s, entry, err))
		return false;
	if (s->callee.kind == VALUE_CLASS) { /* a class of modules: one of them */
		struct value made;

		if (!class_call(s->vm, s->callee.class, &(struct arguments){ NULL, 0, NULL }, &made,
				err))
			return false;
		value_unref(s->callee);
		s->callee = made;
	}
	if (s->callee.kind == VALUE_FUNCTION) {
		s->function = value_ref(s->callee);
		return true;
	}
	if (vm_callable(s->vm, s->callee, &s->function, &s->self))
		return true;
	if (!absent_module_refused(s->vm, s->callee, err))
		return false;
	return err_set(err, ERR_TYPE,
		       "%s is of type %s; the entry of a workload is a function or an nn.Module",
		       entry, value_type_name(s->callee));
}

/* From here on the program's ops wait: the module's own ran at once. */
static bool start_lazy(struct session *s, struct err *err)
{
	if (s->options.mode != FUSION_LAZY)
		return true;
	s->lazy = lazy_create(&(struct lazy_options){ .eager = &s->eager,
						      .vm = s->vm,
						      .report = &s->report,
						      .callee = s->callee,
						      .backend = s->options.backend,
						      .passes_disabled = s->options.passes_disabled,
						      .deny = s->options.deny,
						      .n_deny = s->options.n_deny },
			      err);
	if (s->lazy)
		vm_set_host(s->vm, &s->lazy->host);
	return s->lazy != NULL;
}

/* Whether it cannot tell an error that comes at the end of a call from one that comes in time. */
static bool is_blind(const struct code *code)
{
	for (int i = 0; i < code->n_handlers; i++)
		if (code->handlers[i].kind != HANDLER_CLEANUP)
			return false;
	for (int i = 0; i < code->n_names; i++)
		if (strcmp(code->names[i], "print") == 0)
			return false;
	for (int i = 0; i < code->n_nested; i++)
		if (!is_blind(code->nested[i]))
			return false;
	return true;
}

static bool all_blind(const struct lang_program *program)
{
	const struct lang_files *files = program->files;

	for (int i = 1; files && i < files->n; i++)
		if (files->at[i].program && !is_blind(files->at[i].program->module))
			return false;
	return is_blind(program->module);
}

/* Whether any file of the program asks for it. */
static bool asks(const struct lang_program *program, enum autograd_word what)
{
	const struct lang_files *files = program->files;

	for (int i = 1; files && i < files->n; i++)
		if (files->at[i].program && autograd_asked(files->at[i].program->module, what))
			return true;
	return autograd_asked(program->module, what);
}

bool session_init(struct session *s, const struct session_options *options,
		  const struct lang_program *program, const char *entry, struct err *err)
{
	struct vm_limits limits = { .steps = options->steps, .preludes = options->env->preludes };

	s->options = *options;
	s->record.allocator = options->env->allocator;
	s->report.frame = entry;
	s->blind = all_blind(program);
	s->callee = s->function = value_none();
	s->self = (struct value){ .kind = VALUE_UNSET };
	buf_init(&s->out, MAX_STDOUT);
	torch_names_init(&s->names);
	s->names.custom = options->env->custom;
	if (options->env->backend_env.random) /* every mode draws the same numbers */
		generators_seed(options->env->backend_env.random, TWISTER_SEED);
	eager_init(&s->eager, options->env, options->passes_disabled, &s->names, &s->out);
	s->eager.shadows = options->shadows;
	s->vm = vm_create(program, &s->eager.host, &limits);
	if (!s->vm) {
		session_finish(s);
		return err_set(err, ERR_MEMORY, "out of memory for a session");
	}
	eager_set_modes(&s->eager, &s->vm->modes);
	s->vm->modes.gpu = options->env->device ? GPU_NAMED : GPU_ABSENT;
	s->vm->modes.autocast = autocast_none(options->autocast);
	s->eager.autograd.vm = s->vm;
	s->eager.autograd.recording = options->grad || asks(program, AUTOGRAD_GRADIENT);
	s->eager.autograd.twice = asks(program, AUTOGRAD_TWICE);
	s->eager.autograd.splits = asks(program, AUTOGRAD_SPLITS);
	s->eager.autograd.notes = s->eager.autograd.splits || asks(program, AUTOGRAD_SHOWS);
	if (vm_run_module(s->vm, err) && find_callee(s, entry, err) && start_lazy(s, err)) {
		s->eager.launches = 0; /* what the module ran is no call's */
		if (s->vm->modes.gpu == GPU_NAMED)
			s->vm->modes.gpu = GPU_DEFAULT;
		return true;
	}
	session_finish(s);
	return false;
}

void session_finish(struct session *s)
{
	if (s->report.observer)
		session_observe(s, NULL);
	autocast_finish(&s->eager.autocast);
	autograd_finish(&s->eager.autograd);
	capture_finish(s);
	value_unref(s->callee);
	value_unref(s->function);
	value_unref(s->self);
	vm_destroy(s->vm);
	for (size_t i = 0; i < s->expressions.len; i++)
		lang_destroy(s->expressions.at[i]);
	VEC_FREE(&s->expressions);
	lazy_destroy(s->lazy);
	eager_finish(&s->eager);
	torch_names_finish(&s->names);
	session_report_finish(&s->report);
	buf_finish(&s->out);
	memset(s, 0, sizeof(*s));
}

void session_observe(struct session *s, const struct fusion_observer *observer)
{
	s->report.observer = observer;
	s->eager.observer = observer;
	allocator_observe(s->options.env->allocator, observer);
}

static bool call_eager(struct session *s, const struct arguments *args, struct value *out,
		       struct err *err)
{
	bool ok = vm_call(s->vm, s->callee, args, out, err);

	s->report.counts.launches += s->eager.launches;
	s->eager.launches = 0;
	return ok;
}

static bool call(struct session *s, const struct arguments *args, struct value *out,
		 struct err *err)
{
	bool ok;

	s->report.calls++;
	s->unchanged = false;
	s->vm->modes.autocast = s->options.autocast;
	if (s->lazy)
		ok = lazy_call(s->lazy, args, out, err);
	else if (!s->options.compiled)
		ok = call_eager(s, args, out, err);
	else if (args->kw)
		ok = capture_call_named(s, args, out, err);
	else
		ok = capture_call(s, args->at, args->n, out, err);
	if (!ok) /* a part of what failed may have left its result there */
		*out = (struct value){ .kind = VALUE_UNSET };
	s->vm->modes.autocast = autocast_none(s->options.autocast);
	autocast_settle(&s->eager.autocast, 0);
	if (!s->unchanged && s->options.env->changes)
		++*s->options.env->changes;
	return ok;
}

bool session_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err)
{
	return call(s, &(struct arguments){ args, n, NULL }, out, err);
}

/* ---- arguments by name ---- */

/* The place of the parameter among the arguments of a call; -1: the function has it elsewhere. */
static int parameter_index(const struct session *s, const char *name)
{
	const struct code *code = s->function.function->code;
	int first = s->self.kind != VALUE_UNSET;

	for (int i = first + code->n_positional_only; i < code->n_positional; i++)
		if (strcmp(code->locals[i], name) == 0)
			return i - first;
	return -1;
}

/* The named ones at the places of their parameters, where those are all that have a value. */
static bool in_order(const struct session *s, const struct fusion_arguments *args,
		     struct value *ordered)
{
	int n_at = args->n - args->n_named;

	if (s->function.kind != VALUE_FUNCTION)
		return false;
	for (int i = 0; i < args->n; i++)
		ordered[i] = i < n_at ? args->at[i] : (struct value){ .kind = VALUE_UNSET };
	for (int i = 0; i < args->n_named; i++) {
		int at = parameter_index(s, args->names[i]);

		if (at < n_at || at >= args->n || ordered[at].kind != VALUE_UNSET)
			return false;
		ordered[at] = args->at[n_at + i];
	}
	return true;
}

static bool call_by_name(struct session *s, const struct fusion_arguments *args, struct value *out,
			 struct err *err)
{
	struct value *names = calloc((size_t)args->n_named, sizeof(*names));
	struct keywords keywords = { args->n_named, names };
	bool ok = names != NULL;

	for (int i = 0; ok && i < args->n_named; i++) {
		names[i] = value_str(args->names[i], strlen(args->names[i]));
		ok = names[i].kind != VALUE_UNSET;
	}
	ok = ok ? call(s, &(struct arguments){ args->at, args->n, &keywords }, out, err)
		: err_set(err, ERR_MEMORY, "out of memory for the arguments");
	for (int i = 0; names && i < args->n_named; i++)
		value_unref(names[i]);
	free(names);
	return ok;
}

bool session_call_named(struct session *s, const struct fusion_arguments *args, struct value *out,
			struct err *err)
{
	struct value *ordered = calloc((size_t)args->n + 1, sizeof(*ordered));
	bool ok;

	if (!ordered)
		return err_set(err, ERR_MEMORY, "out of memory for the arguments");
	ok = in_order(s, args, ordered) ? session_call(s, ordered, args->n, out, err)
					: call_by_name(s, args, out, err);
	free(ordered);
	return ok;
}
