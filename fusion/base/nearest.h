/* fusion/base/nearest.h -- the word that a misspelt one may have meant.
 *
 *	struct nearest n = nearest_to("sofmax");
 *	nearest_offer(&n, "softmax");
 *	if (n.best) ... "did you mean '%s'?"
 */
#ifndef FUSION_BASE_NEAREST_H
#define FUSION_BASE_NEAREST_H

#include <string.h>

struct nearest {
	const char *word;
	const char *best; /* NULL: nothing near enough was offered */
	int distance;     /* of best; before that, one more than is near enough */
	void (*each)(void *self, const char *candidate); /* not NULL: is called with each word that
							  * is offered, and none is looked for */
	void *self;
};

static inline struct nearest nearest_to(const char *word)
{
	return (struct nearest){ .word = word, .distance = (int)(strlen(word) / 3) + 1 };
}

/* `candidate` must outlive the search.  Of two that are equally near, the one
 * that begins like the word is kept. */
void nearest_offer(struct nearest *n, const char *candidate);

#endif
