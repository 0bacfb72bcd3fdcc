/* tests/cuda_emulated.h -- a GPU whose kernels run on the host, for tests of backend cuda.
 *
 * The libraries of tests/cuda/emulator lie beside the test's binary; they want a compiler for
 * C++ and Python, as tests/cuda/values.py does.
 */
#ifndef TESTS_CUDA_EMULATED_H
#define TESTS_CUDA_EMULATED_H

#include <dlfcn.h>
#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/engine.h"

static inline void *emulated_load(const char *name)
{
	char self[512], path[640];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "%s/cuda/emulator/%s", dirname(self), name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* Skips the test where there is none. */
static inline void emulate(void)
{
	static const char *const names[] = { "libcuda.so.1", "libnvrtc.so.13", "libcublas.so.13",
					     "libcublasLt.so.13" };

	setenv("STAND_IN_EMULATOR", "tests/cuda/emulator/emulate.py", 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!emulated_load(names[i]))
			skip();
	if (system("g++ --version >/dev/null 2>&1 && python3 --version >/dev/null 2>&1") != 0)
		skip();
}

#endif
