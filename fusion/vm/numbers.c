/* fusion/vm/numbers.c -- int, float and bool arithmetic.
 *
 * Python's: // and % round toward minus infinity, / of ints is a float, ints
 * to a negative power are floats.  Python's ints grow without bound and these
 * do not, so a result beyond 64 bits is an error and never a wrapped number. */
#include <math.h>

#include "fusion/base/buf.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/graph/symreal.h"

static bool too_large(struct vm *vm, enum binop op, struct value a, struct value b, struct err *err)
{
	return vm_raise(vm, CLASS_OVERFLOW_ERROR, err,
			"%lld %s %lld needs more than 64 bits; whole numbers have 64 bits here, "
			"write a float (1.0) for larger ones",
			(long long)value_as_int(a), binop_symbol(op), (long long)value_as_int(b));
}

/* What Python says depends on the operator. */
static bool zero_division(struct vm *vm, enum binop op, bool floats, struct err *err)
{
	const char *text = op == BIN_TRUEDIV
			       ? (floats ? "float division by zero" : "division by zero")
			   : op == BIN_MOD ? (floats ? "float modulo" : "integer modulo by zero")
			   : floats        ? "float floor division by zero"
					   : "integer division or modulo by zero";

	vm_raise(vm, CLASS_ZERO_DIVISION_ERROR, err, "%s", text);
	return err_set(err, ERR_VALUE, "division by zero");
}

static bool unsupported(enum binop op, struct value a, struct value b, struct err *err)
{
	return err_set(err, ERR_TYPE, "unsupported operand type(s) for %s: '%s' and '%s'",
		       binop_symbol(op), value_type_name(a), value_type_name(b));
}

static bool float_pow(struct vm *vm, double a, double b, struct value *out, struct err *err)
{
	double r;

	if (a == 0 && b < 0)
		return vm_raise(vm, CLASS_ZERO_DIVISION_ERROR, err,
				"0.0 cannot be raised to a negative power");
	if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
		return err_set(err, ERR_VALUE,
			       "a negative number to a fractional power is complex; complex "
			       "numbers are not supported");
	r = pow(a, b);
	if (isinf(r) && isfinite(a) && isfinite(b))
		return vm_raise(vm, CLASS_OVERFLOW_ERROR, err,
				"the result of ** is too large for a float");
	*out = value_float(r);
	return true;
}

static bool float_binary(struct vm *vm, enum binop op, struct value x, struct value y,
			 struct value *out, struct err *err)
{
	double a = value_as_double(x), b = value_as_double(y), q, r;

	switch (op) {
	case BIN_ADD:
		*out = value_float(a + b);
		return true;
	case BIN_SUB:
		*out = value_float(a - b);
		return true;
	case BIN_MUL:
		*out = value_float(a * b);
		return true;
	case BIN_TRUEDIV:
		if (b == 0)
			return zero_division(vm, op, true, err);
		*out = value_float(a / b);
		return true;
	case BIN_FLOORDIV:
	case BIN_MOD:
		if (b == 0)
			return zero_division(vm, op, true, err);
		real_divmod(a, b, &q, &r);
		*out = value_float(op == BIN_MOD ? r : q);
		return true;
	case BIN_POW:
		return float_pow(vm, a, b, out, err);
	default:
		return unsupported(op, x, y, err);
	}
}

static bool int_pow(struct vm *vm, struct value x, struct value y, struct value *out,
		    struct err *err)
{
	int64_t base = value_as_int(x), exponent = value_as_int(y), r = 1;

	if (exponent < 0)
		return float_pow(vm, (double)base, (double)exponent, out, err);
	if (base == 0 || base == 1 || base == -1) { /* any exponent fits */
		*out = value_int(exponent == 0 ? 1 : base == -1 && exponent % 2 == 0 ? 1 : base);
		return true;
	}
	for (; exponent > 0; exponent--) /* overflows within 63 rounds */
		if (__builtin_mul_overflow(r, base, &r))
			return too_large(vm, BIN_POW, x, y, err);
	*out = value_int(r);
	return true;
}

static bool int_divide(struct vm *vm, enum binop op, struct value x, struct value y,
		       struct value *out, struct err *err)
{
	int64_t a = value_as_int(x), b = value_as_int(y), q, r;

	if (b == 0)
		return zero_division(vm, op, false, err);
	if (op == BIN_TRUEDIV) {
		*out = value_float(real_ratio(a, b));
		return true;
	}
	if (b == -1) { /* INT64_MIN / -1 traps */
		if (op == BIN_FLOORDIV && a == INT64_MIN)
			return too_large(vm, op, x, y, err);
		*out = value_int(op == BIN_FLOORDIV ? -a : 0);
		return true;
	}
	q = a / b;
	r = a % b;
	if (r != 0 && (r < 0) != (b < 0)) {
		q--;
		r += b;
	}
	*out = value_int(op == BIN_FLOORDIV ? q : r);
	return true;
}

static bool int_shift(struct vm *vm, enum binop op, struct value x, struct value y,
		      struct value *out, struct err *err)
{
	int64_t a = value_as_int(x), b = value_as_int(y), r;

	if (b < 0)
		return err_set(err, ERR_VALUE, "negative shift count");
	if (op == BIN_RSHIFT) {
		*out = value_int(a >> (b > 63 ? 63 : b));
		return true;
	}
	r = b > 63 ? 0 : (int64_t)((uint64_t)a << b);
	if (a != 0 && (b > 63 || r >> b != a))
		return too_large(vm, op, x, y, err);
	*out = value_int(r);
	return true;
}

static bool int_binary(struct vm *vm, enum binop op, struct value x, struct value y,
		       struct value *out, struct err *err)
{
	int64_t a = value_as_int(x), b = value_as_int(y), r;
	bool bools = x.kind == VALUE_BOOL && y.kind == VALUE_BOOL;

	switch (op) {
	case BIN_ADD:
		if (__builtin_add_overflow(a, b, &r))
			return too_large(vm, op, x, y, err);
		break;
	case BIN_SUB:
		if (__builtin_sub_overflow(a, b, &r))
			return too_large(vm, op, x, y, err);
		break;
	case BIN_MUL:
		if (__builtin_mul_overflow(a, b, &r))
			return too_large(vm, op, x, y, err);
		break;
	case BIN_TRUEDIV:
	case BIN_FLOORDIV:
	case BIN_MOD:
		return int_divide(vm, op, x, y, out, err);
	case BIN_POW:
		return int_pow(vm, x, y, out, err);
	case BIN_LSHIFT:
	case BIN_RSHIFT:
		return int_shift(vm, op, x, y, out, err);
	case BIN_AND:
	case BIN_OR:
	case BIN_XOR:
		r = op == BIN_AND ? (a & b) : op == BIN_OR ? (a | b) : (a ^ b);
		*out = bools ? value_bool(r != 0) : value_int(r);
		return true;
	default:
		return unsupported(op, x, y, err);
	}
	*out = value_int(r);
	return true;
}

bool number_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		   struct err *err)
{
	if (a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT)
		return float_binary(vm, op, a, b, out, err);
	return int_binary(vm, op, a, b, out, err);
}

bool number_unary(struct vm *vm, enum unop op, struct value a, struct value *out, struct err *err)
{
	if (op == UN_INVERT) {
		if (a.kind == VALUE_FLOAT)
			return err_set(err, ERR_TYPE, "bad operand type for unary ~: 'float'");
		*out = value_int(~value_as_int(a));
	} else if (a.kind == VALUE_FLOAT) {
		*out = value_float(op == UN_NEG ? -a.f : a.f);
	} else if (op == UN_NEG && value_as_int(a) == INT64_MIN) {
		return vm_raise(vm, CLASS_OVERFLOW_ERROR, err,
				"-(%lld) needs more than 64 bits; whole numbers have 64 bits here",
				(long long)a.i);
	} else {
		*out = value_int(op == UN_NEG ? -value_as_int(a) : value_as_int(a));
	}
	return true;
}

/* Exact: a conversion of the int to double could round. */
static int order_int_double(int64_t i, double f)
{
	int64_t whole;

	if (isnan(f))
		return 2;
	if (f >= 0x1p63)
		return -1;
	if (f < -0x1p63)
		return 1;
	whole = (int64_t)f; /* toward zero */
	if (i != whole)
		return i < whole ? -1 : 1;
	return f > (double)whole ? -1 : f < (double)whole;
}

int number_order(struct value a, struct value b)
{
	int order;

	if (a.kind == VALUE_FLOAT && b.kind == VALUE_FLOAT) {
		if (isnan(a.f) || isnan(b.f))
			return 2;
		return a.f < b.f ? -1 : a.f > b.f;
	}
	if (b.kind == VALUE_FLOAT)
		return order_int_double(value_as_int(a), b.f);
	if (a.kind == VALUE_FLOAT) {
		order = order_int_double(value_as_int(b), a.f);
		return order == 2 ? 2 : -order;
	}
	return value_as_int(a) < value_as_int(b) ? -1 : value_as_int(a) > value_as_int(b);
}

bool number_whole(struct vm *vm, double f, struct value *out, struct err *err)
{
	if (isnan(f))
		return err_set(err, ERR_VALUE, "cannot convert float NaN to integer");
	if (isinf(f))
		return vm_raise(vm, CLASS_OVERFLOW_ERROR, err,
				"cannot convert float infinity to integer");
	if (!(f >= -0x1p63 && f < 0x1p63))
		return err_set(err, ERR_VALUE,
			       "%g as a whole number needs more than 64 bits; whole numbers have "
			       "64 bits here",
			       f);
	*out = value_int((int64_t)f);
	return true;
}
