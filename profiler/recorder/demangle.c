/* profiler/recorder/demangle.c -- names of C++ kernels as people write them. */
#include "profiler/recorder/demangle.h"

#include <dlfcn.h>

void demangler_open(struct demangler *d)
{
	d->runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (d->runtime)
		*(void **)&d->read = dlsym(d->runtime, "__cxa_demangle");
}

void demangler_close(struct demangler *d)
{
	if (d->runtime)
		dlclose(d->runtime);
	*d = (struct demangler){ 0 };
}

char *demangle(const struct demangler *d, const char *symbol)
{
	int status;

	return d->read && symbol[0] == '_' ? d->read(symbol, NULL, NULL, &status) : NULL;
}
