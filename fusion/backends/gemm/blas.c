/* fusion/backends/gemm/blas.c -- finds OpenBLAS and says which it is (gemm.h). */
#include "fusion/backends/gemm/gemm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/backends.h"

struct blas {
	pthread_mutex_t lock;
	bool tried, usable;
	struct blas_calls calls;
	char note[256];
};

struct blas *backend_blas_create(void)
{
	struct blas *b = calloc(1, sizeof(*b));

	if (b)
		pthread_mutex_init(&b->lock, NULL);
	return b;
}

void backend_blas_destroy(struct blas *b)
{
	if (!b)
		return;
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* A function pointer out of dlsym(), which C cannot cast to one. */
static bool find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static void load(struct blas *b)
{
	void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	void (*set_threads)(int) = NULL;
	char *(*get_config)(void) = NULL;

	if (!library) {
		snprintf(b->note, sizeof(b->note),
			 "no OpenBLAS (our own kernel multiplies matrices; \"apt install "
			 "libopenblas0-pthread\" makes large ones faster)");
		return;
	}
	if (!find(library, "cblas_sgemm", &b->calls.sgemm) ||
	    !find(library, "cblas_dgemm", &b->calls.dgemm) ||
	    !find(library, "openblas_set_num_threads", &set_threads) ||
	    !find(library, "openblas_get_config", &get_config)) {
		snprintf(b->note, sizeof(b->note),
			 "OpenBLAS is not used: libopenblas.so.0 lacks functions that it should "
			 "have; install libopenblas0-pthread");
		return;
	}
	snprintf(b->calls.config, sizeof(b->calls.config), "%s", get_config());
	if (strstr(b->calls.config, "USE64BITINT")) {
		snprintf(b->note, sizeof(b->note),
			 "OpenBLAS is not used: libopenblas.so.0 was built for 64-bit ints; "
			 "install libopenblas0-pthread");
		return;
	}
	set_threads(1);
	b->usable = true;
	snprintf(b->note, sizeof(b->note), "%s", b->calls.config);
}

static void load_once(struct blas *b)
{
	pthread_mutex_lock(&b->lock);
	if (!b->tried)
		load(b);
	b->tried = true;
	pthread_mutex_unlock(&b->lock);
}

const struct blas_calls *blas_calls(struct blas *b)
{
	if (!b)
		return NULL;
	load_once(b);
	return b->usable ? &b->calls : NULL;
}

const char *backend_blas_note(struct blas *b)
{
	load_once(b);
	return b->note;
}
