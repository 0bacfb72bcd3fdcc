/* fusion/capture/guards/text.c -- guards in words, and why one failed.
 *
 * A text names values as the program does (x.size(0), cfg['act']), never by
 * the engine's symbols.
 */
#include <float.h>
#include <inttypes.h>
#include <string.h>
#include <string.h>

#include "fusion/capture/guards/guards.h"

enum {
	MAX_NAMED = 4,  /* symbols of one condition */
	MOST_APART = 8, /* names of tensors that share no memory */
};

/* The type's name where only the kind is left. */
static const char *kind_name(enum value_kind kind)
{
	static const char *const names[] = {
		[VALUE_STR] = "str",
		[VALUE_TUPLE] = "tuple",
		[VALUE_LIST] = "list",
		[VALUE_DICT] = "dict",
		[VALUE_SLICE] = "slice",
		[VALUE_RANGE] = "range",
		[VALUE_ITER] = "iterator",
		[VALUE_FUNCTION] = "function",
		[VALUE_NATIVE] = "builtin",
		[VALUE_MODULE] = "module",
		[VALUE_CELL] = "cell",
		[VALUE_TENSOR] = "Tensor",
		[VALUE_GENERATOR] = "generator",
		[VALUE_SET] = "set",
		[VALUE_CLASS] = "class",
		[VALUE_INSTANCE] = "object",
		[VALUE_METHOD] = "method",
		[VALUE_DESCRIPTOR] = "property",
	};

	if ((size_t)kind < sizeof(names) / sizeof(names[0]) && names[kind])
		return names[kind];
	return value_type_name((struct value){ .kind = kind });
}

static const char *name_of(const struct guards *g, int source)
{
	return source < 0 ? "" : g->sources->at[source].name;
}

/* What a symbol is named for; a symbol that no guard reads has nothing. */
static void home_text(const struct guards *g, int64_t var, struct buf *out)
{
	struct guard_home home = g->homes[var];

	if (home.source < 0)
		buf_puts(out, "a size");
	else if (home.dim < 0)
		buf_puts(out, name_of(g, home.source));
	else
		buf_printf(out, "%s.size(%d)", name_of(g, home.source), home.dim);
}

/* Sizes in the user's terms: "2*x.size(0) + 1". */
static void name_var(void *self, struct buf *out, int var)
{
	home_text(self, var, out);
}

static enum cmpop opposite(enum cmpop op)
{
	switch (op) {
	case CMP_LT:
		return CMP_GE;
	case CMP_LE:
		return CMP_GT;
	case CMP_EQ:
		return CMP_NE;
	case CMP_NE:
		return CMP_EQ;
	case CMP_GT:
		return CMP_LE;
	default:
		return CMP_LT;
	}
}

static void condition_text(const struct guards *g, int64_t index, struct buf *out)
{
	const struct size_condition *c = &g->conditions[index];
	struct sym_namer namer = { (void *)g, name_var };

	if (c->a) {
		sym_print_named(out, c->a, &namer);
		if (c->fits) {
			buf_puts(out, " has 64 bits");
			return;
		}
	} else if (c->y) {
		symreal_print(out, c->x, &namer);
	} else if (c->most == DBL_MAX) {
		symreal_print(out, c->x, &namer);
		buf_puts(out, " is finite");
		return;
	} else {
		buf_puts(out, "abs(");
		symreal_print(out, c->x, &namer);
		buf_printf(out, ") <= %g", c->most);
		return;
	}
	buf_printf(out, " %s ", cmpop_symbol(c->outcome ? c->op : opposite(c->op)));
	if (c->a)
		sym_print_named(out, c->b, &namer);
	else
		symreal_print(out, c->y, &namer);
}

struct telling {
	const struct guards *g;
	struct buf *out;
	int named[MAX_NAMED];
	int n;
};

static void var_value(const struct guards *g, int var, const int64_t *vars, struct buf *out)
{
	const struct guard_home *home = &g->homes[var];
	double f;

	if (home->dim < 0 && g->sources->at[home->source].kind == VALUE_FLOAT) {
		memcpy(&f, &vars[var], sizeof(f));
		value_print(out, value_float(f), false);
	} else {
		buf_printf(out, "%" PRId64, vars[var]);
	}
}

/* "x.size(0) is 3, was 8" for a symbol of a condition, once each. */
static void tell_var(void *self, int var)
{
	struct telling *t = self;

	for (int i = 0; i < t->n; i++)
		if (t->named[i] == var)
			return;
	if (t->n == MAX_NAMED || t->g->homes[var].source < 0 || t->g->vars[var] == t->g->was[var])
		return;
	buf_puts(t->out, t->n ? "; " : ": ");
	t->named[t->n++] = var;
	home_text(t->g, var, t->out);
	buf_puts(t->out, " is ");
	var_value(t->g, var, t->g->vars, t->out);
	buf_puts(t->out, ", was ");
	var_value(t->g, var, t->g->was, t->out);
}

static void condition_reason(const struct guards *g, int64_t index, struct buf *out)
{
	const struct size_condition *c = &g->conditions[index];
	struct telling t = { .g = g, .out = out };

	condition_text(g, index, out);
	buf_puts(out, " no longer holds");
	if (c->a) {
		sym_each_var(c->a, tell_var, &t);
		sym_each_var(c->b, tell_var, &t);
		return;
	}
	symreal_each_var(c->x, tell_var, &t);
	if (c->y)
		symreal_each_var(c->y, tell_var, &t);
}

static void keys_text(const struct dict *dict, struct buf *out)
{
	buf_puts(out, "[");
	for (int i = 0; i < dict->len; i++) {
		buf_puts(out, i ? ", " : "");
		value_print(out, dict->keys[i], false);
	}
	buf_puts(out, "]");
}

static void object_text(const char *name, struct value was, struct buf *out)
{
	if (was.kind == VALUE_CLASS)
		buf_printf(out, "%s is the class %s", name, was.class->name);
	else
		buf_printf(out, "%s is the property that it was", name);
}

/* What is a symbol. */
static const char *number_text(const struct guards *g, const struct guard *at)
{
	if (at->kind == GUARD_INT)
		return "an int";
	return g->sources->at[at->source].value.scalar ? "a float of NumPy's type" : "a float";
}

/* The type of a source, or its value. */
static void source_text(const struct guards *g, const struct guard *at, struct buf *out)
{
	const char *name = name_of(g, at->source), *kind;
	struct value was = at->source < 0 ? value_none() : g->sources->at[at->source].value;

	switch (at->kind) {
	case GUARD_LOAD:
		buf_printf(out, "%s is a variable", name);
		return;
	case GUARD_KIND:
	case GUARD_ITERATOR:
		kind = kind_name(g->sources->at[at->source].kind);
		buf_printf(out, "%s is %s %s", name, strchr("aeiou", kind[0]) ? "an" : "a", kind);
		return;
	case GUARD_SET:
		buf_printf(out, "%s has a value", name);
		return;
	case GUARD_UNSET:
		buf_printf(out, "%s %s", name,
			   g->sources->at[at->source].access == SOURCE_ATTRIBUTE
			       ? "is not set on the object"
			       : "has no value");
		return;
	case GUARD_INT:
	case GUARD_FLOAT:
		buf_printf(out, "%s is %s", name, number_text(g, at));
		return;
	case GUARD_OBJECT:
		object_text(name, was, out);
		return;
	case GUARD_FUNCTION:
		buf_printf(out, "%s is the function %s", name,
			   ((const struct code *)at->pointer)->name);
		return;
	case GUARD_NATIVE:
		buf_printf(out, "%s is %s", name, was.native->name);
		return;
	case GUARD_MODULE:
		buf_printf(out, "%s is the module %s", name, was.module->name);
		return;
	case GUARD_INSTANCE:
		buf_printf(out, "type(%s) is %s", name, ((const struct class *)at->pointer)->name);
		return;
	case GUARD_TYPE:
		buf_printf(out, "%s is a Tensor", name);
		return;
	case GUARD_LENGTH:
		buf_printf(out, "len(%s) == %" PRId64, name, at->number);
		return;
	case GUARD_KEYS:
		buf_printf(out, "list(%s) == ", name);
		keys_text(was.dict, out);
		return;
	case GUARD_VALUE:
	case GUARD_EQUAL:
		buf_printf(out, "%s %s ", name, was.kind == VALUE_NONE ? "is" : "==");
		value_print(out, was, false);
		return;
	default:
		return;
	}
}

/* As torch.is_autocast_enabled() says it. */
static void autocast_text(unsigned mode, struct buf *out)
{
	enum autocast_device place = autocast_place(mode);
	const char *name = place == AUTOCAST_CUDA ? "cuda" : "cpu";

	if (!autocast_enabled(mode, place))
		buf_printf(out, "torch.is_autocast_enabled('%s') is False", name);
	else
		buf_printf(out, "torch.is_autocast_enabled('%s') is True, with torch.%s", name,
			   dtype_name(autocast_dtype(mode, place)));
}

/* How two objects are to one another. */
static void pair_text(const struct guards *g, const struct guard *at, struct buf *out)
{
	const char *name = name_of(g, at->source), *other = name_of(g, at->other);

	if (at->kind == GUARD_WITHIN)
		buf_printf(out, "%s lies in the memory of %s, from element %lld on", name, other,
			   (long long)at->number);
	else if (at->kind == GUARD_ALIAS)
		buf_printf(out, "%s has the elements of %s", name, other);
	else if (at->kind == GUARD_IDENTICAL)
		buf_printf(out, "%s is %s", name, other);
	else
		buf_printf(out, "%s is not %s", name, other);
}

/* "a, b, c and 5 more" */
static void names_text(const struct guards *g, int first, int end, struct buf *out)
{
	for (int i = first; i < end && i < first + MOST_APART; i++)
		buf_printf(out, "%s%s", i > first ? ", " : "", name_of(g, g->apart[i]));
	if (end - first > MOST_APART)
		buf_printf(out, " and %d more", end - first - MOST_APART);
}

static void apart_text(const struct guards *g, struct buf *out)
{
	names_text(g, 0, g->n_written, out);
	buf_puts(out, g->n_written > 1 ? " share no memory" : " shares no memory");
	if (g->n_written < g->n_apart) {
		buf_puts(out, " with ");
		names_text(g, g->n_written, g->n_apart, out);
	}
	if (g->n_written > 1)
		buf_puts(out, g->n_written < g->n_apart ? ", nor with one another"
							: " with one another");
}

static void write_text(const struct guards *g, const struct guard *at, struct buf *out)
{
	const char *name = name_of(g, at->source);
	struct value was = at->source < 0 ? value_none() : g->sources->at[at->source].value;

	switch (at->kind) {
	case GUARD_RANK:
		buf_printf(out, "%s.dim() == %" PRId64, name, at->number);
		return;
	case GUARD_SIZE:
		buf_printf(out, "%s.size(%d) == %" PRId64, name, at->dim, at->number);
		/* PyTorch: an error */
		if (was.kind == VALUE_TENSOR && (was.tensor->dynamic_dims >> at->dim & 1))
			buf_puts(out, " (marked dynamic, but the program needs the number: "
				      "a ConstraintViolationError in PyTorch)");
		return;
	case GUARD_SYMBOL:
		buf_printf(out, "2 <= %s.size(%d)", name, at->dim);
		return;
	case GUARD_SAME_SIZE:
		buf_printf(out, "%s.size(%d) == ", name, at->dim);
		home_text(g, at->number, out);
		return;
	case GUARD_DTYPE:
		buf_printf(out, "%s.dtype == %s", name, dtype_name((enum dtype)at->number));
		return;
	case GUARD_GRAD:
		buf_printf(out, "%s.requires_grad == %s", name, at->number ? "True" : "False");
		return;
	case GUARD_LEAF:
		buf_printf(out, "%s.is_leaf == %s", name, at->number ? "True" : "False");
		return;
	case GUARD_CONTIGUOUS:
		buf_printf(out, "%s.is_contiguous()", name);
		return;
	case GUARD_STRIDE:
		buf_printf(out, "%s.stride(%d) == %" PRId64, name, at->dim, at->number);
		return;
	case GUARD_IDENTICAL:
	case GUARD_DISJOINT:
	case GUARD_ALIAS:
	case GUARD_OTHER:
	case GUARD_WITHIN:
		pair_text(g, at, out);
		return;
	case GUARD_APART:
		apart_text(g, out);
		return;
	case GUARD_CONDITION:
		condition_text(g, at->number, out);
		return;
	case GUARD_MODES:
		buf_printf(out, "torch.is_grad_enabled() is %s", g->grad_off ? "False" : "True");
		if (g->autocast) {
			buf_puts(out, ", ");
			autocast_text(g->autocast, out);
		}
		return;
	default:
		source_text(g, at, out);
	}
}

const char *guard_text(const struct guards *g, const struct guard *guard, struct arena *arena)
{
	const char *text = NULL;
	struct buf buf;

	buf_init(&buf, 4096);
	write_text(g, guard, &buf);
	if (buf.data)
		text = arena_strdup(arena, buf.data);
	buf_finish(&buf);
	return text;
}

/* "a Tensor", "a float", "None". */
static void type_text(enum value_kind kind, struct buf *out)
{
	const char *type = kind_name(kind);

	if (kind == VALUE_NONE)
		buf_puts(out, "None");
	else
		buf_printf(out, "%s %s", type[0] == 'i' ? "an" : "a", type);
}

/* A value that was burned in: both values, or both types where these differ. */
static void value_reason(const struct source *source, struct value is, struct buf *out)
{
	bool by_type = is.kind != source->kind || is.kind == VALUE_TENSOR;

	buf_printf(out, "%s is ", source->name);
	if (by_type)
		type_text(is.kind, out);
	else
		value_print(out, is, false);
	buf_puts(out, ", was ");
	if (by_type)
		type_text(source->kind, out);
	else
		value_print(out, source->value, false);
}

static void tensor_reason(const struct guards *g, const struct guard *at, const struct roots *roots,
			  struct buf *out)
{
	const struct tensor *t = source_value(g->sources, at->source, roots).tensor->memory;
	const char *name = name_of(g, at->source);
	int a, b;

	switch (at->kind) {
	case GUARD_RANK:
		buf_printf(out, "%s.dim() is %d, was %" PRId64, name, t->rank, at->number);
		return;
	case GUARD_SIZE:
		buf_printf(out, "%s.size(%d) is %" PRId64 ", was %" PRId64, name, at->dim,
			   t->size[at->dim], at->number);
		return;
	case GUARD_SYMBOL:
		buf_printf(out, "%s.size(%d) is %" PRId64 ", was 2 or more", name, at->dim,
			   t->size[at->dim]);
		return;
	case GUARD_SAME_SIZE:
		buf_printf(out, "%s.size(%d) is %" PRId64 ", was equal to ", name, at->dim,
			   t->size[at->dim]);
		home_text(g, at->number, out);
		buf_printf(out, ", which is %" PRId64, g->vars[at->number]);
		return;
	case GUARD_DTYPE:
		buf_printf(out, "%s.dtype is %s, was %s", name, dtype_name(t->dtype),
			   dtype_name((enum dtype)at->number));
		return;
	case GUARD_STRIDE:
		buf_printf(out, "%s.stride(%d) is %" PRId64 ", was %" PRId64, name, at->dim,
			   t->stride[at->dim], at->number);
		return;
	case GUARD_GRAD:
		buf_printf(out, "%s.requires_grad is %s, was %s", name,
			   at->number ? "False" : "True", at->number ? "True" : "False");
		return;
	case GUARD_LEAF:
		buf_printf(out, "%s.is_leaf is %s, was %s", name, at->number ? "False" : "True",
			   at->number ? "True" : "False");
		return;
	case GUARD_CONTIGUOUS:
		buf_printf(out, "%s is not contiguous, was contiguous", name);
		return;
	case GUARD_IDENTICAL:
		buf_printf(out, "%s is another tensor than %s, was the same", name,
			   name_of(g, at->other));
		return;
	case GUARD_OTHER:
		buf_printf(out, "%s is %s, was another tensor", name, name_of(g, at->other));
		return;
	case GUARD_ALIAS:
	case GUARD_WITHIN:
		buf_printf(out, "%s lies elsewhere than in the memory of %s, or at another place",
			   name, name_of(g, at->other));
		return;
	default: /* GUARD_APART */
		if (guards_find_shared(g, &a, &b))
			buf_printf(out, "%s shares memory with %s, did not before", name_of(g, a),
				   name_of(g, b));
	}
}

/* Two objects, which are the same now or are no longer. */
static void identity_reason(const struct guards *g, const struct guard *at, struct buf *out)
{
	if (at->kind == GUARD_IDENTICAL)
		buf_printf(out, "%s is another object than %s, was the same",
			   name_of(g, at->source), name_of(g, at->other));
	else
		buf_printf(out, "%s is %s, was another object", name_of(g, at->source),
			   name_of(g, at->other));
}

/* "the function g (line 4)" */
static void function_text(const struct code *code, struct buf *out)
{
	buf_printf(out, "the function %s (line %d)", code->name, code->line - code->lines_before);
}

/* Of the same kind, but not the one that it was. */
static void another_reason(const struct guard *at, const struct source *source, struct value is,
			   struct buf *out)
{
	struct value was = source->value;

	buf_printf(out, "%s is ", source->name);
	if (is.kind == VALUE_FUNCTION && is.function->code == at->pointer) {
		buf_printf(out, "%s with other defaults than before", is.function->code->name);
	} else if (is.kind == VALUE_FUNCTION) {
		function_text(is.function->code, out);
		buf_puts(out, ", was ");
		function_text(at->pointer, out);
	} else if (is.kind == VALUE_NATIVE && was.kind == VALUE_NATIVE) {
		buf_printf(out, "%s, was %s", is.native->name, was.native->name);
	} else if (is.kind == VALUE_CLASS && was.kind == VALUE_CLASS) {
		buf_printf(out, "the class %s, was %s", is.class->name, was.class->name);
	} else if (is.kind == VALUE_INSTANCE && was.kind == VALUE_CLASS) {
		buf_printf(out, "an object of class %s, was one of %s", is.instance->class->name,
			   was.class->name);
	} else if (is.kind == VALUE_ITER && is.iter->position != at->number) {
		buf_printf(out, "at item %" PRId64 ", was at %" PRId64, is.iter->position,
			   at->number);
	} else {
		buf_printf(out, "another %s than it was", value_type_name(is));
	}
}

/* The dims that torch._dynamo.mark_dynamic() has marked and the guard does not know. */
static void marks_reason(const struct source *source, unsigned dims, struct buf *out)
{
	const char *before = "";

	buf_printf(out, "%s is marked dynamic in ", source->name);
	for (int d = 0; dims >> d; d++)
		if (dims >> d & 1) {
			buf_printf(out, "%sdimension %d", before, d);
			before = ", ";
		}
	buf_puts(out, ", was not");
}

/* Types, lengths, keys and burned-in values. */
static void source_reason(const struct guards *g, const struct guard *at, const struct roots *roots,
			  struct buf *out)
{
	const struct source *source = &g->sources->at[at->source];
	struct value is = source_value(g->sources, at->source, roots);

	switch (at->kind) {
	case GUARD_LENGTH:
	case GUARD_KEYS:
	case GUARD_TYPE:
	case GUARD_VALUE:
	case GUARD_EQUAL:
	case GUARD_INT:
	case GUARD_FLOAT:
	case GUARD_KIND:
		break;
	case GUARD_UNSET:
		buf_printf(out, "%s is ", source->name);
		value_print(out, is, false);
		buf_puts(out, source->access == SOURCE_ATTRIBUTE ? ", was not set on the object"
								 : ", had no value");
		return;
	default:
		if (is.kind == source->kind) {
			another_reason(at, source, is, out);
			return;
		}
	}
	if (is.kind == VALUE_UNSET) {
		buf_printf(out, "%s has no value, had one", source->name);
	} else if (at->kind == GUARD_TYPE && is.kind == VALUE_TENSOR && is.tensor->memory) {
		marks_reason(source, is.tensor->dynamic_dims & ~(unsigned)at->number, out);
	} else if (is.kind != source->kind || at->kind == GUARD_TYPE || at->kind == GUARD_VALUE ||
		   at->kind == GUARD_EQUAL) {
		value_reason(source, is, out);
	} else if (at->kind == GUARD_LENGTH && is.list->len == at->number) {
		buf_printf(out, "%s is a tuple of another type", source->name);
	} else if (at->kind == GUARD_LENGTH) {
		buf_printf(out, "len(%s) is %d, was %" PRId64, source->name, is.list->len,
			   at->number);
	} else {
		buf_printf(out, "list(%s) is ", source->name);
		keys_text(is.dict, out);
		buf_puts(out, ", was ");
		keys_text(source->value.dict, out);
	}
}

static void modes_reason(const struct guards *g, const struct torch_modes *now, struct buf *out)
{
	if (now->grad_off != g->grad_off) {
		buf_printf(out, "torch.is_grad_enabled() is %s, was %s",
			   now->grad_off ? "False" : "True", g->grad_off ? "False" : "True");
		return;
	}
	if (now->real != g->real) {
		buf_printf(out, "torch.get_default_dtype() is torch.%s, was torch.%s",
			   dtype_name(now->real), dtype_name(g->real));
		return;
	}
	if (now->ordered != g->ordered) {
		buf_printf(out, "torch.are_deterministic_algorithms_enabled() is %s, was %s",
			   now->ordered ? "True" : "False", g->ordered ? "True" : "False");
		return;
	}
	if (now->function_modes != g->function_modes) {
		buf_printf(out, "%d TorchFunctionModes are open, and %d were", now->function_modes,
			   g->function_modes);
		return;
	}
	autocast_text(now->autocast, out);
	buf_puts(out, ", but ");
	autocast_text(g->autocast, out);
	buf_puts(out, " when it was captured");
}

void guards_reason(const struct guards *g, int index, const struct roots *roots, struct buf *out)
{
	const struct guard *at = &g->at[index];

	if (at->kind == GUARD_CONDITION) {
		condition_reason(g, at->number, out);
	} else if (at->kind == GUARD_MODES) {
		modes_reason(g, &roots->vm->modes, out);
	} else if (at->kind < GUARD_RANK) {
		source_reason(g, at, roots, out);
	} else if (g->sources->at[at->source].kind != VALUE_TENSOR) {
		identity_reason(g, at, out);
	} else {
		tensor_reason(g, at, roots, out);
	}
}
