/* fusion/vm/builtins_math.c -- the module math.
 *
 * As in Python a nan or inf that was not in the arguments is an error, not a
 * result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

static bool domain(struct err *err)
{
	return err_set(err, ERR_VALUE, "math domain error");
}

static bool range(struct vm *vm, struct err *err)
{
	return vm_raise(vm, CLASS_OVERFLOW_ERROR, err, "math range error");
}

/* `grows`: an infinite result is an overflow; else it is a pole. */
static bool checked(struct vm *vm, double r, bool finite_arguments, bool grows, struct value *out,
		    struct err *err)
{
	if (finite_arguments && isnan(r))
		return domain(err);
	if (finite_arguments && isinf(r))
		return grows ? range(vm, err) : domain(err);
	*out = value_float(r);
	return true;
}

/* sin(inf) is out of domain too: nan from what is no nan. */
#define UNARY(name, grows, expression)                                                             \
	static bool math_##name(struct vm *vm, const struct builtin_call *call, struct value *out, \
				struct err *err)                                                   \
	{                                                                                          \
		double x, r;                                                                       \
                                                                                                   \
		if (!builtin_double(vm, call->args[0], &x, err))                                   \
			return false;                                                              \
		r = (expression);                                                                  \
		if (isnan(r) && !isnan(x))                                                         \
			return domain(err);                                                        \
		return checked(vm, r, isfinite(x), grows, out, err);                               \
	}

UNARY(acos, false, acos(x))
UNARY(acosh, false, acosh(x))
UNARY(asin, false, asin(x))
UNARY(asinh, false, asinh(x))
UNARY(atan, false, atan(x))
UNARY(atanh, false, atanh(x))
UNARY(cbrt, false, cbrt(x))
UNARY(cos, false, cos(x))
UNARY(cosh, true, cosh(x))
UNARY(degrees, true, x *(180.0 / M_PI))
UNARY(erf, false, erf(x))
UNARY(erfc, false, erfc(x))
UNARY(exp, true, exp(x))
UNARY(exp2, true, exp2(x))
UNARY(expm1, true, expm1(x))
UNARY(fabs, false, fabs(x))
UNARY(gamma, true, x == 0 ? NAN : tgamma(x))
UNARY(lgamma, true, x <= 0 && x == floor(x) ? NAN : lgamma_r(x, &(int){ 0 }))
UNARY(log10, false, log10(x))
UNARY(log1p, false, log1p(x))
UNARY(log2, false, log2(x))
UNARY(radians, false, x *(M_PI / 180.0))
UNARY(sin, false, sin(x))
UNARY(sinh, true, sinh(x))
UNARY(sqrt, false, sqrt(x))
UNARY(tan, false, tan(x))
UNARY(tanh, false, tanh(x))

static bool two(struct vm *vm, const struct builtin_call *call, double *x, double *y,
		struct err *err)
{
	return builtin_double(vm, call->args[0], x, err) &&
	       builtin_double(vm, call->args[1], y, err);
}

#define BINARY(name, grows, expression)                                                            \
	static bool math_##name(struct vm *vm, const struct builtin_call *call, struct value *out, \
				struct err *err)                                                   \
	{                                                                                          \
		double x, y, r;                                                                    \
                                                                                                   \
		if (!two(vm, call, &x, &y, err))                                                   \
			return false;                                                              \
		r = (expression);                                                                  \
		if (isnan(r) && !isnan(x) && !isnan(y))                                            \
			return domain(err);                                                        \
		return checked(vm, r, isfinite(x) && isfinite(y), grows, out, err);                \
	}

BINARY(atan2, false, atan2(x, y))
BINARY(copysign, false, copysign(x, y))
BINARY(fmod, false, fmod(x, y))
BINARY(hypot, true, hypot(x, y))
BINARY(remainder, false, remainder(x, y))

static bool math_pow(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	double x, y, r;

	if (!two(vm, call, &x, &y, err))
		return false;
	r = pow(x, y);
	if (isnan(r) && !isnan(x) && !isnan(y))
		return domain(err);
	return checked(vm, r, isfinite(x) && isfinite(y), x != 0, out, err);
}

static bool math_log(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	double x, base = M_E, r;

	if (!builtin_double(vm, call->args[0], &x, err))
		return false;
	if (x <= 0) /* said before the base is looked at */
		return domain(err);
	if (call->n == 2 && !builtin_double(vm, call->args[1], &base, err))
		return false;
	if (base <= 0)
		return domain(err);
	r = log(x);
	if (call->n == 2) {
		if (base == 1)
			return err_set(err, ERR_VALUE, "division by zero");
		r /= log(base);
	}
	*out = value_float(r);
	return true;
}

static bool math_ldexp(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	int64_t power;
	double x, r;

	if (!builtin_double(vm, call->args[0], &x, err) ||
	    !op_index(vm, call->args[1], "the second argument of ldexp()", &power, err))
		return false;
	power = power < -100000 ? -100000 : power > 100000 ? 100000 : power;
	r = ldexp(x, (int)power);
	if (isinf(r) && isfinite(x))
		return range(vm, err);
	*out = value_float(r);
	return true;
}

static bool pair_of(struct vm *vm, struct value a, struct value b, struct value *out,
		    struct err *err)
{
	struct value both[] = { a, b };

	return vm_keep(vm, value_tuple(both, 2), out, err);
}

static bool math_frexp(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	int power = 0;
	double x;

	if (!builtin_double(vm, call->args[0], &x, err))
		return false;
	if (isfinite(x))
		x = frexp(x, &power);
	return pair_of(vm, value_float(x), value_int(power), out, err);
}

static bool math_modf(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	double x, whole;

	if (!builtin_double(vm, call->args[0], &x, err))
		return false;
	x = modf(x, &whole);
	return pair_of(vm, value_float(x), value_float(whole), out, err);
}

/* floor, ceil, trunc: an int stays as it is. */
static bool to_whole(struct vm *vm, const struct builtin_call *call, double (*step)(double),
		     struct value *out, struct err *err)
{
	struct value v = call->args[0];
	char method[16];
	bool found;
	double f;

	snprintf(method, sizeof(method), "__%s__", call->row->name);
	if (v.kind == VALUE_INSTANCE &&
	    (!instance_call(vm, &(struct method_call){ &v, method, NULL, 0 }, out, &found, err) ||
	     found))
		return found;
	if (value_is_integer(v) || v.kind == VALUE_SYMINT) {
		*out = v.kind == VALUE_BOOL ? value_int(v.b) : v;
		return true;
	}
	if (!builtin_double(vm, v, &f, err))
		return false;
	return number_whole(vm, isfinite(f) ? step(f) : f, out, err);
}

static bool math_floor(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return to_whole(vm, call, floor, out, err);
}

static bool math_ceil(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return to_whole(vm, call, ceil, out, err);
}

static bool math_trunc(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return to_whole(vm, call, trunc, out, err);
}

static bool math_isnan(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	double x;

	if (!builtin_double(vm, call->args[0], &x, err))
		return false;
	*out = value_bool(isnan(x));
	return true;
}

static bool math_isinf(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	double x;

	if (!builtin_double(vm, call->args[0], &x, err))
		return false;
	*out = value_bool(isinf(x));
	return true;
}

static bool math_isfinite(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	double x;

	if (!builtin_double(vm, call->args[0], &x, err))
		return false;
	*out = value_bool(isfinite(x));
	return true;
}

static bool math_isclose(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value v;
	double a, b, rel = 1e-9, absolute = 0, gap;

	if (!two(vm, call, &a, &b, err) ||
	    (builtin_keyword(call, "rel_tol", &v) && !builtin_double(vm, v, &rel, err)) ||
	    (builtin_keyword(call, "abs_tol", &v) && !builtin_double(vm, v, &absolute, err)))
		return false;
	if (rel < 0 || absolute < 0)
		return err_set(err, ERR_VALUE, "tolerances must be non-negative");
	gap = fabs(b - a);
	*out = value_bool(a == b ||
			  (isfinite(a) && isfinite(b) &&
			   (gap <= rel * fabs(b) || gap <= rel * fabs(a) || gap <= absolute)));
	return true;
}

static bool math_gcd(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	uint64_t g = 0, b, t;
	int64_t n;

	for (int i = 0; i < call->n; i++) {
		if (!op_index(vm, call->args[i], "an argument of gcd()", &n, err))
			return false;
		for (b = n < 0 ? -(uint64_t)n : (uint64_t)n; b; b = t) {
			t = g % b;
			g = b;
		}
	}
	if (g > INT64_MAX)
		return err_set(err, ERR_VALUE, "the result of gcd() needs more than 64 bits");
	*out = value_int((int64_t)g);
	return true;
}

static bool math_factorial(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	int64_t n, r = 1;

	if (!op_index(vm, call->args[0], "the argument of factorial()", &n, err))
		return false;
	if (n < 0)
		return err_set(err, ERR_VALUE, "factorial() not defined for negative values");
	if (n > 20)
		return err_set(
		    err, ERR_VALUE,
		    "factorial(%lld) needs more than 64 bits; whole numbers have 64 bits "
		    "here",
		    (long long)n);
	for (int64_t i = 2; i <= n; i++)
		r *= i;
	*out = value_int(r);
	return true;
}

static bool math_isqrt(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	int64_t n, r;

	if (!op_index(vm, call->args[0], "the argument of isqrt()", &n, err))
		return false;
	if (n < 0)
		return err_set(err, ERR_VALUE, "isqrt() argument must be nonnegative");
	r = (int64_t)sqrt((double)n); /* may be one off: a double has 53 bits */
	while (r > 3037000499 || r * r > n)
		r--;
	while (r < 3037000499 && (r + 1) * (r + 1) <= n)
		r++;
	*out = value_int(r);
	return true;
}

static bool math_prod(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	struct value it, item, r = value_int(1), next;
	bool more = true, ok = true;

	builtin_keyword(call, "start", &r);
	if (!op_iter(vm, call->args[0], &it, err))
		return false;
	value_ref(r);
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && op_binary(vm, BIN_MUL, r, item, &next, err);
		value_unref(item);
		if (ok) {
			value_unref(r);
			r = next;
		}
	}
	value_unref(it);
	if (ok)
		*out = r;
	else
		value_unref(r);
	return ok;
}

static bool size_numel(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct value args[] = { call->self };
	struct builtin_call product = { .row = call->row, .args = args, .n = 1 };

	return math_prod(vm, &product, out, err);
}

#define BUILTINS_OF_MATH
const struct builtin math_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
