/* fusion/vm/numbers.c -- int, float and bool arithmetic.
 *
 * Python's: // and % round toward minus infinity, / of ints is a float, ints
 * to a negative power are floats.  Python's ints grow without bound and these
 * do not, so a result beyond 64 bits is an error and never a wrapped number.
 * NumPy's numbers (value.h: scalar) keep their type, wrap and divide by zero. */
#include <math.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/base/narrow.h"
#include "fusion/vm/builtins.h"
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

double scalar_round(double f, enum scalar_type type)
{
	return type == SCALAR_FLOAT16   ? (double)half_to_float(float_to_half((float)f))
	       : type == SCALAR_FLOAT32 ? (double)(float)f
					: f;
}

static struct value scalar_float(double f, enum scalar_type type)
{
	struct value v = value_float(scalar_round(f, type));

	v.scalar = type;
	return v;
}

/* As many bits as the type has: what is beyond is cut off. */
static struct value scalar_int(int64_t i, enum scalar_type type)
{
	int unused = 64 - 8 * scalar_infos[type].bytes;
	uint64_t high = (uint64_t)i << unused;
	struct value v = value_int(scalar_infos[type].letter == 'u' ? (int64_t)(high >> unused)
								    : (int64_t)high >> unused);

	v.scalar = type;
	return v;
}

static struct value scalar_bool(bool b)
{
	struct value v = value_bool(b);

	v.scalar = SCALAR_BOOL;
	return v;
}

/* The float that holds an integer type beside a float type. */
static enum scalar_type wide_enough(const struct scalar_info *integer, enum scalar_type real)
{
	enum scalar_type least = integer->bytes == 1   ? SCALAR_FLOAT16
				 : integer->bytes == 2 ? SCALAR_FLOAT32
						       : SCALAR_FLOAT64;

	return real > least ? real : least;
}

/* numpy.promote_types(). */
static enum scalar_type promote(enum scalar_type a, enum scalar_type b)
{
	const struct scalar_info *x = &scalar_infos[a], *y = &scalar_infos[b];

	if (x->letter == y->letter || a == SCALAR_BOOL || b == SCALAR_BOOL)
		return a == SCALAR_BOOL ? b : b == SCALAR_BOOL || a > b ? a : b;
	if (x->letter == 'f')
		return wide_enough(y, a);
	if (y->letter == 'f')
		return wide_enough(x, b);
	if (x->letter == 'i')
		return promote(b, a);
	if (y->bytes > x->bytes) /* x is unsigned */
		return b;
	return x->bytes == 8 ? SCALAR_FLOAT64 : a - SCALAR_UINT8 + SCALAR_INT16;
}

/* The type of the result of two numbers; a number of Python's takes the other's where it is of
 * the same kind. */
static enum scalar_type common_type(struct value a, struct value b)
{
	struct value typed = a.scalar ? a : b, other = a.scalar ? b : a;

	if (other.scalar)
		return promote(a.scalar, b.scalar);
	if (other.kind == VALUE_FLOAT && typed.kind != VALUE_FLOAT)
		return SCALAR_FLOAT64;
	if (other.kind == VALUE_INT && typed.kind == VALUE_BOOL)
		return SCALAR_INT64;
	return typed.scalar;
}

static bool scalar_floats(enum binop op, enum scalar_type type, double a, double b,
			  struct value *out)
{
	double q, r;

	switch (op) {
	case BIN_ADD:
		r = a + b;
		break;
	case BIN_SUB:
		r = a - b;
		break;
	case BIN_MUL:
		r = a * b;
		break;
	case BIN_TRUEDIV:
		r = a / b;
		break;
	case BIN_FLOORDIV:
	case BIN_MOD:
		q = a / b;
		r = NAN;
		if (b != 0)
			real_divmod(a, b, &q, &r);
		r = op == BIN_MOD ? r : q;
		break;
	case BIN_POW:
		r = type == SCALAR_FLOAT64 ? pow(a, b) : (double)powf((float)a, (float)b);
		break;
	default:
		return false;
	}
	*out = scalar_float(r, type);
	return true;
}

static uint64_t wrapped_pow(uint64_t base, int64_t exponent)
{
	uint64_t r = 1;

	for (; exponent > 0; exponent >>= 1, base *= base)
		if (exponent & 1)
			r *= base;
	return r;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
	return b == 0    ? 0
	       : b == -1 ? (int64_t)(0 - (uint64_t)a)
			 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool scalar_ints(enum binop op, enum scalar_type type, int64_t a, int64_t b,
			struct value *out)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b, r;

	switch (op) {
	case BIN_ADD:
		r = x + y;
		break;
	case BIN_SUB:
		r = x - y;
		break;
	case BIN_MUL:
		r = x * y;
		break;
	case BIN_FLOORDIV:
		r = (uint64_t)floor_divide(a, b);
		break;
	case BIN_MOD:
		r = b == 0 ? 0 : x - (uint64_t)floor_divide(a, b) * y;
		break;
	case BIN_POW:
		r = wrapped_pow(x, b);
		break;
	case BIN_LSHIFT:
		r = y > 63 ? 0 : x << y;
		break;
	case BIN_RSHIFT:
		r = (uint64_t)(a >> (y > 63 ? 63 : y));
		break;
	case BIN_AND:
		r = x & y;
		break;
	case BIN_OR:
		r = x | y;
		break;
	case BIN_XOR:
		r = x ^ y;
		break;
	default:
		return false;
	}
	*out = scalar_int((int64_t)r, type);
	return true;
}

/* Of two bools: + is or, * is and; *type of the others is int8. */
static bool scalar_bools(enum binop op, bool a, bool b, enum scalar_type *type, struct value *out)
{
	*type = SCALAR_INT8;
	if (op == BIN_ADD || op == BIN_OR)
		*out = scalar_bool(a || b);
	else if (op == BIN_MUL || op == BIN_AND)
		*out = scalar_bool(a && b);
	else if (op == BIN_XOR)
		*out = scalar_bool(a != b);
	else
		return false;
	return true;
}

static bool int_fits(int64_t i, enum scalar_type type)
{
	return scalar_int(i, type).i == i;
}

/* a op b, where one is NumPy's number. */
static __attribute__((noinline)) bool scalar_binary(struct vm *vm, enum binop op, struct value a,
						    struct value b, struct value *out,
						    struct err *err)
{
	enum scalar_type type = common_type(a, b);
	char letter;

	if (type == SCALAR_BOOL &&
	    scalar_bools(op, value_as_int(a) != 0, value_as_int(b) != 0, &type, out))
		return true;
	if (op == BIN_SUB && a.kind == VALUE_BOOL && b.kind == VALUE_BOOL)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"numpy boolean subtract, the `-` operator, is not supported, use "
				"the bitwise_xor, the `^` operator, or the logical_xor function "
				"instead.");
	letter = scalar_infos[type].letter;
	for (int i = 0; letter != 'f' && i < 2; i++) {
		struct value v = i ? b : a;

		if (v.scalar == SCALAR_PYTHON && !int_fits(value_as_int(v), type))
			return vm_raise(vm, CLASS_OVERFLOW_ERROR, err,
					"Python integer %lld out of bounds for %s",
					(long long)value_as_int(v), scalar_infos[type].name);
	}
	if (letter != 'f' && op == BIN_TRUEDIV) {
		letter = 'f';
		type = SCALAR_FLOAT64;
	}
	if (letter != 'f' && op == BIN_POW && value_as_int(b) < 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"Integers to negative integer powers are not allowed.");
	if (letter == 'f' ? scalar_floats(op, type, scalar_round(value_as_double(a), type),
					  scalar_round(value_as_double(b), type), out)
			  : scalar_ints(op, type, value_as_int(a), value_as_int(b), out))
		return true;
	return unsupported(op, a, b, err);
}

static __attribute__((noinline)) bool scalar_unary(struct vm *vm, enum unop op, struct value a,
						   struct value *out, struct err *err)
{
	if (op == UN_INVERT && a.kind != VALUE_FLOAT)
		*out = a.kind == VALUE_BOOL ? scalar_bool(!a.b) : scalar_int(~a.i, a.scalar);
	else if (op == UN_INVERT)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"ufunc 'invert' not supported for the input types, and the inputs "
				"could not be safely coerced to any supported types according to "
				"the casting rule ''safe''");
	else if (a.kind == VALUE_BOOL)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"The numpy boolean %s, the `%s` operator, is not supported, use "
				"the `~` operator or the logical_not function instead.",
				op == UN_NEG ? "negative" : "positive", op == UN_NEG ? "-" : "+");
	else if (a.kind == VALUE_FLOAT)
		*out = scalar_float(op == UN_NEG ? -a.f : a.f, a.scalar);
	else
		*out = scalar_int(op == UN_NEG ? (int64_t)(0 - (uint64_t)a.i) : a.i, a.scalar);
	return true;
}

/* A number as one of NumPy's. */
static struct value scalar_of(struct value v, enum scalar_type type)
{
	char letter = scalar_infos[type].letter;

	if (letter == 'f')
		return scalar_float(value_as_double(v), type);
	if (letter == 'b')
		return scalar_bool(value_as_double(v) != 0);
	if (v.kind != VALUE_FLOAT)
		return scalar_int(value_as_int(v), type);
	return scalar_int(v.f >= -0x1p63 && v.f < 0x1p63 ? (int64_t)v.f : INT64_MIN, type);
}

static enum scalar_type scalar_find(const char *name)
{
	for (int i = SCALAR_PYTHON + 1; i < SCALAR_COUNT; i++)
		if (strcmp(strchr(scalar_infos[i].name, '.') + 1, name) == 0)
			return (enum scalar_type)i;
	return SCALAR_PYTHON;
}

/* numpy_number(x, of): x as the number that NumPy makes of it.  `of` names a type, or is the
 * number that x was computed of: its type is kept where x is of its kind. */
static bool prelude_numpy_number(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	struct value v = call->args[0], of = call->args[1];
	enum scalar_type type = SCALAR_PYTHON;

	if (value_is_hosted(v) &&
	    v.kind != VALUE_TENSOR) { /* the type is of a value that is known */
		struct vm_host *host = vm_host_here(vm);

		if (!host->to_number(host->self, value_plain_kind(v), v, &v, err))
			return false;
	}
	if (!value_is_number(v)) {
		*out = value_ref(v);
		return true;
	}
	if (of.kind == VALUE_STR || of.kind == VALUE_DTYPE)
		type = scalar_find(of.kind == VALUE_STR ? of.str->text : dtype_name(of.dtype));
	else if (of.kind == v.kind)
		type = of.scalar;
	if (type == SCALAR_PYTHON)
		type = v.scalar               ? v.scalar
		       : v.kind == VALUE_BOOL ? SCALAR_BOOL
		       : v.kind == VALUE_INT  ? SCALAR_INT64
					      : SCALAR_FLOAT64;
	*out = scalar_of(v, type);
	return true;
}

static bool prelude_set_mode(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	(void)err;
	if (call->args[0].kind == VALUE_BOOL)
		vm->modes.ordered = call->args[0].b;
	else
		vm->modes.real = call->args[0].dtype;
	*out = value_none();
	return true;
}

/* The prelude has checked the numbers. */
static bool prelude_set_print(struct vm *vm, const struct builtin_call *call, struct value *out,
			      struct err *err)
{
	(void)err;
	vm->modes.print = (struct print_options){
		.precision = (int)call->args[0].i,
		.threshold = call->args[1].i,
		.edge = call->args[2].i,
		.line = (int)call->args[3].i,
		.scientific = (int)call->args[4].i,
	};
	*out = value_none();
	return true;
}

/* A capture does so too, and goes back to what was when it ends. */
static bool prelude_function_modes(struct vm *vm, const struct builtin_call *call,
				   struct value *out, struct err *err)
{
	(void)err;
	vm->modes.function_modes = (unsigned char)call->args[0].i;
	vm->has_tensor_classes = true;
	*out = value_none();
	return true;
}

/* numpy_python(x): the number of Python's of the same value. */
static bool prelude_numpy_python(struct vm *vm, const struct builtin_call *call, struct value *out,
				 struct err *err)
{
	(void)vm, (void)err;
	*out = value_ref(call->args[0]);
	out->scalar = SCALAR_PYTHON;
	return true;
}

bool number_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		   struct err *err)
{
	if (__builtin_expect(a.scalar | b.scalar, 0))
		return scalar_binary(vm, op, a, b, out, err);
	if (a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT)
		return float_binary(vm, op, a, b, out, err);
	return int_binary(vm, op, a, b, out, err);
}

bool number_unary(struct vm *vm, enum unop op, struct value a, struct value *out, struct err *err)
{
	if (__builtin_expect(a.scalar, 0))
		return scalar_unary(vm, op, a, out, err);
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

#define BUILTINS_OF_NUMBERS
const struct builtin numbers_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
