/* fusion/vm/placement.h -- keywords that say where and how a tensor lies.
 *
 * A run has one device, and its tensors lie row by row in its memory.  A program
 * may name that device as it was written for (cuda, mps), and ask for pinned
 * memory or channels_last, which change no value; what would make another kind of
 * tensor (meta, sparse) is refused. */
#ifndef FUSION_VM_PLACEMENT_H
#define FUSION_VM_PLACEMENT_H

#include "fusion/base/err.h"
#include "fusion/vm/value.h"

/* Whether the text names a device: *index is what follows its colon, or None. */
bool placement_device(const char *text, struct value *index);

/* device, layout, pin_memory, non_blocking, memory_format */
bool placement_is(const char *key);

/* Whether that keyword of `function` can be v: else UNSUPPORTED, VALUE or TYPE. */
bool placement_fits(const char *function, const char *key, struct value v, struct err *err);

#endif
