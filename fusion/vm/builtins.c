/* fusion/vm/builtins.c -- the table's reader: lookup, and the checks that
 * every call of a builtin passes. */
#include "fusion/vm/builtins.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

static const struct builtin *const sections[] = {
#define BUILTINS_SECTION(file) file##_builtins,
#include "fusion/vm/builtins.def"
#undef BUILTINS_SECTION
};

#undef BUILTIN
#undef IMPURE
#define BUILTIN(...) +1
#define IMPURE(...) +1
#define BUILTINS_OF_ALL
enum {
	COUNT = 0
#include "fusion/vm/builtins.def"
};

/* The rows, by id; and by their names: from a name's hash its first row, from a row the next of
 * that hash; 0 is the end, there rows count from 1. */
static const struct builtin *rows[COUNT];
static struct {
	uint16_t first[512], next[COUNT];
} index_of;

static unsigned int hash_of(const char *name)
{
	unsigned int hash = 0;

	for (; *name; name++)
		hash = hash * 31 + (unsigned char)*name;
	return hash % (sizeof(index_of.first) / sizeof(index_of.first[0]));
}

static void fill_index(void)
{
	int n = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		for (const struct builtin *row = sections[i]; row->name; row++)
			rows[n++] = row;
	while (n-- > 0) {
		uint16_t *first = &index_of.first[hash_of(rows[n]->name)];

		index_of.next[n] = *first;
		*first = (uint16_t)(n + 1);
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_index);
}

int builtin_count(void)
{
	prepare();
	return COUNT;
}

const struct builtin *builtin_row(int id)
{
	return rows[id];
}

int builtin_find(const char *scope, const char *name)
{
	prepare();
	for (int i = index_of.first[hash_of(name)] - 1; i >= 0; i = index_of.next[i] - 1)
		if (strcmp(rows[i]->name, name) == 0 && strcmp(rows[i]->scope, scope) == 0)
			return i;
	return -1;
}

bool builtin_is_name(const char *name)
{
	return builtin_find("", name) >= 0 || class_named(name) != CLASS_PROGRAM ||
	       strcmp(name, "Ellipsis") == 0;
}

struct value builtin_named(struct vm *vm, const char *name)
{
	int id = builtin_find("", name);
	enum class_id class = id < 0 ? class_named(name) : CLASS_PROGRAM;
	struct class *found;

	if (id >= 0)
		return builtin_value(id, (struct value){ 0 });
	if (strcmp(name, "Ellipsis") == 0)
		return (struct value){ .kind = VALUE_ELLIPSIS };
	found = class != CLASS_PROGRAM ? class_builtin(vm, class, NULL) : NULL;
	return found ? value_ref(value_of(found)) : (struct value){ .kind = VALUE_UNSET };
}

static bool takes_keyword(const struct builtin *row, const char *name)
{
	size_t len = strlen(name);

	if (strcmp(row->keywords, "*") == 0)
		return true;
	for (const char *p = row->keywords; *p; p += strspn(p, " ")) {
		size_t word = strcspn(p, " ");

		if (word == len && memcmp(p, name, len) == 0)
			return true;
		p += word;
	}
	return false;
}

static bool wrong_count(const struct builtin *row, int n, struct err *err)
{
	bool few = n < row->least;
	int limit = few ? row->least : row->most;
	const char *how = row->least == row->most ? "exactly" : few ? "at least" : "at most";

	if (row->most == 0)
		return err_set(err, ERR_TYPE, "%s() takes no arguments (%d given)", row->name, n);
	return err_set(err, ERR_TYPE, "%s() takes %s %d argument%s (%d given)", row->name, how,
		       limit, limit == 1 ? "" : "s", n);
}

bool builtin_is_static(const struct builtin *row)
{
	return strcmp(row->name, "fromkeys") == 0 || strcmp(row->name, "maketrans") == 0 ||
	       strcmp(row->name, "from_bytes") == 0;
}

static bool is_method(const struct builtin *row)
{
	static const char *const scopes[] = { "list", "tuple",     "dict",  "str", "range",
					      "set",  "frozenset", "float", "int", "generator" };

	if (!row->scope[0] || strcmp(row->scope, "math") == 0)
		return false; /* most calls */
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (strcmp(row->scope, scopes[i]) == 0)
			return !builtin_is_static(row);
	return false;
}

/* list.append(items, x): the first argument is self. */
static bool unbound(struct vm *vm, struct builtin_call *call, struct err *err)
{
	const char *type = call->row->scope;

	if (call->n == 0 || strcmp(value_type_name(call->args[0]), type) != 0)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s.%s() needs a %s first", type,
				call->row->name, type);
	if (call->args[0].kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, call->args[0], err);
	call->self = call->args[0];
	call->args++;
	call->n--;
	return true;
}

static bool has_symbol(struct value v, int depth)
{
	if (v.kind == VALUE_SYMINT || v.kind == VALUE_SYMREAL || v.kind == VALUE_SYMFLOAT)
		return true;
	for (int i = 0;
	     depth > 0 && (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST) && i < v.list->len; i++)
		if (has_symbol(v.list->at[i], depth - 1))
			return true;
	return false;
}

/* str(n), repr((n, k)): torch does not trace these where n is a symbol. */
static bool is_text_of_symbols(const struct builtin *row, const struct builtin_call *call)
{
	enum { DEEPEST = 8 };

	return !row->scope[0] &&
	       (strcmp(row->name, "str") == 0 || strcmp(row->name, "repr") == 0) && call->n == 1 &&
	       has_symbol(call->args[0], DEEPEST);
}

bool builtin_call(struct vm *vm, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err)
{
	const struct builtin *row = rows[f->id];
	struct builtin_call call = { row, f->self, args->at, args->n - (args->kw ? args->kw->n : 0),
				     args->kw };

	if (f->self.kind == VALUE_UNSET && is_method(row) && !unbound(vm, &call, err))
		return false;
	if (call.n < row->least || (row->most >= 0 && call.n > row->most))
		return wrong_count(row, call.n, err);
	for (int i = 0; args->kw && i < args->kw->n; i++)
		if (!takes_keyword(row, args->kw->names[i].str->text))
			return err_set(err, ERR_TYPE,
				       "%s() got an unexpected keyword argument '%s'", row->name,
				       args->kw->names[i].str->text);
	if (vm->host->builtin_break && (row->impure || is_text_of_symbols(row, &call))) {
		struct vm_host *host = vm_host_here(vm);

		if (!host->builtin_break(host->self, f, err))
			return false;
	}
	return row->run(vm, &call, out, err);
}

bool builtin_keyword(const struct builtin_call *call, const char *name, struct value *out)
{
	for (int i = 0; call->kw && i < call->kw->n; i++)
		if (strcmp(call->kw->names[i].str->text, name) == 0) {
			*out = call->args[call->n + i];
			return true;
		}
	return false;
}

bool builtin_double(struct vm *vm, struct value v, double *out, struct err *err)
{
	struct vm_host *host;
	struct value n;

	if (value_is_hosted(v)) {
		host = vm_host_here(vm);
		if (!host->to_number(host->self, VALUE_FLOAT, v, &n, err))
			return false;
		v = n;
	}
	if (!value_is_number(v))
		return err_set(err, ERR_TYPE, "must be real number, not %s", value_type_name(v));
	*out = value_as_double(v);
	return true;
}

struct tensor_text {
	struct vm *vm;
	struct err *err;
	bool failed;
};

/* The text of a hook of the class, which must be a string. */
static bool text_from_hook(struct vm *vm, struct value v, const char *hook, struct buf *text,
			   bool *found, struct err *err)
{
	struct value s;
	bool ok;

	if (!instance_call(vm, &(struct method_call){ &v, hook, NULL, 0 }, &s, found, err))
		return false;
	if (!*found)
		return true;
	ok = value_is_text(s) && text_append(vm, s, text, err);
	if (!value_is_text(s))
		vm_raise(vm, CLASS_TYPE_ERROR, err, "%s returned non-string (type %s)", hook,
			 value_type_name(s));
	value_unref(s);
	return ok;
}

static bool exception_repr(struct vm *vm, struct value v, struct buf *text, struct err *err)
{
	const struct list *args = v.instance->payload.list;

	buf_puts(text, v.instance->class->name);
	if (args->len != 1)
		return builtin_text(vm, v.instance->payload, false, text, err);
	buf_putc(text, '(');
	if (!builtin_text(vm, args->at[0], false, text, err))
		return false;
	buf_putc(text, ')');
	return true;
}

/* Appends str(v) (plain) or repr(v) of an instance. */
static bool object_text(struct vm *vm, struct value v, bool plain, struct buf *text,
			struct err *err)
{
	bool found = false, ok = true;

	if (v.kind == VALUE_CLASS) { /* as its metaclass has it */
		if (v.class->meta && class_lookup(v.class->meta, "__repr__") &&
		    !text_from_hook(vm, v, "__repr__", text, &found, err))
			return false;
		if (!found)
			value_print(text, v, plain);
		return true;
	}
	if (v.kind != VALUE_INSTANCE)
		return builtin_text(vm, v, plain, text, err);
	if (vm->depth >= vm->limits.depth)
		return err_set(err, ERR_RECURSION, "maximum recursion depth exceeded in a repr");
	if (!exception_realize(vm, v, err))
		return false;
	vm->depth++;
	if (plain)
		ok = text_from_hook(vm, v, "__str__", text, &found, err);
	if (ok && !found && plain && v.instance->payload.kind == VALUE_TUPLE)
		ok = found = exception_text(vm, v, text, err);
	if (ok && !found)
		ok = text_from_hook(vm, v, "__repr__", text, &found, err);
	if (ok && !found && v.instance->payload.kind == VALUE_TUPLE)
		ok = found = exception_repr(vm, v, text, err);
	if (ok && !found)
		buf_printf(text, "<%s object>", v.instance->class->name);
	vm->depth--;
	return ok;
}

static void print_tensor(void *context, struct buf *out, struct value tensor)
{
	struct tensor_text *t = context;
	struct vm_host *host = vm_host_here(t->vm);
	struct value size;
	bool known = false;

	if (tensor.kind != VALUE_TENSOR && tensor.kind != VALUE_INSTANCE &&
	    tensor.kind != VALUE_CLASS) { /* its text is its value: a size to hold from here on */
		if (t->failed)
			return;
		t->failed = host->number_text &&
			    !host->number_text(host->self, tensor, &known, out, t->err);
		if (t->failed || known)
			return;
		if (host->to_number(host->self, value_plain_kind(tensor), tensor, &size, t->err))
			value_print(out, size, false);
		else
			t->failed = true;
	} else if (tensor.kind != VALUE_TENSOR) {
		if (!t->failed && !object_text(t->vm, tensor, false, out, t->err))
			t->failed = true;
	} else if (!host->repr) {
		buf_puts(out, "tensor(...)");
	} else if (!t->failed && !host->repr(host->self, tensor, out, t->err)) {
		t->failed = true;
	}
}

bool builtin_text(struct vm *vm, struct value v, bool plain, struct buf *text, struct err *err)
{
	struct tensor_text t = { vm, err, false };

	if (plain && v.kind == VALUE_INSTANCE) /* those inside of others print their repr */
		return object_text(vm, v, true, text, err);
	if (plain && v.kind == VALUE_DEFERRED_TEXT)
		return text_append(vm, v, text, err);
	value_print_with(text, v, plain, print_tensor, &t);
	if (t.failed)
		return false;
	if (text->failed)
		return vm_out_of_memory(vm, err);
	return vm_spend(vm, (int64_t)(text->len / 16), err);
}

bool builtin_take_text(struct vm *vm, struct buf *text, struct value *out, struct err *err)
{
	struct value v = { .kind = VALUE_UNSET };
	struct vm_host *host = vm->host;

	if (host->deferred_text && !text->failed && text_has_gaps(text)) {
		bool ok = host->deferred_text(host->self, text, out, err);

		buf_finish(text);
		return ok;
	}
	if (!text->failed)
		v = value_str(text->data ? text->data : "", text->len);
	buf_finish(text);
	return vm_keep(vm, v, out, err);
}
