/* tests/cupti/launch_cost.c [ROUNDS] [settings [NAME,NAME]] -- what a launch costs more while CUPTI
 * records, on a GPU.
 *
 * An empty kernel in bursts of 200 with a wait after each, and back to back, 20,000 before a
 * wait: there the device is what takes the time, and what a host does more hides in it.
 * In processes of its own, in turn: with CUPTI alone (kernels, its own defaults, records thrown
 * away), with the collector as a run of ours uses it, and as the injection library does.  Each
 * process first launches without CUPTI, on the same core, and the growth is taken within it: from
 * process to process a launch differs by more than what is sought.  Medians over the rounds, with
 * the quartiles; beside ours what it is more than CUPTI alone of the same round.
 *
 * `settings`: instead of ours, each kind of record and each setting of CUPTI by itself, on
 * top of the least that records kernels; or those named alone, beside that least.
 */
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/cupti/collector.h"

enum { MAX_TIMES = 60, MAX_ROUNDS = 100 };
enum shape { BURSTS, BACK_TO_BACK, N_SHAPES };
static const struct {
	const char *name;
	int launches, times, warm_up;
} shapes[N_SHAPES] = { { "bursts of 200", 200, MAX_TIMES, 20 }, { "back to back", 20000, 9, 2 } };
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

enum { ALONE_BYTES = 8 << 20, SMALL_BYTES = 512 << 10, SPARES = 64 };
enum setting_flag {
	SMALL = 1, /* buffers of 512 KiB, used again */
	FLUSH = 2, /* every half second */
	CLOCK = 4, /* the system's, for time stamps */
	SUBSCRIBE = 8,
	ZEROED = 16, /* buffers are zero as they come */
	ONE_BUFFER = 32,
	PINNED = 64, /* time stamps go to memory of the host */
	LATENCY = 128,
	ATTRIBUTES = 256,
	FEW = 512, /* room for 4,000 time stamps, not for 100,000 */
};
struct setting {
	const char *name;
	unsigned flags;
	CUpti_ActivityKind kind; /* besides kernels; 0: none */
};

static const struct setting settings[] = {
	{ "kernels only", 0, 0 },
	{ "small buffers", SMALL, 0 },
	{ "zeroed", SMALL | ZEROED, 0 },
	{ "one buffer", ONE_BUFFER, 0 },
	{ "flush period", FLUSH, 0 },
	{ "clock", CLOCK, 0 },
	{ "subscriber", SUBSCRIBE, 0 },
	{ "copies", 0, CUPTI_ACTIVITY_KIND_MEMCPY },
	{ "overhead", 0, CUPTI_ACTIVITY_KIND_OVERHEAD },
	{ "runtime calls", 0, CUPTI_ACTIVITY_KIND_RUNTIME },
	{ "driver calls", 0, CUPTI_ACTIVITY_KIND_DRIVER },
	{ "external ids", 0, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION },
	{ "memory", 0, CUPTI_ACTIVITY_KIND_MEMORY2 },
	{ "markers", 0, CUPTI_ACTIVITY_KIND_MARKER },
	{ "host stamps", PINNED, 0 },
	{ "few stamps", FEW, 0 },
	{ "latency stamps", LATENCY, 0 },
	{ "attributes", ATTRIBUTES, 0 },
	{ "small few", SMALL | FEW, 0 },
	{ "small pinned", SMALL | PINNED, 0 },
	{ "small one", SMALL | ONE_BUFFER, 0 },
	{ "small clock", SMALL | CLOCK, 0 },
	{ "small subscriber", SMALL | SUBSCRIBE, 0 },
};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static size_t buffer_bytes = ALONE_BYTES;
static bool zeroed;
static uint8_t *spares[SPARES];
static int n_spares; /* CUPTI asks and gives back in two threads */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = n_spares ? spares[--n_spares] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer && (*buffer = aligned_alloc(8, buffer_bytes)) && zeroed)
		memset(*buffer, 0, buffer_bytes);
	*bytes = *buffer ? buffer_bytes : 0;
	*max_records = 0;
}

static void CUPTIAPI drop_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid)
{
	(void)context, (void)stream, (void)bytes;
	if (zeroed)
		memset(buffer, 0, valid);
	pthread_mutex_lock(&lock);
	if (buffer_bytes == SMALL_BYTES && n_spares < SPARES) {
		spares[n_spares++] = buffer;
		buffer = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static uint64_t CUPTIAPI clock_of_system(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void CUPTIAPI nothing(void *self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			     const void *data)
{
	(void)self, (void)domain, (void)id, (void)data;
}

static void must(CUptiResult result, const char *what)
{
	if (result == CUPTI_SUCCESS)
		return;
	fprintf(stderr, "%s: CUPTI says %d\n", what, (int)result);
	exit(1);
}

#define CUPTI(name, ...)                                                                           \
	do {                                                                                       \
		typeof(&name) f_ = (typeof(f_))dlsym(cupti, #name);                                \
		if (!f_)                                                                           \
			fprintf(stderr, "this CUPTI has no " #name "\n");                          \
		else                                                                               \
			must(f_(__VA_ARGS__), #name);                                              \
	} while (0)

static void set(void *cupti, CUpti_ActivityAttribute attribute, size_t value, size_t bytes)
{
	CUPTI(cuptiActivitySetAttribute, attribute, &bytes, &value);
}

static void record_alone(const struct setting *s)
{
	static CUpti_SubscriberHandle subscriber;
	void *cupti = dlopen("libcupti.so.13", RTLD_NOW);

	cupti = cupti ? cupti : dlopen("libcupti.so", RTLD_NOW);
	if (!cupti) {
		fprintf(stderr, "no CUPTI: %s\n", dlerror());
		exit(1);
	}
	buffer_bytes = s->flags & SMALL ? SMALL_BYTES : ALONE_BYTES;
	zeroed = s->flags & ZEROED;
	if (s->flags & SUBSCRIBE)
		CUPTI(cuptiSubscribe, &subscriber, nothing, NULL);
	if (s->flags & ONE_BUFFER)
		set(cupti, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0, 1);
	if (s->flags & ZEROED)
		set(cupti, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1, 1);
	if (s->flags & PINNED)
		set(cupti, CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 1, 1);
	if (s->flags & FEW)
		set(cupti, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, 128 << 10, sizeof(size_t));
	CUPTI(cuptiActivityRegisterCallbacks, give_buffer, drop_buffer);
	if (s->flags & CLOCK)
		CUPTI(cuptiActivityRegisterTimestampCallback, clock_of_system);
	if (s->flags & LATENCY)
		CUPTI(cuptiActivityEnableLatencyTimestamps, 1);
	if (s->flags & ATTRIBUTES)
		CUPTI(cuptiActivityEnableLaunchAttributes, 1);
	if (s->kind)
		CUPTI(cuptiActivityEnable, s->kind);
	CUPTI(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	if (s->flags & FLUSH)
		CUPTI(cuptiActivityFlushPeriod, 500);
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

/* Microseconds of a launch, its share of the wait after them included. */
static double launch_us(const struct gpu *g, enum shape shape)
{
	int n = shapes[shape].launches, times = shapes[shape].times;
	double each[MAX_TIMES];

	for (int t = -shapes[shape].warm_up; t < times; t++) {
		double begin = now_us();

		for (int i = 0; i < n; i++)
			check(g->launch(g->function, 1, 1, 1, 1, 1, 1, 0, g->stream, NULL, NULL),
			      "cuLaunchKernel");
		check(g->wait(g->stream), "cuStreamSynchronize");
		if (t >= 0)
			each[t] = (now_us() - begin) / n;
	}
	return median(each, times);
}

/* Of each shape. */
struct launches {
	double off_us[N_SHAPES], on_us[N_SHAPES];
};

static void launch_all(const struct gpu *g, double us[N_SHAPES])
{
	for (int s = 0; s < N_SHAPES; s++)
		us[s] = launch_us(g, (enum shape)s);
}

/* Without CUPTI, and with; `setting`: NULL for the three ways. */
static void measure(enum way way, const struct setting *setting, struct launches *l)
{
	long seen = 0;
	struct collector_sink sink = { .self = &seen, .name = on_name, .events = on_events };
	struct gpu g = open_gpu();
	cpu_set_t all;

	sched_getaffinity(0, sizeof(all), &all);
	stay();
	launch_all(&g, l->off_us);
	roam(&all); /* CUPTI's threads begin as ours does */
	if (setting || way == ALONE)
		record_alone(setting ? setting : &settings[0]);
	else
		record_ours(way, &sink);
	stay();
	launch_all(&g, l->on_us);
}

static struct launches in_a_process(enum way way, const struct setting *setting)
{
	struct launches l;
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		measure(way, setting, &l);
		_exit(write(ends[1], &l, sizeof(l)) == (ssize_t)sizeof(l) ? 0 : 1);
	}
	close(ends[1]);
	if (read(ends[0], &l, sizeof(l)) != (ssize_t)sizeof(l))
		exit(1);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return l;
}

struct figures {
	double off[MAX_ROUNDS], on[MAX_ROUNDS], grows[MAX_ROUNDS], beyond[MAX_ROUNDS];
};

static void print_row(const char *name, struct figures *f, int rounds)
{
	double middle = median(f->grows, rounds), more = median(f->beyond, rounds);
	int low = rounds / 4, high = rounds - 1 - rounds / 4;

	printf("%-14s %.3f us a launch, %.3f with CUPTI: grows by %.3f [%.3f, %.3f]; beyond "
	       "CUPTI alone %+.3f [%+.3f, %+.3f]\n",
	       name, median(f->off, rounds), median(f->on, rounds), middle, f->grows[low],
	       f->grows[high], more, f->beyond[low], f->beyond[high]);
}

/* Whether it is in the list; NULL has them all, and the first is in each. */
static bool is_asked(const char *list, const char *name)
{
	size_t len = strlen(name);

	if (!list || name == settings[0].name)
		return true;
	for (const char *at = list; (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ',') && strchr(",", at[len]))
			return true;
	return false;
}

enum { MAX_ROWS = (int)N_SETTINGS > (int)N_WAYS ? (int)N_SETTINGS : (int)N_WAYS };

static void keep(struct figures all[N_SHAPES][MAX_ROWS], int round, int row, struct launches l)
{
	for (int s = 0; s < N_SHAPES; s++) {
		struct figures *f = &all[s][row];

		f->off[round] = l.off_us[s];
		f->on[round] = l.on_us[s];
		f->grows[round] = l.on_us[s] - l.off_us[s];
		f->beyond[round] = f->grows[round] - all[s][0].grows[round];
	}
}

int main(int argc, char **argv)
{
	static struct figures all[N_SHAPES][MAX_ROWS];
	int rounds = argc > 1 ? atoi(argv[1]) : 15;
	bool each = argc > 2 && strcmp(argv[2], "settings") == 0;
	const char *asked = each && argc > 3 ? argv[3] : NULL;
	int n = each ? (int)N_SETTINGS : (int)N_WAYS;

	rounds = rounds < 1 ? 1 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < n; i++) {
			if (each && !is_asked(asked, settings[i].name))
				continue;
			keep(all, r, i,
			     in_a_process(each ? ALONE : (enum way)i, each ? &settings[i] : NULL));
		}
	for (int s = 0; s < N_SHAPES; s++) {
		printf("%s\n", shapes[s].name);
		for (int i = 0; i < n; i++)
			if (!each || is_asked(asked, settings[i].name))
				print_row(each ? settings[i].name : ways[i], &all[s][i], rounds);
	}
	return 0;
}
