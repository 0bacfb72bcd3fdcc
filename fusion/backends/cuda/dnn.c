/* fusion/backends/cuda/dnn.c -- loads cuDNN. */
#include "fusion/backends/cuda/dnn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static bool start(struct cuda_dnn *n, struct device *d)
{
	void *library = cuda_open_library("libcudnn.so.9"), *found;

	if (!library)
		return false;
#define DNN(name, ...)                                                                             \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return false;                                                                      \
	memcpy(&n->name, &found, sizeof(found));
#include "fusion/backends/cuda/dnn.def"
#undef DNN
	if (n->cudnnCreate(&n->handle) != DNN_DONE)
		n->handle = NULL;
	return n->handle && n->cudnnSetStream(n->handle, d->stream) == DNN_DONE;
}

const struct cuda_dnn *cuda_dnn(struct device *d)
{
	if (!d->dnn) {
		d->dnn = calloc(1, sizeof(*d->dnn));
		if (d->dnn)
			d->dnn->missing = !start(d->dnn, d);
	}
	return d->dnn && !d->dnn->missing ? d->dnn : NULL;
}

void cuda_dnn_close(struct cuda_dnn *n)
{
	if (n && n->handle)
		n->cudnnDestroy(n->handle);
	free(n);
}
