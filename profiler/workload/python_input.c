/* profiler/workload/python_input.c -- the language of inputs.
 *
 * An argument is text: a dtype with a shape is a random tensor (floats by randn, ints by randint
 * below 10 or below what is said, as in "int64[4]<50", bools by randint below 2), a number, True,
 * False and None are themselves, and all else is a Python expression in the scope of the program.
 * It is the same in {"python": "..."} of a workload, after `--input x=` and in lines `# input: x=`.
 */
#include "profiler/workload/python_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/fusion.h"
#include "fusion/source.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/workload.h"

/* ---- "float32[8, 16]" ---- */

/* A text that is being read; where it goes wrong is a place in it. */
struct input_reader {
	const char *text, *at;
	const char *label;
	struct err *err;
};

static bool wrong_at(const struct input_reader *r, const char *what, const char *instead)
{
	err_at(r->err, ERR_WORKLOAD, 1, (int)(r->at - r->text) + 1, "%s; %s", what, instead);
	if (r->err)
		snprintf(r->err->file, sizeof(r->err->file), "%s", r->label);
	return false;
}

static bool wrong(const struct input_reader *r, const char *what)
{
	return wrong_at(r, what, "write a dtype with a shape, as float32[8, 16] or int64[4]<50");
}

/* "8, 16]" to [8, 16]; "]" to []. */
static bool read_shape(struct input_reader *r, json_t *shape)
{
	for (r->at += strspn(r->at, " "); *r->at != ']';) {
		char *end;
		long long size;

		if (*r->at == '\0')
			return wrong(r, "the shape is not closed: ] is missing");
		errno = 0;
		size = strtoll(r->at, &end, 10);
		if (end == r->at || errno || size < 0)
			return wrong(r, "a size is a whole number from 0 on");
		json_array_append_new(shape, json_integer(size));
		r->at = end + strspn(end, " ");
		if (*r->at == ',')
			r->at += 1 + strspn(r->at + 1, " ");
		else if (*r->at != ']')
			return wrong(r, "after a size comes , or ]");
	}
	r->at++;
	return true;
}

/* "<50" to 50; "" to what is usual. */
static bool read_below(struct input_reader *r, enum dtype dtype, long long *high)
{
	char *end;

	*high = dtype == DTYPE_BOOL ? 2 : 10;
	r->at += strspn(r->at, " ");
	if (*r->at == '\0')
		return true;
	if (*r->at != '<')
		return wrong(r, "after the shape comes < or nothing");
	if (dtype_category(dtype) != CATEGORY_INT)
		return wrong(r, "only integers are below something");
	r->at += 1 + strspn(r->at + 1, " ");
	if (*r->at < '1' || *r->at > '9')
		return wrong(r, "after < comes a whole number from 1 on");
	errno = 0;
	*high = strtoll(r->at, &end, 10);
	if (errno)
		return wrong(r, "the number after < is too large");
	r->at = end + strspn(end, " ");
	return *r->at == '\0' || wrong(r, "something follows the number after <");
}

static bool read_tensor(struct input_reader *r, enum dtype dtype, uint64_t seed, json_t **spec)
{
	bool real = dtype_category(dtype) == CATEGORY_FLOAT;
	json_t *shape = json_array(), *random;
	long long high;

	if (!read_shape(r, shape) || !read_below(r, dtype, &high)) {
		json_decref(shape);
		return false;
	}
	random = json_pack("{s:s, s:o, s:s, s:I}", "dtype", dtype_name(dtype), "shape", shape,
			   "kind", real ? "randn" : "randint", "seed", (json_int_t)seed);
	if (!real)
		json_object_set_new(random, "high", json_integer(high));
	*spec = json_pack("{s:o}", "random", random);
	return true;
}

/* "float33" or "int46": no name of a program begins so. */
static bool is_like_dtype(const char *name)
{
	static const char *const begins[] = { "float", "bfloat", "int", "uint" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0) {
			const char *digits = name + strlen(begins[i]);

			return digits[0] && strspn(digits, "0123456789") == strlen(digits);
		}
	return false;
}

static bool no_dtype(const struct input_reader *r, const char *name)
{
	struct nearest near = nearest_to(name);
	char known[160], what[80], instead[200];

	for (int i = 0; i < DTYPE_COUNT; i++)
		nearest_offer(&near, dtype_name((enum dtype)i));
	snprintf(what, sizeof(what), "'%s' is no dtype", name);
	if (near.best)
		snprintf(instead, sizeof(instead), "did you mean %s?", near.best);
	else
		snprintf(instead, sizeof(instead), "there are %s",
			 spec_dtypes(known, sizeof(known)));
	return wrong_at(r, what, instead);
}

/* ---- 3.5, True ---- */

static json_t *scalar_of(const char *text)
{
	char *end;
	long long integer;
	double real;

	if (strcmp(text, "None") == 0)
		return json_pack("{s:n}", "value");
	if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
		return json_pack("{s:b}", "value", text[0] == 'T');
	if (!strchr("+-.0123456789", text[0]) || text[strspn(text, "+-.0123456789eE")])
		return NULL;
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (*end == '\0' && !errno)
		return json_pack("{s:I}", "value", (json_int_t)integer);
	real = strtod(text, &end);
	return *end == '\0' && real - real == 0 ? json_pack("{s:f}", "value", real) : NULL;
}

bool input_plain(const char *text, uint64_t seed, const char *label, json_t **spec, struct err *err)
{
	struct input_reader r = {
		.text = text, .at = text + strspn(text, " "), .label = label, .err = err
	};
	size_t len = strspn(r.at, "abcdefghijklmnopqrstuvwxyz0123456789");
	enum dtype dtype;
	char name[32];

	*spec = NULL;
	if (*r.at == '\0')
		return wrong(&r, "there is no value");
	if (len && len < sizeof(name) && r.at[len] == '[') {
		snprintf(name, sizeof(name), "%.*s", (int)len, r.at);
		if (!dtype_from_name(name, &dtype))
			return !is_like_dtype(name) || no_dtype(&r, name);
		r.at += len + 1;
		return read_tensor(&r, dtype, seed, spec);
	}
	*spec = scalar_of(r.at);
	return true;
}

/* ---- "NAME=TEXT" for each argument ---- */

/* The parameters that a call of the entry gives: those of a function; of a class of modules, of
 * its forward, without self.  NULL: what the entry is, the text does not tell. */
static const struct lang_signature *entry_signature(const struct lang_outline *o, const char *entry)
{
	const struct lang_signature *f = lang_outline_function(o, NULL, entry);

	if (f && f->is_class)
		f = lang_outline_function(o, entry, "forward");
	return f && !f->decorated ? f : NULL;
}

static const struct lang_parameter *parameter_named(const struct lang_signature *f,
						    const char *name)
{
	for (int i = f->owner != NULL; i < f->n; i++)
		if (f->parameters[i].kind < PARAMETER_ARGS &&
		    strcmp(f->parameters[i].name, name) == 0)
			return &f->parameters[i];
	return NULL;
}

static bool takes(const struct lang_signature *f, enum lang_parameter_kind kind)
{
	for (int i = 0; i < f->n; i++)
		if (f->parameters[i].kind == kind)
			return true;
	return false;
}

/* Of names that a call gives: whether each is a parameter's. */
static bool check_name(const struct lang_signature *f, const char *input, const char *name,
		       struct err *err)
{
	struct nearest near = nearest_to(name);
	int first = f->owner != NULL;
	struct buf all;

	if (parameter_named(f, name) || takes(f, PARAMETER_KEYWORDS) || takes(f, PARAMETER_ARGS))
		return true;
	buf_init(&all, 400);
	for (int i = first; i < f->n; i++) {
		nearest_offer(&near, f->parameters[i].name);
		buf_printf(&all, "%s%s", i > first ? ", " : "", f->parameters[i].name);
	}
	if (near.best)
		err_set(err, ERR_WORKLOAD,
			"--input '%.80s': %s() has no parameter '%s'; did you mean '%s'?", input,
			f->owner ? f->owner : f->name, name, near.best);
	else
		err_set(err, ERR_WORKLOAD, "--input '%.80s': %s() has no parameter '%s'; it has %s",
			input, f->owner ? f->owner : f->name, name,
			all.data && all.len ? all.data : "none");
	buf_finish(&all);
	return false;
}

/* The name before the =; false where there is none. */
static bool input_name(const char *input, char name[64])
{
	size_t len = strcspn(input, "=");

	if (input[len] != '=' || len == 0 || len >= 64)
		return false;
	snprintf(name, 64, "%.*s", (int)len, input);
	return name[strspn(name,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
	       '\0';
}

struct call_made {
	const struct lang_signature *f; /* NULL: inputs are in order */
	json_t *args, *kwargs;
};

static bool is_given(const struct call_made *made, const char *name)
{
	for (size_t i = 0; made->f && i < json_array_size(made->args); i++)
		if ((int)i + (made->f->owner != NULL) < made->f->n &&
		    strcmp(made->f->parameters[i + (made->f->owner != NULL)].name, name) == 0)
			return true;
	return json_object_get(made->kwargs, name) != NULL;
}

/* Puts the spec in its place: by place as long as the inputs are in the function's order. */
static void put(struct call_made *made, const char *name, json_t *spec)
{
	size_t at = json_array_size(made->args);
	const struct lang_signature *f = made->f;
	int next = f ? (int)at + (f->owner != NULL) : 0;
	bool in_order = !f ||
			(json_object_size(made->kwargs) == 0 && next < f->n &&
			 f->parameters[next].kind <= PARAMETER_EITHER &&
			 strcmp(f->parameters[next].name, name) == 0) ||
			(f && takes(f, PARAMETER_ARGS) && !parameter_named(f, name));

	if (in_order)
		json_array_append_new(made->args, spec);
	else
		json_object_set_new(made->kwargs, name, spec);
}

static bool add_input(struct call_made *made, const char *input, uint64_t seed, struct err *err)
{
	const char *text = strchr(input, '=');
	struct err found = { 0 };
	char name[64];
	json_t *spec;

	if (!input_name(input, name))
		return err_set(err, ERR_WORKLOAD,
			       "the input '%.80s' has no name; write NAME=VALUE, as "
			       "'x=float32[8,16]' or 'x=torch.randn(8, 16)'",
			       input);
	if (made->f && !check_name(made->f, input, name, err))
		return false;
	if (is_given(made, name))
		return err_set(err, ERR_WORKLOAD, "the input '%.80s' gives %s a second time", input,
			       name);
	if (!input_plain(text + 1, seed, "", &spec, &found))
		return err_set(err, found.code, "--input '%.80s', column %d: %s", input,
			       (int)(text + 1 - input) + found.column, found.message);
	put(made, name, spec ? spec : json_pack("{s:s}", "python", text + 1));
	return true;
}

static json_t *call_json(struct call_made *made)
{
	json_t *call = made->args;

	if (json_object_size(made->kwargs))
		return json_pack("{s:o, s:o}", "args", made->args, "kwargs", made->kwargs);
	json_decref(made->kwargs);
	return call;
}

/* "train.py:model" is model, and Net(3) is Net. */
static void entry_word(const char *entry, char out[128])
{
	const char *colon = entry ? strstr(entry, ".py:") : NULL;
	const char *name = colon ? colon + 4 : entry && *entry ? entry : "model";

	snprintf(out, 128, "%.*s", (int)strcspn(name, "("), name);
}

/* What the inputs of a program say; the first that is wrong is *err, and `each`, where there is
 * one, is told of all. */
struct inputs_read {
	const char *source, *entry;
	const char *const *at;
	int n;
	fusion_problem_fn *each;
	void *self;
};

static bool make_call(const struct inputs_read *r, struct call_made *made, struct err *err)
{
	bool ok = true;

	for (int i = 0; i < r->n && (ok || r->each); i++) {
		struct err wrong = { 0 };

		if (add_input(made, r->at[i], (uint64_t)i, &wrong))
			continue;
		if (ok && err)
			*err = wrong;
		ok = false;
		if (r->each)
			r->each(r->self, &wrong, true);
	}
	return ok;
}

static json_t *call_from(const struct inputs_read *r, struct err *err)
{
	struct call_made made = { .args = json_array(), .kwargs = json_object() };
	struct lang_outline *o = r->n ? lang_outline_create(r->source) : NULL;
	char word[128];
	bool ok;

	entry_word(r->entry, word);
	made.f = entry_signature(o, word);
	ok = make_call(r, &made, err);
	lang_outline_destroy(o);
	if (ok)
		return call_json(&made);
	json_decref(made.args);
	json_decref(made.kwargs);
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

json_t *workload_from_python(const char *name, const char *source, const char *entry,
			     const char *const *inputs, int n, struct err *err)
{
	char *own[WORKLOAD_MAX_ARGS];
	int n_own = n ? 0 : header_inputs(source, own, WORKLOAD_MAX_ARGS);
	const struct inputs_read r = { .source = source,
				       .entry = entry,
				       .at = n ? inputs : (const char *const *)own,
				       .n = n ? n : n_own };
	json_t *call = call_from(&r, err);
	json_t *json = call ? json_pack("{s:s, s:s, s:[o]}", "name", name, "source", source,
					"calls", call)
			    : NULL;

	if (call && !json)
		err_set(err, ERR_SYNTAX, "the source is not UTF-8 text");
	for (int i = 0; i < n_own; i++)
		free(own[i]);
	return json;
}

void workload_input_problems(const struct workload_inputs *inputs,
			     void (*each)(void *self, const struct err *problem, bool certain),
			     void *self)
{
	const struct inputs_read r = { inputs->source, inputs->entry, inputs->at,
				       inputs->n,      each,          self };

	json_decref(call_from(&r, NULL));
}
