/* fusion/backends/recording.h -- the launches of an executable with all pointers in
 * place.  Private to backends/.
 *
 * A launch spends more on a small kernel than the kernel takes: the form, the places,
 * the rows are looked up each time though the next launch finds the same.  A recording
 * has a step for each kernel with what is found once: the code to call and its
 * argument block, or the plan, or the library's function.  When a buffer moves, the
 * pointers that came of it are set.
 */
#ifndef FUSION_BACKENDS_RECORDING_H
#define FUSION_BACKENDS_RECORDING_H

#include "fusion/backends/executable.h"

/* backend.record, .point, .replay, .erase of interp and cpu. */
struct recording *recording_create(struct executable *exe, void *const *buffers, struct err *err);
void recording_point(struct recording *r, int buffer, void *memory);
void recording_replay(struct recording *r, int kernel, struct pool *pool, bool backward);
void recording_destroy(struct recording *r);

#endif
