/* profiler/measure/memory_held.h -- private: what is in memory before a call begins. */
#ifndef PROFILER_MEASURE_MEMORY_HELD_H
#define PROFILER_MEASURE_MEMORY_HELD_H

#include "profiler/measure/lane.h"

/* Adds `held`, `other_inputs_bytes` and `other_bytes` (memory.h) to json, which together
 * are `held_bytes`: the storages of the call's arguments and of what the program keeps with
 * its gradients, each once, largest first, and the rest. */
void memory_held_report(const struct lane *lane, int call, int64_t held_bytes, json_t *json);

#endif
