/* tests/fuzz/weights_help.h -- what the fuzz targets of weights share: bytes as a file of a run. */
#ifndef TESTS_FUZZ_WEIGHTS_HELP_H
#define TESTS_FUZZ_WEIGHTS_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fusion/tensor/tensor.h"
#include "fusion/weights/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file in memory with these bytes, and its path. */
static inline int file_of(const void *bytes, size_t len, char path[64])
{
	int fd = memfd_create("weights", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

static volatile double elements_read; /* so that they are */

/* All elements are there, and whoever is refused is told why. */
static inline void look(struct value v, int depth)
{
	const struct tensor *t = v.kind == VALUE_TENSOR ? v.tensor->memory : NULL;
	double sum = 0;
	int64_t n = t ? tensor_numel(t) : 0;

	if (depth > 110) /* deeper than anything may be */
		abort();
	for (int64_t i = 0; i < n; i += 1 + n / 50)
		sum += tensor_get_double(t, i);
	if (n > 0)
		sum += tensor_get_double(t, n - 1);
	elements_read = sum;
	for (int i = 0; (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST) && i < v.list->len; i++)
		look(v.list->at[i], depth + 1);
	if (v.kind == VALUE_INSTANCE && v.instance->attributes)
		for (int i = 0; i < v.instance->attributes->len; i++)
			look(v.instance->attributes->values[i], depth + 1);
	for (int i = 0; (v.kind == VALUE_DICT || v.kind == VALUE_SET) && i < v.dict->len; i++) {
		look(v.dict->keys[i], depth + 1);
		look(v.dict->values[i], depth + 1);
	}
}

static inline void end(bool read, struct value v, const struct err *err, struct allocator *a)
{
	if (read) {
		look(v, 0);
		value_unref(v);
	} else if (err->code == ERR_NONE || !err->message[0]) {
		abort();
	}
	if (allocator_used_bytes(a) != 0)
		abort();
	allocator_destroy(a);
}

#endif
