/* fusion/graph/autocast.c -- what the autocast classes of ops.def mean; see op.h. */
#include "fusion/graph/op.h"

#include <string.h>

const char *autocast_class_name(enum autocast_class c)
{
	static const char *const names[] = { "none", "lower", "float32", "promote", "banned" };

	return names[c];
}

static bool floats(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT && dtype != DTYPE_F64;
}

/* The widest among those that float; float64 promotes by itself. */
static enum dtype widest(enum dtype lower, const enum dtype *operands, int n)
{
	for (int i = 0; i < n; i++)
		if (floats(operands[i]) && operands[i] != lower)
			return DTYPE_F32;
	return lower;
}

bool autocast_sums(const char *equation)
{
	const char *comma = strchr(equation, ','), *arrow = strstr(equation, "->");
	const char *end = arrow ? arrow : equation + strlen(equation);

	for (const char *c = equation; comma && c < comma; c++)
		if (((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')) &&
		    memchr(comma, *c, (size_t)(end - comma)) && !(arrow && strchr(arrow, *c)))
			return true;
	return false;
}

/* PyTorch goes from left to right: what is neither float32 nor autocast's own dtype comes after a
 * float32 operand, or is refused. */
static bool promotes(enum dtype lower, const enum dtype *operands, int n)
{
	for (int i = 0; i < n && operands[i] != DTYPE_F32; i++)
		if (floats(operands[i]) && operands[i] != lower)
			return false;
	return true;
}

bool autocast_target(enum op op, enum autocast_device device, enum dtype lower,
		     const enum dtype *operands, int n, enum dtype *to, struct err *err)
{
	enum autocast_class c = op_info(op)->autocast[device];

	if (c == AUTOCAST_NONE)
		return false;
	if (c == AUTOCAST_BANNED) {
		err_set(err, ERR_UNSUPPORTED,
			"torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe "
			"to autocast; take binary_cross_entropy_with_logits or BCEWithLogitsLoss, "
			"which are safe, and leave the sigmoid before it out");
		return false;
	}
	if (c == AUTOCAST_PROMOTE && !promotes(lower, operands, n)) {
		err_set(err, ERR_OP,
			"Unexpected floating ScalarType in at::autocast::prioritize: the operands "
			"of this op are of a low precision that is not autocast's, %s; cast them",
			dtype_name(lower));
		return false;
	}
	*to = c == AUTOCAST_FLOAT32 ? DTYPE_F32
	      : c == AUTOCAST_LOWER ? lower
				    : widest(lower, operands, n);
	for (int i = 0; i < n; i++)
		if (floats(operands[i]) && operands[i] != *to)
			return true;
	return false;
}
