/* profiler/compare/settings.h -- in what two runs differ beside their figures, and whether
 * that forbids to compare them. */
#ifndef PROFILER_COMPARE_SETTINGS_H
#define PROFILER_COMPARE_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/buf.h"

/* [{"key", "title", "a", "b", "matters"}]: texts of both sides; [] where they are alike.
 * Another name and another source together are another workload, which matters; another
 * source under the same name is a new version of it. */
json_t *settings_differences(const json_t *a, const json_t *b);

/* Appends "not comparable: threads 1 against 16" where one of those matters; the others
 * of them behind it.  Returns whether one does. */
bool settings_refusal(const json_t *differences, struct buf *out);

/* Appends the values of the settings that matter, sweep apart: equal texts mean that runs
 * of the same workload are comparable. */
void settings_key(const json_t *report, struct buf *out);

/* The program itself, as text: the source, and the lines that a sweep puts into it.  Equal
 * where two runs are of the same. */
void settings_program(const json_t *report, struct buf *out);

#endif
