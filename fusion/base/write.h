/* fusion/base/write.h -- all of a buffer to a descriptor. */
#ifndef FUSION_BASE_WRITE_H
#define FUSION_BASE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

/* Goes on after a signal and after a write of a part.  False with errno where the rest cannot be
 * written: how much was is not told.  Safe in several threads at once, as write(2) is. */
bool write_all(int fd, const void *bytes, size_t len);

#endif
