/* tests/cupti/driver.c -- does what the CUDA driver does with CUDA_INJECTION64_PATH; ends
 * with the status that it is given. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
	int (*begin)(void);

	if (!library) {
		puts(dlerror());
		return 99;
	}
	*(void **)&begin = dlsym(library, "InitializeInjection");
	return begin && begin() == 1 && argc > 1 ? atoi(argv[1]) : 98;
}
