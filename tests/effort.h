/* tests/effort.h -- how much of its work a sanitized suite does.
 *
 * A case takes ten times as long there, and values are held by the build that is not
 * sanitized: some of the cases are then enough to find a fault of memory.  `make test FULL=1`
 * runs them all.
 */
#ifndef TESTS_EFFORT_H
#define TESTS_EFFORT_H

#include <stdlib.h>

#include "fusion/base/sanitized.h"

/* 1, or `sanitized` under the address sanitizer, unless FULL is set: each how-manieth case runs. */
static inline int case_step(int sanitized)
{
	const char *full = getenv("FULL");

	return ADDRESS_SANITIZED && !(full && *full) ? sanitized : 1;
}

#endif
