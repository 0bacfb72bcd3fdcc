/* profiler/workload/call.h -- a call of a workload: specs by place, and some by name.
 *
 *	[spec, spec]					model(a, b)
 *	{"args": [spec], "kwargs": {"mask": spec}}	model(a, mask=b)
 *
 * Argument k counts through both, those with a name last.
 */
#ifndef PROFILER_WORKLOAD_CALL_H
#define PROFILER_WORKLOAD_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t call_length(const json_t *call);
const json_t *call_spec(const json_t *call, size_t k); /* NULL: it has not so many */

/* The name of argument k, borrowed; NULL: it goes by its place. */
const char *call_name(const json_t *call, size_t k);

/* Of the random numbers of an argument. */
static inline uint64_t call_seed(int i, int k)
{
	return (uint64_t)i * 1000 + (uint64_t)k;
}

/* Puts another spec, whose reference it takes, in the place of argument k. */
void call_set(json_t *call, size_t k, json_t *spec);

/* "calls[0][1]" or "calls[0].mask": for messages. */
enum { CALL_PATH_BYTES = 100 };
void call_path(const json_t *call, int i, size_t k, char out[CALL_PATH_BYTES]);

#endif
