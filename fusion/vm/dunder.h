/* fusion/vm/dunder.h -- what operators.c asks of classes, sets and types.
 *
 * *found false, and no error: the operands do not define the operator. */
#ifndef FUSION_CAPTURE_DUNDER_H
#define FUSION_CAPTURE_DUNDER_H

#include "fusion/vm/frame.h"

bool dunder_binary(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
		   struct value *out, bool *found, struct err *err);
bool dunder_compare(struct vm *vm, enum cmpop op, struct value a, struct value b, struct value *out,
		    bool *found, struct err *err);
bool dunder_unary(struct vm *vm, enum unop op, struct value a, struct value *out, bool *found,
		  struct err *err);
bool dunder_truth(struct vm *vm, struct value v, bool *out, struct err *err);

/* a op b of two sets, or of two types (a | b: a tuple of them). */
bool set_or_type_binary(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
			struct value *out, bool *found, struct err *err);
bool set_binary(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
		struct value *out, struct err *err);

/* views.c: d.keys() and d.items() are sets where they stand beside a set or a view. */
bool is_set_view(struct value v);
bool view_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		 struct err *err);
bool view_contains(struct vm *vm, const struct iter *view, struct value item, bool *out,
		   struct err *err);
bool view_compare(struct vm *vm, enum cmpop op, struct value a, struct value b, bool *out,
		  bool *found, struct err *err);
bool set_order(enum cmpop op, const struct dict *a, const struct dict *b);

#endif
