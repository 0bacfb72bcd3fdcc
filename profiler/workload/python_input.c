/* profiler/workload/python_input.c -- "x=float32[8,16]" to a value spec.
 *
 * A .py file has no inputs of its own, so the command line names them: a dtype
 * with a shape is a random tensor (floats by randn, ints by randint below 10 or below
 * what is said, as in "i=int64[4]<50", bools by randint below 2); a call of torch is what a test
 * of the program would have, "i=torch.randint(0, 50, (4,))"; anything else is a number, True, False
 * or None.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/fusion.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/workload.h"

static bool wrong(const char *input, struct err *err)
{
	return err_set(err, ERR_WORKLOAD,
		       "the input '%.80s' is not understood; write 'x=float32[8,16]', "
		       "'i=int64[4]', 'i=int64[4]<50', 'i=torch.randint(0, 50, (4,))' or "
		       "'scale=3.5'",
		       input);
}

/* "8,16]" to [8, 16]; "]" to []; *rest becomes what follows. */
static json_t *parse_shape(const char *text, const char **rest)
{
	json_t *shape = json_array();

	text += strspn(text, " ");
	while (*text != ']') {
		char *end;
		long long size;

		errno = 0;
		size = strtoll(text, &end, 10);
		if (end == text || errno || size < 0)
			goto fail;
		json_array_append_new(shape, json_integer(size));
		text = end + strspn(end, " ");
		if (*text == ',')
			text += 1 + strspn(text + 1, " ");
		else if (*text != ']')
			goto fail;
	}
	*rest = text + 1;
	return shape;
fail:
	json_decref(shape);
	return NULL;
}

/* "<50" to 50; "" to what is usual.  False where it is neither. */
static bool parse_below(const char *text, enum dtype dtype, long long *high)
{
	char *end;

	*high = dtype == DTYPE_BOOL ? 2 : 10;
	if (*text == '\0')
		return true;
	if (*text != '<' || dtype == DTYPE_BOOL || dtype_category(dtype) == CATEGORY_FLOAT ||
	    text[1] < '1' || text[1] > '9')
		return false;
	errno = 0;
	*high = strtoll(text + 1, &end, 10);
	return *end == '\0' && !errno;
}

static json_t *parse_tensor(const char *input, const char *text, const char *bracket, int position,
			    struct err *err)
{
	char name[32], known[160];
	enum dtype dtype;
	const char *rest;
	json_t *shape;
	long long high;
	size_t len = (size_t)(bracket - text);

	if (len == 0 || len >= sizeof(name)) {
		wrong(input, err);
		return NULL;
	}
	memcpy(name, text, len);
	name[len] = '\0';
	if (!dtype_from_name(name, &dtype)) {
		err_set(err, ERR_WORKLOAD, "the input '%.80s' has an unknown dtype; there are %s",
			input, spec_dtypes(known, sizeof(known)));
		return NULL;
	}
	shape = parse_shape(bracket + 1, &rest);
	if (!shape || !parse_below(rest, dtype, &high)) {
		json_decref(shape);
		wrong(input, err);
		return NULL;
	}
	if (dtype_category(dtype) == CATEGORY_FLOAT)
		return json_pack("{s:{s:s, s:o, s:s, s:i}}", "random", "dtype", dtype_name(dtype),
				 "shape", shape, "kind", "randn", "seed", position);
	return json_pack("{s:{s:s, s:o, s:s, s:I, s:i}}", "random", "dtype", dtype_name(dtype),
			 "shape", shape, "kind", "randint", "high", (json_int_t)high, "seed",
			 position);
}

/* ---- "torch.randint(0, 50, (8, 16), dtype=torch.int32)" ---- */

enum { MOST_NUMBERS = 16 };

struct call_read {
	const char *at;
	char kind[16];
	long long numbers[MOST_NUMBERS]; /* in order, whatever brackets are around them */
	int n, n_before;                 /* of these before the first inner bracket */
	enum dtype dtype;
};

static bool read_number(struct call_read *c)
{
	char *end;

	errno = 0;
	if (c->n == MOST_NUMBERS)
		return false;
	c->numbers[c->n++] = strtoll(c->at, &end, 10);
	if (end == c->at || errno)
		return false;
	c->at = end;
	return true;
}

static bool read_dtype(struct call_read *c)
{
	static const char prefix[] = "dtype=torch.";
	char name[32];
	size_t len;

	if (strncmp(c->at, prefix, sizeof(prefix) - 1) != 0)
		return false;
	c->at += sizeof(prefix) - 1;
	len = strspn(c->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
	snprintf(name, sizeof(name), "%.*s", (int)len, c->at);
	c->at += len;
	return dtype_from_name(name, &c->dtype);
}

/* Numbers and dtype=, up to the bracket that closes the call. */
static bool read_arguments(struct call_read *c)
{
	int depth = 1;

	c->n_before = -1;
	while (depth > 0) {
		c->at += strspn(c->at, " ,");
		if (*c->at == '(' || *c->at == '[') {
			if (++depth > 2 || c->n_before >= 0)
				return false;
			c->n_before = c->n;
			c->at++;
		} else if (*c->at == ')' || *c->at == ']') {
			depth--;
			c->at++;
		} else if (*c->at == 'd' ? !read_dtype(c) : !read_number(c)) {
			return false;
		}
	}
	return *c->at == '\0';
}

static json_t *numbers_json(const struct call_read *c, int from)
{
	json_t *list = json_array();

	for (int i = from; i < c->n; i++)
		json_array_append_new(list, json_integer(c->numbers[i]));
	return list;
}

/* A call of torch that makes a tensor of a size. */
static json_t *parse_call(const char *input, const char *text, int position, struct err *err)
{
	struct call_read c = { .at = text + sizeof("torch.") - 1, .dtype = DTYPE_F32 };
	size_t len = strcspn(c.at, "(");
	bool integers, ok = len < sizeof(c.kind) && c.at[len] == '(';
	json_t *spec;
	int skip = 0;

	snprintf(c.kind, sizeof(c.kind), "%.*s", (int)len, c.at);
	integers = strcmp(c.kind, "randint") == 0;
	if (integers || strcmp(c.kind, "arange") == 0)
		c.dtype = DTYPE_I64;
	c.at += len + 1;
	ok = ok && read_arguments(&c);
	if (integers)
		skip = c.n_before;
	if (!ok || (integers && skip != 1 && skip != 2) ||
	    (strcmp(c.kind, "arange") == 0 && c.n != 1)) {
		wrong(input, err);
		return NULL;
	}
	spec = json_pack("{s:s, s:s, s:o, s:i}", "kind", c.kind, "dtype", dtype_name(c.dtype),
			 "shape", numbers_json(&c, skip), "seed", position);
	if (integers) {
		json_object_set_new(spec, "low", json_integer(skip == 2 ? c.numbers[0] : 0));
		json_object_set_new(spec, "high", json_integer(c.numbers[skip - 1]));
	}
	return json_pack("{s:o}", "random", spec);
}

static json_t *parse_scalar(const char *input, const char *text, struct err *err)
{
	char *end;
	long long integer;
	double real;

	if (strcmp(text, "None") == 0)
		return json_pack("{s:n}", "value");
	if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
		return json_pack("{s:b}", "value", text[0] == 'T');
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (*text && *end == '\0' && !errno)
		return json_pack("{s:I}", "value", (json_int_t)integer);
	real = strtod(text, &end);
	if (*text && *end == '\0' && real - real == 0)
		return json_pack("{s:f}", "value", real);
	wrong(input, err);
	return NULL;
}

/* Whether inputs[i] names the function's positional parameter i. */
static bool named_in_order(const struct fusion_function *function, const char *const *inputs, int n,
			   struct err *err)
{
	for (int i = 0; i < n; i++) {
		size_t len = strcspn(inputs[i], "=");
		const char *want = i < function->n_positional ? function->parameters[i] : NULL;

		if (!want)
			return err_set(err, ERR_WORKLOAD,
				       "%s() takes %d positional argument%s, but --input '%.80s' "
				       "is number %d; leave it out",
				       function->name, function->n_positional,
				       function->n_positional == 1 ? "" : "s", inputs[i], i + 1);
		if (strlen(want) != len || strncmp(want, inputs[i], len) != 0)
			return err_set(err, ERR_WORKLOAD,
				       "argument %d of %s() is %s, but --input '%.80s' names "
				       "another; give the inputs in the function's order",
				       i + 1, function->name, want, inputs[i]);
	}
	return true;
}

bool workload_check_inputs(const struct workload *w, const char *const *inputs, int n,
			   struct err *err)
{
	struct fusion_function entry;

	return !fusion_entry_function(w->points[0].program, &entry) || entry.open ||
	       named_in_order(&entry, inputs, n, err);
}

static json_t *from_inputs(const char *name, const char *source, const char *const *inputs, int n,
			   struct err *err)
{
	json_t *args = json_array(), *json;

	for (int i = 0; i < n; i++) {
		const char *equals = strchr(inputs[i], '='), *bracket;
		json_t *spec;

		if (!equals || equals == inputs[i]) {
			wrong(inputs[i], err);
			goto fail;
		}
		bracket = strchr(equals + 1, '[');
		spec = strncmp(equals + 1, "torch.", 6) == 0
			   ? parse_call(inputs[i], equals + 1, i, err)
		       : bracket ? parse_tensor(inputs[i], equals + 1, bracket, i, err)
				 : parse_scalar(inputs[i], equals + 1, err);
		if (!spec)
			goto fail;
		json_array_append_new(args, spec);
	}
	json = json_pack("{s:s, s:s, s:[o]}", "name", name, "source", source, "calls", args);
	if (!json)
		err_set(err, ERR_SYNTAX, "the source is not UTF-8 text");
	return json;
fail:
	json_decref(args);
	return NULL;
}

/* The texts of the "# input: NAME=V" lines above the first import; malloc'd.  Returns
 * how many. */
static int header_inputs(const char *source, char **inputs, int most)
{
	static const char mark[] = "# input:";
	int n = 0;

	for (const char *at = source; *at && n < most; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *text = at + sizeof(mark) - 1;

		if (strncmp(at, "import ", 7) == 0 || strncmp(at, "from ", 5) == 0)
			break;
		if (strncmp(at, mark, sizeof(mark) - 1) != 0)
			continue;
		text += strspn(text, " \t");
		inputs[n] = strndup(text, strcspn(text, "\r\n"));
		n += inputs[n] != NULL;
	}
	return n;
}

json_t *workload_from_python(const char *name, const char *source, const char *const *inputs, int n,
			     struct err *err)
{
	char *own[WORKLOAD_MAX_ARGS];
	int n_own = n ? 0 : header_inputs(source, own, WORKLOAD_MAX_ARGS);
	json_t *json = from_inputs(name, source, n ? inputs : (const char *const *)own,
				   n ? n : n_own, err);

	for (int i = 0; i < n_own; i++)
		free(own[i]);
	return json;
}
