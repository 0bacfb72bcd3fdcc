/* tests/shared_kernels.h -- where suites keep the kernels that backend cpu compiles.
 *
 * A suite runs twice, plain and sanitized, and its C is the same both times: run.sh names a
 * folder in TEST_KERNELS, and only the first compiles.  Suites of the compiler and of the
 * cache itself have folders of their own (cpu_folder.h).
 */
#ifndef TESTS_SHARED_KERNELS_H
#define TESTS_SHARED_KERNELS_H

#include <stdlib.h>

/* For `cache_dir`.  NULL, where a suite is run by hand: everything is compiled again. */
static inline const char *shared_kernels(void)
{
	return getenv("TEST_KERNELS");
}

#endif
