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

/* A compilation on a rank; `text` is room for what is compared. */
struct rank_compiled {
	int64_t rank;
	const json_t *row;
	char text[TEXT_BYTES];
};

/* Ranks that have the same text: n of them from `of` on; NULL: those that have nothing. */
struct same_text {
	const struct rank_compiled *of;
	int n;
	int64_t first; /* rank */
};

static void say_graph(const json_t *row, char *out)
{
	const char *hash = json_string_value(json_object_get(row, "graph_hash"));

	long long graphs = json_integer_value(json_object_get(row, "graphs")),
		  ops = json_integer_value(json_object_get(row, "ops"));

	snprintf(out, TEXT_BYTES, "%lld graph%s, %lld op%s%s%.8s", graphs, graphs == 1 ? "" : "s",
		 ops, ops == 1 ? "" : "s", hash ? ", text " : "", hash ? hash : "");
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

static void say_tensors(const json_t *row, char *out)
{
	snprintf(out, TEXT_BYTES, "tensors %s", json_text(row, "tensors_hash"));
}

/* One thing that is compared; where a rank lacks the compilation, only `compile` tells so, and one
 * without the field `only` is not compared: its graph came from a cache.  Of `numbers` those are
 * shown that differ, of the texts `list` the first that does. */
enum rank_thing {
	THING_COMPILE,
	THING_OUTCOME,
	THING_GRAPH,
	THING_GUARDS,
	THING_CACHE,
	THING_COLLECTIVES,
	THING_TENSORS,
	THINGS
};
static const struct {
	const char *kind, *is, *numbers, *list, *item, *only;
	void (*say)(const json_t *row, char *out);
} things[THINGS] = {
	[THING_COMPILE] = { .kind = "compile", .is = "compiles", .say = say_frame },
	[THING_OUTCOME] = { .kind = "outcome", .is = "ends", .say = say_outcome },
	[THING_GRAPH] = { .kind = "graph", .is = "captures", .say = say_graph },
	[THING_GUARDS] = { .kind = "guards",
			   .is = "guards",
			   .numbers = "guard_kinds",
			   .say = say_guards },
	[THING_CACHE] = { .kind = "cache", .is = "meets", .numbers = "caches", .say = say_caches },
	[THING_COLLECTIVES] = { .kind = "collective",
				.is = "runs",
				.list = "collectives",
				.item = "collective",
				.say = say_collectives },
	[THING_TENSORS] = { .kind = "tensors",
			    .is = "gives",
			    .list = "op_tensors",
			    .item = "op",
			    .only = "tensors_hash",
			    .say = say_tensors },
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

struct comparing {
	struct rank_match *m;
	const char *compile;
	struct rank_compiled *at; /* of the ranks that have it */
	struct same_text *same;   /* room for one more */
	int64_t *ranks, *lacking; /* room; ranks that lack it, but those that were cut */
	int n, n_lacking;
	bool all; /* every rank has it */
};

/* Which text of a list is the first that is not the same. */
static size_t first_other(const char *key, const json_t *row, const json_t *beside)
{
	const json_t *a = json_object_get(row, key), *b = json_object_get(beside, key);
	size_t i = 0;

	while (i < json_array_size(a) && json_equal(json_array_get(a, i), json_array_get(b, i)))
		i++;
	return i;
}

static void say_item(size_t thing, const json_t *row, size_t at, char *out)
{
	const json_t *list = json_object_get(row, things[thing].list);
	const char *name = json_string_value(json_array_get(list, at));

	if (!name && at && thing == THING_TENSORS) /* after those that were kept */
		snprintf(out, TEXT_BYTES, "other tensors after op %zu, text %.16s", at - 1,
			 json_text(row, "tensors_hash"));
	else
		snprintf(out, TEXT_BYTES, "%.200s as %s %zu of %zu", name ? name : "nothing",
			 things[thing].item, at, json_array_size(list));
}

static const char *said(const struct same_text *same)
{
	return same->of ? same->of->text : "nothing";
}

/* What is shown of a text beside another. */
static void shorten(size_t thing, const struct same_text *same, const struct same_text *beside,
		    char out[TEXT_BYTES])
{
	const json_t *row = same->of ? same->of->row : NULL,
		     *other = beside->of ? beside->of->row : NULL;
	const char *key = things[thing].numbers;
	const json_t *own = key ? json_object_get(row, key) : NULL,
		     *others = key ? json_object_get(other, key) : NULL;

	if (things[thing].list)
		say_item(thing, row, first_other(things[thing].list, row, other), out);
	else if (own && others)
		say_numbers(own, others, "none of these", out);
	else
		snprintf(out, TEXT_BYTES, "%s", said(same));
}

/* The ranks that have a text, and differ by it from those that have `most`. */
static void add_text(struct comparing *c, size_t thing, const struct same_text *these,
		     const struct same_text *most)
{
	char theirs[TEXT_BYTES], common[TEXT_BYTES], who[DIVERGENCE_WHO];
	const char *why = thing == 0 ? recompiled(c->at, c->n) : NULL;
	const char *kind = why ? "recompile" : things[thing].kind;
	struct report_divergence *row;

	if (c->m->divergences.n == MOST_DIVERGENCES) {
		c->m->divergences.left_out++;
		return;
	}
	shorten(thing, these, most, theirs);
	shorten(thing, most, these, common);
	for (int i = 0; i < these->n; i++)
		c->ranks[i] = these->of ? these->of[i].rank : c->lacking[i];
	row = divergence_add(
	    c->m, &(struct divergence_of){ kind, theirs, common, c->ranks, these->n }, who);
	if (!row)
		return;
	REPORT_SET(row, compile, report_draft_text(c->m->draft, c->compile));
	REPORT_SET_IF(row, index, things[thing].list,
		      (int64_t)first_other(things[thing].list, these->of->row, most->of->row));
	REPORT_SET(row, sentence,
		   rank_valid(&c->m->draft->arena,
			      arena_printf(&c->m->draft->arena,
					   "%s: compilation %s %s %s, of other ranks %s%s%.200s",
					   who, c->compile, things[thing].is, theirs, common,
					   why ? "; compiled again since " : "", why ? why : "")));
}

static int by_text(const void *a, const void *b)
{
	const struct rank_compiled *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_first(const void *a, const void *b)
{
	const struct same_text *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Moves those with a field to the front; how many they are. */
static int with_field(struct comparing *c, const char *field)
{
	int n = 0;

	for (int i = 0; i < c->n; i++)
		if (json_object_get(c->at[i].row, field)) {
			struct rank_compiled moved = c->at[i];

			c->at[i] = c->at[n];
			c->at[n++] = moved;
		}
	return n;
}

/* Whether the ranks differ in a thing: a row for each text but the most common (the first of as
 * many). */
static bool compare_thing(struct comparing *c, size_t thing)
{
	const struct same_text *most = c->same;
	const char *only = things[thing].only;
	int n = 0, compared = only ? with_field(c, only) : c->n;

	for (int i = 0; i < compared; i++)
		things[thing].say(c->at[i].row, c->at[i].text);
	qsort(c->at, (size_t)compared, sizeof(*c->at), by_text);
	for (int i = 0; i < compared; i++)
		if (i && strcmp(c->at[i].text, c->at[i - 1].text) == 0)
			c->same[n - 1].n++;
		else
			c->same[n++] = (struct same_text){ &c->at[i], 1, c->at[i].rank };
	if (c->n_lacking && !only)
		c->same[n++] = (struct same_text){ NULL, c->n_lacking, c->lacking[0] };
	qsort(c->same, (size_t)n, sizeof(*c->same), by_first);
	for (int i = 1; i < n; i++)
		most = c->same[i].n > most->n ? &c->same[i] : most;
	for (int i = 0; i < n; i++)
		if (&c->same[i] != most)
			add_text(c, thing, &c->same[i], most);
	return n > 1;
}

/* ---- what Inductor tells of graphs: estimates, and collectives that its code calls ---- */

enum { MOST_ESTIMATES = 50, MOST_CALLS = 200 };

static double estimated(const struct rank_compiled *c)
{
	return json_number_value(json_object_get(c->row, "estimated_us"));
}

/* The row of an estimate with such a difference: the list is by them.  NULL: it is too small, or
 * there is no memory. */
static struct report_rank_estimate *place_for(struct rank_match *m, double difference)
{
	struct report_rank_estimate_list *list = &m->estimates;
	size_t at;

	if (!list->at)
		list->at = report_new_rank_estimate(MOST_ESTIMATES, &m->draft->arena);
	if (!list->at)
		return NULL;
	at = list->n < MOST_ESTIMATES ? list->n++ : MOST_ESTIMATES - 1;
	if (at == list->n - 1 && list->at[at].most_us - list->at[at].least_us > difference)
		return NULL;
	for (; at > 0 && list->at[at - 1].most_us - list->at[at - 1].least_us < difference; at--)
		list->at[at] = list->at[at - 1];
	list->at[at] = (struct report_rank_estimate){ 0 };
	return &list->at[at];
}

static void note_estimate(struct rank_match *m, const struct rank_compiled *at, int n)
{
	const struct rank_compiled *least = NULL, *most = NULL;
	const json_t *resets = json_object_get(at->row, "resets");
	struct report_rank_estimate *row;
	int have = 0;

	for (int i = 0; i < n; i++) {
		if (!json_object_get(at[i].row, "estimated_us"))
			continue;
		least = !least || estimated(&at[i]) < estimated(least) ? &at[i] : least;
		most = !most || estimated(&at[i]) > estimated(most) ? &at[i] : most;
		have++;
	}
	row = have > 1 ? place_for(m, estimated(most) - estimated(least)) : NULL;
	if (!row)
		return;
	REPORT_SET(row, compile, report_draft_text(m->draft, json_text(at->row, "compile")));
	REPORT_SET_IF(row, resets, resets, json_integer_value(resets));
	REPORT_SET(row, ranks, have);
	REPORT_SET(row, least_us, estimated(least));
	REPORT_SET(row, fastest, least->rank);
	REPORT_SET(row, most_us, estimated(most));
	REPORT_SET(row, slowest, most->rank);
}

static void note_calls(struct rank_match *m, const struct rank_compiled *of)
{
	int64_t offset = json_integer_value(json_object_get(of->row, "schedule_offset")),
		waits = json_integer_value(json_object_get(of->row, "missing_waits"));
	const json_t *resets = json_object_get(of->row, "resets");
	struct report_rank_calls *row;

	if (!offset && !waits)
		return;
	if (!m->calls.at)
		m->calls.at = report_new_rank_calls(MOST_CALLS, &m->draft->arena);
	if (!m->calls.at || m->calls.n == MOST_CALLS) {
		m->divergences.left_out++;
		return;
	}
	row = &m->calls.at[m->calls.n++];
	REPORT_SET(row, rank, of->rank);
	REPORT_SET(row, compile, report_draft_text(m->draft, json_text(of->row, "compile")));
	REPORT_SET_IF(row, resets, resets, json_integer_value(resets));
	REPORT_SET(row, offset, offset);
	REPORT_SET(row, missing_waits, waits);
}

static void note_graphs(struct rank_match *m, const struct rank_compiled *at, int n)
{
	if (n > 0)
		note_estimate(m, at, n);
	for (int i = 0; i < n; i++)
		note_calls(m, &at[i]);
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
	int64_t *ranks; /* that compile, sorted */
	bool *cut;      /* of each: compilations of it were left out */
	int n;
	VEC(struct row_of_rank) rows;
};

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The place of a process's rank; -1: it says none, or one of too many. */
static int rank_place(const struct compilers *c, const json_t *process)
{
	const json_t *rank = json_object_get(process, "rank");
	int64_t number = json_integer_value(rank);
	const int64_t *at = json_is_integer(rank) && c->n ? bsearch(&number, c->ranks, (size_t)c->n,
								    sizeof(number), by_number)
							  : NULL;

	return at ? (int)(at - c->ranks) : -1;
}

/* The ranks of all processes, each once, at most RANKS_MAX_RANKS. */
static bool gather_ranks(struct compilers *c, const json_t *processes)
{
	size_t n = 0, i;
	const json_t *process;

	c->ranks = malloc((json_array_size(processes) + 1) * sizeof(*c->ranks));
	c->cut = calloc(RANKS_MAX_RANKS, sizeof(*c->cut));
	if (!c->ranks || !c->cut)
		return false;
	json_array_foreach((json_t *)processes, i, process)
	{
		if (json_is_integer(json_object_get(process, "rank")))
			c->ranks[n++] = json_integer_value(json_object_get(process, "rank"));
	}
	qsort(c->ranks, n, sizeof(*c->ranks), by_number);
	for (i = 0; i < n && c->n < RANKS_MAX_RANKS; i++)
		if (c->n == 0 || c->ranks[c->n - 1] != c->ranks[i])
			c->ranks[c->n++] = c->ranks[i];
	json_array_foreach((json_t *)processes, i, process)
	{
		int place = rank_place(c, process);

		if (place >= 0 && json_is_true(json_object_get(process, "cut")))
			c->cut[place] = true;
	}
	return true;
}

static bool gather(struct compilers *c, const json_t *compiles, const json_t *processes)
{
	const json_t *row;
	size_t i;

	if (!gather_ranks(c, processes))
		return false;
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

/* Those of one id, from `first` on, of which a rank may have several (the last counts); how many
 * rows they are. */
static size_t gather_id(struct comparing *comparing, const struct compilers *c, size_t first)
{
	const struct row_of_rank *of = &c->rows.at[first];
	size_t n = 0;

	*comparing = (struct comparing){ .m = comparing->m,
					 .compile = of->compile,
					 .at = comparing->at,
					 .same = comparing->same,
					 .ranks = comparing->ranks,
					 .lacking = comparing->lacking,
					 .all = true };
	for (int rank = 0; rank < c->n; rank++) {
		const json_t *row = NULL;

		for (; first + n < c->rows.len && of[n].rank == rank &&
		       of[n].resets == of->resets && strcmp(of[n].compile, of->compile) == 0;
		     n++)
			row = of[n].row;
		comparing->all = comparing->all && row;
		if (row)
			comparing->at[comparing->n++] =
			    (struct rank_compiled){ .rank = c->ranks[rank], .row = row };
		else if (!c->cut[rank])
			comparing->lacking[comparing->n_lacking++] = c->ranks[rank];
	}
	return n;
}

static void compare_id(struct comparing *c)
{
	bool other = false;

	/* What of it differs too follows from the first: of other graphs the guards, and of other
	 * graphs or collectives the tensors. */
	for (size_t t = 0; t < THINGS && !(other && t == THING_TENSORS); t++) {
		bool differs = compare_thing(c, t);

		if (differs && (t < THING_GRAPH || !c->all))
			break;
		other = other || (differs && (t == THING_GRAPH || t == THING_COLLECTIVES));
		t += differs && t == THING_GRAPH;
	}
}

int rank_logs(struct rank_match *m, const json_t *compiles, const json_t *processes)
{
	struct comparing comparing = { .m = m };
	struct compilers c = { 0 };
	int n = -1;

	if (gather(&c, compiles, processes)) {
		comparing.at = malloc(((size_t)c.n + 1) * sizeof(*comparing.at));
		comparing.same = malloc(((size_t)c.n + 1) * sizeof(*comparing.same));
		comparing.ranks = malloc(((size_t)c.n + 1) * sizeof(*comparing.ranks));
		comparing.lacking = malloc(((size_t)c.n + 1) * sizeof(*comparing.lacking));
	}
	if (comparing.at && comparing.same && comparing.ranks && comparing.lacking) {
		n = c.n;
		for (size_t i = 0; n > 1 && i < c.rows.len;) {
			i += gather_id(&comparing, &c, i);
			note_graphs(m, comparing.at, comparing.n);
			compare_id(&comparing);
		}
		for (int i = n; i-- > 0;)
			if (c.cut[i]) {
				m->n_cut++;
				m->first_cut = c.ranks[i];
			}
	}
	free(comparing.at);
	free(comparing.same);
	free(comparing.ranks);
	free(comparing.lacking);
	VEC_FREE(&c.rows);
	free(c.ranks);
	free(c.cut);
	return n;
}
