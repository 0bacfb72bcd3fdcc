/* fusion/capture/sources/pointers.h -- private to capture/: a map from objects to numbers.
 *
 * A capture asks of each object that it meets whether it is known; chains of
 * comparisons would make that quadratic. */
#ifndef FUSION_RUNTIME_POINTERS_H
#define FUSION_RUNTIME_POINTERS_H

#include <stdbool.h>
#include <stddef.h>

struct pointers { /* zeroed: empty */
	const void **keys;
	int *numbers;
	size_t len, cap;
};

/* The number of `key`, -1 where it has none. */
int pointers_get(const struct pointers *p, const void *key);

/* False when out of memory. */
bool pointers_set(struct pointers *p, const void *key, int number);
void pointers_clear(struct pointers *p); /* keeps its memory */
void pointers_finish(struct pointers *p);

#endif
