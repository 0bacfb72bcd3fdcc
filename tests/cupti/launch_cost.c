/* tests/cupti/launch_cost.c [ROUNDS] -- what a launch costs more while CUPTI records, on a GPU.
 *
 * An empty kernel in bursts of 200 with a wait behind each, in processes of its own, in
 * turn: with CUPTI alone (kernels, its own defaults, records thrown away), with the collector
 * as a run of ours uses it, and as the injection library does.  Each process first launches
 * without CUPTI, on the same core, and the growth is taken within it: from process to process
 * a launch differs by more than what is sought.  Medians over the rounds, with the quartiles;
 * beside ours what it is more than CUPTI alone of the same round.
 */
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/cupti/collector.h"

enum { BURST = 200, BURSTS = 100, WARM_UP = 30, MAX_ROUNDS = 100 };
enum way { ALONE, RUN, TRACE, N_WAYS };
static const char *const ways[] = { "CUPTI alone", "run", "trace" };

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

/* On its core: a launch elsewhere is another. */
static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void roam(const cpu_set_t *all)
{
	sched_setaffinity(0, sizeof(*all), all);
}

/* ---- CUPTI without us */

enum { ALONE_BYTES = 8 << 20 };

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = aligned_alloc(8, ALONE_BYTES);
	*bytes = ALONE_BYTES;
	*max_records = 0;
}

static void CUPTIAPI drop_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid)
{
	(void)context, (void)stream, (void)bytes, (void)valid;
	free(buffer);
}

static void record_alone(void)
{
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW);
	typeof(&cuptiActivityRegisterCallbacks) take;
	typeof(&cuptiActivityEnable) enable;

	cupti = cupti ? cupti : dlopen("libcupti.so", RTLD_NOW);
	take = cupti ? (typeof(take))dlsym(cupti, "cuptiActivityRegisterCallbacks") : NULL;
	enable = cupti ? (typeof(enable))dlsym(cupti, "cuptiActivityEnable") : NULL;
	if (!take || !enable || take(give_buffer, drop_buffer) != CUPTI_SUCCESS ||
	    enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS) {
		fprintf(stderr, "CUPTI alone does not record\n");
		exit(1);
	}
}

static void record_ours(enum way way, struct collector_sink *sink)
{
	const struct collector_options options = { .external = way == RUN,
						   .ranges = way == TRACE,
						   .memory = way == TRACE };
	char why[300] = "";

	if (collector_start(sink, &options, why, sizeof(why)))
		return;
	fprintf(stderr, "%s\n", why);
	exit(1);
}

/* ---- launches */

#define LOAD(name) typeof(&name) f_##name = (typeof(&name))dlsym(driver, #name)
#define CALL(name, ...) check(f_##name(__VA_ARGS__), #name)

struct gpu {
	CUfunction function;
	CUstream stream;
	typeof(&cuLaunchKernel) launch;
	typeof(&cuStreamSynchronize) wait;
};

static struct gpu open_gpu(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	struct gpu g = { 0 };
	CUcontext context;
	CUmodule module;

	LOAD(cuInit);
	LOAD(cuDevicePrimaryCtxRetain);
	LOAD(cuCtxSetCurrent);
	LOAD(cuModuleLoadData);
	LOAD(cuModuleGetFunction);
	LOAD(cuStreamCreate);
	LOAD(cuLaunchKernel);
	LOAD(cuStreamSynchronize);
	CALL(cuInit, 0);
	CALL(cuDevicePrimaryCtxRetain, &context, 0);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoadData, &module, ptx);
	CALL(cuModuleGetFunction, &g.function, module, "k0");
	CALL(cuStreamCreate, &g.stream, CU_STREAM_NON_BLOCKING);
	g.launch = f_cuLaunchKernel;
	g.wait = f_cuStreamSynchronize;
	return g;
}

/* Microseconds of a launch, the wait behind them included. */
static double burst(const struct gpu *g)
{
	double each[BURSTS];

	for (int b = -WARM_UP; b < BURSTS; b++) {
		double begin = now_us();

		for (int i = 0; i < BURST; i++)
			check(g->launch(g->function, 1, 1, 1, 1, 1, 1, 0, g->stream, NULL, NULL),
			      "cuLaunchKernel");
		check(g->wait(g->stream), "cuStreamSynchronize");
		if (b >= 0)
			each[b] = (now_us() - begin) / BURST;
	}
	return median(each, BURSTS);
}

/* Without CUPTI, and with. */
static void measure(enum way way, double us[2])
{
	long seen = 0;
	struct collector_sink sink = { .self = &seen, .name = on_name, .events = on_events };
	struct gpu g = open_gpu();
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	stay();
	us[0] = burst(&g);
	roam(&all); /* CUPTI's threads begin as ours does */
	if (way == ALONE)
		record_alone();
	else
		record_ours(way, &sink);
	stay();
	us[1] = burst(&g);
}

static void in_a_process(enum way way, double us[2])
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		measure(way, us);
		_exit(write(ends[1], us, 2 * sizeof(*us)) == 2 * (ssize_t)sizeof(*us) ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], us, 2 * sizeof(*us)) != 2 * (ssize_t)sizeof(*us))
		exit(1);
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static double off[N_WAYS][MAX_ROUNDS], on[N_WAYS][MAX_ROUNDS], grows[N_WAYS][MAX_ROUNDS],
	    beyond[N_WAYS][MAX_ROUNDS];
	int rounds = argc > 1 ? atoi(argv[1]) : 15;

	rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
	for (int r = 0; r < rounds; r++)
		for (int way = 0; way < N_WAYS; way++) {
			double us[2] = { 0, 0 };

			in_a_process(way, us);
			off[way][r] = us[0];
			on[way][r] = us[1];
			grows[way][r] = us[1] - us[0];
			beyond[way][r] = grows[way][r] - grows[ALONE][r];
		}
	for (int way = N_WAYS - 1; way >= 0; way--) {
		double middle = median(grows[way], rounds), more = median(beyond[way], rounds);
		int low = rounds / 4, high = rounds - 1 - rounds / 4;

		printf(
		    "%-12s %.3f us a launch, %.3f with CUPTI: grows by %.3f [%.3f, %.3f]; beyond "
		    "CUPTI alone %+.3f [%+.3f, %+.3f]\n",
		    ways[way], median(off[way], rounds), median(on[way], rounds), middle,
		    grows[way][low], grows[way][high], more, beyond[way][low], beyond[way][high]);
	}
	return 0;
}
