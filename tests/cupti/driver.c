/* tests/cupti/driver.c -- does what the CUDA driver does with CUDA_INJECTION64_PATH; ends
 * with the status that it is given, once there is a file CUPTI_FAKE_UNTIL. */
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
	while (getenv("CUPTI_FAKE_UNTIL") && access(getenv("CUPTI_FAKE_UNTIL"), F_OK) != 0)
		usleep(10000);
	return atoi(argv[1]);
}
