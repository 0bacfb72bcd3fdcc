/* fusion/eager/plan.h -- private to eager/: eager ops made ready, and found again.
 *
 * A plan is the exec of one op for one SIGNATURE: op, attributes, and dtype,
 * sizes and strides of each tensor, as a row of words.  A repeated call of the
 * same place in the program finds its plan by comparing words; others go
 * through a hash table of two generations, which bounds their number.
 */
#ifndef FUSION_EAGER_PLAN_H
#define FUSION_EAGER_PLAN_H

#include "fusion/vm/value.h"
#include "fusion/vm/vm.h"
#include "fusion/compile/compile.h"

enum {
	SIGNATURE_WORDS = 120,
	PLAN_SITES = 512,
	PLAN_BUCKETS = 1024,
	PLAN_GENERATION = 2048, /* plans in each of the two generations */
};

struct signature {
	int n;         /* words; over SIGNATURE_WORDS: too long to cache */
	int n_tensors; /* graph inputs, in the order of the call */
	struct value tensors[MAX_ARGS];
	/* Values that are symbols of the plan's graph, bit i for values[i]: numbers in whose
	 * place any other may be; a float by its bits. */
	unsigned apart;
	int n_numbers;
	int64_t numbers[MAX_ARGS];
	uint64_t words[SIGNATURE_WORDS];
};

struct eager_plan {
	struct eager_plan *next;
	uint64_t hash;
	struct arena arena;
	struct exec *exec;
	bool into; /* its one output may be written over its first input */
	/* The result is a view: of what exec computes, or of the first input where
	 * exec is NULL.  `offset` counts from the first element of that. */
	bool is_view;
	int rank;
	int64_t size[MAX_RANK], stride[MAX_RANK], offset;
	int n;
	uint64_t *words;
};

struct plans {
	struct eager_plan *sites[PLAN_SITES];
	struct eager_plan *young[PLAN_BUCKETS], *old[PLAN_BUCKETS];
	int n_young;
};

/* Frees all plans. */
void plans_finish(struct plans *p);

/* Writes the signature of a call; `head` tells ops apart.  `apart`: numbers are no part
 * of it, but for 0, which some ops refuse. */
void signature_make(struct signature *s, uint64_t head, bool apart, const struct arguments *args);

/* The plan of a signature, NULL if there is none yet.  `site` is any number
 * that tells places in the program apart. */
struct eager_plan *plans_search(struct plans *p, const struct signature *s, unsigned site);
static inline struct eager_plan *plans_find(struct plans *p, const struct signature *s,
					    unsigned site)
{
	struct eager_plan *plan = p->sites[site % PLAN_SITES];

	if (__builtin_expect(plan && plan->n == s->n, 1)) {
		int i = 0;

		while (i < s->n && plan->words[i] == s->words[i])
			i++;
		if (i == s->n)
			return plan;
	}
	return plans_search(p, s, site);
}

/* A new plan without exec, in the table; NULL when out of memory.  Its maker
 * fills in `exec`, or calls plans_drop(). */
struct eager_plan *plans_add(struct plans *p, const struct signature *s, unsigned site);
void plans_drop(struct plans *p, struct eager_plan *plan);

#endif
