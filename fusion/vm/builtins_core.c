/* fusion/vm/builtins_core.c -- conversions, arithmetic, types, print. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"
#include "fusion/graph/symreal.h"

static const size_t MOST_PRINTED_BYTES = (size_t)1 << 20;

static bool builtin_len(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return op_length(vm, call->args[0], out, err);
}

/* int(x), float(x) or bool(x), as the program writes it. */
static bool host_cast(struct vm_host *host, enum value_kind kind, struct value v, struct value *out,
		      struct err *err)
{
	return (host->cast ? host->cast : host->to_number)(host->self, kind, v, out, err);
}

static bool builtin_bool(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct vm_host *host;
	bool truth = false;

	if (call->n == 1 && value_is_hosted(call->args[0])) {
		host = vm_host_here(vm);
		return host_cast(host, VALUE_BOOL, call->args[0], out, err);
	}
	if (call->n == 1 && !op_truth(vm, call->args[0], &truth, err))
		return false;
	*out = value_bool(truth);
	return true;
}

/* The text without blanks around it; false where there is nothing left. */
static bool trimmed(const struct str *s, char *text, size_t size)
{
	const char *from = s->text, *to = s->text + s->len;

	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	if (from == to || (size_t)(to - from) >= size)
		return false;
	memcpy(text, from, (size_t)(to - from));
	text[to - from] = '\0';
	return true;
}

static bool bad_text(const char *what, struct value v, struct err *err)
{
	struct buf text = { .limit = 120 };

	value_print(&text, v, false);
	err_set(err, ERR_VALUE, "%s: %s", what, text.data ? text.data : "''");
	buf_finish(&text);
	return false;
}

static bool float_from_text(struct value v, struct value *out, struct err *err)
{
	static const char *const words[] = { "inf", "infinity", "nan" };
	char text[400], *end;
	const char *digits = text;
	bool word = false;

	if (!trimmed(v.str, text, sizeof(text)))
		return bad_text("could not convert string to float", v, err);
	digits += *digits == '+' || *digits == '-';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		word = word || strcasecmp(digits, words[i]) == 0;
	if (!word && digits[strspn(digits, "0123456789.eE+-")] != '\0') /* no hex, as Python */
		return bad_text("could not convert string to float", v, err);
	*out = value_float(strtod(text, &end));
	if (*end != '\0')
		return bad_text("could not convert string to float", v, err);
	return true;
}

/* float(v) or int(v) of an instance, by its own method or __index__. */
static bool number_of(struct vm *vm, struct value v, const char *method, struct value *out,
		      struct err *err)
{
	const char *want = method[2] == 'f' ? "float" : "int", *type;
	bool found;

	if (!instance_call(vm, &(struct method_call){ &v, method, NULL, 0 }, out, &found, err))
		return false;
	if (!found) {
		method = "__index__";
		if (!instance_call(vm, &(struct method_call){ &v, method, NULL, 0 }, out, &found,
				   err))
			return false;
		if (found && value_is_integer(*out) && want[0] == 'f')
			*out = value_float(value_as_double(*out));
	}
	type = found ? value_type_name(*out) : NULL;
	if (found && (strcmp(type, want) == 0 || (want[0] == 'i' && strcmp(type, "bool") == 0))) {
		if (out->kind == VALUE_BOOL)
			*out = value_int(out->b);
		return true;
	}
	if (found) {
		vm_raise(vm, CLASS_TYPE_ERROR, err, "%s%s%s returned non-%s (type %s)",
			 want[0] == 'f' ? value_type_name(v) : "", want[0] == 'f' ? "." : "",
			 method, want, type);
		value_unref(*out);
		return false;
	}
	return vm_raise(vm, CLASS_TYPE_ERROR, err,
			"%s must be a string%s or a real number, not '%s'",
			want[0] == 'f' ? "float() argument" : "int() argument",
			want[0] == 'f' ? "" : ", a bytes-like object", value_type_name(v));
}

static bool builtin_float(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct vm_host *host;
	struct value v = call->n == 1 ? call->args[0] : value_float(0);

	if (value_is_hosted(v)) {
		host = vm_host_here(vm);
		return host_cast(host, VALUE_FLOAT, v, out, err);
	}
	if (v.kind == VALUE_STR)
		return float_from_text(v, out, err);
	if (v.kind == VALUE_INSTANCE)
		return number_of(vm, v, "__float__", out, err);
	if (!value_is_number(v))
		return err_set(err, ERR_TYPE,
			       "float() argument must be a string or a real number, not '%s'",
			       value_type_name(v));
	*out = value_float(value_as_double(v));
	return true;
}

/* The base that a prefix (0b, 0o, 0x) names, 10 without one. */
static int prefix_base(const char *digits)
{
	int letter = digits[0] == '0' ? tolower((unsigned char)digits[1]) : 0;

	return letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 10;
}

/* Takes the underscores from between the digits; false where one is elsewhere. */
static bool join_digits(char *digits)
{
	char *to = digits;

	for (const char *from = digits; *from; from++) {
		if (*from != '_')
			*to++ = *from;
		else if (from[-1] == '_' || !isalnum((unsigned char)from[1]))
			return false;
	}
	*to = '\0';
	return true;
}

static bool int_from_text(struct value v, int64_t base, struct value *out, struct err *err)
{
	char what[64], text[80], *end, *digits = text;
	int named, radix;
	bool negative;
	uint64_t n;

	snprintf(what, sizeof(what), "invalid literal for int() with base %lld", (long long)base);
	if (!trimmed(v.str, text, sizeof(text)))
		return bad_text(what, v, err);
	negative = *digits == '-';
	digits += negative || *digits == '+';
	named = prefix_base(digits);
	radix = base == 0 ? named : (int)base;
	if (named != 10 && named == radix)
		digits += 2;
	if (digits > text && named != 10 && named == radix && *digits == '_')
		digits++;
	if (!isalnum((unsigned char)*digits) || !join_digits(digits)) /* no second sign */
		return bad_text(what, v, err);
	errno = 0;
	n = strtoull(digits, &end, radix);
	if (*end != '\0')
		return bad_text(what, v, err);
	if (errno == ERANGE || n > (uint64_t)INT64_MAX + negative)
		return bad_text("this number needs more than 64 bits", v, err);
	*out = value_int((int64_t)(negative ? -n : n));
	return true;
}

static bool builtin_int(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct vm_host *host;
	struct value v = call->n >= 1 ? call->args[0] : value_int(0), base = value_int(10);
	int64_t b;

	if (call->n == 2)
		base = call->args[1];
	else
		builtin_keyword(call, "base", &base);
	if (v.kind == VALUE_STR) {
		if (!op_index(vm, base, "the base of int()", &b, err))
			return false;
		if (b != 0 && (b < 2 || b > 36))
			return err_set(err, ERR_VALUE, "int() base must be >= 2 and <= 36, or 0");
		return int_from_text(v, b, out, err);
	}
	if (value_is_hosted(v)) {
		host = vm_host_here(vm);
		return host_cast(host, VALUE_INT, v, out, err);
	}
	if (v.kind == VALUE_INSTANCE)
		return number_of(vm, v, "__int__", out, err);
	if (v.kind == VALUE_FLOAT)
		return number_whole(vm, v.f, out, err);
	if (!value_is_integer(v))
		return err_set(err, ERR_TYPE,
			       "int() argument must be a string, a bytes-like object or a real "
			       "number, not '%s'",
			       value_type_name(v));
	*out = value_int(value_as_int(v));
	return true;
}

static bool text_of(struct vm *vm, struct value v, bool plain, struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };

	if (!builtin_text(vm, v, plain, &text, err)) {
		buf_finish(&text);
		return false;
	}
	return builtin_take_text(vm, &text, out, err);
}

static bool builtin_str(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	if (call->n == 0)
		return vm_keep(vm, value_str("", 0), out, err);
	return text_of(vm, call->args[0], true, out, err);
}

static bool builtin_repr(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	return text_of(vm, call->args[0], false, out, err);
}

/* sep or end: `fallback` unless a string was given. */
static bool print_option(struct vm *vm, const struct builtin_call *call, const char *name,
			 const char *fallback, const char **out, struct err *err)
{
	struct value v = value_none();

	builtin_keyword(call, name, &v);
	if (v.kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, v, err);
	if (v.kind != VALUE_NONE && v.kind != VALUE_STR)
		return err_set(err, ERR_TYPE, "%s must be None or a string, not %s", name,
			       value_type_name(v));
	*out = v.kind == VALUE_STR ? v.str->text : fallback;
	return true;
}

/* file.write(text); takes the reference. */
static bool write_to(struct vm *vm, struct value file, struct value text, struct err *err)
{
	struct value none;
	bool found, ok;

	ok = instance_call(vm, &(struct method_call){ &file, "write", &text, 1 }, &none, &found,
			   err);
	value_unref(text);
	if (ok && !found)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"'%s' object has no attribute 'write'", value_type_name(file));
	if (ok)
		value_unref(none);
	return ok;
}

/* Where print() writes: what the program has put into sys.stdout where no file is given; NONE
 * for the run's own output, which sys.stdout stands for at first.  A new reference. */
static bool stdout_of(struct vm *vm, struct value *file, struct err *err)
{
	struct value sys;

	if (file->kind == VALUE_NONE) {
		if (!vm_module(vm, "sys", &sys, err) ||
		    !module_stored(vm, sys.module, "stdout", file, err))
			return false;
		if (file->kind == VALUE_UNSET)
			*file = value_none();
	} else {
		value_ref(*file);
	}
	if (file->kind == VALUE_INSTANCE && class_lookup(file->instance->class, "_is_of_the_run")) {
		value_unref(*file);
		*file = value_none();
	}
	return true;
}

static bool builtin_print(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value file = value_none(), v;
	struct buf text = { .limit = MOST_PRINTED_BYTES };
	const char *sep = "", *end = "";
	struct vm_host *host;
	bool ok;

	if (!print_option(vm, call, "sep", " ", &sep, err) ||
	    !print_option(vm, call, "end", "\n", &end, err))
		return false;
	ok = true;
	for (int i = 0; ok && i < call->n; i++) {
		if (i > 0)
			buf_puts(&text, sep);
		ok = builtin_text(vm, call->args[i], true, &text, err);
	}
	buf_puts(&text, end);
	*out = value_none();
	builtin_keyword(call, "file", &file);
	host = vm_host_here(vm);
	if (!ok || !stdout_of(vm, &file, err)) {
		buf_finish(&text);
		return false;
	}
	if (file.kind != VALUE_NONE) {
		ok = builtin_take_text(vm, &text, &v, err) && write_to(vm, file, v, err);
		value_unref(file);
		return ok;
	}
	if (ok && host->print)
		host->print(host->self, text.data, text.len);
	buf_finish(&text);
	return ok;
}

/* x.name(): abs and round of a tensor are methods of it. */
static bool tensor_method(struct vm *vm, struct value t, const char *name, struct value *out,
			  struct err *err)
{
	struct value f;
	bool ok;

	if (!op_attribute(vm, NULL, t, name, &f, err))
		return false;
	ok = vm_invoke(vm, f, &(struct arguments){ NULL, 0, NULL }, out, err);
	value_unref(f);
	return ok;
}

static bool builtin_abs(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value v = call->args[0];
	bool negative = false;

	if (v.kind == VALUE_TENSOR)
		return tensor_method(vm, v, "abs", out, err);
	if (v.kind == VALUE_INSTANCE) {
		if (!instance_call(vm, &(struct method_call){ &v, "__abs__", NULL, 0 }, out,
				   &negative, err))
			return false;
		if (negative)
			return true;
	}
	if (v.kind == VALUE_FLOAT) {
		*out = value_float(fabs(v.f));
		out->scalar = v.scalar;
		return true;
	}
	if (!value_is_integer(v) && !value_is_hosted(v))
		return err_set(err, ERR_TYPE, "bad operand type for abs(): '%s'",
			       value_type_name(v));
	if (!op_less(vm, v, value_int(0), &negative, err))
		return false;
	return op_unary(vm, negative ? UN_NEG : UN_POS, v, out, err);
}

static bool builtin_complex(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct value args[] = { value_float(0), value_none() }, f;
	bool found, ok;

	for (int i = 0; i < call->n && i < 2; i++)
		args[i] = call->args[i];
	builtin_keyword(call, "real", &args[0]);
	builtin_keyword(call, "imag", &args[1]);
	if (!prelude_attribute(vm, "_complex", "number", &f, &found, err))
		return false;
	ok = vm_invoke(vm, f, &(struct arguments){ args, 2, NULL }, out, err);
	value_unref(f);
	return ok;
}

static bool round_int(int64_t i, int64_t digits, struct value *out, struct err *err)
{
	int64_t unit = 1, rest;

	for (int64_t k = digits; k < 0 && k >= -18; k++)
		unit *= 10;
	if (digits < -18) {
		*out = value_int(0); /* 10 ** 19 / 2 is beyond every int */
		return true;
	}
	rest = i % unit;
	if (rest < 0)
		rest += unit;
	i -= rest; /* toward minus infinity: within range, or the next test fails */
	if (rest > unit / 2 || (rest * 2 == unit && (i / unit) % 2 != 0))
		if (__builtin_add_overflow(i, unit, &i))
			return err_set(err, ERR_VALUE,
				       "the rounded number needs more than 64 bits");
	*out = value_int(i);
	return true;
}

static bool builtin_round(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value v = call->args[0], digits = value_none();
	int64_t n = 0;
	bool found;
	double f;

	if (v.kind == VALUE_TENSOR)
		return tensor_method(vm, v, "round", out, err);
	if (!instance_call(vm,
			   &(struct method_call){ &v, "__round__", call->args + 1, call->n - 1 },
			   out, &found, err))
		return false;
	if (found)
		return true;
	if (call->n == 2)
		digits = call->args[1];
	else
		builtin_keyword(call, "ndigits", &digits);
	if (digits.kind != VALUE_NONE && !op_index(vm, digits, "ndigits", &n, err))
		return false;
	if (value_is_integer(v) && n >= 0) {
		*out = value_int(value_as_int(v));
		return true;
	}
	if (value_is_integer(v))
		return round_int(value_as_int(v), n, out, err);
	if (v.kind != VALUE_FLOAT && !value_is_hosted(v))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"type %s doesn't define __round__ method", value_type_name(v));
	if (!builtin_double(vm, v, &f, err))
		return false;
	if (digits.kind == VALUE_NONE)
		return number_whole(vm, nearbyint(f), out, err);
	if (isfinite(f) && !isfinite(real_round(f, n)))
		return err_set(err, ERR_VALUE, "rounded value too large to represent");
	*out = value_float(scalar_round(real_round(f, n), v.scalar));
	out->scalar = v.scalar;
	return true;
}

/* The number that times a is 1, modulo m; false where there is none. */
static bool inverse_of(uint64_t a, uint64_t m, uint64_t *out)
{
	__int128 r0 = m, r1 = a, t0 = 0, t1 = 1;

	while (r1 != 0) {
		__int128 q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;

		r0 = r1, r1 = r;
		t0 = t1, t1 = t;
	}
	*out = (uint64_t)(t0 < 0 ? t0 + m : t0);
	return r0 == 1; /* for m = 1 any number is */
}

static bool pow_modulo(struct vm *vm, const struct value *args, struct value *out, struct err *err)
{
	int64_t base, exponent, modulus;
	unsigned __int128 r = 1, b;
	uint64_t m, left, inverse;

	for (int i = 0; i < 3; i++)
		if (args[i].kind == VALUE_FLOAT)
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"pow() 3rd argument not allowed unless all arguments are "
					"integers");
	if (!op_index(vm, args[0], "pow() with 3 arguments", &base, err) ||
	    !op_index(vm, args[1], "pow() with 3 arguments", &exponent, err) ||
	    !op_index(vm, args[2], "pow() with 3 arguments", &modulus, err))
		return false;
	if (modulus == 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "pow() 3rd argument cannot be 0");
	m = modulus < 0 ? -(uint64_t)modulus : (uint64_t)modulus;
	b = (unsigned __int128)(((__int128)base % m + m) % m);
	left = exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent;
	if (exponent < 0) {
		if (!inverse_of((uint64_t)b, m, &inverse))
			return vm_raise(vm, CLASS_VALUE_ERROR, err,
					"base is not invertible for the given modulus");
		b = inverse;
	}
	r %= m;
	for (; left > 0; left >>= 1) {
		if (left & 1)
			r = r * b % m;
		b = b * b % m;
	}
	*out = value_int(modulus < 0 && r > 0 ? (int64_t)((uint64_t)r - m) : (int64_t)r);
	return true;
}

static bool builtin_pow(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	if (call->n == 3)
		return pow_modulo(vm, call->args, out, err);
	return op_binary(vm, BIN_POW, call->args[0], call->args[1], out, err);
}

static bool builtin_divmod(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct value pair[2];
	bool ok;

	if (!instance_call(vm,
			   &(struct method_call){ &call->args[0], "__divmod__", call->args + 1, 1 },
			   out, &ok, err))
		return false;
	if (ok)
		return true;
	if (call->args[0].kind == VALUE_TENSOR || call->args[1].kind == VALUE_TENSOR)
		return err_set(err, ERR_TYPE,
			       "unsupported operand type(s) for divmod(): '%s' and '%s'",
			       value_type_name(call->args[0]), value_type_name(call->args[1]));
	if (!op_binary(vm, BIN_FLOORDIV, call->args[0], call->args[1], &pair[0], err))
		return false;
	ok = op_binary(vm, BIN_MOD, call->args[0], call->args[1], &pair[1], err);
	if (ok) {
		ok = vm_keep(vm, value_tuple(pair, 2), out, err);
		value_unref(pair[1]);
	}
	value_unref(pair[0]);
	return ok;
}

static bool builtin_hash(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	return value_hash(vm, call->args[0], out, err);
}

#define BUILTINS_OF_CORE
const struct builtin core_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
