/* profiler/recorder/demangle.h -- private: names of C++ kernels as people write them. */
#ifndef PROFILER_RECORDER_DEMANGLE_H
#define PROFILER_RECORDER_DEMANGLE_H

#include <stddef.h>

/* The C++ runtime reads them, where there is one.  Zeroed is closed. */
struct demangler {
	void *runtime;
	char *(*read)(const char *, char *, size_t *, int *);
};
void demangler_open(struct demangler *d);
void demangler_close(struct demangler *d);

/* NULL: the symbol is no C++ name, or nobody can read it.  Caller frees. */
char *demangle(const struct demangler *d, const char *symbol);

#endif
