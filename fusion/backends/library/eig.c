/* fusion/backends/library/eig.c -- eigenvalues of a matrix that need not be symmetric: turned to
 * Hessenberg's form, then to an upper triangle by steps of QR with Wilkinson's shift.
 */
#include "fusion/backends/library/eig.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS_EACH = 60 }; /* of QR, for an eigenvalue: three are usual */

/* a = z t z* throughout. */
struct schur {
	double complex *t, *z;
	int64_t n;
};

static double complex *at(const struct schur *s, int64_t i, int64_t j)
{
	return s->t + i * s->n + j;
}

/* Turns rows p and q of t, and columns of t and z with them, so that (x, y) would become (r, 0). */
static void turn(const struct schur *s, int64_t p, int64_t q, double complex x, double complex y)
{
	double size = hypot(cabs(x), cabs(y)), c = size > 0 ? cabs(x) / size : 1;
	double complex phase = cabs(x) > 0 ? x / cabs(x) : 1,
		       w = size > 0 ? phase * conj(y) / size : 0;

	for (int64_t j = 0; j < s->n; j++) {
		double complex u = *at(s, p, j), v = *at(s, q, j);

		*at(s, p, j) = c * u + w * v;
		*at(s, q, j) = c * v - conj(w) * u;
	}
	for (int64_t i = 0; i < 2 * s->n; i++) { /* rows of t, then of z */
		double complex *row = i < s->n ? s->t + i * s->n : s->z + (i - s->n) * s->n;
		double complex u = row[p], v = row[q];

		row[p] = c * u + conj(w) * v;
		row[q] = c * v - w * u;
	}
}

static void to_hessenberg(const struct schur *s)
{
	for (int64_t j = 0; j + 2 < s->n; j++)
		for (int64_t i = s->n - 1; i > j + 1; i--) {
			if (*at(s, i, j) != 0)
				turn(s, i - 1, i, *at(s, i - 1, j), *at(s, i, j));
			*at(s, i, j) = 0;
		}
}

/* The eigenvalue of the last two rows that is nearer to the last number. */
static double complex shift_of(const struct schur *s, int64_t last)
{
	double complex a = *at(s, last - 1, last - 1), d = *at(s, last, last);
	double complex bc = *at(s, last - 1, last) * *at(s, last, last - 1);
	double complex half = (a - d) / 2, root = csqrt(half * half + bc);
	double complex below = cabs(half + root) > cabs(half - root) ? half + root : half - root;

	return cabs(below) > 0 ? d - bc / below : d;
}

/* One step of QR of rows first to last. */
static void step(const struct schur *s, int64_t first, int64_t last, double complex shift)
{
	double complex x = *at(s, first, first) - shift, y = *at(s, first + 1, first);

	for (int64_t k = first; k < last; k++) {
		turn(s, k, k + 1, x, y);
		if (k > first)
			*at(s, k + 1, k - 1) = 0;
		if (k + 2 <= last) {
			x = *at(s, k + 1, k);
			y = *at(s, k + 2, k);
		}
	}
}

static void to_triangle(const struct schur *s)
{
	int64_t last = s->n - 1;

	for (int steps = 0; last > 0 && steps < STEPS_EACH; steps++) {
		int64_t first = last;

		for (; first > 0; first--) {
			double complex *below = at(s, first, first - 1);
			double near = cabs(*at(s, first, first)) +
				      cabs(*at(s, first - 1, first - 1));

			if (cabs(*below) > DBL_EPSILON * near)
				continue;
			*below = 0;
			break;
		}
		if (first == last) {
			last--;
			steps = -1;
			continue;
		}
		step(s, first, last,
		     steps % 10 == 9 ? *at(s, last, last) + cabs(*at(s, last, last - 1))
				     : shift_of(s, last));
	}
}

/* Column k of the vectors: of the triangle by substitution in `y`, then turned by z. */
static void put_vector(const struct schur *s, int64_t k, double complex *y, double complex *vectors)
{
	double scale = 0, sum = 0;
	double complex largest = 0;

	for (int64_t i = 0; i <= k; i++)
		scale = fmax(scale, cabs(*at(s, i, i)));
	scale = fmax(scale * DBL_EPSILON, DBL_MIN);
	y[k] = 1;
	for (int64_t i = k - 1; i >= 0; i--) {
		double complex d = *at(s, i, i) - *at(s, k, k), rest = -*at(s, i, k);

		for (int64_t j = i + 1; j < k; j++)
			rest -= *at(s, i, j) * y[j];
		y[i] = rest / (cabs(d) > scale ? d : scale);
	}
	for (int64_t i = 0; i < s->n; i++) {
		double complex v = 0;

		for (int64_t j = 0; j <= k; j++)
			v += s->z[i * s->n + j] * y[j];
		vectors[i * s->n + k] = v;
		sum += creal(v) * creal(v) + cimag(v) * cimag(v);
		if (cabs(v) > cabs(largest) * (1 + 1e-9))
			largest = v;
	}
	for (int64_t i = 0; i < s->n; i++)
		vectors[i * s->n + k] *= conj(largest) / (cabs(largest) * sqrt(sum)) *
					 (creal(largest) < 0 ? -1 : 1);
}

static void exchange(struct eig *e, int64_t n, int64_t a, int64_t b)
{
	double complex value = e->values[a];

	e->values[a] = e->values[b];
	e->values[b] = value;
	for (int64_t i = 0; i < n; i++) {
		double complex v = e->vectors[i * n + a];

		e->vectors[i * n + a] = e->vectors[i * n + b];
		e->vectors[i * n + b] = v;
	}
}

/* What is real of a real matrix is so to the last digit, and pairs are exactly conjugate. */
static void pair_up(struct eig *e, int64_t n, double size)
{
	for (int64_t k = 0; k < n; k++) {
		int64_t other = k + 1;
		bool real = fabs(cimag(e->values[k])) <= 8 * DBL_EPSILON * size || k + 1 == n;

		for (int64_t j = k + 2; !real && j < n; j++)
			if (cabs(e->values[j] - conj(e->values[k])) <
			    cabs(e->values[other] - conj(e->values[k])))
				other = j;
		if (real) {
			e->values[k] = creal(e->values[k]);
			for (int64_t i = 0; i < n; i++)
				e->vectors[i * n + k] = creal(e->vectors[i * n + k]);
			continue;
		}
		exchange(e, n, k + 1, other);
		if (cimag(e->values[k]) < 0)
			exchange(e, n, k, k + 1);
		e->values[k + 1] = conj(e->values[k]);
		for (int64_t i = 0; i < n; i++)
			e->vectors[i * n + k + 1] = conj(e->vectors[i * n + k]);
		k++;
	}
}

struct eig eig_of(const double *a, int64_t n, double complex *room)
{
	struct schur s = { room, room + n * n, n };
	struct eig made = { room + 3 * n * n, room + 2 * n * n };
	double size = 0;

	memset(s.z, 0, sizeof(*s.z) * (size_t)(n * n));
	for (int64_t i = 0; i < n * n; i++) {
		s.t[i] = a[i];
		size = fmax(size, fabs(a[i]));
	}
	for (int64_t i = 0; i < n; i++)
		s.z[i * n + i] = 1;
	to_hessenberg(&s);
	to_triangle(&s);
	for (int64_t k = 0; k < n; k++) {
		made.values[k] = *at(&s, k, k);
		put_vector(&s, k, room + 3 * n * n + n, made.vectors);
	}
	pair_up(&made, n, size * (double)n);
	return made;
}
