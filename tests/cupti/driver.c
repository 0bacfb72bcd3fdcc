/* tests/cupti/driver.c -- does what the CUDA driver does with CUDA_INJECTION64_PATH; ends
 * with the status that it is given, after FAKE_MS. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
	int (*begin)(void);

	if (!library) {
		puts(dlerror());
		return 99;
	}
	*(void **)&begin = dlsym(library, "InitializeInjection");
	if (!begin || begin() != 1 || argc < 2)
		return 98;
	if (getenv("FAKE_MS"))
		usleep((unsigned)atoi(getenv("FAKE_MS")) * 1000);
	return atoi(argv[1]);
}
