/* profiler/ranks/order.c -- the order in which graphs ran on ranks, place by place.
 *
 * As tlparse has it: the n-th graph of a rank is compared with the n-th of the others, whatever
 * its compile id.  Where these ids differ, or the collectives of the graphs, or what their caches
 * met, ranks do not do the same at the same time.
 */
#include "profiler/ranks/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"

enum { MOST_PLACES = 50, ID_CHARS = 64, MOST_COMPARED = 1 << 20 /* graphs of all ranks */ };

struct rank_ran {
	int64_t rank, ran; /* graphs, of which `order` may have the first only */
	const json_t *order;
	size_t process;
	uint64_t hash; /* of the order */
};

/* A compilation of a process that ran. */
struct known_graph {
	size_t process, row;
	const char *compile;
	uint64_t collectives; /* a hash of their list; 0: the log has none */
	int cache;            /* 0: none; 1: passed by, 2: hit, 3: miss, the worst of them */
};

struct order_of_ranks {
	struct rank_match *m;
	struct rank_ran *ranks; /* by rank */
	int n;
	struct known_graph *known; /* by process and id */
	size_t n_known;
	const char **ids; /* room: of each rank at a place; NULL: it ran no more */
	int *group;       /* room: which of the ids of that place it is */
	int64_t *who;     /* room for ranks */
	struct report_rank_order *out;
	bool *in_collectives, *in_caches; /* of each rank: at a place where these differ */
};

/* ---- what is known ---- */

static int by_rank(const void *a, const void *b)
{
	const struct rank_ran *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

static uint64_t mix(uint64_t hash, const char *text)
{
	return (hash + ranks_graph_hash(text, strlen(text)) + 1) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of(const json_t *texts)
{
	const json_t *text;
	uint64_t hash = 1;
	size_t i;

	json_array_foreach((json_t *)texts, i, text)
	    hash = mix(hash, json_string_value(text) ? json_string_value(text) : "");
	return hash;
}

/* Ranks whose log says the order; of several processes of a rank the last. */
static bool gather_ranks(struct order_of_ranks *o, const json_t *processes)
{
	const json_t *process;
	int n = 0;
	size_t i;

	o->ranks = calloc(json_array_size(processes) + 1, sizeof(*o->ranks));
	if (!o->ranks)
		return false;
	json_array_foreach((json_t *)processes, i, process)
	{
		const json_t *rank = json_object_get(process, "rank"),
			     *order = json_object_get(process, "graph_order");

		if (json_is_integer(rank) && json_array_size(order) > 0)
			o->ranks[n++] = (struct rank_ran){ json_integer_value(rank),
							   json_integer_value(json_object_get(
							       process, "graphs_ran")),
							   order, i, hash_of(order) };
	}
	qsort(o->ranks, (size_t)n, sizeof(*o->ranks), by_rank);
	for (int k = 0; k < n; k++) {
		o->n += o->n == 0 || o->ranks[o->n - 1].rank != o->ranks[k].rank;
		if (o->n > RANKS_MAX_RANKS)
			break;
		o->ranks[o->n - 1] = o->ranks[k];
	}
	o->n = o->n < RANKS_MAX_RANKS ? o->n : RANKS_MAX_RANKS;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct known_graph *x = a, *y = b;
	int order;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	order = strcmp(x->compile, y->compile);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int cache_of(const json_t *caches)
{
	const char *name;
	json_t *n;
	int worst = 0, own;

	json_object_foreach((json_t *)caches, name, n)
	{
		own = strstr(name, "cache_miss") ? 3 : strstr(name, "cache_hit") ? 2 : 1;
		worst = own > worst ? own : worst;
	}
	return worst;
}

/* Compilations, each once: of several with its id the last. */
static bool gather_compiled(struct order_of_ranks *o, const json_t *compiles)
{
	const json_t *row;
	size_t n = json_array_size(compiles), i;

	o->known = calloc(n + 1, sizeof(*o->known));
	if (!o->known)
		return false;
	json_array_foreach((json_t *)compiles, i, row)
	{
		const json_t *list = json_object_get(row, "collectives");

		o->known[i] = (struct known_graph){
			(size_t)json_integer_value(json_object_get(row, "process")), i,
			json_text(row, "compile"), list ? hash_of(list) : 0,
			cache_of(json_object_get(row, "caches"))
		};
	}
	qsort(o->known, n, sizeof(*o->known), by_place);
	for (i = 0; i < n; i++) {
		struct known_graph *last = o->n_known ? &o->known[o->n_known - 1] : NULL;

		if (!last || last->process != o->known[i].process ||
		    strcmp(last->compile, o->known[i].compile) != 0)
			last = &o->known[o->n_known++];
		*last = o->known[i];
	}
	return true;
}

static int by_id(const void *key, const void *of)
{
	const struct known_graph *x = key, *y = of;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return strcmp(x->compile, y->compile);
}

/* The compilation that rank k ran; NULL: the log has none with the id. */
static const struct known_graph *ran_by(const struct order_of_ranks *o, int k)
{
	char id[ID_CHARS];
	struct known_graph key = { .process = o->ranks[k].process, .compile = id };

	if (!o->ids[k])
		return NULL;
	/* "0/0_1" is the second attempt of 0/0. */
	snprintf(id, sizeof(id), "%.*s", (int)strcspn(o->ids[k], "_"), o->ids[k]);
	return o->n_known ? bsearch(&key, o->known, o->n_known, sizeof(key), by_id) : NULL;
}

/* ---- a place ---- */

static const char *id_at(const struct rank_ran *r, size_t place)
{
	return json_string_value(json_array_get(r->order, place));
}

/* Whether ranks differ in what is not 0 of their compilations; those that ran here are marked. */
static bool differs(const struct order_of_ranks *o, bool of_caches, bool *marks)
{
	uint64_t first = 0;
	bool other = false;

	for (int k = 0; k < o->n; k++) {
		const struct known_graph *c = ran_by(o, k);
		uint64_t own = !c ? 0 : of_caches ? (uint64_t)c->cache : c->collectives;

		first = first ? first : own;
		other = other || (own && own != first);
	}
	for (int k = 0; other && k < o->n; k++)
		marks[k] = marks[k] || o->ids[k];
	return other;
}

/* Which ranks have the same id here; how many ids there are. */
static int group_ids(struct order_of_ranks *o)
{
	int n = 0;

	for (int k = 0; k < o->n; k++) {
		int i = 0;

		while (i < k && (!o->ids[i] != !o->ids[k] ||
				 (o->ids[k] && strcmp(o->ids[i], o->ids[k]) != 0)))
			i++;
		o->group[k] = i < k ? o->group[i] : n++;
	}
	return n;
}

static struct report_integers ranks_in_draft(struct order_of_ranks *o, int n)
{
	int64_t *at = ARENA_ARRAY(&o->m->draft->arena, int64_t, (size_t)n);

	if (at)
		memcpy(at, o->who, (size_t)n * sizeof(*at));
	return (struct report_integers){ at, at ? (size_t)n : 0 };
}

static struct report_rank_order_graph_list graphs_here(struct order_of_ranks *o, int groups)
{
	struct report_rank_order_graph *rows = report_new_rank_order_graph((size_t)groups,
									   &o->m->draft->arena);

	for (int g = 0; rows && g < groups; g++) {
		const char *id = NULL;
		int n = 0;

		for (int k = 0; k < o->n; k++)
			if (o->group[k] == g) {
				id = o->ids[k];
				o->who[n++] = o->ranks[k].rank;
			}
		REPORT_SET_OR_NULL(&rows[g], compile, id, report_draft_text(o->m->draft, id));
		REPORT_SET(&rows[g], ranks, ranks_in_draft(o, n));
	}
	return (struct report_rank_order_graph_list){ rows, rows ? (size_t)groups : 0 };
}

/* Whether all ranks ran the graph of this id here. */
static bool same_id(const struct order_of_ranks *o)
{
	for (int k = 1; k < o->n; k++)
		if (!o->ids[k] || !o->ids[0] || strcmp(o->ids[k], o->ids[0]) != 0)
			return false;
	return true;
}

static void look_at(struct order_of_ranks *o, size_t place,
		    struct report_rank_order_place_list *places)
{
	bool collectives, caches, same;

	for (int k = 0; k < o->n; k++)
		o->ids[k] = id_at(&o->ranks[k], place);
	same = same_id(o);
	collectives = differs(o, false, o->in_collectives);
	caches = differs(o, true, o->in_caches);
	o->out->differ += !same;
	if ((same && !collectives && !caches) || places->n == MOST_PLACES)
		return;
	REPORT_SET(&places->at[places->n], index, (int64_t)place);
	REPORT_SET(&places->at[places->n], graphs, graphs_here(o, group_ids(o)));
	REPORT_SET(&places->at[places->n], other_collectives, collectives);
	REPORT_SET(&places->at[places->n], other_caches, caches);
	places->n++;
}

/* ---- ranks with another order than most ---- */

static int by_hash(const void *a, const void *b)
{
	const struct rank_ran *x = a, *y = b;

	if (x->hash != y->hash || x->ran != y->ran)
		return x->hash < y->hash || (x->hash == y->hash && x->ran < y->ran) ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void say_place(const struct rank_ran *r, size_t place, char *out, size_t bytes)
{
	const char *id = id_at(r, place);

	snprintf(out, bytes, id ? "[%.60s] as graph %zu of %lld" : "%s as graph %zu of %lld",
		 id ? id : "nothing", place, (long long)r->ran);
}

static void add_difference(struct order_of_ranks *o, const struct rank_ran *these, int n,
			   const struct rank_ran *most)
{
	char theirs[128], common[128], who[DIVERGENCE_WHO];
	struct report_divergence *row;
	size_t place = 0;

	while (id_at(these, place) && id_at(most, place) &&
	       strcmp(id_at(these, place), id_at(most, place)) == 0)
		place++;
	say_place(these, place, theirs, sizeof(theirs));
	say_place(most, place, common, sizeof(common));
	for (int i = 0; i < n; i++)
		o->who[i] = these[i].rank;
	row = divergence_add(o->m, &(struct divergence_of){ "order", theirs, common, o->who, n },
			     who);
	if (!row)
		return;
	REPORT_SET(row, index, (int64_t)place);
	REPORT_SET(row, sentence,
		   rank_valid(&o->m->draft->arena,
			      arena_printf(&o->m->draft->arena, "%s: ran %s, most ranks %s", who,
					   theirs, common)));
}

static int run_of(const struct order_of_ranks *o, int from)
{
	int n = 1;

	while (from + n < o->n && o->ranks[from + n].hash == o->ranks[from].hash &&
	       o->ranks[from + n].ran == o->ranks[from].ran)
		n++;
	return n;
}

/* A row for each order but the most common one (the first rank's of as many). */
static void add_differences(struct order_of_ranks *o)
{
	int most = 0;

	qsort(o->ranks, (size_t)o->n, sizeof(*o->ranks), by_hash);
	for (int i = 0; i < o->n; i += run_of(o, i)) {
		int more = run_of(o, i) - run_of(o, most);

		if (more > 0 || (more == 0 && o->ranks[i].rank < o->ranks[most].rank))
			most = i;
	}
	for (int i = 0; i < o->n; i += run_of(o, i))
		if (i != most)
			add_difference(o, &o->ranks[i], run_of(o, i), &o->ranks[most]);
}

/* ---- all ---- */

static struct report_integers marked(struct order_of_ranks *o, const bool *marks)
{
	int n = 0;

	for (int k = 0; k < o->n; k++)
		if (marks[k])
			o->who[n++] = o->ranks[k].rank;
	return ranks_in_draft(o, n);
}

static void compare(struct order_of_ranks *o)
{
	struct arena *arena = &o->m->draft->arena;
	struct report_rank_order_place_list places = {
		report_new_rank_order_place(MOST_PLACES, arena), 0
	};
	size_t longest = 0;
	int64_t most = 0;

	o->out = report_new_rank_order(1, arena);
	if (!o->out || !places.at)
		return;
	REPORT_SET(o->out, differ, 0);
	for (int k = 0; k < o->n; k++) {
		size_t n = json_array_size(o->ranks[k].order);

		longest = n > longest ? n : longest;
		most = o->ranks[k].ran > most ? o->ranks[k].ran : most;
	}
	longest = longest < MOST_COMPARED / (size_t)o->n ? longest : MOST_COMPARED / (size_t)o->n;
	for (size_t place = 0; place < longest; place++)
		look_at(o, place, &places);
	REPORT_SET(o->out, ranks, o->n);
	REPORT_SET(o->out, graphs, most);
	REPORT_SET(o->out, compared, (int64_t)longest);
	REPORT_SET(o->out, places, places);
	REPORT_SET(o->out, ranks_collectives, marked(o, o->in_collectives));
	REPORT_SET(o->out, ranks_caches, marked(o, o->in_caches));
	add_differences(o);
}

struct report_rank_order *rank_order(struct rank_match *m, const json_t *compiles,
				     const json_t *processes)
{
	struct order_of_ranks o = { .m = m };
	bool ok = gather_ranks(&o, processes) && o.n > 1 && gather_compiled(&o, compiles);
	size_t n = (size_t)o.n + 1;

	o.ids = calloc(n, sizeof(*o.ids));
	o.group = calloc(n, sizeof(*o.group));
	o.who = calloc(n, sizeof(*o.who));
	o.in_collectives = calloc(n, sizeof(*o.in_collectives));
	o.in_caches = calloc(n, sizeof(*o.in_caches));
	if (ok && o.ids && o.group && o.who && o.in_collectives && o.in_caches)
		compare(&o);
	free(o.ranks);
	free(o.known);
	free(o.ids);
	free(o.group);
	free(o.who);
	free(o.in_collectives);
	free(o.in_caches);
	return o.out;
}
