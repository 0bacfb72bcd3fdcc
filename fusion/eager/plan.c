/* fusion/eager/plan.c -- signatures of eager calls, and the cache of plans.
 *
 * When the young generation is full the old one is freed and the young becomes
 * old; a plan found among the old moves back.  So a plan in use survives, and
 * finding one costs no bookkeeping.
 */
#include "fusion/eager/plan.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/torch/convert.h"

static inline void put(struct signature *s, uint64_t word)
{
	if (s->n < SIGNATURE_WORDS)
		s->words[s->n] = word;
	s->n++;
}

static void put_text(struct signature *s, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t word = 0;

		memcpy(&word, text + i, len - i < 8 ? len - i : 8);
		put(s, word);
	}
}

static inline void put_tensor(struct signature *s, struct value v)
{
	const struct tensor *t = v.tensor->memory;
	uint64_t first = 0; /* x + x has another plan than x + y: its graph has one input */

	while ((int)first < s->n_tensors && first < MAX_ARGS &&
	       s->tensors[first].tensor != v.tensor)
		first++;
	put(s, (uint64_t)VALUE_TENSOR | (uint64_t)t->dtype << 8 | (uint64_t)t->rank << 16 |
		   first << 24);
	for (int d = 0; d < t->rank; d++)
		put(s, (uint64_t)t->size[d]);
	for (int d = 0; d < t->rank; d++)
		put(s, (uint64_t)t->stride[d]);
	if (s->n_tensors < MAX_ARGS)
		s->tensors[s->n_tensors] = v;
	s->n_tensors++;
}

static void put_value(struct signature *s, struct value v)
{
	enum dtype dtype;

	switch (v.kind) {
	case VALUE_TENSOR:
		put_tensor(s, v);
		return;
	case VALUE_STR:
		put(s, (uint64_t)v.kind | (uint64_t)v.str->len << 8);
		put_text(s, v.str->text, v.str->len);
		return;
	case VALUE_TUPLE:
	case VALUE_LIST:
		put(s, (uint64_t)v.kind | (uint64_t)v.list->len << 8);
		for (int i = 0; i < v.list->len && s->n <= SIGNATURE_WORDS; i++)
			if (v.list->at[i].kind == VALUE_INT)
				put(s, (uint64_t)v.list->at[i].i);
			else /* no op takes such a list: binding says so, uncached */
				s->n = SIGNATURE_WORDS + 1;
		return;
	case VALUE_BOOL:
		put(s, (uint64_t)v.kind | (uint64_t)v.b << 8);
		return;
	case VALUE_DTYPE:
		put(s, (uint64_t)v.kind | (uint64_t)v.dtype << 8);
		return;
	case VALUE_INT:
	case VALUE_FLOAT: /* by bits: -0.0 and 0.0 differ, NaN equals itself */
		put(s, (uint64_t)v.kind);
		put(s, (uint64_t)v.i);
		return;
	case VALUE_NONE:
		put(s, (uint64_t)v.kind);
		return;
	default:
		if (convert_is_dtype(v, &dtype)) /* Python's int, float and bool */
			put(s, (uint64_t)VALUE_DTYPE | (uint64_t)dtype << 8);
		else
			s->n = SIGNATURE_WORDS + 1;
	}
}

static inline bool is_apart(struct value v)
{
	return (v.kind == VALUE_FLOAT || v.kind == VALUE_INT) && v.i != 0;
}

static inline void put_number(struct signature *s, int index, struct value v)
{
	put(s, (uint64_t)v.kind | 1u << 8);
	s->apart |= 1u << index;
	s->numbers[s->n_numbers++] = v.i;
}

void signature_make(struct signature *s, uint64_t head, bool apart, const struct arguments *args)
{
	s->n = s->n_tensors = s->n_numbers = 0;
	s->apart = 0;
	put(s, head | (uint64_t)args->n << 32 | (uint64_t)(args->kw ? args->kw->n : 0) << 48);
	for (int i = 0; i < args->n && s->n <= SIGNATURE_WORDS; i++)
		if (apart && args->n <= MAX_ARGS && is_apart(args->at[i]))
			put_number(s, i, args->at[i]);
		else
			put_value(s, args->at[i]);
	for (int i = 0; args->kw && i < args->kw->n && s->n <= SIGNATURE_WORDS; i++)
		put_value(s, args->kw->names[i]);
	if (s->n_tensors > MAX_ARGS)
		s->n = SIGNATURE_WORDS + 1;
}

static void free_plan(struct eager_plan *plan)
{
	exec_destroy(plan->exec);
	arena_finish(&plan->arena);
	free(plan);
}

static void free_generation(struct eager_plan **buckets)
{
	for (int i = 0; i < PLAN_BUCKETS; i++) {
		struct eager_plan *plan = buckets[i], *next;

		for (; plan; plan = next) {
			next = plan->next;
			free_plan(plan);
		}
		buckets[i] = NULL;
	}
}

void plans_finish(struct plans *p)
{
	free_generation(p->young);
	free_generation(p->old);
	memset(p, 0, sizeof(*p));
}

static void insert_young(struct plans *p, struct eager_plan *plan)
{
	struct eager_plan **bucket;

	if (p->n_young == PLAN_GENERATION) {
		free_generation(p->old);
		memcpy(p->old, p->young, sizeof(p->old));
		memset(p->young, 0, sizeof(p->young));
		memset(p->sites, 0, sizeof(p->sites));
		p->n_young = 0;
	}
	bucket = &p->young[plan->hash % PLAN_BUCKETS];
	plan->next = *bucket;
	*bucket = plan;
	p->n_young++;
}

static struct eager_plan **find_in(struct eager_plan **buckets, const struct signature *s,
				   uint64_t hash)
{
	struct eager_plan **at = &buckets[hash % PLAN_BUCKETS];

	while (*at && !((*at)->hash == hash && (*at)->n == s->n &&
			memcmp((*at)->words, s->words, sizeof(s->words[0]) * (size_t)s->n) == 0))
		at = &(*at)->next;
	return at;
}

static uint64_t hash_signature(const struct signature *s)
{
	return hash_bytes(s->words, sizeof(s->words[0]) * (size_t)s->n, 0);
}

struct eager_plan *plans_search(struct plans *p, const struct signature *s, unsigned site)
{
	struct eager_plan **at, *plan;
	uint64_t hash;

	if (s->n > SIGNATURE_WORDS)
		return NULL;
	hash = hash_signature(s);
	plan = *find_in(p->young, s, hash);
	if (!plan) {
		at = find_in(p->old, s, hash);
		plan = *at;
		if (!plan)
			return NULL;
		*at = plan->next;
		insert_young(p, plan);
	}
	p->sites[site % PLAN_SITES] = plan;
	return plan;
}

struct eager_plan *plans_add(struct plans *p, const struct signature *s, unsigned site)
{
	struct eager_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->words = ARENA_ARRAY(&plan->arena, uint64_t, (size_t)s->n);
	if (!plan->words) {
		free_plan(plan);
		return NULL;
	}
	memcpy(plan->words, s->words, sizeof(s->words[0]) * (size_t)s->n);
	plan->n = s->n;
	plan->hash = hash_signature(s);
	insert_young(p, plan);
	p->sites[site % PLAN_SITES] = plan;
	return plan;
}

void plans_drop(struct plans *p, struct eager_plan *plan)
{
	struct eager_plan **at = &p->young[plan->hash % PLAN_BUCKETS];

	while (*at != plan)
		at = &(*at)->next;
	*at = plan->next;
	p->n_young--;
	for (int i = 0; i < PLAN_SITES; i++)
		if (p->sites[i] == plan)
			p->sites[i] = NULL;
	free_plan(plan);
}
