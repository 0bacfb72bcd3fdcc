/* profiler/ranks/logs.c -- what ranks compiled, and where that differs.
 *
 * A compilation is known by its id, "0/1", and by how often the process had forgotten all it
 * compiled before.  Of each a text is made for every thing that is compared; the text that most
 * ranks have is the rule, the ranks with others differ.
 */
#include "profiler/ranks/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"

enum { TEXT_BYTES = 400 };

/* ---- graphs ---- */

/* How much of a text says nothing that ranks share: a comment, an address, a device's number. */
static size_t passed_over(const char *text, size_t len)
{
	size_t n = 0;

	if (text[0] == '#')
		while (n < len && text[n] != '\n')
			n++;
	else if (len > 2 && text[0] == '0' && text[1] == 'x')
		for (n = 2; n < len && strchr("0123456789abcdefABCDEF", text[n]) && text[n];)
			n++;
	else if (len > 5 && memcmp(text, "cuda:", 5) == 0)
		for (n = 5; n < len && text[n] >= '0' && text[n] <= '9';)
			n++;
	else
		while (n < len && text[n] && strchr(" \t\r\n", text[n]))
			n++;
	return n;
}

uint64_t ranks_graph_hash(const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (size_t i = 0; i < len;) {
		size_t n = passed_over(text + i, len - i);

		if (n == 0)
			hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
		i += n ? n : 1;
	}
	return hash;
}

/* ---- what is compared ---- */

struct rank_compiled {
	int64_t rank;
	const json_t *row; /* NULL: the rank has none of that id */
	char text[TEXT_BYTES];
};

static void say_graph(const json_t *row, char *out)
{
	const char *hash = json_string_value(json_object_get(row, "graph_hash"));

	long long graphs = json_integer_value(json_object_get(row, "graphs"));

	snprintf(out, TEXT_BYTES, "%lld graph%s, %lld ops%s%.8s", graphs, graphs == 1 ? "" : "s",
		 (long long)json_integer_value(json_object_get(row, "ops")), hash ? ", text " : "",
		 hash ? hash : "");
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "fx_graph_cache_hit 1, ..." in the order of the keys, of those that `others` (NULL: all) has
 * another number of. */
static void say_numbers(const json_t *numbers, const json_t *others, const char *none, char *out)
{
	const char *keys[32], *key;
	json_t *value;
	size_t n = 0, at = 0;

	json_object_foreach((json_t *)numbers, key, value)
	{
		if (n < 32 && (!others || json_number_value(json_object_get(others, key)) !=
					      json_number_value(value)))
			keys[n++] = key;
	}
	qsort(keys, n, sizeof(*keys), by_key);
	snprintf(out, TEXT_BYTES, "%s", n ? "" : none);
	for (size_t i = 0; i < n && at + 80 < TEXT_BYTES; i++)
		at += (size_t)snprintf(
		    out + at, TEXT_BYTES - at, "%s%.50s %lld", i ? ", " : "", keys[i],
		    (long long)json_number_value(json_object_get(numbers, keys[i])));
}

static void say_caches(const json_t *row, char *out)
{
	say_numbers(json_object_get(row, "caches"), NULL, "no cache", out);
}

static void say_guards(const json_t *row, char *out)
{
	const json_t *kinds = json_object_get(row, "guard_kinds");

	if (json_object_size(kinds))
		say_numbers(kinds, NULL, "", out);
	else
		snprintf(out, TEXT_BYTES, "%lld guards",
			 (long long)json_integer_value(json_object_get(row, "guards")));
}

static void say_outcome(const json_t *row, char *out)
{
	const char *why = json_text(row, "fail_reason");

	snprintf(out, TEXT_BYTES, "%.40s%s%.200s", json_text(row, "outcome"), *why ? ": " : "",
		 why);
}

static void say_frame(const json_t *row, char *out)
{
	snprintf(out, TEXT_BYTES, "%.100s of line %lld", json_text(row, "frame"),
		 (long long)json_integer_value(json_object_get(row, "line")));
}

/* All of them, in a way that tells lists apart. */
static void say_collectives(const json_t *row, char *out)
{
	const json_t *list = json_object_get(row, "collectives"), *op;
	uint64_t hash = 0;
	size_t i;

	json_array_foreach((json_t *)list, i, op)
	{
		const char *name = json_string_value(op);

		hash = hash * UINT64_C(0x100000001b3) +
		       ranks_graph_hash(name ? name : "", name ? strlen(name) : 0);
	}
	snprintf(out, TEXT_BYTES, "%zu collectives, %016llx", json_array_size(list),
		 (unsigned long long)hash);
}

/* One thing that is compared; where a rank lacks the compilation, only `compile` tells so.  Of
 * numbers those are shown that differ. */
enum rank_thing {
	THING_COMPILE,
	THING_OUTCOME,
	THING_GRAPH,
	THING_GUARDS,
	THING_CACHE,
	THING_COLLECTIVES,
	THINGS
};
static const struct {
	const char *kind, *is, *numbers;
	void (*say)(const json_t *row, char *out);
} things[THINGS] = {
	[THING_COMPILE] = { "compile", "compiles", NULL, say_frame },
	[THING_OUTCOME] = { "outcome", "ends", NULL, say_outcome },
	[THING_GRAPH] = { "graph", "captures", NULL, say_graph },
	[THING_GUARDS] = { "guards", "guards", "guard_kinds", say_guards },
	[THING_CACHE] = { "cache", "meets", "caches", say_caches },
	[THING_COLLECTIVES] = { "collective", "runs", NULL, say_collectives },
};

/* Why it was compiled again, as one of them says it. */
static const char *recompiled(const struct rank_compiled *at, int n)
{
	for (int i = 0; i < n; i++) {
		const json_t *reasons = json_object_get(at[i].row, "recompile_reasons");
		const char *why = json_string_value(json_array_get(reasons, 0));

		if (why)
			return why;
		why = json_string_value(json_object_get(at[i].row, "recompile_reason"));
		if (why)
			return why;
	}
	return NULL;
}

static const char *most_common(const struct rank_compiled *at, int n)
{
	const char *best = "";
	int most = 0;

	for (int i = 0; i < n; i++) {
		int same = 0;

		for (int k = 0; k < n; k++)
			same += strcmp(at[i].text, at[k].text) == 0;
		if (same > most) {
			most = same;
			best = at[i].text;
		}
	}
	return best;
}

struct comparing {
	struct rank_match *m;
	const char *compile;
	const struct rank_compiled *at;
	int n;
};

static const json_t *row_with(const struct comparing *c, const char *text)
{
	for (int i = 0; i < c->n; i++)
		if (strcmp(c->at[i].text, text) == 0)
			return c->at[i].row;
	return NULL;
}

/* Which collective is the first that is not the same. */
static size_t first_other(const struct comparing *c, const char *text, const char *beside)
{
	const json_t *a = json_object_get(row_with(c, text), "collectives"),
		     *b = json_object_get(row_with(c, beside), "collectives");
	size_t i = 0;

	while (i < json_array_size(a) && json_equal(json_array_get(a, i), json_array_get(b, i)))
		i++;
	return i;
}

static void say_collective(const json_t *row, size_t at, char *out)
{
	const json_t *list = json_object_get(row, "collectives");
	const char *name = json_string_value(json_array_get(list, at));

	snprintf(out, TEXT_BYTES, "%.200s as collective %zu of %zu", name ? name : "nothing", at,
		 json_array_size(list));
}

/* What is shown of a text beside another. */
static void shorten(const struct comparing *c, size_t thing, const char *text, const char *beside,
		    char out[TEXT_BYTES])
{
	const char *key = things[thing].numbers;
	const json_t *own = key ? json_object_get(row_with(c, text), key) : NULL,
		     *others = key ? json_object_get(row_with(c, beside), key) : NULL;

	if (thing == THING_COLLECTIVES)
		say_collective(row_with(c, text), first_other(c, text, beside), out);
	else if (own && others)
		say_numbers(own, others, "none of these", out);
	else
		snprintf(out, TEXT_BYTES, "%s", text);
}

/* The ranks that have this text, and differ by it. */
static void add_text(struct comparing *c, size_t thing, const char *text, const char *common)
{
	char theirs[TEXT_BYTES], most[TEXT_BYTES];
	int64_t *ranks = malloc((size_t)c->n * sizeof(*ranks));
	const char *why = thing == 0 ? recompiled(c->at, c->n) : NULL;
	const char *kind = why ? "recompile" : things[thing].kind;
	struct report_divergence *row;
	char who[DIVERGENCE_WHO];
	int n = 0;

	shorten(c, thing, text, common, theirs);
	shorten(c, thing, common, text, most);
	for (int i = 0; ranks && i < c->n; i++)
		if (strcmp(c->at[i].text, text) == 0)
			ranks[n++] = c->at[i].rank;
	row = n ? divergence_add(c->m, &(struct divergence_of){ kind, theirs, most, ranks, n }, who)
		: NULL;
	if (row) {
		REPORT_SET(row, compile, report_draft_text(c->m->draft, c->compile));
		REPORT_SET_IF(row, index, thing == THING_COLLECTIVES,
			      (int64_t)first_other(c, text, common));
		REPORT_SET(
		    row, sentence,
		    rank_valid(&c->m->draft->arena,
			       arena_printf(&c->m->draft->arena,
					    "%s: compilation %s %s %s, of other ranks %s%s%.200s",
					    who, c->compile, things[thing].is, theirs, most,
					    why ? "; compiled again since " : "", why ? why : "")));
	}
	free(ranks);
}

/* Whether the ranks differ in a thing. */
static bool compare_thing(struct comparing *c, struct rank_compiled *at, size_t thing)
{
	char most[TEXT_BYTES];
	bool differs = false;

	for (int i = 0; i < c->n; i++) {
		if (at[i].row)
			things[thing].say(at[i].row, at[i].text);
		else
			snprintf(at[i].text, TEXT_BYTES, "nothing");
	}
	snprintf(most, sizeof(most), "%s", most_common(at, c->n));
	for (int i = 0; i < c->n; i++) {
		bool seen = strcmp(at[i].text, most) == 0;

		differs = differs || !seen;
		for (int k = 0; k < i && !seen; k++)
			seen = strcmp(at[i].text, at[k].text) == 0;
		if (!seen)
			add_text(c, thing, at[i].text, most);
	}
	return differs;
}

/* ---- compilations of all ranks ---- */

struct row_of_rank {
	const char *compile;
	json_int_t resets;
	int rank; /* its place among the ranks that compile */
	const json_t *row;
};

/* Of ids: their numbers, not their letters. */
static int compare_ids(const char *a, const char *b)
{
	while (*a && *b) {
		if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
			char *x, *y;
			long p = strtol(a, &x, 10), q = strtol(b, &y, 10);

			if (p != q)
				return p < q ? -1 : 1;
			a = x;
			b = y;
		} else if (*a++ != *b++) {
			return a[-1] < b[-1] ? -1 : 1;
		}
	}
	return (*a != 0) - (*b != 0);
}

static int by_compile(const void *a, const void *b)
{
	const struct row_of_rank *x = a, *y = b;
	int order;

	if (x->resets != y->resets)
		return x->resets < y->resets ? -1 : 1;
	order = compare_ids(x->compile, y->compile);
	return order ? order : x->rank - y->rank;
}

struct compilers {
	int64_t ranks[RANKS_MAX_RANKS];
	int n;
	VEC(struct row_of_rank) rows;
};

/* The place of a process's rank; -1: it says none. */
static int rank_place(struct compilers *c, const json_t *process)
{
	const json_t *rank = json_object_get(process, "rank");
	int i = 0;

	if (!json_is_integer(rank))
		return -1;
	while (i < c->n && c->ranks[i] != json_integer_value(rank))
		i++;
	if (i == c->n && c->n < RANKS_MAX_RANKS)
		c->ranks[c->n++] = json_integer_value(rank);
	return i < c->n ? i : -1;
}

static bool gather(struct compilers *c, const json_t *compiles, const json_t *processes)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)processes, i, row) rank_place(c, row);
	json_array_foreach((json_t *)compiles, i, row)
	{
		size_t process = (size_t)json_integer_value(json_object_get(row, "process"));
		struct row_of_rank of = { json_text(row, "compile"),
					  json_integer_value(json_object_get(row, "resets")),
					  rank_place(c, json_array_get(processes, process)), row };

		if (of.rank >= 0 && !VEC_PUSH(&c->rows, of))
			return false;
	}
	if (c->rows.len)
		qsort(c->rows.at, c->rows.len, sizeof(*c->rows.at), by_compile);
	return true;
}

/* Those of one id, from `first` on; how many rows they are. */
static size_t compare_id(struct rank_match *m, const struct compilers *c, size_t first,
			 struct rank_compiled *at)
{
	const struct row_of_rank *of = &c->rows.at[first];
	struct comparing comparing = { m, of->compile, at, c->n };
	size_t n = 0;
	bool all = true;

	for (int i = 0; i < c->n; i++)
		at[i] = (struct rank_compiled){ .rank = c->ranks[i] };
	for (; first + n < c->rows.len && of[n].resets == of->resets &&
	       strcmp(of[n].compile, of->compile) == 0;
	     n++)
		at[of[n].rank].row = of[n].row;
	for (int i = 0; i < c->n; i++)
		all = all && at[i].row;
	/* What of it differs too follows from the first: of other graphs the guards. */
	for (size_t t = 0; t < THINGS; t++) {
		bool differs = compare_thing(&comparing, at, t);

		if (differs && (t < THING_GRAPH || !all))
			break;
		t += differs && t == THING_GRAPH;
	}
	return n;
}

int rank_logs(struct rank_match *m, const json_t *compiles, const json_t *processes)
{
	struct compilers *c = calloc(1, sizeof(*c));
	struct rank_compiled *at = NULL;
	int n = -1;

	if (c && gather(c, compiles, processes))
		at = malloc(((size_t)c->n + 1) * sizeof(*at));
	for (size_t i = 0; at && c->n > 1 && i < c->rows.len;)
		i += compare_id(m, c, i, at);
	if (at)
		n = c->n;
	if (c)
		VEC_FREE(&c->rows);
	free(at);
	free(c);
	return n;
}
