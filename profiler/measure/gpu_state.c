/* profiler/measure/gpu_state.c -- clocks, temperature and power of a GPU, by NVML. */
#include "profiler/measure/gpu_state.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/measure/machine.h"

/* NVML's own numbers. */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_GPU = 0 };

static const struct {
	unsigned long long bit;
	const char *what;
} reasons[] = {
	{ 0x04, "it drew as much power as it may" }, { 0x08, "its hardware slowed it down" },
	{ 0x20, "its driver found it too hot" },     { 0x40, "its hardware found it too hot" },
	{ 0x80, "what feeds it asked for less" },
};
enum {
	REASONS = sizeof(reasons) / sizeof(reasons[0]),
	UUID_BYTES = 96,
	LOOK_NS = 100 * 1000 * 1000 /* power takes NVML up to a millisecond */
};

typedef struct device_of_nvml *nvml_device;

struct gpu_state {
	void *library;
	const char *unknown; /* a sentence; NULL: it works */
	nvml_device device;
	int (*finish)(void);
	int (*clock)(nvml_device device, int which, unsigned *mhz);
	int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
	int (*power)(nvml_device device, unsigned *milliwatts);
	int (*slowed)(nvml_device device, unsigned long long *why);
	struct seen_range sm_mhz, memory_mhz, celsius, watts;
	unsigned long long why; /* all that was seen */
	int64_t next_ns;
	int looks;
};

/* ---- the library */

/* The first entry of the list; "": there is none. */
static void first_visible(char out[UUID_BYTES])
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	size_t n = list ? strcspn(list, ",") : 0;

	n = n < UUID_BYTES ? n : UUID_BYTES - 1;
	memcpy(out, list ? list : "", n);
	out[n] = '\0';
}

static bool find_device(struct gpu_state *g)
{
	int (*by_number)(unsigned, nvml_device *) = dlsym(g->library,
							  "nvmlDeviceGetHandleByIndex_v2");
	int (*by_uuid)(const char *, nvml_device *) = dlsym(g->library,
							    "nvmlDeviceGetHandleByUUID");
	char visible[UUID_BYTES];

	first_visible(visible);
	if (by_uuid && strncmp(visible, "GPU-", 4) == 0)
		return by_uuid(visible, &g->device) == 0;
	return by_number && by_number((unsigned)strtoul(visible, NULL, 10), &g->device) == 0;
}

static const char *load(struct gpu_state *g)
{
	int (*start)(void);

	g->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!g->library)
		return "the GPU's clocks, temperature and power: there is no libnvidia-ml.so.1";
	start = dlsym(g->library, "nvmlInit_v2");
	g->finish = dlsym(g->library, "nvmlShutdown");
	g->clock = dlsym(g->library, "nvmlDeviceGetClockInfo");
	g->temperature = dlsym(g->library, "nvmlDeviceGetTemperature");
	g->power = dlsym(g->library, "nvmlDeviceGetPowerUsage");
	g->slowed = dlsym(g->library, "nvmlDeviceGetCurrentClocksThrottleReasons");
	if (!start || start() != 0) {
		g->finish = NULL;
		return "the GPU's clocks, temperature and power: NVML does not start";
	}
	return find_device(g) ? NULL
			      : "the GPU's clocks, temperature and power: NVML knows no such GPU";
}

struct gpu_state *gpu_state_open(void)
{
	struct gpu_state *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->sm_mhz = g->memory_mhz = g->celsius = g->watts = (struct seen_range){ INFINITY,
										 -INFINITY };
	g->unknown = load(g);
	return g;
}

void gpu_state_close(struct gpu_state *g)
{
	if (!g)
		return;
	if (g->finish)
		g->finish();
	if (g->library)
		dlclose(g->library);
	free(g);
}

/* ---- looking */

static void widen(struct seen_range *s, double x)
{
	s->low = fmin(s->low, x);
	s->high = fmax(s->high, x);
}

static void look_at_rest(struct gpu_state *g)
{
	unsigned x;

	if (g->clock && g->clock(g->device, CLOCK_SM, &x) == 0)
		widen(&g->sm_mhz, x);
	if (g->clock && g->clock(g->device, CLOCK_MEMORY, &x) == 0)
		widen(&g->memory_mhz, x);
	if (g->temperature && g->temperature(g->device, SENSOR_GPU, &x) == 0)
		widen(&g->celsius, x);
	if (g->power && g->power(g->device, &x) == 0)
		widen(&g->watts, x / 1000.0);
}

bool gpu_state_look(struct gpu_state *g)
{
	unsigned long long why = 0, slow = 0;

	if (!g || g->unknown)
		return false;
	g->looks++;
	if (clock_ns() >= g->next_ns) {
		look_at_rest(g);
		g->next_ns = clock_ns() + LOOK_NS;
	}
	if (!g->slowed || g->slowed(g->device, &why) != 0)
		return false;
	for (size_t i = 0; i < REASONS; i++)
		slow |= why & reasons[i].bit;
	g->why |= slow;
	return slow != 0;
}

#define SET_SPAN(to, field, span)                                                                  \
	REPORT_SET_IF(to, field, (span).low <= (span).high,                                        \
		      (struct report_interval){ (span).low, (span).high })

struct report_gpu_state *gpu_state_report(const struct gpu_state *g, const char **unknown,
					  struct report_draft *draft)
{
	struct report_gpu_state *to = report_new_gpu_state(1, &draft->arena);
	const char **why = ARENA_ARRAY(&draft->arena, const char *, REASONS);
	size_t n = 0;

	*unknown = g ? g->unknown : NULL;
	if (!g || g->unknown || !to || !why || g->looks == 0)
		return NULL;
	for (size_t i = 0; i < REASONS; i++)
		if (g->why & reasons[i].bit)
			why[n++] = reasons[i].what;
	SET_SPAN(to, sm_mhz, g->sm_mhz);
	SET_SPAN(to, memory_mhz, g->memory_mhz);
	SET_SPAN(to, celsius, g->celsius);
	SET_SPAN(to, watts, g->watts);
	REPORT_SET(to, throttled, (struct report_texts){ why, n });
	REPORT_SET(to, aside, 0);
	return to;
}
