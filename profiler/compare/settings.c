/* profiler/compare/settings.c -- in what two runs differ beside their figures, and whether that
 * forbids to compare them.
 */
#include "profiler/compare/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/lines.h"
#include "profiler/workload/spec.h"

enum {
	SHOWN_BYTES = 80,
	SHOWN_VALUE_BYTES = 40,
	SHOWN_INPUTS = 4,
	DESCRIBED_BYTES = 64 << 10,
	MOST_DEPTH = 8
};

struct setting {
	const char *key, *title;
	const struct report_record *where;
	size_t at; /* of the record in a report */
	bool matters, parts;
};

static const struct setting settings[] = {
#define SETTING(key, where, matters, parts, title)                                                 \
	{ #key, title, REPORT_RECORD(where), offsetof(struct report_run, where), matters, parts },
#include "profiler/compare/settings.def"
#undef SETTING
};

/* As the report has it; NULL where it has none. */
static const json_t *value_of(const struct setting *s, const struct report_run *run)
{
	const void *from = *(const void *const *)((const char *)run + s->at);

	return report_found(report_field(s->where, s->key), s->where, from);
}

/* At most so many bytes, cut between characters. */
static const char *shortened(struct arena *arena, const char *text, size_t most)
{
	size_t len = strlen(text);

	if (len <= most)
		return arena_strdup(arena, text);
	for (len = most; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;)
		len--;
	return arena_printf(arena, "%.*s...", (int)len, text);
}

/* The same of a text that was written for it; frees that. */
static const char *shortened_buf(struct arena *arena, struct buf *text, size_t most)
{
	const char *kept = shortened(arena, text->data && text->len ? text->data : "none", most);

	buf_finish(text);
	return kept;
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

static const char *describe_any(struct arena *arena, const json_t *value, size_t most)
{
	struct buf text;

	buf_init(&text, DESCRIBED_BYTES);
	describe_plain(&text, value, 0);
	return shortened_buf(arena, &text, most);
}

/* "float32[8,16]" of an argument as it was posted; what it says where it is no tensor. */
static void describe_value(struct arena *arena, struct buf *out, const json_t *value)
{
	struct err ignored = { 0 };
	struct spec_tensor t;

	if (!spec_tensor(value, "", &t, &ignored)) {
		const json_t *plain = json_object_get(value, "value");
		const char *said = describe_any(arena, plain ? plain : value, SHOWN_VALUE_BYTES);

		buf_puts(out, said ? said : "");
		return;
	}
	buf_printf(out, "%s[", dtype_name(t.dtype));
	for (int d = 0; d < t.rank; d++)
		buf_printf(out, "%s%lld", d ? "," : "", (long long)t.size[d]);
	buf_puts(out, "]");
}

/* "float32[8,16], float32[16] and 2 more calls" */
static const char *describe_calls(struct arena *arena, const json_t *calls)
{
	const json_t *first = json_array_get(calls, 0), *value;
	size_t i, n = json_array_size(calls);
	struct buf text;

	buf_init(&text, 4096);
	json_array_foreach(first, i, value)
	{
		if (i < SHOWN_INPUTS) {
			buf_puts(&text, i ? ", " : "");
			describe_value(arena, &text, value);
		}
	}
	if (i > SHOWN_INPUTS)
		buf_printf(&text, " and %zu more", i - SHOWN_INPUTS);
	if (n > 1)
		buf_printf(&text, "; %zu calls", n);
	return shortened_buf(arena, &text, SHOWN_BYTES);
}

/* "n = 1 to 30, 7 points", "dim 0 of input 1 from 16 to 4096, 5 points" */
static const char *describe_sweep(struct arena *arena, const struct report_sweep *sweep)
{
	const struct report_sizes *input = sweep ? sweep->input : NULL;
	struct report_integers n = input                        ? input->sizes
				   : sweep && sweep->statements ? sweep->statements->counts
								: (struct report_integers){ 0 };
	char points[80];

	if (!n.n)
		return "none";
	snprintf(points, sizeof(points), "%.6g to %.6g, %zu points", (double)n.at[0],
		 (double)n.at[n.n - 1], n.n);
	return input && input->has.arg ? arena_printf(arena, "dim %d of input %d from %s",
						      (int)input->dim, (int)input->arg, points)
				       : arena_printf(arena, "n = %s", points);
}

/* The passes that a workload switches off: {"cse": false} is "cse". */
static const char *describe_passes(struct arena *arena, const json_t *value)
{
	struct buf text;
	const char *key;
	json_t *on;

	buf_init(&text, DESCRIBED_BYTES);
	json_object_foreach((json_t *)value, key, on)
	{
		if (json_is_false(on))
			buf_printf(&text, "%s%s", text.len ? ", " : "", key);
	}
	return shortened_buf(arena, &text, SHOWN_BYTES);
}

static const char *describe(struct arena *arena, const char *key, const json_t *value)
{
	const char *text = json_string_value(value);

	if (strcmp(key, "calls") == 0)
		return describe_calls(arena, value);
	if (!value || json_is_null(value))
		return strcmp(key, "seconds") == 0 ? "the default" : "none";
	if (strcmp(key, "commit") == 0 && json_string_length(value) >= 40)
		return arena_printf(arena, "%.12s%s", text, text + 40);
	if (text)
		return *text ? shortened(arena, text, SHOWN_BYTES) : "none";
	if (strcmp(key, "params") == 0)
		return arena_printf(arena, "%zu of them", json_object_size(value));
	if (strcmp(key, "passes") == 0 && json_is_object(value))
		return describe_passes(arena, value);
	return describe_any(arena, value, SHOWN_BYTES);
}

/* What is left out means the same as null, false, the policy dynamo, and autotune off. */
static bool says_nothing(const char *key, const json_t *value)
{
	const char *text = json_string_value(value);

	return !value || json_is_null(value) || json_is_false(value) ||
	       (text && (!*text || (strcmp(key, "policy") == 0 && strcmp(text, "dynamo") == 0) ||
			 (strcmp(key, "autotune") == 0 && strcmp(text, "off") == 0) ||
			 (strcmp(key, "entry") == 0 && strcmp(text, "model") == 0)));
}

static bool alike(const char *key, const json_t *a, const json_t *b)
{
	return (says_nothing(key, a) && says_nothing(key, b)) ||
	       (a && b && json_equal((json_t *)a, (json_t *)b));
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* ---- sweeps ---- */

static const struct report_sweep *sweep_of(const struct report_run *run)
{
	return run->workload ? run->workload->sweep : NULL;
}

static const struct report_statements *statements_of(const struct report_run *run)
{
	const struct report_sweep *sweep = sweep_of(run);

	return sweep ? sweep->statements : NULL;
}

static bool same_integers(struct report_integers a, struct report_integers b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n * sizeof(*a.at)) == 0);
}

static bool same_sweep(const struct report_run *a, const struct report_run *b)
{
	const struct report_sweep *x = sweep_of(a), *y = sweep_of(b);

	if (statements_of(a) && statements_of(b))
		return same_integers(x->statements->counts, y->statements->counts);
	return x && y ? json_equal((json_t *)x->json, (json_t *)y->json) : x == y;
}

/* The lines that a sweep puts into the source: part of the program, not of its settings. */
static struct report_texts pool_of(const struct report_run *run)
{
	const struct report_statements *s = statements_of(run);

	return s ? s->pool : (struct report_texts){ 0 };
}

static bool has_pool(const struct report_run *run)
{
	const struct report_statements *s = statements_of(run);

	return s && s->has.pool;
}

static bool same_pool(const struct report_run *a, const struct report_run *b)
{
	struct report_texts x = pool_of(a), y = pool_of(b);
	bool same = x.n == y.n;

	for (size_t i = 0; same && i < x.n; i++)
		same = strcmp(x.at[i], y.at[i]) == 0;
	return same;
}

/* Not known is no difference that forbids anything. */
static bool known(const json_t *value)
{
	const char *text = json_string_value(value);

	return value && !(text && strcmp(text, "unknown") == 0);
}

/* Sweeps of one kind have points in common, which are compared; of two kinds, none. */
static bool other_sweep(const struct report_sweep *a, const struct report_sweep *b)
{
	if (!a || !b || !a->input != !b->input)
		return true;
	return a->input && (a->input->has.arg != b->input->has.arg ||
			    a->input->arg != b->input->arg || a->input->dim != b->input->dim);
}

/* ---- what differs ---- */

/* Two reports on their way to a list. */
struct search {
	const struct report_run *a, *b;
	struct arena *arena;
	struct differences *out;
};

/* A text is NULL where there was no memory for it. */
static bool add(struct search *s, struct setting_difference d)
{
	return d.a && d.b && VEC_PUSH(&s->out->rows, d);
}

static bool add_setting(struct search *s, const struct setting *setting)
{
	const json_t *a = value_of(setting, s->a), *b = value_of(setting, s->b);
	/* Of two results what one does not say is not the same: "on a machine" is no machine. */
	bool of_results = setting->where == REPORT_RECORD(result) && s->a->result && s->b->result;
	bool strict = of_results || setting->where == REPORT_RECORD(workload);

	if (alike(setting->key, a, b))
		return true;
	return add(s, (struct setting_difference){ .key = setting->key,
						   .title = setting->title,
						   .a = describe(s->arena, setting->key, a),
						   .b = describe(s->arena, setting->key, b),
						   .matters = setting->matters &&
							      (strict || (known(a) && known(b))),
						   .parts = setting->parts });
}

static bool add_sweep(struct search *s, const struct setting *setting)
{
	const struct report_sweep *a = sweep_of(s->a), *b = sweep_of(s->b);

	return same_sweep(s->a, s->b) ||
	       add(s, (struct setting_difference){ .key = setting->key,
						   .title = setting->title,
						   .a = describe_sweep(s->arena, a),
						   .b = describe_sweep(s->arena, b),
						   .matters = other_sweep(a, b) });
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* "8 lines", "120 lines in 3 files". */
static const char *describe_source(struct arena *arena, const struct compared_program *p)
{
	const struct report_workload *w = p->workload;
	size_t files = w->files.n;
	int n = 0;

	for (size_t i = 0; i < (files ? files : 1); i++) {
		const char *text = program_text(p, files ? w->files.keys[i] : NULL);

		for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
			n++;
	}
	return files ? arena_printf(arena, "%d line%s in %zu file%s", n, plural(n), files,
				    plural((int64_t)files))
		     : arena_printf(arena, "%d line%s", n, plural(n));
}

/* "8 lines" and "1 line added, 2 gone". */
static bool add_source(struct search *s, const struct compared_program *a,
		       const struct lines *lines)
{
	const char *words = "changed";

	if (lines->counted)
		words = arena_printf(s->arena, "%d line%s added, %d gone", lines->added,
				     plural(lines->added), lines->gone);
	return add(s, (struct setting_difference){ .key = "source",
						   .title = "source",
						   .a = describe_source(s->arena, a),
						   .b = words });
}

/* "20 lines: x = x + 0.1; x = torch.sin(x); ..." */
static const char *describe_pool(struct arena *arena, struct report_texts pool)
{
	struct buf text;

	buf_init(&text, 4096);
	buf_printf(&text, "%zu line%s: ", pool.n, plural((int64_t)pool.n));
	for (size_t i = 0; i < pool.n; i++)
		buf_printf(&text, "%s%s", i ? "; " : "", pool.at[i]);
	return shortened_buf(arena, &text, SHOWN_BYTES);
}

static const char *name_or_none(struct arena *arena, const char *name)
{
	return name && *name ? shortened(arena, name, SHOWN_BYTES) : "none";
}

/* The workload itself: its name, its source, and what a sweep puts into it. */
static bool add_program(struct search *s)
{
	static const struct report_workload none;
	const struct report_workload *a = s->a->workload ? s->a->workload : &none,
				     *b = s->b->workload ? s->b->workload : &none;
	bool other_pool = has_pool(s->a) && has_pool(s->b) && !same_pool(s->a, s->b);
	const struct compared_program in_a = { a, NULL }, in_b = { b, NULL };
	struct lines lines;
	bool same_source, ok = true;

	if (!lines_compare(&in_a, &in_b, s->arena, &lines))
		return false;
	same_source = lines.counted && !lines.n;
	if (!same_text(a->name, b->name))
		ok = add(s, (struct setting_difference){ .key = "workload",
							 .title = "workload",
							 .a = name_or_none(s->arena, a->name),
							 .b = name_or_none(s->arena, b->name),
							 .matters = !same_source || other_pool });
	if (ok && !same_source)
		ok = add_source(s, &in_a, &lines);
	if (ok && other_pool)
		ok = add(
		    s, (struct setting_difference){ .key = "pool",
						    .title = "statements",
						    .a = describe_pool(s->arena, pool_of(s->a)),
						    .b = describe_pool(s->arena, pool_of(s->b)) });
	return ok;
}

bool settings_differences(const struct report_run *a, const struct report_run *b,
			  struct arena *arena, struct differences *out, struct err *err)
{
	struct search s = { a, b, arena, out };
	bool ok = add_program(&s);

	for (size_t i = 0; ok && i < sizeof(settings) / sizeof(settings[0]); i++)
		ok = strcmp(settings[i].key, "sweep") == 0 ? add_sweep(&s, &settings[i])
							   : add_setting(&s, &settings[i]);
	return ok || err_set(err, ERR_MEMORY, "out of memory for what differs");
}

bool settings_refusal(const struct differences *d, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < d->rows.len; i++) {
		const struct setting_difference *row = &d->rows.at[i];

		if (!row->matters)
			continue;
		buf_printf(out, "%s%s %s against %s", any ? "; " : "not comparable: ", row->title,
			   row->a, row->b);
		any = true;
	}
	return any;
}

void settings_key(const struct report_run *run, struct buf *out)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *s = &settings[i];
		const json_t *value = value_of(s, run);
		char *text;

		if (!s->parts || strcmp(s->key, "sweep") == 0 || says_nothing(s->key, value))
			continue;
		text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
		buf_printf(out, "%s=%s\n", s->key, text ? text : "");
		free(text);
	}
}

void settings_program(const struct report_run *run, struct buf *out)
{
	const char *source = run->workload ? run->workload->source : NULL;
	struct report_texts pool = pool_of(run);

	buf_puts(out, source ? source : "");
	if (run->workload && run->workload->files.n) { /* the same whatever their order is */
		char *files = json_dumps(json_object_get(run->workload->json, "files"),
					 JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);

		buf_puts(out, files ? files : "");
		free(files);
	}
	for (size_t i = 0; i < pool.n; i++)
		buf_printf(out, "\n%s", pool.at[i]);
}
