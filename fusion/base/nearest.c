/* fusion/base/nearest.c -- edit distance with swaps of neighbours.
 * A third of the word may be wrong; words of one or two letters match none. */
#include "fusion/base/nearest.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 48 };

static int least(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* What is above `limit` is limit + 1: cells further than that from the diagonal are not looked
 * at, nor rows after two that are above it. */
static int distance(const char *a, int n, const char *b, int m, int limit)
{
	int rows[3][LONGEST + 2], *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	int best = 0, best_above;

	for (int j = 0; j <= m; j++)
		row[j] = j;
	for (int i = 1; i <= n; i++) {
		int first = larger(i - limit, 1), last = i + limit < m ? i + limit : m;

		spare = before;
		before = above;
		above = row;
		row = spare;
		best_above = best;
		best = row[first - 1] = first == 1 ? i : limit + 1;
		for (int j = first; j <= last; j++) {
			row[j] = least(above[j] + 1, row[j - 1] + 1,
				       above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1, row[j]);
			best = least(best, row[j], best);
		}
		row[last + 1] = limit + 1;
		if (best > limit && best_above > limit)
			return limit + 1;
	}
	return row[m] < limit + 1 ? row[m] : limit + 1;
}

static int common_prefix(const char *a, const char *b)
{
	int n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	int a, b, d;

	if (n->each) {
		n->each(n->self, candidate);
		return;
	}
	a = (int)strnlen(n->word, LONGEST + 1);
	b = (int)strnlen(candidate, LONGEST + 1);
	if (a > LONGEST || b > LONGEST || abs(a - b) > n->distance)
		return;
	d = distance(n->word, a, candidate, b, n->distance);
	if (d > 0 && (d < n->distance ||
		      (d == n->distance && n->best &&
		       common_prefix(candidate, n->word) > common_prefix(n->best, n->word)))) {
		n->distance = d;
		n->best = candidate;
	}
}
