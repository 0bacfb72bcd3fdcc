/* profiler/workload/python_input.h -- the language of inputs: text to a spec. */
#ifndef PROFILER_WORKLOAD_PYTHON_INPUT_H
#define PROFILER_WORKLOAD_PYTHON_INPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"

/* The spec of "float32[8,16]", with `seed` for its numbers, or of a number, True, False or None;
 * *spec NULL: the text is an expression.  False where it is neither, with the place in the text,
 * which err->file calls `label`. */
bool input_plain(const char *text, uint64_t seed, const char *label, json_t **spec,
		 struct err *err);

#endif
