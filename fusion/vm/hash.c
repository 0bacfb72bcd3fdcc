/* fusion/vm/hash.c -- hash(v). */
#include <math.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

/* CPython's of numbers: their remainder by 2^61 - 1, the same for equal ones. */
static int64_t hash_of_number(struct value v)
{
	const int64_t modulus = (INT64_C(1) << 61) - 1;
	int64_t n = 0;
	int exponent;
	double m;

	if (value_is_integer(v)) {
		n = value_as_int(v) % modulus;
		return n == -1 ? -2 : n;
	}
	if (isinf(v.f))
		return v.f > 0 ? 314159 : -314159;
	if (isnan(v.f))
		return 0;
	m = fabs(frexp(v.f, &exponent));
	while (m != 0) { /* 28 bits at a time */
		m *= 268435456.0;
		exponent -= 28;
		n = (n << 28 & modulus) | n >> 33;
		n += (int64_t)m;
		m -= (double)(int64_t)m;
		if (n >= modulus)
			n -= modulus;
	}
	exponent = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
	n = (n << exponent & modulus) | n >> (61 - exponent);
	n = v.f < 0 ? -n : n;
	return n == -1 ? -2 : n;
}

bool value_hash(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct value key = v;
	bool found;

	if (v.kind == VALUE_INSTANCE) {
		struct value *none;

		if (!class_find(vm, v.instance->class, "__hash__", &none, err))
			return false;
		if (none && none->kind == VALUE_NONE)
			return err_set(err, ERR_TYPE, "unhashable type: '%s'",
				       v.instance->class->name);
		if (!instance_call(vm, v, "__hash__", NULL, 0, out, &found, err))
			return false;
		if (found && out->kind == VALUE_BOOL)
			*out = value_int(out->b);
		if (found && out->kind == VALUE_INT && out->i == -1)
			*out = value_int(-2);
		if (found && (out->kind == VALUE_INT || value_is_hosted(*out)))
			return true;
		if (found) {
			value_unref(*out);
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"__hash__ method should return an integer");
		}
	}
	if (!op_make_key(vm, &key, err))
		return false;
	*out = value_int(value_is_number(key) ? hash_of_number(key)
					      : (int64_t)(value_hash_of(key) >> 3));
	return true;
}

bool builtin_hash(struct vm *vm, const struct builtin_call *call, struct value *out,
		  struct err *err)
{
	return value_hash(vm, call->args[0], out, err);
}
