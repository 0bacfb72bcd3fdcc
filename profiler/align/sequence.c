/* profiler/align/sequence.c -- two sequences of numbers, element by element; and the period of one.
 */
#include "profiler/align/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

/* A search of so many steps is cut off. */
enum { MOST_STEPS = 512 };

/* Of a diagonal that leads outside. */
#define OUTSIDE (INT64_MIN / 4)

struct sequences {
	const uint32_t *a, *b;
	int64_t *to;
	int64_t *ahead, *back; /* furthest x on each diagonal, from either end */
	int64_t offset;        /* of diagonal 0 */
};

/* A part of both: [a0, a1) and [b0, b1). */
struct box {
	int64_t a0, a1, b0, b1;
};

struct cut {
	int64_t x, y;
};

/* One more step from the beginning; true where the ways meet. */
static bool step_ahead(struct sequences *s, const struct box *box, int64_t d, struct cut *out)
{
	int64_t n = box->a1 - box->a0, m = box->b1 - box->b0, delta = n - m;
	int64_t *v = s->ahead + s->offset, *w = s->back + s->offset;

	for (int64_t k = -d; k <= d; k += 2) {
		int64_t x = k == -d || (k != d && v[k - 1] < v[k + 1]) ? v[k + 1] : v[k - 1] + 1;
		int64_t y = x - k;

		if (x < 0 || x > n || y > m) {
			v[k] = OUTSIDE;
			continue;
		}
		while (x < n && y < m && s->a[box->a0 + x] == s->b[box->b0 + y]) {
			x++;
			y++;
		}
		v[k] = x;
		if ((delta & 1) && k >= delta - (d - 1) && k <= delta + (d - 1) &&
		    x + w[delta - k] >= n) {
			*out = (struct cut){ box->a0 + x, box->b0 + y };
			return true;
		}
	}
	return false;
}

/* Likewise from the end. */
static bool step_back(struct sequences *s, const struct box *box, int64_t d, struct cut *out)
{
	int64_t n = box->a1 - box->a0, m = box->b1 - box->b0, delta = n - m;
	int64_t *v = s->ahead + s->offset, *w = s->back + s->offset;

	for (int64_t k = -d; k <= d; k += 2) {
		int64_t x = k == -d || (k != d && w[k - 1] < w[k + 1]) ? w[k + 1] : w[k - 1] + 1;
		int64_t y = x - k;

		if (x < 0 || x > n || y > m) {
			w[k] = OUTSIDE;
			continue;
		}
		while (x < n && y < m && s->a[box->a1 - 1 - x] == s->b[box->b1 - 1 - y]) {
			x++;
			y++;
		}
		w[k] = x;
		if (!(delta & 1) && k >= delta - d && k <= delta + d && x + v[delta - k] >= n) {
			*out = (struct cut){ box->a1 - x, box->b1 - y };
			return true;
		}
	}
	return false;
}

/* The way of a search that came furthest: its sum of x and y. */
static int64_t longest_way(const int64_t *v, int64_t d, int64_t *x)
{
	int64_t best = -1;

	for (int64_t k = -d; k <= d; k += 2)
		if (v[k] >= 0 && 2 * v[k] - k > best) {
			best = 2 * v[k] - k;
			*x = v[k];
		}
	return best;
}

/* The place that a search which was cut off came furthest to, from either end: what it cost is at
 * most the steps times that, so that all searches together cost the steps times both lengths. */
static struct cut furthest(const struct sequences *s, const struct box *box, int64_t d)
{
	int64_t n = box->a1 - box->a0, m = box->b1 - box->b0, x = 0, w = 0;
	int64_t ahead = longest_way(s->ahead + s->offset, d, &x);
	int64_t back = longest_way(s->back + s->offset, d, &w);

	if (ahead < 0 && back < 0)
		return (struct cut){ box->a0 + n / 2, box->b0 + m / 2 };
	return ahead >= back ? (struct cut){ box->a0 + x, box->b0 + ahead - x }
			     : (struct cut){ box->a1 - w, box->b1 - (back - w) };
}

static struct cut middle(struct sequences *s, const struct box *box)
{
	int64_t n = box->a1 - box->a0, m = box->b1 - box->b0, most = (n + m + 1) / 2;
	struct cut at = { 0 };

	most = most < MOST_STEPS ? most : MOST_STEPS;
	for (int64_t k = -most - 1; k <= most + 1; k++)
		s->ahead[s->offset + k] = s->back[s->offset + k] = 0;
	for (int64_t d = 0; d <= most; d++)
		if (step_ahead(s, box, d, &at) || step_back(s, box, d, &at))
			return at;
	return furthest(s, box, most);
}

static void match_smaller(struct sequences *s, struct box *box, struct cut at);

static void match_box(struct sequences *s, struct box box)
{
	for (;;) {
		struct cut at;

		while (box.a0 < box.a1 && box.b0 < box.b1 && s->a[box.a0] == s->b[box.b0])
			s->to[box.a0++] = box.b0++;
		while (box.a0 < box.a1 && box.b0 < box.b1 && s->a[box.a1 - 1] == s->b[box.b1 - 1])
			s->to[--box.a1] = --box.b1;
		if (box.a0 == box.a1 || box.b0 == box.b1)
			return;
		at = middle(s, &box);
		if ((at.x == box.a0 && at.y == box.b0) || (at.x == box.a1 && at.y == box.b1))
			return; /* nothing in common */
		match_smaller(s, &box, at);
	}
}

/* Matches the smaller part and leaves the other in the box: calls are not nested deep. */
static void match_smaller(struct sequences *s, struct box *box, struct cut at)
{
	struct box first = { box->a0, at.x, box->b0, at.y };
	struct box second = { at.x, box->a1, at.y, box->b1 };
	bool is_first = at.x - box->a0 + at.y - box->b0 <= box->a1 - at.x + box->b1 - at.y;

	match_box(s, is_first ? first : second);
	*box = is_first ? second : first;
}

bool sequence_match(const uint32_t *a, size_t n, const uint32_t *b, size_t m, int64_t *to)
{
	enum { ROOM = 2 * MOST_STEPS + 8 };
	struct sequences s = { a, b, to, NULL, NULL, ROOM / 2 };

	s.ahead = calloc(2 * (size_t)ROOM, sizeof(*s.ahead));
	if (!s.ahead)
		return false;
	s.back = s.ahead + ROOM;
	for (size_t i = 0; i < n; i++)
		to[i] = SEQUENCE_NONE;
	match_box(&s, (struct box){ 0, (int64_t)n, 0, (int64_t)m });
	free(s.ahead);
	return true;
}

/* ---- a period ---- */

enum { WINDOW = 4, MOST_CANDIDATES = 64, LEAST_SAME = 80 /* percent */ };

/* How often a distance between the same windows was met. */
struct distance {
	size_t length, times;
};

static int by_times(const void *x, const void *y)
{
	const struct distance *a = x, *b = y;

	return a->times != b->times ? (a->times < b->times) - (a->times > b->times)
				    : (a->length > b->length) - (a->length < b->length);
}

/* Of n - length elements those that come again after `length`. */
static size_t same_after(const uint32_t *a, size_t n, size_t length)
{
	size_t same = 0;

	for (size_t i = 0; i + length < n; i++)
		same += a[i] == a[i + length];
	return same;
}

/* Distances from each window to the one before that is the same; the most met first. */
static size_t distances(const uint32_t *a, size_t n, size_t *last, size_t slots,
			struct distance *times)
{
	size_t kept = 0;

	for (size_t i = 0; i + WINDOW <= n; i++) {
		size_t slot = hash_bytes(&a[i], WINDOW * sizeof(*a), 0) & (slots - 1);
		size_t before = last[slot];

		last[slot] = i + 1;
		if (!before)
			continue;
		before--;
		if (memcmp(&a[before], &a[i], WINDOW * sizeof(*a)) == 0)
			times[i - before].times++;
	}
	for (size_t i = 1; i <= n / 2; i++)
		if (times[i].times)
			times[kept++] = (struct distance){ i, times[i].times };
	qsort(times, kept, sizeof(*times), by_times);
	return kept;
}

/* The shortest of those that come again as well as the best. */
static size_t best_period(const uint32_t *a, size_t n, const struct distance *of, size_t n_of)
{
	double best = 0, share[MOST_CANDIDATES];
	size_t found = 0;

	n_of = n_of < MOST_CANDIDATES ? n_of : MOST_CANDIDATES;
	for (size_t i = 0; i < n_of; i++) {
		size_t of_all = n - of[i].length;

		share[i] = (double)same_after(a, n, of[i].length) / (double)of_all;
		best = share[i] > best ? share[i] : best;
	}
	for (size_t i = 0; i < n_of; i++)
		if (share[i] >= best - 0.005 && share[i] >= LEAST_SAME / 100.0 &&
		    (!found || of[i].length < found))
			found = of[i].length;
	return found;
}

/* Where most of the next `period` elements come again for the first time. */
static size_t begin_of(const uint32_t *a, size_t n, size_t period)
{
	size_t same = 0;

	for (size_t i = 0; i < period; i++)
		same += a[i] == a[i + period];
	for (size_t i = 0; i + 2 * period <= n; i++) {
		if (same == period)
			return i;
		if (i + 2 * period < n)
			same += (size_t)(a[i + period] == a[i + 2 * period]);
		same -= (size_t)(a[i] == a[i + period]);
	}
	return 0;
}

bool sequence_period(const uint32_t *a, size_t n, size_t *period, size_t *from)
{
	struct distance *times = calloc(n + 1, sizeof(*times));
	size_t slots = 1024, *last;

	*period = *from = 0;
	while (slots < 2 * n)
		slots *= 2;
	last = calloc(slots, sizeof(*last));
	if (times && last && n >= 2 * WINDOW) {
		size_t kept = distances(a, n, last, slots, times);

		*period = best_period(a, n, times, kept);
	}
	/* Of few elements that are all the same each is one. */
	if (!*period && n >= 2 && same_after(a, n, 1) == n - 1)
		*period = 1;
	if (*period)
		*from = begin_of(a, n, *period);
	free(last);
	free(times);
	return times && last;
}
