/* fusion/vm/operators.h -- what instructions do to values.
 *
 * Python's semantics, the same for every caller (the interpreter loop or a
 * builtin).  Operands are borrowed, *out is the caller's reference.  Where an
 * operand is a tensor or a symbolic size the host decides.
 */
#ifndef FUSION_VM_OPERATORS_H
#define FUSION_VM_OPERATORS_H

#include "fusion/vm/frame.h"
#include "fusion/vm/realize.h"
#include "fusion/base/utf8.h"

static inline bool value_is_hosted(struct value v)
{
	return v.kind == VALUE_TENSOR || (v.kind >= VALUE_SYMINT && v.kind <= VALUE_DEFERRED_BOOL);
}

/* The kind of plain number that to_number() gives for one of the host's. */
static inline enum value_kind value_plain_kind(struct value v)
{
	return v.kind == VALUE_SYMINT || v.kind == VALUE_DEFERRED_INT     ? VALUE_INT
	       : v.kind == VALUE_SYMBOOL || v.kind == VALUE_DEFERRED_BOOL ? VALUE_BOOL
									  : VALUE_FLOAT;
}
static inline bool value_is_integer(struct value v)
{
	return v.kind == VALUE_INT || v.kind == VALUE_BOOL;
}
static inline bool value_is_number(struct value v)
{
	return v.kind >= VALUE_BOOL && v.kind <= VALUE_FLOAT;
}
static inline int64_t value_as_int(struct value v) /* of an integer */
{
	return v.kind == VALUE_BOOL ? v.b : v.i;
}
static inline double value_as_double(struct value v) /* of a number */
{
	return v.kind == VALUE_FLOAT ? v.f : (double)value_as_int(v);
}

static inline bool value_is_text(struct value v)
{
	return v.kind == VALUE_STR || v.kind == VALUE_DEFERRED_TEXT;
}

/* numbers.c: arithmetic of two numbers, and of one; TYPE, VALUE. */
bool number_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		   struct err *err);
bool number_unary(struct vm *vm, enum unop op, struct value a, struct value *out, struct err *err);
/* f as a number of that type of NumPy's. */
double scalar_round(double f, enum scalar_type type);
/* f without its fraction; VALUE for nan, and for what needs more than 64 bits. */
bool number_whole(struct vm *vm, double f, struct value *out, struct err *err);
/* -1, 0, 1; 2 where one is nan. */
int number_order(struct value a, struct value b);

/* operators.c: a op b, and a op= b. */
struct value_comparison { /* a op b */
	enum cmpop op;
	struct value a, b;
};
bool op_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
	       struct err *err);
bool op_inplace(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		struct err *err); /* a op= b: the result may be a itself */
bool op_unary(struct vm *vm, enum unop op, struct value a, struct value *out, struct err *err);
bool op_compare(struct vm *vm, enum cmpop op, struct value a, struct value b, struct value *out,
		struct err *err);
bool op_truth(struct vm *vm, struct value v, bool *out, struct err *err);
bool op_equal(struct vm *vm, struct value a, struct value b, bool *out, struct err *err);
bool op_less(struct vm *vm, struct value a, struct value b, bool *out, struct err *err);
bool op_same(struct value a, struct value b); /* `is` */
/* The same; tells the host where the two are not one. */
bool op_is(struct vm *vm, struct value a, struct value b);

/* sequence.c: subscripts, lengths, membership; sequence.c: o[index] = v. */
bool op_subscript(struct vm *vm, struct value o, struct value index, struct value *out,
		  struct err *err);
bool op_store_subscript(struct vm *vm, struct value o, struct value index, struct value v,
			struct err *err);
bool op_length(struct vm *vm, struct value v, struct value *out, struct err *err);
bool op_contains(struct vm *vm, struct value container, struct value item, bool *out,
		 struct err *err);
/* A whole number from an int, a bool, or through the host; `what` is named in
 * the TYPE error ("list indices"). */
bool op_index(struct vm *vm, struct value v, const char *what, int64_t *out, struct err *err);
/* Makes *key fit for `dict`: a size whose value is not fixed gets it here, in a tuple in place,
 * since a dict finds keys by value; in place of an object whose class has __eq__ and __hash__
 * comes the key of `dict` that equals it, where there is one.  Borrowed, as it was.  False with
 * a TYPE error for a list and its like. */
bool op_make_key(struct vm *vm, const struct dict *dict, struct value *key, struct err *err);
/* Python's slice.indices() of a sequence of n, and how many that are. */
struct sequence_cut {
	int64_t start, stop, step, count;
};
/* KeyError; false. */
bool op_no_key(struct vm *vm, struct value key, struct err *err);

/* in characters */
static inline int64_t str_length(const struct str *s)
{
	return utf8_count(s->text, s->text + s->len);
}

/* iterate.c */
bool op_iter(struct vm *vm, struct value v, struct value *out, struct err *err);
/* *more is false at the end, and *out is then untouched. */
bool op_next(struct vm *vm, struct iter *it, struct value *out, bool *more, struct err *err);
/* to[0..n) get the items, to[0] the first. */
bool op_unpack(struct vm *vm, struct value v, int n, struct value *to, struct err *err);
/* Takes over what an object with keys() has: each with what o[key] gives; not *known: it has
 * none. */
bool dict_update_by_keys(struct vm *vm, struct dict *dict, struct value o, bool *known,
			 struct err *err);
/* A list of all items; appends to `list`. */
bool op_extend(struct vm *vm, struct list *list, struct value v, struct err *err);

/* methods_set.c: all items of an iterable; a with b, an iterable, as
 * a new set of a's kind; whether b has all of a. */
enum set_op { SET_UNION, SET_INTERSECTION, SET_DIFFERENCE, SET_SYMMETRIC };
bool set_combine(struct vm *vm, enum set_op op, struct value a, struct value b, struct value *out,
		 struct err *err);
bool set_replace(struct vm *vm, struct dict *set, const struct dict *items, struct err *err);
bool set_within(struct vm *vm, const struct dict *a, const struct dict *b, bool *out,
		struct err *err);

/* attributes.c; `site` may be NULL. */
bool op_attribute(struct vm *vm, struct attr_site *site, struct value o, const char *name,
		  struct value *out, struct err *err);
/* *found false, and no error, where that would raise AttributeError. */
bool op_find_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
		       bool *found, struct err *err);
bool op_store_attribute(struct vm *vm, struct value o, const char *name, struct value v,
			struct err *err);
bool op_delete_attribute(struct vm *vm, struct value o, const char *name, struct err *err);
bool op_delete_subscript(struct vm *vm, struct value o, struct value index, struct err *err);

/* format.c: format(v, spec) as an f-string field does, appended to `text`. */
bool op_format(struct vm *vm, struct value v, const char *spec, size_t len, struct buf *text,
	       struct err *err);

/* a op b of two sets: | & - ^. */
bool set_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		struct err *err);

/* views.c: d.keys() and d.items() are sets beside a set or a view.  *found false, and no
 * error: the operands do not define the operator. */
static inline bool is_set_view(struct value v)
{
	return v.kind == VALUE_ITER && v.iter->view &&
	       (v.iter->iter_kind == ITER_ITEMS || v.iter->over.kind == VALUE_DICT) &&
	       v.iter->iter_kind != ITER_VALUES;
}

bool view_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		 struct err *err);
bool view_contains(struct vm *vm, const struct iter *view, struct value item, bool *out,
		   struct err *err);
bool view_compare(struct vm *vm, const struct value_comparison *c, bool *out, bool *found,
		  struct err *err);

#endif
