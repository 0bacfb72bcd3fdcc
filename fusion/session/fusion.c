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
#include "fusion/session/plugin_private.h"
#include "fusion/tensor/shadow.h"
#include "fusion/vm/prelude.h"
#include "fusion/session/session.h"
#include "fusion/vm/frame.h"

static const char *const mode_names[FUSION_MODE_COUNT] = {
	[FUSION_EAGER] = "eager", [FUSION_STATIC] = "static", [FUSION_DYNAMIC] = "dynamic",
	[FUSION_AUTO] = "auto",   [FUSION_LAZY] = "lazy",     [FUSION_GRAPHS] = "graphs",
};

static const char *const policy_names[FUSION_POLICY_COUNT] = {
	[FUSION_DYNAMO] = "dynamo",
	[FUSION_NATIVE] = "native",
};

/* ---- the tensors of a session: parameters by name, and what the program keeps
 *
 * "up.weight" is looked up as torch's state_dict() spells it: submodules by
 * name, then the tensor.  Values are copied into the module's own tensor, so
 * that every name for it sees them. */

/* An entry of the dict that the instance holds under `table`. */
static struct value *entry_of(const struct instance *at, const char *table, const char *name)
{
	struct value *dict = at->attributes ? value_dict_find(at->attributes, table) : NULL;

	return dict && dict->kind == VALUE_DICT ? value_dict_find(dict->dict, name) : NULL;
}

static struct value *find_part(const struct instance *at, const char *name)
{
	static const char *const tables[] = { "_parameters", "_buffers", "_modules" };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct value *found = entry_of(at, tables[i], name);

		if (found)
			return found;
	}
	return at->attributes ? value_dict_find(at->attributes, name) : NULL;
}

static struct vtensor *find_tensor(struct value at, const char *path)
{
	char name[256];

	while (at.kind == VALUE_INSTANCE) {
		const char *dot = strchr(path, '.');
		size_t len = dot ? (size_t)(dot - path) : strlen(path);
		struct value *found;

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		found = find_part(at.instance, name);
		if (!found)
			return NULL;
		at = *found;
		if (!dot)
			break;
		path = dot + 1;
	}
	return at.kind == VALUE_TENSOR ? at.tensor : NULL;
}

/* Copies t into the parameter or buffer `name` ("up.weight") of an
 * entry that is an nn.Module; WORKLOAD where it has none of that name and form. */
static bool session_set_parameter(struct session *s, const char *name, const struct tensor *t,
				  struct err *err)
{
	struct vtensor *found = find_tensor(s->callee, name);

	if (s->callee.kind != VALUE_INSTANCE)
		return err_set(err, ERR_WORKLOAD,
			       "params names %.100s, but %s is no nn.Module: it has no parameters",
			       name, s->report.frame);
	if (!found || !found->memory)
		return err_set(err, ERR_WORKLOAD,
			       "params names %.100s, which %s does not have as a tensor", name,
			       s->report.frame);
	if (found->memory->dtype != t->dtype || found->memory->rank != t->rank ||
	    memcmp(found->memory->size, t->size, (size_t)t->rank * sizeof(t->size[0])) != 0)
		return err_set(err, ERR_WORKLOAD,
			       "params gives %.100s another shape or dtype than %s has it in", name,
			       s->report.frame);
	tensor_copy(found->memory, t);
	return true;
}

/* The name of the entry's parameter `index`, as a call gives them;
 * NULL where it has none. */
static const char *session_parameter_name(const struct session *s, int index)
{
	const struct code *code = s->function.kind == VALUE_FUNCTION ? s->function.function->code
								     : NULL;
	int self = s->self.kind != VALUE_UNSET;

	return code && index + self < code->n_positional ? code->locals[index + self] : NULL;
}

struct lister {
	void (*each)(void *self, const char *name, struct value t);
	void *self;
	char name[512];
	VEC(const void *) seen;
};

static bool is_unlisted(struct lister *l, const void *object)
{
	for (size_t i = 0; i < l->seen.len; i++)
		if (l->seen.at[i] == object)
			return false;
	return VEC_PUSH(&l->seen, object);
}

static void list(struct lister *l, struct value at, size_t len, int depth)
{
	const struct dict *dict = at.instance->attributes;

	for (int i = 0; dict && depth < MAX_NESTING && i < dict->len; i++) {
		struct value v = dict->values[i];
		size_t more;

		if (dict->keys[i].kind != VALUE_STR ||
		    (v.kind != VALUE_INSTANCE && v.kind != VALUE_TENSOR))
			continue;
		more = len + (size_t)snprintf(l->name + len, sizeof(l->name) - len, "%s%s",
					      len ? "." : "", dict->keys[i].str->text);
		if (more >= sizeof(l->name) || !is_unlisted(l, v.object))
			continue;
		if (v.kind == VALUE_INSTANCE)
			list(l, v, more, depth + 1);
		else if (v.tensor->is_parameter)
			l->each(l->self, l->name, v);
	}
}

/* The parameters of an entry that is an nn.Module, each once. */
static void session_parameters(struct session *s,
			       void (*each)(void *self, const char *name, struct value t),
			       void *self)
{
	struct lister l = { .each = each, .self = self };

	if (s->callee.kind == VALUE_INSTANCE)
		list(&l, s->callee, 0, 0);
	VEC_FREE(&l.seen);
}

/* ---- The tensors that a program keeps between calls.
 *
 * They are found as the program would reach them: from its globals, and from a module that
 * is the entry itself.  "net.up.weight", "opt.state[0].exp_avg". */

enum { MOST_OBJECTS = 4096, MOST_DEPTH = 16 };

/* The tensors that the program keeps between calls, each once, by the path from
 * its globals or within the module that is the entry; of the first few thousand objects. */
typedef void session_tensor_fn(void *self, const char *path, struct value t);

struct reach {
	session_tensor_fn *each;
	void *self;
	char path[512];
	VEC(const void *) seen;
};

static bool is_new(struct reach *r, const void *object)
{
	for (size_t i = 0; i < r->seen.len; i++)
		if (r->seen.at[i] == object)
			return false;
	return r->seen.len < MOST_OBJECTS && VEC_PUSH(&r->seen, object);
}

static void visit(struct reach *r, struct value v, size_t len, int depth);

/* What is below the path so far, under a name or (NULL) at a position. */
static void below(struct reach *r, struct value v, size_t len, const char *name, int at, int depth)
{
	size_t room = sizeof(r->path) - len;
	int more;

	if (v.kind != VALUE_TENSOR && v.kind != VALUE_INSTANCE && v.kind != VALUE_DICT &&
	    v.kind != VALUE_LIST && v.kind != VALUE_TUPLE)
		return;
	more = name ? snprintf(r->path + len, room, "%s%s", len ? "." : "", name)
		    : snprintf(r->path + len, room, "[%d]", at);
	if (more > 0 && (size_t)more < room)
		visit(r, v, len + (size_t)more, depth);
}

static void visit_dict(struct reach *r, const struct dict *dict, size_t len, int depth)
{
	for (int i = 0; dict && i < dict->len; i++)
		below(r, dict->values[i], len,
		      dict->keys[i].kind == VALUE_STR ? dict->keys[i].str->text : NULL, i, depth);
}

static void visit(struct reach *r, struct value v, size_t len, int depth)
{
	if (depth > MOST_DEPTH || !is_new(r, v.object))
		return;
	if (v.kind == VALUE_TENSOR && v.tensor->memory)
		r->each(r->self, r->path, v);
	else if (v.kind == VALUE_INSTANCE)
		visit_dict(r, v.instance->attributes, len, depth + 1);
	else if (v.kind == VALUE_DICT)
		visit_dict(r, v.dict, len, depth + 1);
	for (int i = 0; (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) && i < v.list->len; i++)
		below(r, v.list->at[i], len, NULL, i, depth + 1);
}

/* Calls `each` for them. */
static void session_tensors(const struct session *s, session_tensor_fn *each, void *self)
{
	struct reach r = { .each = each, .self = self };

	if (s->callee.kind == VALUE_INSTANCE)
		visit(&r, s->callee, 0, 0);
	for (int i = 0; i < s->vm->n_globals; i++)
		if (!s->vm->globals[i].ours)
			below(&r, s->vm->globals[i].value, 0, s->vm->globals[i].name, 0, 0);
	VEC_FREE(&r.seen);
}

/* ---- programs, modes, sessions */

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

/* Names that the module's code assigns, functions first of all. */
static bool assigns(const struct code *module, const char *name)
{
	for (int i = 0; i < module->n_insts; i++)
		if (module->insts[i].op == CODE_STORE_GLOBAL &&
		    strcmp(module->names[module->insts[i].arg], name) == 0)
			return true;
	return false;
}

/* Net(3) is of Net. */
static void entry_name(const char *entry, char out[200])
{
	snprintf(out, 200, "%.*s", (int)strcspn(entry, "("), entry);
}

/* The function that a misspelt entry may have meant; NULL. */
static const char *nearest_entry(const struct code *module, const char *entry)
{
	struct nearest n = nearest_to(entry);

	for (int i = 0; i < module->n_nested; i++)
		if (assigns(module, module->nested[i]->name))
			nearest_offer(&n, module->nested[i]->name);
	return n.best;
}

/* The entry must exist; what it is shows when the module runs. */
static bool check_entry(const struct code *module, const char *whole, struct err *err)
{
	char entry[200];
	const char *near;
	struct buf names;

	entry_name(whole, entry);
	if (assigns(module, entry))
		return true;
	buf_init(&names, 300);
	for (int i = 0; i < module->n_nested; i++)
		if (assigns(module, module->nested[i]->name))
			buf_printf(&names, "%s%s", names.len ? ", " : "", module->nested[i]->name);
	near = nearest_entry(module, entry);
	if (near)
		err_set(err, ERR_NAME,
			"the source defines no function %.100s; did you mean %.100s? it defines %s",
			entry, near, names.data ? names.data : "");
	else if (names.len)
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
	const struct fusion_file file = { .path = "", .text = source, .len = len };

	return fusion_parse_in(NULL, &(struct fusion_files){ &file, 1, 0 }, entry, err);
}

static struct fusion_program *parse_failed(struct fusion_program *p)
{
	fusion_program_destroy(p);
	return NULL;
}

/* A file without a path is a program of its own. */
static struct lang_program *compile(const struct fusion_files *files, struct err *err)
{
	const struct fusion_file *first = &files->at[files->entry];
	struct lang_text *texts;
	struct lang_program *p;

	if (files->n == 1 && first->path[0] == '\0')
		return lang_compile(first->text, first->len, NULL, err);
	texts = calloc((size_t)files->n, sizeof(*texts));
	if (!texts) {
		err_set(err, ERR_MEMORY, "out of memory for the program's files");
		return NULL;
	}
	for (int i = 0; i < files->n; i++)
		texts[i] = (struct lang_text){ files->at[i].path, files->at[i].text,
					       files->at[i].len };
	p = lang_compile_files(texts, files->n, files->entry, err);
	free(texts);
	return p;
}

/* With what is wrong with it in `problems`. */
static struct fusion_program *parse(const struct registry *registry,
				    const struct fusion_files *files, const char *entry,
				    struct err *err)
{
	struct fusion_program *p = calloc(1, sizeof(*p));
	struct torch_names names;
	struct vm_host host;
	char name[200];
	bool ok;

	if (!p || !(p->entry = strdup(entry))) {
		err_set(err, ERR_MEMORY, "out of memory for a program");
		return parse_failed(p);
	}
	p->lang = compile(files, err);
	if (!p->lang)
		return parse_failed(p);
	torch_names_init(&names);
	names.custom = registry_ops(registry);
	torch_check_host(&host, &names);
	entry_name(entry, name);
	ok = vm_check(p->lang, &host, name, &p->problems, err);
	torch_names_finish(&names);
	return ok ? p : parse_failed(p);
}

/* What is wrong with an entry that is an expression. */
static int entry_problems(const struct fusion_program *p, const struct registry *registry,
			  fusion_problem_fn *each, void *self)
{
	const struct fusion_expression e = { .text = p->entry, .label = "entry" };

	return strchr(p->entry, '(') ? fusion_expression_problems(p, registry, &e, each, self) : 0;
}

static void keep_problem(void *self, const struct err *problem, bool certain)
{
	(void)certain;
	*(struct err *)self = *problem;
}

/* Lines of a program of several files become those of the file. */
static bool placed(const struct lang_program *program, bool ok, struct err *err)
{
	const struct lang_file *f = ok ? NULL : lang_file_at(program->files, err->line);

	if (f) {
		snprintf(err->file, sizeof(err->file), "%s", f->path);
		err->line -= f->lines_before;
	}
	return ok;
}

struct fusion_program *fusion_parse_in(const struct registry *registry,
				       const struct fusion_files *files, const char *entry,
				       struct err *err)
{
	struct err wrong = { 0 };

	struct fusion_program *p = parse(registry, files, entry, err);

	for (int i = 0; p && i < p->problems.n; i++)
		if (p->problems.at[i].certain) {
			*err = p->problems.at[i].err;
			placed(p->lang, false, err);
			return parse_failed(p);
		}
	if (!p || !check_entry(p->lang->module, entry, err))
		return parse_failed(p);
	if (!entry_problems(p, registry, keep_problem, &wrong))
		return p;
	if (err)
		*err = wrong;
	return parse_failed(p);
}

const char *fusion_place(const struct fusion_program *p, int line, int *line_there)
{
	const struct lang_file *f = lang_file_at(p->lang->files, line);

	*line_there = f ? line - f->lines_before : line;
	return f ? f->path : NULL;
}

struct fusion_program *fusion_parse_anyway(const struct registry *registry,
					   const struct fusion_files *files, const char *entry)
{
	return parse(registry, files, entry, NULL);
}

/* Where the entry is not there, what is wrong with the one that is nearest, or the last one. */
static struct fusion_program *parse_other(const struct registry *registry,
					  const struct fusion_files *files,
					  struct fusion_program *p)
{
	const struct code *module = p->lang->module;
	const char *other = nearest_entry(module, p->entry);
	struct fusion_program *made;

	for (int i = module->n_nested; i-- > 0 && !other;)
		if (assigns(module, module->nested[i]->name))
			other = module->nested[i]->name;
	made = other ? parse(registry, files, other, NULL) : NULL;
	if (made)
		fusion_program_destroy(p);
	return made ? made : p;
}

void fusion_problems(const struct registry *registry, const struct fusion_files *files,
		     const char *entry, fusion_problem_fn *each, void *self)
{
	struct err err = { 0 };
	struct fusion_program *p = parse(registry, files, entry, &err);
	bool named = p && check_entry(p->lang->module, entry, &err);

	if (p && !named)
		p = parse_other(registry, files, p);
	for (int i = 0; p && i < p->problems.n; i++) {
		placed(p->lang, false, &p->problems.at[i].err);
		each(self, &p->problems.at[i].err, p->problems.at[i].certain);
	}
	if (!named)
		each(self, &err, true);
	else
		entry_problems(p, registry, each, self);
	fusion_program_destroy(p);
}

void fusion_program_destroy(struct fusion_program *p)
{
	if (!p)
		return;
	lang_files_destroy(p->lang);
	free(p->entry);
	free(p);
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
		.grad = f->options.grad || f->options.leaves,
		.autocast = autocast_ambient(f->options.autocast, f->env.device != NULL),
		.shadows = mode == FUSION_EAGER ? f->options.references : 0,
		.compiled = mode != FUSION_EAGER && mode != FUSION_LAZY
	};

	if (!s)
		err_set(err, ERR_MEMORY, "out of memory for a session");
	else if (placed(p->lang, session_init(&s->session, &options, p->lang, p->entry, err), err))
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
	return placed(s->session.vm->program,
		      all_well(s, session_call(&s->session, args, n, out, err), out, err), err);
}

bool fusion_call_named(struct fusion_session *s, const struct fusion_arguments *args,
		       struct value *out, struct err *err)
{
	if (!args->n_named)
		return fusion_call(s, args->at, args->n, out, err);
	let_device_be_late(s);
	return placed(s->session.vm->program,
		      all_well(s, session_call_named(&s->session, args, out, err), out, err), err);
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
	return placed(s->session.vm->program,
		      all_well(s, autograd_from(&s->session.eager.autograd, out, err), NULL, err),
		      err);
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
