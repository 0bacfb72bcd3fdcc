/* fusion/vm/names.c -- names that nothing defines, found with and without
 * running the program.
 *
 * vm_check() must never call a problem certain of a program that would run.  It follows a
 * name to a module only where every assignment of that name in the whole
 * program is an import of the same module, and stops at the first attribute
 * that is not itself a module. */
#include "fusion/vm/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/files.h"
#include "fusion/vm/prelude.h"
#include "fusion/base/nearest.h"

enum { NAMES_BYTES = 16 << 20 };

static bool is_left_out(const char *name)
{
	static const char *const names[] = {
		"__build_class__", "breakpoint", "compile", "exit", "help",
		"input",           "memoryview", "quit",
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
		if (!vm->globals[i].ours && vm->globals[i].value.kind != VALUE_UNSET)
			nearest_offer(&n, vm->globals[i].name);
	offer_builtins(&n);
	if (vm->frame)
		offer_locals(&n, vm->frame->code);
	return unknown(&n, err);
}

/* A name of the module's scope, and what its assignments have in common. */
struct name_binding {
	const char *name;
	struct value module; /* UNSET: not, or not only, one module */
	bool other;          /* something else is assigned to it */
};

struct checker {
	struct vm_host *host;
	const char *entry;
	VEC(struct name_binding) bindings;
	bool catches_names, catches_attributes; /* it names the class of such errors */
	const struct lang_files *files;         /* of the program; NULL: it has one */
	VEC(const char *) stored;               /* attributes that the program sets, of whatever */
	bool stars; /* `import *`: what the names are, only running it tells */
	struct vm_problems *problems;
	struct arena arena; /* names of what is not there */
	struct err *err;    /* of the instruction under way */
};

static struct name_binding *find_binding(struct checker *c, const char *name)
{
	for (size_t i = 0; i < c->bindings.len; i++)
		if (strcmp(c->bindings.at[i].name, name) == 0)
			return &c->bindings.at[i];
	return NULL;
}

static bool bind(struct checker *c, const char *name, struct value v)
{
	struct name_binding *b = find_binding(c, name);

	if (!b) {
		struct name_binding fresh = { .name = name };

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

/* A module that is not there can be imported; what uses it fails. */
static bool import(struct checker *c, const char *name, struct value *out)
{
	*out = value_module(name);
	return out->kind == VALUE_MODULE || err_set(c->err, ERR_MEMORY, "out of memory");
}

/* owner.name, of a module that is not there or has no such name. */
static bool absent_attribute(struct checker *c, const char *owner, const char *name,
			     struct value *out)
{
	char full[MODULE_NAME_BYTES];
	const char *kept;

	snprintf(full, sizeof(full), "%s.%s", owner, name);
	kept = arena_strdup(&c->arena, full);
	if (!kept)
		return err_set(c->err, ERR_MEMORY, "out of memory");
	return import(c, kept, out);
}

/* o.name, where o is a module; *o becomes what it gives if that is a module,
 * else UNSET.  The host gets the line of `at`, as when running. */
static bool attribute(struct checker *c, struct value *o, const char *name,
		      const struct lang_inst *at, bool from_import)
{
	const char *module = o->module->name;
	struct value found = { .kind = VALUE_UNSET };
	bool ok = true, typed;

	if (strcmp(name, "__name__") == 0) {
		; /* every module has one */
	} else if (!module_exists(c->host, module) ||
		   (absent_module_advice(module) && !prelude_defines(module, name))) {
		ok = absent_attribute(c, module, name, &found);
	} else if (module_is_file(module, name)) {
		; /* followed no further */
	} else if (module_is_native(module)) {
		ok = native_attribute(NULL, module, name, &found, c->err);
	} else if (module_type(NULL, module, name, NULL, &typed, NULL) && !typed &&
		   !prelude_defines(module_real(module), name)) {
		c->host->line = at->line;
		c->host->column = at->column;
		ok = c->host->module_attr(c->host->self, o->module, name, &found, c->err);
	}
	if (!ok && from_import && c->err->code != ERR_MEMORY) {
		*c->err = (struct err){ 0 };
		ok = absent_attribute(c, module, name, &found);
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

/* What a module has of itself. */
static bool is_of_module(const char *name)
{
	return strcmp(name, "__name__") == 0 || strcmp(name, "__file__") == 0 ||
	       strcmp(name, "__package__") == 0 || strcmp(name, "__doc__") == 0;
}

static bool load_global(struct checker *c, const struct code *code, const char *name,
			struct trail *t)
{
	struct name_binding *b = find_binding(c, name);

	if (!b && !c->stars && !builtin_is_name(name) && !is_of_module(name) &&
	    !(c->catches_names && !is_left_out(name)))
		return undefined(c, code, name);
	if (b && !b->other && b->module.kind == VALUE_MODULE)
		trail_push(t, value_ref(b->module));
	else
		trail_clear(t);
	return true;
}

/* Whether what instruction i leaves is called a little further on, in a straight line. */
static bool is_called(const struct code *code, int i)
{
	int depth = 1; /* of the operands from it on */

	for (i++; i < code->n_insts && depth > 0; i++) {
		const struct lang_inst *inst = &code->insts[i];
		int callee = inst->op == CODE_CALL      ? depth - inst->arg - 1
			     : inst->op == CODE_CALL_KW ? depth - inst->arg - 2
			     : inst->op == CODE_CALL_EX ? depth - 3
							: -1;

		if (callee == 0)
			return true;
		if (depth == 1 && inst->op == CODE_LOAD_ATTR)
			return false;
		if (inst->op == CODE_JUMP || inst->op == CODE_JUMP_IF_FALSE ||
		    inst->op == CODE_JUMP_IF_TRUE || inst->op == CODE_FOR_ITER ||
		    inst->op == CODE_SWAP || inst->op == CODE_COPY)
			return false;
		depth += code_effect(inst->op, inst->arg);
	}
	return false;
}

/* A function that calls what is not there. */
static bool check_use(struct checker *c, const struct code *code, int i, const struct trail *t)
{
	if (t->top.kind != VALUE_MODULE || code->has_namespace ||
	    strcmp(code->name, "<module>") == 0 || !is_called(code, i))
		return true;
	return absent_module_refused_by_name(c->host, t->top.module->name, c->err);
}

static bool check_load(struct checker *c, const struct code *code, int i, struct trail *t)
{
	return load_global(c, code, code->names[code->insts[i].arg], t) && check_use(c, code, i, t);
}

static bool keep_stored(struct checker *c, const char *name)
{
	return VEC_PUSH(&c->stored, name) || err_set(c->err, ERR_MEMORY, "out of memory");
}

/* `collect`: the first walk learns what is assigned, the second one checks. */
static bool check_inst(struct checker *c, const struct code *code, int i, bool collect,
		       struct trail *t)
{
	const struct lang_inst *inst = &code->insts[i];
	const char *name;
	struct value m;
	bool ok = true;

	switch (inst->op) {
	case CODE_IMPORT:
		name = code->names[inst->arg];
		m = (struct value){ .kind = VALUE_UNSET };
		if (!files_have(c->files, name) && !import(c, name, &m))
			return false;
		trail_push(t, m);
		break;
	case CODE_IMPORT_STAR:
		c->stars = true;
		trail_pop(t);
		break;
	case CODE_REFUSE:
		ok = err_set(c->err, ERR_UNSUPPORTED, "%s", code->consts[inst->arg].str);
		break;
	case CODE_COPY:
		if (inst->arg == 1)
			trail_push(t, value_ref(t->top));
		else
			trail_clear(t);
		break;
	case CODE_LOAD_ATTR:
		if (t->top.kind == VALUE_MODULE)
			ok = attribute(c, &t->top, code->names[inst->arg], inst,
				       i && inst[-1].op == CODE_COPY) &&
			     (collect || check_use(c, code, i, t));
		break;
	case CODE_LOAD_GLOBAL:
		name = code->names[inst->arg];
		c->catches_names |= strcmp(name, "NameError") == 0;
		c->catches_attributes |= strcmp(name, "AttributeError") == 0;
		if (collect)
			trail_clear(t);
		else
			ok = check_load(c, code, i, t);
		break;
	case CODE_STORE_ATTR:
		ok = !collect || keep_stored(c, code->names[inst->arg]);
		trail_clear(t);
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

static bool is_stored(const struct checker *c, const char *name)
{
	for (size_t i = 0; i < c->stored.len; i++)
		if (strcmp(c->stored.at[i], name) == 0)
			return true;
	return false;
}

/* In the body of a try the program may mean to meet the error, and what a program
 * that speaks of AttributeError asks of modules it may mean to ask; what it sets somewhere
 * it may find. */
static bool may_be_caught(const struct checker *c, const struct code *code, int i)
{
	if (c->err->code == ERR_NAME && code->insts[i].op == CODE_LOAD_ATTR &&
	    is_stored(c, code->names[code->insts[i].arg]))
		return true;
	if (c->catches_attributes && c->err->code == ERR_NAME &&
	    code->insts[i].op == CODE_LOAD_ATTR)
		return true;
	for (int k = 0; k < code->n_handlers; k++)
		if (code->handlers[k].kind == HANDLER_TRY && i >= code->handlers[k].start &&
		    i < code->handlers[k].end)
			return true;
	return false;
}

/* `if __name__ == "__main__":` at i: the end of its block, which never runs here; else i. */
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

/* Whether each instruction runs whenever the code does: it is in no branch and no loop, and no
 * branch or loop before it leaves the code. */
struct name_reach {
	int open;    /* up to here the instructions are in a branch */
	bool leaves; /* such a branch may have left */
};

static bool reach_next(struct name_reach *r, const struct code *code, int i)
{
	const struct lang_inst *inst = &code->insts[i];
	bool certain = !r->leaves && i >= r->open;

	if ((inst->op == CODE_JUMP || inst->op == CODE_JUMP_IF_FALSE ||
	     inst->op == CODE_JUMP_IF_TRUE || inst->op == CODE_FOR_ITER) &&
	    inst->arg > r->open)
		r->open = inst->arg;
	r->leaves |= inst->op == CODE_RETURN || inst->op == CODE_RAISE || inst->op == CODE_RERAISE;
	return certain;
}

static int compare_problems(const void *a, const void *b)
{
	const struct err *x = &((const struct vm_problem *)a)->err;
	const struct err *y = &((const struct vm_problem *)b)->err;

	return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
				  : (x->column > y->column) - (x->column < y->column);
}

/* One a place, the certain ones before the others where there are too many. */
static void add_problem(struct vm_problems *list, const struct err *err, bool certain)
{
	struct vm_problem fresh = { *err, certain };
	int last = list->n - 1;

	for (int i = 0; i < list->n; i++)
		if (compare_problems(&list->at[i], &fresh) == 0) {
			list->at[i].certain |= certain;
			return;
		}
	if (list->n < VM_MOST_PROBLEMS) {
		list->at[list->n++] = fresh;
		return;
	}
	while (certain && last >= 0 && list->at[last].certain)
		last--;
	if (certain && last >= 0)
		list->at[last] = fresh;
}

/* Takes the error of instruction i; false when out of memory. */
static bool take_problem(struct checker *c, const struct code *code, int i, bool certain,
			 bool collect)
{
	struct err *err = c->err;

	if (err->code == ERR_MEMORY)
		return false;
	if (err->line == 0) {
		err->line = code->insts[i].line;
		err->column = code->insts[i].column;
	}
	if (!collect && !may_be_caught(c, code, i))
		add_problem(c->problems, err, certain);
	*err = (struct err){ 0 };
	return true;
}

/* Whether the code nested in `code` runs: the entry, the constructor and forward of an entry that
 * is a class, and the body of a class whose statement runs. */
static bool nested_runs(const struct checker *c, const struct code *code, const struct code *inner,
			bool certain)
{
	if (inner->has_namespace)
		return certain;
	if (strcmp(code->name, "<module>") == 0)
		return strcmp(inner->name, c->entry) == 0;
	return code->has_namespace && strcmp(code->name, c->entry) == 0 &&
	       (strcmp(inner->name, "__init__") == 0 || strcmp(inner->name, "forward") == 0);
}

/* `runs`: the code does, whenever the program runs. */
static bool check_code(struct checker *c, const struct code *code, bool runs, bool collect)
{
	struct trail trail = { 0 };
	struct name_reach reach = { 0 };
	bool ok = true;

	for (int i = 0; ok && i < code->n_insts; i++) {
		const struct lang_inst *inst;
		bool certain;

		i = past_main(code, i);
		if (i >= code->n_insts)
			break;
		inst = &code->insts[i];
		certain = runs && reach_next(&reach, code, i);
		if (!check_inst(c, code, i, collect, &trail)) {
			ok = take_problem(c, code, i, certain, collect);
			trail_clear(&trail);
		}
		if (ok && inst->op == CODE_MAKE_FUNCTION)
			ok = check_code(c, code->nested[inst->arg],
					nested_runs(c, code, code->nested[inst->arg], certain),
					collect);
	}
	trail_clear(&trail);
	return ok;
}

static void release_bindings(struct checker *c)
{
	for (size_t i = 0; i < c->bindings.len; i++)
		value_unref(c->bindings.at[i].module);
	VEC_FREE(&c->bindings);
	VEC_FREE(&c->stored);
}

bool vm_check_expression(const struct lang_program *program, const struct lang_program *expression,
			 const char *with, struct vm_host *host, struct vm_problems *out,
			 struct err *err)
{
	struct err found = { 0 };
	struct checker c = {
		.host = host, .entry = "", .problems = out, .files = program->files, .err = &found
	};
	bool ok;

	out->n = 0;
	arena_init(&c.arena, NAMES_BYTES);
	ok = check_code(&c, program->module, false, true) &&
	     (!with || bind(&c, with, value_none()));
	c.catches_names = c.catches_attributes = false;
	ok = ok && check_code(&c, expression->module, true, false);
	if (!ok && err)
		*err = found;
	release_bindings(&c);
	arena_finish(&c.arena);
	return ok;
}

static bool check_file(struct checker *c, const struct lang_program *program, bool first)
{
	bool ok;

	c->stars = false;
	ok = check_code(c, program->module, first, true) &&
	     check_code(c, program->module, first, false);
	release_bindings(c);
	return ok;
}

bool vm_check(const struct lang_program *program, struct vm_host *host, const char *entry,
	      struct vm_problems *out, struct err *err)
{
	struct err found = { 0 };
	const struct lang_files *files = program->files;
	struct checker c = {
		.host = host, .entry = entry, .problems = out, .files = files, .err = &found
	};
	bool ok;

	out->n = 0;
	arena_init(&c.arena, NAMES_BYTES);
	ok = check_file(&c, program, true);
	for (int i = 1; ok && files && i < files->n; i++) { /* which of them run, nobody knows */
		if (files->at[i].program)
			ok = check_file(&c, files->at[i].program, false);
		else
			add_problem(out, &files->at[i].failed, false);
	}
	if (!ok && err)
		*err = found;
	qsort(out->at, (size_t)out->n, sizeof(out->at[0]), compare_problems);
	arena_finish(&c.arena);
	return ok;
}
