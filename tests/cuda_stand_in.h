/* tests/cuda_stand_in.h -- a GPU that does nothing, for tests of backend cuda.
 *
 * The libraries of tests/cuda lie beside the test's binary; once they are loaded, the
 * engine's own dlopen() of these names finds them.
 */
#ifndef TESTS_CUDA_STAND_IN_H
#define TESTS_CUDA_STAND_IN_H

#include <dlfcn.h>
#include <libgen.h>
#include <unistd.h>

#include "tests/engine.h"

struct stand_in {
	const char *(*log)(void);
	int (*graphs)(void);
	int (*compiles)(void);
	int (*waits)(void);
	int (*strays)(void);
	void (*clear)(void);
	void (*fault)(const char *order);
};

static inline void *stand_in_load(const char *name)
{
	char self[512], path[640];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "%s/cuda/%s", dirname(self), name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* Skips the test in a build without CUDA's headers, which has no such backend. */
static inline struct stand_in stand_in_open(void)
{
	struct stand_in s = { 0 };
	void *driver = stand_in_load("libcuda.so.1");
	void *nvrtc = stand_in_load("nvrtc/libnvrtc.so.13");

	if (!driver || !nvrtc || !stand_in_load("libcublas.so.13"))
		skip();
	*(void **)&s.log = dlsym(driver, "stand_in_log");
	*(void **)&s.graphs = dlsym(driver, "stand_in_graphs");
	*(void **)&s.compiles = dlsym(nvrtc, "stand_in_compiles");
	*(void **)&s.waits = dlsym(driver, "stand_in_waits");
	*(void **)&s.strays = dlsym(driver, "stand_in_strays");
	*(void **)&s.clear = dlsym(driver, "stand_in_clear");
	*(void **)&s.fault = dlsym(driver, "stand_in_fault");
	s.fault(NULL);
	s.clear();
	return s;
}

#endif
