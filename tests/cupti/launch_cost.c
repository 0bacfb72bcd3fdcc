/* tests/cupti/launch_cost.c [ROUNDS] -- what a launch costs more while CUPTI records, on a GPU.
 *
 * Launches an empty kernel in bursts of 200 with a wait behind each, in processes of
 * its own, in turn: off, with the collector as a run of ours uses it, and as the
 * injection library does.  The launching thread stays on its core.  Medians over the
 * rounds, and of each round's difference to the one before with it off.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/cupti/collector.h"

enum { BURST = 200, BURSTS = 250, MAX_ROUNDS = 100 };
static const char *const ways[] = { "off", "run", "trace" };
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]) };

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry k0() { ret; }\n";

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

static void on_name(void *self, uint32_t number, const char *text)
{
	(void)self, (void)number, (void)text;
}

static void on_events(void *self, const struct wire_event *events, size_t n)
{
	(void)events;
	*(long *)self += (long)n;
}

static void check(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s failed: %d\n", what, (int)result);
	exit(1);
}

static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

#define LOAD(name) typeof(&name) f_##name = (typeof(&name))dlsym(driver, #name)
#define CALL(name, ...) check(f_##name(__VA_ARGS__), #name)

/* Microseconds of a launch. */
static double measure(int way)
{
	const struct collector_options options = { .external = way == 1,
						   .ranges = way == 2,
						   .memory = way == 2 };
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	double each[BURSTS];
	char why[300] = "";
	long seen = 0;
	struct collector_sink sink = { .self = &seen, .name = on_name, .events = on_events };
	CUcontext context;
	CUfunction function;
	CUmodule module;
	CUstream stream;

	LOAD(cuInit);
	LOAD(cuDevicePrimaryCtxRetain);
	LOAD(cuCtxSetCurrent);
	LOAD(cuModuleLoadData);
	LOAD(cuModuleGetFunction);
	LOAD(cuStreamCreate);
	LOAD(cuLaunchKernel);
	LOAD(cuStreamSynchronize);
	if (way && !collector_start(&sink, &options, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		exit(1);
	}
	CALL(cuInit, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, 0);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoadData, &module, ptx);
	CALL(cuModuleGetFunction, &function, module, "k0");
	CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	for (int burst = -20; burst < BURSTS; burst++) {
		double begin;

		if (burst == -10)
			stay(); /* CUPTI's threads are there, and on other cores */
		begin = now_us();
		for (int i = 0; i < BURST; i++)
			CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
		CALL(cuStreamSynchronize, stream);
		if (burst >= 0)
			each[burst] = (now_us() - begin) / BURST;
	}
	return median(each, BURSTS);
}

static double in_a_process(int way)
{
	double us = 0;
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		us = measure(way);
		_exit(write(ends[1], &us, sizeof(us)) == sizeof(us) ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], &us, sizeof(us)) != sizeof(us))
		exit(1);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return us;
}

int main(int argc, char **argv)
{
	static double us[N_WAYS][MAX_ROUNDS], more[N_WAYS][MAX_ROUNDS];
	int rounds = argc > 1 ? atoi(argv[1]) : 15;

	rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
	for (int r = 0; r < rounds; r++)
		for (int way = 0; way < N_WAYS; way++) {
			us[way][r] = in_a_process(way);
			more[way][r] = us[way][r] - us[0][r];
		}
	for (int way = 0; way < N_WAYS; way++) {
		double middle = median(us[way], rounds), grows = median(more[way], rounds);

		printf("%-6s %.3f us a launch, least %.3f; more than off %+.3f [%+.3f, %+.3f]\n",
		       ways[way], middle, us[way][0], grows, more[way][rounds / 4],
		       more[way][rounds - 1 - rounds / 4]);
	}
	return 0;
}
