/* fusion/vm/evaluate.c -- globals(), locals(): the names of the code that calls, and their values.
 * eval(), exec(), __import__(): text that becomes code while the program runs.
 *
 * The text is compiled as a module of its own, whose globals are those of the function that calls,
 * or the dict that is given.  What an expression reads of the caller's locals are the parameters
 * of a lambda around it.  All of it lives as long as the VM, for functions may be left of it. */
#include "fusion/vm/evaluate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/lang/lang.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/prelude.h"
#include "fusion/vm/run.h"

enum { MOST_TEXTS = 4096, MOST_BYTES = 1 << 16, MOST_NAMES = 64 };

static const char result_name[] = "__evaluated__";

/* Compiles the text as a module, whose globals are those of the code `in`; NULL: its own. */
static bool run_text(struct vm *vm, const char *text, const struct unit *in, struct evaluated **out,
		     struct err *err)
{
	const struct frame *f = vm_visible_frame(vm);
	struct lang_limits limits = { .lines_before = f ? f->inst->line - 1 : 0 };
	struct evaluated *e;
	struct err why = { 0 };

	if (vm->evaluated && vm->evaluated->n >= MOST_TEXTS)
		return err_set(err, ERR_BOUND, "more than %d texts are evaluated in one run",
			       MOST_TEXTS);
	e = calloc(1, sizeof(*e));
	if (!e)
		return vm_out_of_memory(vm, err);
	e->program = lang_compile(text, strlen(text), &limits, &why);
	if (!e->program) {
		free(e);
		return vm_raise(vm, CLASS_SYNTAX_ERROR, err, "%.300s", why.message);
	}
	e->before = vm->evaluated;
	e->n = e->before ? e->before->n + 1 : 1;
	vm->evaluated = e;
	e->unit = (struct unit){ .code = e->program->module,
				 .owner = in ? in->owner : (const void *)e->program,
				 .home = in  ? in->home
					 : f ? f->unit->home
					     : NULL };
	*out = e;
	return true;
}

/* The names of the dict as globals of the owner. */
static bool fill_globals(struct vm *vm, const void *owner, const struct dict *from, struct err *err)
{
	for (int i = 0; i < from->len; i++) {
		const char *name;
		int slot;

		if (from->keys[i].kind != VALUE_STR)
			continue;
		name = arena_strdup(&vm->arena, from->keys[i].str->text);
		slot = name ? vm_global_slot(vm, owner, name) : -1;
		if (slot < 0)
			return vm_out_of_memory(vm, err);
		store(&vm->globals[slot].value, value_ref(from->values[i]));
	}
	return vm_spend(vm, from->len, err);
}

static bool take_globals(struct vm *vm, const void *owner, struct dict *to, struct err *err)
{
	for (int i = 0; i < vm->n_globals; i++)
		if (vm->globals[i].owner == owner && vm->globals[i].value.kind != VALUE_UNSET &&
		    !store_named(vm, to, vm->globals[i].name, vm->globals[i].value, err))
			return false;
	return vm_spend(vm, vm->n_globals, err);
}

/* What the text left under result_name. */
static bool take_result(struct vm *vm, const void *owner, struct value *out, struct err *err)
{
	int slot = vm_global_find(vm, owner, result_name);
	const struct value nothing = { .kind = VALUE_UNSET };

	if (slot < 0)
		return err_set(err, ERR_INTERNAL, "a text left no result");
	if (!global_load(vm, slot, out, err))
		return false;
	if (out->kind == VALUE_UNSET)
		return err_set(err, ERR_INTERNAL, "a text left no result");
	return global_store(vm, slot, nothing, err);
}

static bool is_word(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; len && (at = strstr(at, name)); at += len)
		if ((at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
		    !(isalnum((unsigned char)at[len]) || at[len] == '_'))
			return true;
	return false;
}

/* Of the caller's locals those that the text names. */
struct read_names {
	int n;
	struct value values[MOST_NAMES]; /* borrowed from the dict */
	struct buf names;                /* "a, b" */
};

static void find_names(struct read_names *r, const char *text, const struct dict *locals)
{
	for (int i = 0; i < locals->len && r->n < MOST_NAMES; i++) {
		const char *name = locals->keys[i].kind == VALUE_STR ? locals->keys[i].str->text
								     : "";

		if (!(isalpha((unsigned char)name[0]) || name[0] == '_') || !is_word(text, name))
			continue;
		buf_printf(&r->names, "%s%s", r->n ? ", " : "", name);
		r->values[r->n++] = locals->values[i];
	}
}

/* What the program runs at the moment. */
static const struct unit *current(struct vm *vm)
{
	const struct frame *f = vm_visible_frame(vm);

	return f ? f->unit : NULL;
}

struct around {                     /* what an expression reads */
	const struct unit *in;      /* the code whose globals it has without those below */
	const struct dict *globals; /* NULL */
	const struct dict *locals;
};

static bool evaluate(struct vm *vm, const char *text, const struct around *around,
		     struct value *out, struct err *err)
{
	struct read_names read = { 0 };
	struct buf source = { 0 };
	struct evaluated *e = NULL;
	struct value f;
	bool ok;

	text += strspn(text, " \t\r\n");
	find_names(&read, text, around->locals);
	buf_printf(&source, "%s = lambda %s: (%s\n)", result_name, read.n ? read.names.data : "",
		   text);
	ok = !source.failed && !read.names.failed;
	ok = ok ? run_text(vm, source.data, around->globals ? NULL : around->in, &e, err)
		: vm_out_of_memory(vm, err);
	ok = ok && (!around->globals || fill_globals(vm, e->unit.owner, around->globals, err)) &&
	     vm_run_unit(vm, &e->unit, NULL, err) && take_result(vm, e->unit.owner, &f, err);
	if (ok) {
		ok = vm_invoke(vm, f, &(struct arguments){ read.values, read.n, NULL }, out, err);
		value_unref(f);
	}
	buf_finish(&source);
	buf_finish(&read.names);
	return ok;
}

/* ---- names and their values ---- */

static bool keep_name(struct vm *vm, struct dict *dict, const char *name, struct value v,
		      struct err *err)
{
	return v.kind == VALUE_UNSET || store_named(vm, dict, name, v, err);
}

static bool collect_globals(struct vm *vm, struct dict *to, struct err *err)
{
	const struct frame *f = vm_visible_frame(vm);
	const void *owner = f ? f->unit->owner : NULL;
	struct value v;

	for (int i = 0; i < vm->n_globals; i++) {
		bool ok;

		if (vm->globals[i].owner != owner || vm->globals[i].ours)
			continue;
		if (!global_load(vm, i, &v, err))
			return false;
		ok = keep_name(vm, to, vm->globals[i].name, v, err);
		value_unref(v);
		if (!ok)
			return false;
	}
	return vm_spend(vm, vm->n_globals, err);
}

static bool builtin_globals(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct value dict, class;
	bool ok, found = false;

	(void)call;
	if (!vm_keep(vm, value_dict(), &dict, err))
		return false;
	ok = collect_globals(vm, dict.dict, err) &&
	     prelude_attribute(vm, "_bases", "Namespace", &class, &found, err);
	if (found) {
		ok = vm_invoke(vm, class, &(struct arguments){ &dict, 1, NULL }, out, err);
		value_unref(class);
	}
	value_unref(dict);
	return ok;
}

static bool builtin_locals(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	const struct frame *f = vm_visible_frame(vm);
	struct value dict;
	bool ok = true;

	if (f && f->code == vm->module.code)
		return builtin_globals(vm, call, out, err);
	if (!vm_keep(vm, value_dict(), &dict, err))
		return false;
	for (int i = 0; ok && f && i < f->code->n_locals; i++)
		ok = realize(vm, &f->locals[i], err) &&
		     keep_name(vm, dict.dict, f->code->locals[i], f->locals[i], err);
	for (int i = 0; ok && f && i < f->code->n_cells; i++)
		if (f->cells[i].kind == VALUE_CELL)
			ok = keep_name(vm, dict.dict, f->code->cells[i], f->cells[i].cell->content,
				       err);
	if (ok)
		*out = dict;
	else
		value_unref(dict);
	return ok;
}

/* ---- text that becomes code ---- */

static bool check_text(struct vm *vm, const struct builtin_call *call, struct err *err)
{
	if (call->args[0].kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() arg 1 must be a string, not %s",
				call->row->name, value_type_name(call->args[0]));
	if (call->args[0].str->len > MOST_BYTES)
		return err_set(err, ERR_BOUND, "%s() takes texts of up to %d bytes",
			       call->row->name, MOST_BYTES);
	return true;
}

/* args[i] as a dict, a reference: that of an instance that derives from one is its own. */
static bool dict_at(struct vm *vm, const struct builtin_call *call, int i, struct value *out,
		    struct err *err)
{
	bool found = false;

	*out = value_none();
	if (i >= call->n || call->args[i].kind == VALUE_NONE)
		return true;
	if (call->args[i].kind == VALUE_INSTANCE &&
	    !instance_call(vm, &(struct method_call){ &call->args[i], "_as_argument", NULL, 0 },
			   out, &found, err))
		return false;
	if (!found)
		*out = value_ref(call->args[i]);
	if (out->kind == VALUE_DICT)
		return true;
	value_unref(*out);
	*out = value_none();
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() %s must be a dict, not %s",
			call->row->name, i == 1 ? "globals" : "locals",
			value_type_name(call->args[i]));
}

static bool builtin_eval(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value globals, locals = value_none();
	bool ok;

	if (!check_text(vm, call, err) || !dict_at(vm, call, 1, &globals, err))
		return false;
	ok = dict_at(vm, call, 2, &locals, err);
	if (ok && locals.kind == VALUE_NONE) {
		if (globals.kind == VALUE_DICT)
			locals = value_ref(globals);
		else
			ok = builtin_locals(vm, call, &locals, err);
	}
	if (ok && locals.kind == VALUE_INSTANCE) { /* at the module's level they are its globals */
		value_unref(locals);
		ok = vm_keep(vm, value_dict(), &locals, err);
	}
	ok = ok && evaluate(vm, call->args[0].str->text,
			    &(struct around){ current(vm),
					      globals.kind == VALUE_DICT ? globals.dict : NULL,
					      locals.dict },
			    out, err);
	value_unref(globals);
	value_unref(locals);
	return ok;
}

/* Of a class that no `class` made, and of anything else, the globals of the code that asks. */
static bool prelude_annotation(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	const struct unit *in = current(vm);
	const struct dict none = { 0 };

	if (call->args[1].kind == VALUE_FUNCTION)
		in = call->args[1].function->unit;
	else if (call->args[1].kind == VALUE_CLASS && call->args[1].class->body)
		in = call->args[1].class->body;
	return check_text(vm, call, err) &&
	       evaluate(vm, call->args[0].str->text, &(struct around){ in, NULL, &none }, out, err);
}

static bool prelude_annotations(struct vm *vm, const struct builtin_call *call, struct value *out,
				struct err *err)
{
	const char *text = call->args[0].kind == VALUE_FUNCTION
			       ? call->args[0].function->code->annotations
			       : NULL;

	*out = value_none();
	return !text || vm_keep(vm, value_str(text, strlen(text)), out, err);
}

/* What a text in a function sees: the globals, and over them the locals; what it assigns is gone
 * with it. */
static bool names_here(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct value locals;
	bool ok;

	if (!builtin_locals(vm, call, &locals, err))
		return false;
	ok = vm_keep(vm, value_dict(), out, err) && collect_globals(vm, out->dict, err);
	for (int i = 0; ok && i < locals.dict->len; i++)
		ok = value_dict_set(out->dict, locals.dict->keys[i], locals.dict->values[i]) ||
		     vm_out_of_memory(vm, err);
	value_unref(locals);
	return ok;
}

static bool builtin_exec(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	const struct frame *f = vm_visible_frame(vm);
	struct evaluated *e;
	struct value globals;
	bool ok, within, inner;

	*out = value_none();
	if (!check_text(vm, call, err) || !dict_at(vm, call, call->n > 2 ? 2 : 1, &globals, err))
		return false;
	inner = globals.kind != VALUE_DICT && f && strcmp(f->code->name, "<module>") != 0;
	if (inner && strstr(call->args[0].str->text, "global "))
		return err_set(err, ERR_UNSUPPORTED,
			       "exec() of a `global` statement in a function takes the dict that "
			       "its names go to: exec(text, names)");
	if (inner && !names_here(vm, call, &globals, err))
		return false;
	within = globals.kind == VALUE_DICT;
	ok = run_text(vm, call->args[0].str->text, within ? NULL : current(vm), &e, err) &&
	     (!within || fill_globals(vm, e->unit.owner, globals.dict, err)) &&
	     vm_run_unit(vm, &e->unit, NULL, err) &&
	     (!within || inner || take_globals(vm, e->unit.owner, globals.dict, err));
	value_unref(globals);
	return ok;
}

/* __import__("a.b") is a; _prelude.import_module("a.b") is a.b. */
static bool builtin_import(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	bool whole = strcmp(call->row->name, "import_module") == 0, ok;
	struct module named = { 0 };
	struct buf source = { 0 };
	struct evaluated *e;
	const char *name;

	if (!check_text(vm, call, err))
		return false;
	name = call->args[0].str->text;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.')
			return vm_raise(vm, CLASS_VALUE_ERROR, err, "no module is named '%.100s'",
					name);
	named.name = name;
	if (absent_module_is(vm, (struct value){ .kind = VALUE_MODULE, .module = &named }))
		return vm_raise(vm, CLASS_MODULE_NOT_FOUND, err, "No module named '%.*s'",
				(int)strcspn(name, "."), name);
	buf_printf(&source, "import %.*s as %s\n",
		   whole ? (int)strlen(name) : (int)strcspn(name, "."), name, result_name);
	ok = source.failed ? vm_out_of_memory(vm, err)
			   : run_text(vm, source.data, current(vm), &e, err);
	ok = ok && vm_run_unit(vm, &e->unit, NULL, err) && take_result(vm, e->unit.owner, out, err);
	buf_finish(&source);
	return ok;
}

#define BUILTINS_OF_EVALUATE
const struct builtin evaluate_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
