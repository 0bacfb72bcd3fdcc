/* fusion/vm/names.c -- names that nothing defines, found with and without
 * running the program.
 *
 * vm_check_names() must never refuse a program that would run.  It follows a
 * name to a module only where every assignment of that name in the whole
 * program is an import of the same module, and stops at the first attribute
 * that is not itself a module. */
#include "fusion/vm/names.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/prelude.h"
#include "fusion/base/nearest.h"

static bool is_left_out(const char *name)
{
	static const char *const names[] = {
		"__build_class__",
		"__import__",
		"breakpoint",
		"bytearray",
		"bytes",
		"compile",
		"complex",
		"dir",
		"eval",
		"exec",
		"exit",
		"globals",
		"help",
		"input",
		"locals",
		"memoryview",
		"open",
		"quit",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void offer_builtins(struct nearest *n)
{
	for (int i = 0; i < builtin_count(); i++)
		if (builtin_row(i)->scope[0] == '\0')
			nearest_offer(n, builtin_row(i)->name);
	nearest_offer(n, "True");
	nearest_offer(n, "False");
	nearest_offer(n, "None");
}

static void offer_locals(struct nearest *n, const struct code *code)
{
	for (int i = 0; i < code->n_locals; i++)
		nearest_offer(n, code->locals[i]);
	for (int i = 0; i < code->n_cells; i++)
		nearest_offer(n, code->cells[i]);
}

static bool unknown(const struct nearest *n, struct err *err)
{
	if (is_left_out(n->word))
		return err_set(err, ERR_UNSUPPORTED,
			       "%s is a builtin of Python that the workload language leaves out",
			       n->word);
	if (n->best)
		return err_set(err, ERR_NAME, "name '%s' is not defined; did you mean '%s'?",
			       n->word, n->best);
	return err_set(err, ERR_NAME, "name '%s' is not defined", n->word);
}

bool vm_unknown_name(struct vm *vm, const char *name, struct err *err)
{
	struct nearest n = nearest_to(name);

	for (int i = 0; i < vm->n_globals; i++)
		if (!vm->globals[i].owner && vm->globals[i].value.kind != VALUE_UNSET)
			nearest_offer(&n, vm->globals[i].name);
	offer_builtins(&n);
	if (vm->frame)
		offer_locals(&n, vm->frame->code);
	return unknown(&n, err);
}

/* A name of the module's scope, and what its assignments have in common. */
struct binding {
	const char *name;
	struct value module; /* UNSET: not, or not only, one module */
	bool other;          /* something else is assigned to it */
};

struct checker {
	struct vm_host *host;
	VEC(struct binding) bindings;
	bool catches_names, catches_attributes; /* it names the class of such errors */
	struct err *err;
};

static struct binding *find_binding(struct checker *c, const char *name)
{
	for (size_t i = 0; i < c->bindings.len; i++)
		if (strcmp(c->bindings.at[i].name, name) == 0)
			return &c->bindings.at[i];
	return NULL;
}

static bool bind(struct checker *c, const char *name, struct value v)
{
	struct binding *b = find_binding(c, name);

	if (!b) {
		struct binding fresh = { .name = name };

		if (!VEC_PUSH(&c->bindings, fresh))
			return err_set(c->err, ERR_MEMORY, "out of memory");
		b = &c->bindings.at[c->bindings.len - 1];
	}
	if (v.kind != VALUE_MODULE ||
	    (b->module.kind == VALUE_MODULE && strcmp(b->module.module->name, v.module->name) != 0))
		b->other = true;
	else if (b->module.kind == VALUE_UNSET)
		b->module = value_ref(v);
	return true;
}

static bool import(struct checker *c, const char *name, struct value *out)
{
	if (!module_is_native(name) && !c->host->has_module(c->host->self, module_real(name)))
		return err_set(c->err, ERR_NAME,
			       "no module named '%s'; torch, its submodules, math and some of "
			       "Python's small modules can be imported",
			       name);
	*out = value_module(name);
	return out->kind == VALUE_MODULE || err_set(c->err, ERR_MEMORY, "out of memory");
}

/* o.name, where o is a module; *o becomes what it gives if that is a module,
 * else UNSET.  `at` is told to the host, as when running. */
static bool attribute(struct checker *c, struct value *o, const char *name,
		      const struct lang_inst *at)
{
	struct value found = { .kind = VALUE_UNSET };
	bool ok = true, typed;

	if (strcmp(name, "__name__") == 0) {
		; /* every module has one */
	} else if (module_is_file(o->module->name, name)) {
		; /* followed no further */
	} else if (module_is_native(o->module->name)) {
		ok = native_attribute(NULL, o->module->name, name, &found, c->err);
	} else if (module_type(NULL, o->module->name, name, NULL, &typed, NULL) && !typed &&
		   !prelude_defines(module_real(o->module->name), name)) {
		c->host->line = at->line;
		c->host->column = at->column;
		ok = c->host->module_attr(c->host->self, o->module, name, &found, c->err);
	}
	value_unref(*o);
	if (found.kind != VALUE_MODULE) {
		value_unref(found);
		found = (struct value){ .kind = VALUE_UNSET };
	}
	*o = found;
	return ok;
}

static bool undefined(struct checker *c, const struct code *code, const char *name)
{
	struct nearest n = nearest_to(name);

	for (size_t i = 0; i < c->bindings.len; i++)
		nearest_offer(&n, c->bindings.at[i].name);
	offer_builtins(&n);
	offer_locals(&n, code);
	return unknown(&n, c->err);
}

/* The modules on top of the operand stack, UNSET where something else is.  Two
 * are enough: `from m import a, b` keeps m below what it takes from it. */
struct trail {
	struct value top, under;
};

static void trail_push(struct trail *t, struct value v)
{
	value_unref(t->under);
	t->under = t->top;
	t->top = v;
}

static void trail_pop(struct trail *t)
{
	value_unref(t->top);
	t->top = t->under;
	t->under = (struct value){ .kind = VALUE_UNSET };
}

static void trail_clear(struct trail *t)
{
	trail_pop(t);
	trail_pop(t);
}

static bool load_global(struct checker *c, const struct code *code, const char *name,
			struct trail *t)
{
	struct binding *b = find_binding(c, name);

	if (!b && !builtin_is_name(name) && strcmp(name, "__name__") != 0 &&
	    !(c->catches_names && !is_left_out(name)))
		return undefined(c, code, name);
	if (b && !b->other && b->module.kind == VALUE_MODULE)
		trail_push(t, value_ref(b->module));
	else
		trail_clear(t);
	return true;
}

/* `collect`: the first walk learns what is assigned, the second one checks. */
static bool check_inst(struct checker *c, const struct code *code, const struct lang_inst *inst,
		       bool collect, struct trail *t)
{
	struct value m;
	bool ok = true;

	switch (inst->op) {
	case CODE_IMPORT:
		if (!import(c, code->names[inst->arg], &m))
			return false;
		trail_push(t, m);
		break;
	case CODE_COPY:
		if (inst->arg == 1)
			trail_push(t, value_ref(t->top));
		else
			trail_clear(t);
		break;
	case CODE_LOAD_ATTR:
		if (t->top.kind == VALUE_MODULE)
			ok = attribute(c, &t->top, code->names[inst->arg], inst);
		break;
	case CODE_LOAD_GLOBAL:
		c->catches_names |= strcmp(code->names[inst->arg], "NameError") == 0;
		c->catches_attributes |= strcmp(code->names[inst->arg], "AttributeError") == 0;
		if (collect)
			trail_clear(t);
		else
			ok = load_global(c, code, code->names[inst->arg], t);
		break;
	case CODE_STORE_GLOBAL:
		if (collect)
			ok = bind(c, code->names[inst->arg], t->top);
		trail_pop(t);
		break;
	case CODE_STORE_FAST:
	case CODE_STORE_DEREF:
	case CODE_STORE_NAME:
	case CODE_POP:
		trail_pop(t);
		break;
	default:
		trail_clear(t);
	}
	return ok;
}

/* In the body of a try the program may mean to meet the error, and what a program
 * that speaks of AttributeError asks of modules it may mean to ask. */
static bool may_be_caught(const struct checker *c, const struct code *code, int i)
{
	if (!c->err || c->err->code == ERR_MEMORY)
		return false;
	if (c->catches_attributes && c->err->code == ERR_NAME &&
	    code->insts[i].op == CODE_LOAD_ATTR)
		return true;
	for (int k = 0; k < code->n_handlers; k++)
		if (code->handlers[k].kind == HANDLER_TRY && i >= code->handlers[k].start &&
		    i < code->handlers[k].end)
			return true;
	return false;
}

/* `if __name__ == "__main__":` at i: behind its block, which never runs here; else i. */
static int past_main(const struct code *code, int i)
{
	const struct lang_inst *at = &code->insts[i];
	const struct lang_const *word;

	if (code->n_insts - i < 4 || at[0].op != CODE_LOAD_GLOBAL ||
	    strcmp(code->names[at[0].arg], "__name__") != 0 || at[1].op != CODE_LOAD_CONST ||
	    at[2].op != CODE_COMPARE_OP || at[3].op != CODE_JUMP_IF_FALSE || at[3].arg <= i)
		return i;
	word = &code->consts[at[1].arg];
	return word->kind == CONST_STR && strcmp(word->str, "__main__") == 0 ? at[3].arg : i;
}

static bool check_code(struct checker *c, const struct code *code, bool collect)
{
	struct trail trail = { 0 };
	bool ok = true;

	for (int i = 0; ok && i < code->n_insts; i++) {
		const struct lang_inst *inst;

		i = past_main(code, i);
		if (i >= code->n_insts)
			break;
		inst = &code->insts[i];
		ok = check_inst(c, code, inst, collect, &trail);
		if (!ok && may_be_caught(c, code, i)) {
			*c->err = (struct err){ 0 };
			trail_clear(&trail);
			ok = true;
		}
		if (!ok && c->err && c->err->line == 0) {
			c->err->line = inst->line;
			c->err->column = inst->column;
		}
	}
	trail_clear(&trail);
	for (int i = 0; ok && i < code->n_nested; i++)
		ok = check_code(c, code->nested[i], collect);
	return ok;
}

bool vm_check_names(const struct lang_program *program, struct vm_host *host, struct err *err)
{
	struct checker c = { .host = host, .err = err };
	bool ok = check_code(&c, program->module, true) && check_code(&c, program->module, false);

	for (size_t i = 0; i < c.bindings.len; i++)
		value_unref(c.bindings.at[i].module);
	VEC_FREE(&c.bindings);
	return ok;
}
