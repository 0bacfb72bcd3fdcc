/* fusion/session/expression.c -- arguments and entries that are written as Python expressions.
 *
 * An expression is compiled by itself and run in the scope of the program's module, after it: its
 * names are those of the file, and what it makes are objects of the file's classes.  Lines of it
 * count on from the program's, so that an error says which of the two it is in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/session/fusion_private.h"
#include "fusion/session/plugin_private.h"

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

bool session_evaluate_entry(struct session *s, const char *text, struct value *out, struct err *err)
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
