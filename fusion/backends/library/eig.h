/* fusion/backends/library/eig.h -- eigenvalues of a matrix that need not be symmetric. */
#ifndef FUSION_BACKENDS_LIBRARY_EIG_H
#define FUSION_BACKENDS_LIBRARY_EIG_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers of `room` that a matrix of n rows takes. */
static inline int64_t eig_room(int64_t n)
{
	return 3 * n * n + 2 * n;
}

struct eig {
	double complex
	    *values; /* n: conjugate pairs side by side, the one above the real axis first */
	double complex
	    *vectors; /* n by n, row by row: columns of length 1 whose largest number is real */
};

/* Of `a`, n by n, row by row; the results lie in `room`, of eig_room(n) numbers.  Where the
 * iteration does not converge, as with NaN, they are what it had. */
struct eig eig_of(const double *a, int64_t n, double complex *room);

#endif
