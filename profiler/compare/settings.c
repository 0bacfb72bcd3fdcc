/* profiler/compare/settings.c -- in what two runs differ beside their figures, and whether that
 * forbids to compare them.
 */
#include "profiler/compare/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/lines.h"

enum {
	SHOWN_BYTES = 80,
	SHOWN_VALUE_BYTES = 40,
	SHOWN_INPUTS = 4,
	DESCRIBED_BYTES = 64 << 10,
	MOST_DEPTH = 8
};

struct setting {
	const char *key, *where, *title;
	bool matters;
};

static const struct setting settings[] = {
#define SETTING(key, where, matters, title) { #key, #where, title, matters },
#include "profiler/compare/settings.def"
#undef SETTING
};

/* At most so many bytes, cut between characters. */
static json_t *shortened(const char *text, size_t most)
{
	size_t len = strlen(text);

	if (len <= most)
		return json_string(text);
	for (len = most; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	return json_sprintf("%.*s...", (int)len, text);
}

/* Values as people read them: a list is its items, an object what its keys say. */
static void describe_plain(struct buf *out, const json_t *value, int depth)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		buf_puts(out, json_string_value(value));
	else if (json_is_boolean(value))
		buf_puts(out, json_is_true(value) ? "yes" : "no");
	else if (json_is_integer(value))
		buf_printf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		buf_printf(out, "%.6g", json_real_value(value));
	else if (!value || json_is_null(value) || depth > MOST_DEPTH)
		buf_puts(out, value && !json_is_null(value) ? "..." : "none");
	else if (json_is_array(value) && json_array_size(value) == 0)
		buf_puts(out, "none");
	else if (json_is_array(value))
		json_array_foreach(value, i, item)
		{
			buf_puts(out, i ? ", " : "");
			describe_plain(out, item, depth + 1);
		}
	else {
		i = 0;
		json_object_foreach((json_t *)value, key, item)
		{
			buf_printf(out, "%s%s ", i++ ? "; " : "", key);
			describe_plain(out, item, depth + 1);
		}
		buf_puts(out, i ? "" : "none");
	}
}

static json_t *describe_any(const json_t *value, size_t most)
{
	struct buf text;
	json_t *json;

	buf_init(&text, DESCRIBED_BYTES);
	describe_plain(&text, value, 0);
	json = shortened(text.data && text.len ? text.data : "none", most);
	buf_finish(&text);
	return json;
}

/* "float32[8,16]" of a value; what it says where it is no tensor. */
static void describe_value(struct buf *out, const json_t *value)
{
	const json_t *t = json_object_get(value, "random"), *size;
	const char *dtype;
	size_t i;

	if (!t)
		t = json_object_get(value, "tensor");
	dtype = json_string_value(json_object_get(t, "dtype"));
	if (!t) {
		const json_t *plain = json_object_get(value, "value");
		json_t *said = describe_any(plain ? plain : value, SHOWN_VALUE_BYTES);

		buf_puts(out, json_string_value(said));
		json_decref(said);
		return;
	}
	buf_printf(out, "%s[", dtype ? dtype : "");
	json_array_foreach(json_object_get(t, "shape"), i, size)
	    buf_printf(out, "%s%lld", i ? "," : "", (long long)json_integer_value(size));
	buf_puts(out, "]");
}

/* "float32[8,16], float32[16] and 2 more calls" */
static json_t *describe_calls(const json_t *calls)
{
	const json_t *first = json_array_get(calls, 0), *value;
	size_t i, n = json_array_size(calls);
	struct buf text;
	json_t *json;

	buf_init(&text, 4096);
	json_array_foreach(first, i, value)
	{
		if (i < SHOWN_INPUTS) {
			buf_puts(&text, i ? ", " : "");
			describe_value(&text, value);
		}
	}
	if (i > SHOWN_INPUTS)
		buf_printf(&text, " and %zu more", i - SHOWN_INPUTS);
	if (n > 1)
		buf_printf(&text, "; %zu calls", n);
	json = shortened(text.data && text.len ? text.data : "none", SHOWN_BYTES);
	buf_finish(&text);
	return json;
}

/* "n = 1 to 30, 7 points", "dim 0 of input 1 from 16 to 4096, 5 points" */
static json_t *describe_sweep(const json_t *sweep)
{
	const json_t *input = json_object_get(sweep, "input");
	const json_t *list = input
				 ? json_object_get(input, "sizes")
				 : json_object_get(json_object_get(sweep, "statements"), "counts");
	size_t n = json_array_size(list);
	struct buf text;
	json_t *json;

	if (!n)
		return json_string("none");
	buf_init(&text, 256);
	if (input)
		buf_printf(&text, "dim %d of input %d from ",
			   (int)json_integer_value(json_object_get(input, "dim")),
			   (int)json_integer_value(json_object_get(input, "arg")));
	else
		buf_puts(&text, "n = ");
	buf_printf(&text, "%.6g to %.6g, %zu points", json_number_value(json_array_get(list, 0)),
		   json_number_value(json_array_get(list, n - 1)), n);
	json = json_string(text.data ? text.data : "");
	buf_finish(&text);
	return json;
}

/* The passes that a workload switches off: {"cse": false} is "cse". */
static json_t *passes_off(const json_t *value)
{
	json_t *off = json_array(), *on;
	const char *key;

	json_object_foreach((json_t *)value, key, on)
	{
		if (json_is_false(on))
			json_array_append_new(off, json_string(key));
	}
	return off;
}

static json_t *describe(const char *key, const json_t *value)
{
	json_t *json;

	if (strcmp(key, "calls") == 0)
		return describe_calls(value);
	if (strcmp(key, "sweep") == 0)
		return describe_sweep(value);
	if (!value || json_is_null(value))
		return json_string(strcmp(key, "seconds") == 0 ? "the default" : "none");
	if (strcmp(key, "commit") == 0 && json_string_length(value) >= 40)
		return json_sprintf("%.12s%s", json_string_value(value),
				    json_string_value(value) + 40);
	if (json_is_string(value))
		return shortened(json_string_length(value) ? json_string_value(value) : "none",
				 SHOWN_BYTES);
	if (strcmp(key, "params") == 0)
		return json_sprintf("%zu of them", json_object_size(value));
	if (strcmp(key, "passes") == 0 && json_is_object(value)) {
		json_t *off = passes_off(value);

		json = describe_any(off, SHOWN_BYTES);
		json_decref(off);
		return json;
	}
	return describe_any(value, SHOWN_BYTES);
}

/* What is left out means the same as null, false, and the policy dynamo. */
static bool says_nothing(const char *key, const json_t *value)
{
	const char *text = json_string_value(value);

	return !value || json_is_null(value) || json_is_false(value) ||
	       (text && (!*text || (strcmp(key, "policy") == 0 && strcmp(text, "dynamo") == 0) ||
			 (strcmp(key, "entry") == 0 && strcmp(text, "model") == 0)));
}

/* The lines that a sweep puts into the source: part of the program, not of its settings. */
static const json_t *pool_of(const json_t *sweep)
{
	return json_object_get(json_object_get(sweep, "statements"), "pool");
}

static bool alike(const char *key, const json_t *a, const json_t *b)
{
	const json_t *counts_a = json_object_get(json_object_get(a, "statements"), "counts");
	const json_t *counts_b = json_object_get(json_object_get(b, "statements"), "counts");

	if (strcmp(key, "sweep") == 0 && counts_a && counts_b)
		return json_equal((json_t *)counts_a, (json_t *)counts_b);
	return (says_nothing(key, a) && says_nothing(key, b)) ||
	       (a && b && json_equal((json_t *)a, (json_t *)b));
}

/* Not known is no difference that forbids anything. */
static bool known(const json_t *value)
{
	const char *text = json_string_value(value);

	return value && !(text && strcmp(text, "unknown") == 0);
}

/* Sweeps of one kind have points in common, which are compared; of two kinds, none. */
static bool other_sweep(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "input"), *y = json_object_get(b, "input");

	if (!json_is_object(a) || !json_is_object(b) || !x != !y)
		return true;
	return x && (!json_equal(json_object_get(x, "arg"), json_object_get(y, "arg")) ||
		     !json_equal(json_object_get(x, "dim"), json_object_get(y, "dim")));
}

static void add(json_t *list, const char *key, const char *title, json_t *a, json_t *b,
		bool matters)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:b}", "key", key, "title",
					      title, "a", a, "b", b, "matters", matters));
}

static void add_setting(json_t *list, const struct setting *s, const json_t *a, const json_t *b)
{
	bool matters = s->matters, of_workload = strcmp(s->where, "workload") == 0;

	if (alike(s->key, a, b))
		return;
	if (strcmp(s->key, "sweep") == 0)
		matters = other_sweep(a, b);
	add(list, s->key, s->title, describe(s->key, a), describe(s->key, b),
	    matters && (of_workload || (known(a) && known(b))));
}

static const char *plural(json_int_t n)
{
	return n == 1 ? "" : "s";
}

/* "8 lines" and "1 line added, 2 gone". */
static void add_source(json_t *list, const char *a, const char *b)
{
	json_t *changed = lines_compare(a ? a : "", b ? b : ""), *words;
	json_int_t added = json_integer_value(json_object_get(changed, "added")),
		   gone = json_integer_value(json_object_get(changed, "gone")), n = 0;

	for (const char *at = a; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		n++;
	words = json_is_integer(json_object_get(changed, "added"))
		    ? json_sprintf("%lld line%s added, %lld gone", (long long)added, plural(added),
				   (long long)gone)
		    : json_string("changed");
	add(list, "source", "source", json_sprintf("%lld line%s", (long long)n, plural(n)), words,
	    false);
	json_decref(changed);
}

/* "20 lines: x = x + 0.1; x = torch.sin(x); ..." */
static json_t *describe_pool(const json_t *pool)
{
	struct buf text;
	const json_t *line;
	json_t *json;
	size_t i;

	buf_init(&text, 4096);
	buf_printf(&text, "%zu line%s: ", json_array_size(pool),
		   plural((json_int_t)json_array_size(pool)));
	json_array_foreach(pool, i, line)
	    buf_printf(&text, "%s%s", i ? "; " : "", json_string_value(line));
	json = shortened(text.data ? text.data : "", SHOWN_BYTES);
	buf_finish(&text);
	return json;
}

/* The workload itself: its name, its source, and what a sweep puts into it. */
static void add_program(json_t *list, const json_t *a, const json_t *b)
{
	const json_t *pool_a = pool_of(json_object_get(a, "sweep"));
	const json_t *pool_b = pool_of(json_object_get(b, "sweep"));
	const json_t *name_a = json_object_get(a, "name"), *name_b = json_object_get(b, "name");
	bool other_pool = pool_a && pool_b && !json_equal((json_t *)pool_a, (json_t *)pool_b);
	bool same_name = alike("name", name_a, name_b);
	bool same_source = alike("source", json_object_get(a, "source"),
				 json_object_get(b, "source"));

	if (!same_name)
		add(list, "workload", "workload", describe("name", name_a),
		    describe("name", name_b), !same_source || other_pool);
	if (!same_source)
		add_source(list, json_string_value(json_object_get(a, "source")),
			   json_string_value(json_object_get(b, "source")));
	if (other_pool)
		add(list, "pool", "statements", describe_pool(pool_a), describe_pool(pool_b),
		    false);
}

json_t *settings_differences(const json_t *a, const json_t *b)
{
	json_t *list = json_array();

	add_program(list, json_object_get(a, "workload"), json_object_get(b, "workload"));
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *s = &settings[i];
		const json_t *in_a = json_object_get(a, s->where),
			     *in_b = json_object_get(b, s->where);

		add_setting(list, s, json_object_get(in_a, s->key), json_object_get(in_b, s->key));
	}
	return list;
}

bool settings_refusal(const json_t *differences, struct buf *out)
{
	const json_t *d;
	bool any = false;
	size_t i;

	json_array_foreach(differences, i, d)
	{
		if (!json_is_true(json_object_get(d, "matters")))
			continue;
		buf_printf(out, "%s%s %s against %s", any ? "; " : "not comparable: ",
			   json_string_value(json_object_get(d, "title")),
			   json_string_value(json_object_get(d, "a")),
			   json_string_value(json_object_get(d, "b")));
		any = true;
	}
	return any;
}

void settings_key(const json_t *report, struct buf *out)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *s = &settings[i];
		const json_t *value = json_object_get(json_object_get(report, s->where), s->key);
		char *text;

		if (!s->matters || strcmp(s->key, "sweep") == 0 || says_nothing(s->key, value))
			continue;
		text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
		buf_printf(out, "%s=%s\n", s->key, text ? text : "");
		free(text);
	}
}

void settings_program(const json_t *report, struct buf *out)
{
	const json_t *w = json_object_get(report, "workload"), *line;
	const char *source = json_string_value(json_object_get(w, "source"));
	size_t i;

	buf_puts(out, source ? source : "");
	if (json_object_get(w, "files")) { /* the same whatever their order is */
		char *files = json_dumps(json_object_get(w, "files"),
					 JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);

		buf_puts(out, files ? files : "");
		free(files);
	}
	json_array_foreach(pool_of(json_object_get(w, "sweep")), i, line)
	    buf_printf(out, "\n%s", json_string_value(line));
}
