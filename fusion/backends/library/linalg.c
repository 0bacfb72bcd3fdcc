/* fusion/backends/library/linalg.c -- factors of matrices, in float64, rounded once.
 *
 * Each result of a matrix is one row of numbers, part after part, row by row:
 *	cholesky   L
 *	det        the determinant, its sign, the logarithm of its absolute value
 *	lu         L below the diagonal and U from it on; which row each step exchanged, from 1
 *	eig        real parts of the eigenvalues, imaginary parts; those of eigenvectors as columns
 *	eigh       eigenvalues in ascending order, eigenvectors as columns
 *	qr         Q and R with as many columns of Q as the smaller side; qr_full: all of them
 *	svd        U, the singular values in descending order, V transposed; svd_full: likewise
 *	exp        e to the power of the matrix
 */
#define FUNCTION_linalg(id) &library_##id
#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "fusion/backends/library/library.h"

enum { MOST_SWEEPS = 60, TAYLOR = 18 };

struct dense {
	double *at; /* row by row */
	int64_t rows, columns;
};

static double *cell(const struct dense *m, int64_t i, int64_t j)
{
	return m->at + i * m->columns + j;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* A matrix of an operand as float64: number `index` of the batch. */
static void read_matrix(const struct operand *x, void *const *buffers, int64_t index,
			struct dense *to)
{
	const char *start = operand_start(x, buffers);
	int64_t base = library_offset(x, 0, x->rank - 2, index);

	for (int64_t i = 0; i < to->rows; i++)
		for (int64_t j = 0; j < to->columns; j++)
			*cell(to, i, j) = dtype_get_double(x->dtype, start,
							   base + i * x->stride[x->rank - 2] +
							       j * x->stride[x->rank - 1]);
}

static void write_row(const struct operand *out, void *const *buffers, int64_t *at,
		      const double *from, int64_t n)
{
	void *start = operand_start(out, buffers);

	for (int64_t i = 0; i < n; i++)
		dtype_put_double(out->dtype, start, (*at)++, from[i]);
}

/* ---- factors */

/* The lower triangle of a; the order of the first minor that is not positive, 0: none. */
static int64_t cholesky(struct dense *a)
{
	int64_t n = a->rows;

	for (int64_t j = 0; j < n; j++) {
		for (int64_t i = j; i < n; i++) {
			double sum = *cell(a, i, j);

			for (int64_t k = 0; k < j; k++)
				sum -= *cell(a, i, k) * *cell(a, j, k);
			if (i == j && !(sum > 0))
				return j + 1;
			*cell(a, i, j) = i == j ? sqrt(sum) : sum / *cell(a, j, j);
		}
		for (int64_t i = 0; i < j; i++)
			*cell(a, i, j) = 0;
	}
	return 0;
}

/* In place, with the largest of each column; `steps` is which row was exchanged with each.
 * The first step whose pivot is 0, from 1; 0: none. */
static int64_t lu(struct dense *a, double *steps)
{
	int64_t n = a->rows, singular = 0;

	for (int64_t k = 0; k < n; k++) {
		int64_t best = k;

		for (int64_t i = k + 1; i < n; i++)
			if (fabs(*cell(a, i, k)) > fabs(*cell(a, best, k)))
				best = i;
		steps[k] = (double)(best + 1);
		for (int64_t j = 0; best != k && j < n; j++) {
			double kept = *cell(a, k, j);

			*cell(a, k, j) = *cell(a, best, j);
			*cell(a, best, j) = kept;
		}
		if (*cell(a, k, k) == 0) {
			singular = singular ? singular : k + 1;
			continue;
		}
		for (int64_t i = k + 1; i < n; i++) {
			double factor = *cell(a, i, k) /= *cell(a, k, k);

			for (int64_t j = k + 1; factor != 0 && j < n; j++)
				*cell(a, i, j) -= factor * *cell(a, k, j);
		}
	}
	return singular;
}

static void determinant(struct dense *a, double *steps, double made[3])
{
	made[0] = made[1] = 1;
	made[2] = 0;
	lu(a, steps);
	for (int64_t k = 0; k < a->rows; k++) {
		double d = steps[k] == (double)(k + 1) ? *cell(a, k, k) : -*cell(a, k, k);

		made[0] *= d;
		made[1] *= d > 0 ? 1 : d < 0 ? -1 : d;
		made[2] += log(fabs(d));
	}
}

/* Makes a[p][q] of a symmetric matrix 0 by a turn of both rows and columns. */
static void turn_symmetric(struct dense *a, struct dense *vectors, int64_t p, int64_t q)
{
	double theta = (*cell(a, q, q) - *cell(a, p, p)) / (2 * *cell(a, p, q));
	double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
	double c = 1 / sqrt(t * t + 1), s = t * c;

	for (int64_t k = 0; k < a->rows; k++) {
		double x = *cell(a, k, p), y = *cell(a, k, q);

		*cell(a, k, p) = c * x - s * y;
		*cell(a, k, q) = s * x + c * y;
	}
	for (int64_t k = 0; k < a->rows; k++) {
		double x = *cell(a, p, k), y = *cell(a, q, k);

		*cell(a, p, k) = c * x - s * y;
		*cell(a, q, k) = s * x + c * y;
	}
	for (int64_t k = 0; k < a->rows; k++) {
		double x = *cell(vectors, k, p), y = *cell(vectors, k, q);

		*cell(vectors, k, p) = c * x - s * y;
		*cell(vectors, k, q) = s * x + c * y;
	}
}

static void exchange_columns(struct dense *m, int64_t p, int64_t q)
{
	for (int64_t k = 0; k < m->rows; k++) {
		double kept = *cell(m, k, p);

		*cell(m, k, p) = *cell(m, k, q);
		*cell(m, k, q) = kept;
	}
}

/* Puts `values` in order, and the columns that belong to them. */
static void order_columns(double *values, struct dense *first, struct dense *second, bool ascending)
{
	for (int64_t i = 0; i < first->columns; i++) {
		int64_t best = i;
		double kept = values[i];

		for (int64_t k = i + 1; k < first->columns; k++)
			if (ascending ? values[k] < values[best] : values[k] > values[best])
				best = k;
		if (best == i)
			continue;
		values[i] = values[best];
		values[best] = kept;
		exchange_columns(first, i, best);
		if (second)
			exchange_columns(second, i, best);
	}
}

static void set_identity(struct dense *m)
{
	memset(m->at, 0, sizeof(double) * (size_t)(m->rows * m->columns));
	for (int64_t i = 0; i < least(m->rows, m->columns); i++)
		*cell(m, i, i) = 1;
}

/* Jacobi's way; only the lower triangle of a is read. */
static void eigh(struct dense *a, double *values, struct dense *vectors)
{
	int64_t n = a->rows;
	double size = 0, rest = 1;

	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j <= i; j++) {
			*cell(a, j, i) = *cell(a, i, j);
			size += *cell(a, i, j) * *cell(a, i, j);
		}
	set_identity(vectors);
	for (int sweep = 0; sweep < MOST_SWEEPS && rest > 1e-32 * size; sweep++) {
		rest = 0;
		for (int64_t p = 0; p < n; p++)
			for (int64_t q = p + 1; q < n; q++) {
				rest += *cell(a, p, q) * *cell(a, p, q);
				if (*cell(a, p, q) != 0)
					turn_symmetric(a, vectors, p, q);
			}
	}
	for (int64_t i = 0; i < n; i++)
		values[i] = *cell(a, i, i);
	order_columns(values, vectors, NULL, true);
}

/* Householder's way: a becomes R, q its first columns. */
static void qr(struct dense *a, struct dense *q, double *reflector)
{
	int64_t m = a->rows, n = a->columns, steps = least(m - 1, n);

	for (int64_t k = 0; k < steps; k++) {
		double alpha = *cell(a, k, k), tail = 0, beta, tau;

		for (int64_t i = k + 1; i < m; i++)
			tail += *cell(a, i, k) * *cell(a, i, k);
		reflector[k] = 0;
		if (tail == 0)
			continue;
		beta = -copysign(sqrt(alpha * alpha + tail), alpha);
		tau = reflector[k] = (beta - alpha) / beta;
		for (int64_t i = k + 1; i < m; i++)
			*cell(a, i, k) /= alpha - beta;
		*cell(a, k, k) = beta;
		for (int64_t j = k + 1; j < n; j++) {
			double sum = *cell(a, k, j);

			for (int64_t i = k + 1; i < m; i++)
				sum += *cell(a, i, k) * *cell(a, i, j);
			*cell(a, k, j) -= tau * sum;
			for (int64_t i = k + 1; i < m; i++)
				*cell(a, i, j) -= tau * sum * *cell(a, i, k);
		}
	}
	set_identity(q);
	for (int64_t k = steps - 1; k >= 0; k--)
		for (int64_t j = k; j < q->columns; j++) {
			double sum = *cell(q, k, j);

			for (int64_t i = k + 1; i < m; i++)
				sum += *cell(a, i, k) * *cell(q, i, j);
			*cell(q, k, j) -= reflector[k] * sum;
			for (int64_t i = k + 1; i < m; i++)
				*cell(q, i, j) -= reflector[k] * sum * *cell(a, i, k);
		}
	for (int64_t i = 1; i < m; i++)
		memset(cell(a, i, 0), 0, sizeof(double) * (size_t)least(i, n));
}

/* Turns two columns so that they stand at right angles; whether they did not. */
static bool turn_columns(struct dense *a, struct dense *v, int64_t p, int64_t q)
{
	double alpha = 0, beta = 0, gamma = 0, zeta, t, c, s;

	for (int64_t k = 0; k < a->rows; k++) {
		alpha += *cell(a, k, p) * *cell(a, k, p);
		beta += *cell(a, k, q) * *cell(a, k, q);
		gamma += *cell(a, k, p) * *cell(a, k, q);
	}
	if (gamma == 0 || fabs(gamma) <= 1e-15 * sqrt(alpha * beta))
		return false;
	zeta = (beta - alpha) / (2 * gamma);
	t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	c = 1 / sqrt(1 + t * t);
	s = c * t;
	for (int64_t k = 0; k < a->rows + v->rows; k++) {
		struct dense *m = k < a->rows ? a : v;
		int64_t i = k < a->rows ? k : k - a->rows;
		double x = *cell(m, i, p), y = *cell(m, i, q);

		*cell(m, i, p) = c * x - s * y;
		*cell(m, i, q) = s * x + c * y;
	}
	return true;
}

/* Columns of u from `have` on, or of length 0, become such that all stand at right angles. */
static void complete(struct dense *u, int64_t have, const double *values)
{
	int64_t unit = 0;

	for (int64_t j = 0; j < u->columns; j++) {
		double size = j < have ? values[j] : 0;

		while (!(size > 0) && unit < u->rows) {
			for (int64_t i = 0; i < u->rows; i++)
				*cell(u, i, j) = i == unit;
			unit++;
			for (int64_t k = 0; k < 2 * u->columns; k++) {
				int64_t other = k % u->columns;
				double sum = 0;

				if (other == j ||
				    (other > j && !(other < have && values[other] > 0)))
					continue;
				for (int64_t i = 0; i < u->rows; i++)
					sum += *cell(u, i, other) * *cell(u, i, j);
				for (int64_t i = 0; i < u->rows; i++)
					*cell(u, i, j) -= sum * *cell(u, i, other);
			}
			for (int64_t i = 0; i < u->rows; i++)
				size += *cell(u, i, j) * *cell(u, i, j);
			size = size > 1e-6 ? sqrt(size) : 0;
			for (int64_t i = 0; size > 0 && i < u->rows; i++)
				*cell(u, i, j) /= size;
		}
	}
}

/* Of a with at least as many rows as columns: a becomes U times the values, v the others. */
static void svd(struct dense *a, double *values, struct dense *v)
{
	bool turned = true;

	set_identity(v);
	for (int sweep = 0; sweep < MOST_SWEEPS && turned; sweep++) {
		turned = false;
		for (int64_t p = 0; p < a->columns; p++)
			for (int64_t q = p + 1; q < a->columns; q++)
				turned |= turn_columns(a, v, p, q);
	}
	for (int64_t j = 0; j < a->columns; j++) {
		double size = 0;

		for (int64_t i = 0; i < a->rows; i++)
			size += *cell(a, i, j) * *cell(a, i, j);
		values[j] = sqrt(size);
	}
	order_columns(values, a, v, false);
	for (int64_t j = 0; j < a->columns; j++) {
		if (values[j] <= 1e-300 + 1e-16 * values[0] * (double)a->rows)
			values[j] = 0;
		for (int64_t i = 0; values[j] > 0 && i < a->rows; i++)
			*cell(a, i, j) /= values[j];
	}
}

static void multiply(const struct dense *a, const struct dense *b, struct dense *out)
{
	memset(out->at, 0, sizeof(double) * (size_t)(out->rows * out->columns));
	for (int64_t i = 0; i < out->rows; i++)
		for (int64_t k = 0; k < a->columns; k++)
			for (int64_t j = 0; j < out->columns; j++)
				*cell(out, i, j) += *cell(a, i, k) * *cell(b, k, j);
}

/* Taylor's series of a small part of a, squared until it is the whole. */
static void exponential(struct dense *a, struct dense *made, struct dense *room)
{
	int64_t n = a->rows;
	double size = 0;
	int halvings = 0;

	for (int64_t i = 0; i < n * n; i++)
		size += fabs(a->at[i]);
	while (size > 0.5 && halvings < 1000) {
		size /= 2;
		halvings++;
	}
	for (int64_t i = 0; i < n * n; i++)
		a->at[i] = ldexp(a->at[i], -halvings);
	set_identity(made);
	for (int term = TAYLOR; term > 0; term--) { /* 1 + a / 1 (1 + a / 2 (1 + ...)) */
		multiply(a, made, room);
		for (int64_t i = 0; i < n * n; i++)
			made->at[i] = room->at[i] / term;
		for (int64_t i = 0; i < n; i++)
			*cell(made, i, i) += 1;
	}
	for (int k = 0; k < halvings; k++) {
		multiply(made, made, room);
		memcpy(made->at, room->at, sizeof(double) * (size_t)(n * n));
	}
}

/* ---- eig: turned to Hessenberg's form, then to an upper triangle by steps of QR with Wilkinson's
 * shift.  Where that does not converge, as with NaN, the results are what it had. */

/* Numbers of `room` that a matrix of n rows takes. */
static int64_t eig_room(int64_t n)
{
	return 3 * n * n + 2 * n;
}

struct eig {
	double complex
	    *values; /* n: conjugate pairs side by side, the one above the real axis first */
	double complex
	    *vectors; /* n by n, row by row: columns of length 1 whose largest number is real */
};

enum { STEPS_EACH = 60 }; /* of QR, for an eigenvalue: three are usual */

/* a = z t z* throughout. */
struct schur {
	double complex *t, *z;
	int64_t n;
};

static double complex *entry(const struct schur *s, int64_t i, int64_t j)
{
	return s->t + i * s->n + j;
}

/* Turns rows p and q of t, and columns of t and z with them, so that (x, y) would become (r, 0). */
static void turn_rows(const struct schur *s, int64_t p, int64_t q, double complex x,
		      double complex y)
{
	double size = hypot(cabs(x), cabs(y)), c = size > 0 ? cabs(x) / size : 1;
	double complex phase = cabs(x) > 0 ? x / cabs(x) : 1,
		       w = size > 0 ? phase * conj(y) / size : 0;

	for (int64_t j = 0; j < s->n; j++) {
		double complex u = *entry(s, p, j), v = *entry(s, q, j);

		*entry(s, p, j) = c * u + w * v;
		*entry(s, q, j) = c * v - conj(w) * u;
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
			if (*entry(s, i, j) != 0)
				turn_rows(s, i - 1, i, *entry(s, i - 1, j), *entry(s, i, j));
			*entry(s, i, j) = 0;
		}
}

/* The eigenvalue of the last two rows that is nearer to the last number. */
static double complex shift_of(const struct schur *s, int64_t last)
{
	double complex a = *entry(s, last - 1, last - 1), d = *entry(s, last, last);
	double complex bc = *entry(s, last - 1, last) * *entry(s, last, last - 1);
	double complex half = (a - d) / 2, root = csqrt(half * half + bc);
	double complex below = cabs(half + root) > cabs(half - root) ? half + root : half - root;

	return cabs(below) > 0 ? d - bc / below : d;
}

/* One step of QR of rows first to last. */
static void qr_step(const struct schur *s, int64_t first, int64_t last, double complex shift)
{
	double complex x = *entry(s, first, first) - shift, y = *entry(s, first + 1, first);

	for (int64_t k = first; k < last; k++) {
		turn_rows(s, k, k + 1, x, y);
		if (k > first)
			*entry(s, k + 1, k - 1) = 0;
		if (k + 2 <= last) {
			x = *entry(s, k + 1, k);
			y = *entry(s, k + 2, k);
		}
	}
}

static void to_triangle(const struct schur *s)
{
	int64_t last = s->n - 1;

	for (int steps = 0; last > 0 && steps < STEPS_EACH; steps++) {
		int64_t first = last;

		for (; first > 0; first--) {
			double complex *below = entry(s, first, first - 1);
			double near = cabs(*entry(s, first, first)) +
				      cabs(*entry(s, first - 1, first - 1));

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
		qr_step(s, first, last,
			steps % 10 == 9 ? *entry(s, last, last) + cabs(*entry(s, last, last - 1))
					: shift_of(s, last));
	}
}

/* Column k of the vectors: of the triangle by substitution in `y`, then turned by z. */
static void put_vector(const struct schur *s, int64_t k, double complex *y, double complex *vectors)
{
	double scale = 0, sum = 0;
	double complex largest = 0;

	for (int64_t i = 0; i <= k; i++)
		scale = fmax(scale, cabs(*entry(s, i, i)));
	scale = fmax(scale * DBL_EPSILON, DBL_MIN);
	y[k] = 1;
	for (int64_t i = k - 1; i >= 0; i--) {
		double complex d = *entry(s, i, i) - *entry(s, k, k), rest = -*entry(s, i, k);

		for (int64_t j = i + 1; j < k; j++)
			rest -= *entry(s, i, j) * y[j];
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

static void exchange_pairs(struct eig *e, int64_t n, int64_t a, int64_t b)
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
		exchange_pairs(e, n, k + 1, other);
		if (cimag(e->values[k]) < 0)
			exchange_pairs(e, n, k, k + 1);
		e->values[k + 1] = conj(e->values[k]);
		for (int64_t i = 0; i < n; i++)
			e->vectors[i * n + k + 1] = conj(e->vectors[i * n + k]);
		k++;
	}
}

/* The results lie in `room`, of eig_room(n) numbers. */
static struct eig eig_of(const double *a, int64_t n, double complex *room)
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
		made.values[k] = *entry(&s, k, k);
		put_vector(&s, k, room + 3 * n * n + n, made.vectors);
	}
	pair_up(&made, n, size * (double)n);
	return made;
}

/* ---- the op */

static const char *what_of(const struct library_call *call)
{
	return node_arg(call->node, "what")->str;
}

/* Room for four matrices of the larger side, and what else eig takes. */
static bool bind_factor(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[0];
	int64_t m = x->size[x->rank - 2], n = x->size[x->rank - 1], side = m > n ? m : n;

	(void)err;
	call->room_bytes = sizeof(double) * (size_t)(4 * side * side + 4 * side + 4);
	if (strcmp(what_of(call), "eig") == 0)
		call->room_bytes += sizeof(double complex) * (size_t)eig_room(side);
	return true;
}

static void transpose_into(const struct dense *from, struct dense *to)
{
	for (int64_t i = 0; i < from->rows; i++)
		for (int64_t j = 0; j < from->columns; j++)
			*cell(to, j, i) = *cell(from, i, j);
}

struct factor_room {
	struct dense a, b, c; /* a: the matrix */
	double *spare, *values;
};

/* Leaves U in b, V transposed in c and the values in spare. */
static void factor_svd(struct factor_room *f, bool full)
{
	int64_t m = f->a.rows, n = f->a.columns, k = least(m, n);
	struct dense tall = { f->b.at, m > n ? m : n, k }, v = { f->c.at, k, k };
	struct dense wide = { f->a.at, tall.rows, full ? tall.rows : k };

	if (m < n)
		transpose_into(&f->a, &tall);
	else
		memcpy(tall.at, f->a.at, sizeof(double) * (size_t)(m * n));
	svd(&tall, f->values, &v);
	for (int64_t i = 0; i < wide.rows; i++)
		for (int64_t j = 0; j < wide.columns; j++)
			*cell(&wide, i, j) = j < k ? *cell(&tall, i, j) : 0;
	complete(&wide, k, f->values);
	if (m < n) { /* A' = W S V', so A = V S W' */
		struct dense w = { f->spare, wide.columns, wide.rows };

		transpose_into(&wide, &w);
		f->b = (struct dense){ f->c.at, k, k };
		f->c = w;
	} else {
		struct dense t = { f->spare, k, k };

		transpose_into(&v, &t);
		f->b = wide;
		f->c = t;
	}
}

static void write_parts(const struct operand *out, void *const *buffers, int64_t *at,
			const double complex *from, int64_t n)
{
	for (int imaginary = 0; imaginary < 2; imaginary++)
		for (int64_t i = 0; i < n; i++)
			write_row(out, buffers, at,
				  &(double){ imaginary ? cimag(from[i]) : creal(from[i]) }, 1);
}

/* After the room of all others is that of eig. */
static void factor_eig(const struct library_call *call, struct factor_room *f, void *const *buffers,
		       int64_t *at)
{
	int64_t n = f->a.rows;
	struct eig made = eig_of(f->a.at, n, (double complex *)(f->a.at + 4 * n * n + 4 * n + 4));

	write_parts(&call->out, buffers, at, made.values, n);
	write_parts(&call->out, buffers, at, made.vectors, n * n);
}

static void factor_one(const struct library_call *call, const char *what, struct factor_room *f,
		       void *const *buffers, int64_t *at)
{
	int64_t m = f->a.rows, n = f->a.columns, k = least(m, n), bad;
	double made[3];

	if (strcmp(what, "cholesky") == 0) {
		bad = cholesky(&f->a);
		if (bad)
			library_fault(call, bad, 0);
		write_row(&call->out, buffers, at, f->a.at, n * n);
	} else if (strcmp(what, "det") == 0) {
		determinant(&f->a, f->values, made);
		write_row(&call->out, buffers, at, made, 3);
	} else if (strcmp(what, "lu") == 0) {
		lu(&f->a, f->values);
		write_row(&call->out, buffers, at, f->a.at, n * n);
		write_row(&call->out, buffers, at, f->values, n);
	} else if (strcmp(what, "eig") == 0) {
		factor_eig(call, f, buffers, at);
	} else if (strcmp(what, "eigh") == 0) {
		f->b.rows = f->b.columns = n;
		eigh(&f->a, f->values, &f->b);
		write_row(&call->out, buffers, at, f->values, n);
		write_row(&call->out, buffers, at, f->b.at, n * n);
	} else if (strcmp(what, "exp") == 0) {
		f->b.rows = f->b.columns = f->c.rows = f->c.columns = n;
		exponential(&f->a, &f->b, &f->c);
		write_row(&call->out, buffers, at, f->b.at, n * n);
	} else if (strncmp(what, "qr", 2) == 0) {
		f->b = (struct dense){ f->b.at, m, strcmp(what, "qr") == 0 ? k : m };
		qr(&f->a, &f->b, f->values);
		write_row(&call->out, buffers, at, f->b.at, m * f->b.columns);
		write_row(&call->out, buffers, at, f->a.at, f->b.columns * n);
	} else {
		factor_svd(f, strcmp(what, "svd_full") == 0);
		write_row(&call->out, buffers, at, f->b.at, f->b.rows * f->b.columns);
		write_row(&call->out, buffers, at, f->values, k);
		write_row(&call->out, buffers, at, f->c.at, f->c.rows * f->c.columns);
	}
}

static void run_factor(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	int64_t m = x->size[x->rank - 2], n = x->size[x->rank - 1], side = m > n ? m : n;
	int64_t each = call->out.rank ? call->out.size[call->out.rank - 1] : 0, at = 0;
	double *room = call->room->at;

	(void)pool;
	for (int64_t i = 0; each > 0 && i < call->out.numel / each; i++) {
		struct factor_room f = { .a = { room, m, n },
					 .b = { room + side * side, m, n },
					 .c = { room + 2 * side * side, m, n },
					 .spare = room + 3 * side * side,
					 .values = room + 4 * side * side };

		read_matrix(x, buffers, i, &f.a);
		factor_one(call, what_of(call), &f, buffers, &at);
	}
}

static const struct library_op library_factor = { bind_factor, run_factor };

/* ---- a x = b, of one matrix for each of b */

static bool bind_solve(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[0], *b = &call->arg[1];
	int64_t n = x->size[x->rank - 1], k = b->size[b->rank - 1];

	(void)err;
	call->room_bytes = sizeof(double) * (size_t)(n * n + n * k + n + 1);
	return true;
}

/* Of the triangle of a on one side of the diagonal, which is 1 where `unit`. */
static void substitute(const struct dense *a, struct dense *b, bool upper, bool unit)
{
	int64_t n = a->rows;

	for (int64_t step = 0; step < n; step++) {
		int64_t i = upper ? n - 1 - step : step;
		int64_t from = upper ? i + 1 : 0, to = upper ? n : i;

		for (int64_t k = from; k < to; k++)
			for (int64_t j = 0; j < b->columns; j++)
				*cell(b, i, j) -= *cell(a, i, k) * *cell(b, k, j);
		for (int64_t j = 0; !unit && j < b->columns; j++)
			*cell(b, i, j) /= *cell(a, i, i);
	}
}

static void exchange_rows(struct dense *m, int64_t p, int64_t q)
{
	for (int64_t j = 0; p != q && j < m->columns; j++) {
		double kept = *cell(m, p, j);

		*cell(m, p, j) = *cell(m, q, j);
		*cell(m, q, j) = kept;
	}
}

static void run_solve(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0], *y = &call->arg[1];
	int64_t n = x->size[x->rank - 1], k = y->size[y->rank - 1], at = 0;
	const char *what = what_of(call);
	bool unit = strncmp(what, "unit_", 5) == 0;
	struct dense a = { call->room->at, n, n }, b = { a.at + n * n, n, k };
	double *steps = b.at + n * k;

	(void)pool;
	for (int64_t i = 0; n * k > 0 && i < call->out.numel / (n * k); i++) {
		read_matrix(x, buffers, i, &a);
		read_matrix(y, buffers, i, &b);
		if (strcmp(what, "general") == 0) {
			int64_t singular = lu(&a, steps);

			if (singular)
				library_fault(call, singular, 0);
			for (int64_t s = 0; s < n; s++)
				exchange_rows(&b, s, (int64_t)steps[s] - 1);
			substitute(&a, &b, false, true);
			substitute(&a, &b, true, false);
		} else {
			substitute(&a, &b, strstr(what, "upper") != NULL, unit);
		}
		write_row(&call->out, buffers, &at, b.at, n * k);
	}
}

static const struct library_op library_solve = { bind_solve, run_solve };

const struct library_op *const linalg_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
