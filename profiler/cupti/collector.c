/* profiler/cupti/collector.c -- see collector.h.
 *
 * CUPTI's callbacks take no pointer of ours, so there is one collector, static: it
 * lives in a library of its own, in processes that are not ours.
 */
#include "profiler/cupti/collector.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/cupti/records.h"

enum {
	/* Small enough to stay in a core's cache: CUPTI writes 216 bytes a kernel in the
	 * launching thread, and with 8 MiB a launch costs 0.3 us more. */
	BUFFER_BYTES = 512 << 10,
	READY_BUFFERS = 16, /* made before */
	FLUSH_MS = 500,
};

static struct collector the_collector = { .lock = PTHREAD_MUTEX_INITIALIZER,
					  .turn = PTHREAD_MUTEX_INITIALIZER };

static uint64_t CUPTIAPI now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- buffers ---- */

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	struct collector *c = &the_collector;

	*buffer = NULL;
	pthread_mutex_lock(&c->lock);
	if (c->n_free > 0)
		*buffer = c->free[--c->n_free];
	else if (c->n_buffers < MAX_BUFFERS && (*buffer = aligned_alloc(8, BUFFER_BYTES)))
		c->n_buffers++;
	pthread_mutex_unlock(&c->lock);
	*bytes = *buffer ? BUFFER_BYTES : 0; /* none: CUPTI drops records, and counts them */
	*max_records = 0;
}

static void CUPTIAPI buffer_full(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid)
{
	struct collector *c = &the_collector;
	CUpti_Activity *record = NULL;
	size_t dropped = 0;

	(void)bytes;
	if (!buffer)
		return;
	pthread_mutex_lock(&c->turn);
	while (valid > 0 && c->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		records_read(c, record);
	records_send(c);
	if (c->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
		c->counts.dropped += dropped;
	pthread_mutex_unlock(&c->turn);
	pthread_mutex_lock(&c->lock);
	c->free[c->n_free++] = buffer;
	pthread_mutex_unlock(&c->lock);
}

static void CUPTIAPI nothing(void *self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			     const void *data)
{
	(void)self, (void)domain, (void)id, (void)data;
}

/* ---- start and stop ---- */

static void *open_cupti(const char *library)
{
	static const char *const places[] = {
		"libcupti.so.13",
		"libcupti.so.12",
		"libcupti.so",
		"/usr/local/cuda/lib64/libcupti.so",
		"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
	};
	const size_t n = sizeof(places) / sizeof(places[0]);
	void *found = NULL;

	if (library)
		return dlopen(library, RTLD_NOW | RTLD_LOCAL);
	/* The program's own, if it has one: two of them do not get along. */
	for (size_t i = 0; i < n && !found; i++)
		found = dlopen(places[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0; i < n && !found; i++)
		found = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
	return found;
}

static bool load(struct collector *c, const char *library, char *why, size_t why_bytes)
{
	c->library = open_cupti(library);
	if (!c->library) {
		snprintf(why, why_bytes,
			 "no CUPTI (libcupti.so): %s; it is part of the CUDA "
			 "Toolkit and of PyTorch",
			 dlerror());
		return false;
	}
#define F(name)                                                                                    \
	c->name = (typeof(&name))dlsym(c->library, #name);                                         \
	if (!c->name) {                                                                            \
		snprintf(why, why_bytes, "this CUPTI has no " #name);                              \
		return false;                                                                      \
	}
	FUNCTIONS(F)
#undef F
	c->subscribe_named = (typeof(&cuptiSubscribe_v2))dlsym(c->library, "cuptiSubscribe_v2");
	c->enable_call = (typeof(&cuptiActivityEnableDriverApi))dlsym(
	    c->library, "cuptiActivityEnableDriverApi");
	return true;
}

/* Only one may record in a process: who it is, if it is not us. */
static bool subscribe(struct collector *c, char *why, size_t why_bytes)
{
	char holder[2 * CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams params = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					  .subscriberName = "Breakeven",
					  .oldSubscriberName = holder,
					  .oldSubscriberSize = sizeof(holder) };
	const char *text = "";
	CUptiResult result;

	result = c->subscribe_named ? c->subscribe_named(&c->subscriber, nothing, NULL, &params)
				    : c->cuptiSubscribe(&c->subscriber, nothing, NULL);
	if (result == CUPTI_SUCCESS)
		return true;
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
		snprintf(why, why_bytes,
			 "another profiler records this process already: %s; end it, or trace "
			 "without it",
			 holder[0] ? holder : "it did not give its name");
		return false;
	}
	c->cuptiGetResultString(result, &text);
	snprintf(why, why_bytes, "CUPTI refused: %s", text);
	return false;
}

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, /* KIND_KERNEL would run them one by one */
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMCPY2, /* from one GPU to another */
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_DRIVER,
	CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
	CUPTI_ACTIVITY_KIND_MARKER,
	CUPTI_ACTIVITY_KIND_MEMORY2,
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Libraries launch by the runtime's API, we by the driver's: so records of the runtime's
 * calls, which bring the external ids, cost our own launches nothing. */
static bool wanted(const struct collector_options *o, CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return o->api;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		return o->api || o->external;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return o->external;
	case CUPTI_ACTIVITY_KIND_MARKER:
		return o->ranges;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return o->memory;
	default:
		return true;
	}
}

/* Copies and sets of an op that runs on the host are the driver's calls; so are some
 * launches of libraries. */
static void enable_calls(struct collector *c)
{
	static const CUpti_CallbackId calls[] = {
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
		CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
		CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, /* a library's, never ours */
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		c->enable_call(calls[i], 1);
}

static bool enable(struct collector *c, char *why, size_t why_bytes)
{
	const char *text = "";
	CUptiResult result = c->cuptiActivityRegisterCallbacks(buffer_wanted, buffer_full);

	if (result == CUPTI_SUCCESS)
		result = c->cuptiActivityRegisterTimestampCallback(now_ns);
	for (int i = 0; i < N_KINDS && result == CUPTI_SUCCESS; i++)
		if (wanted(&c->options, kinds[i]))
			result = c->cuptiActivityEnable(kinds[i]);
	if (result != CUPTI_SUCCESS) {
		c->cuptiGetResultString(result, &text);
		snprintf(why, why_bytes, "CUPTI cannot record here: %s", text);
		return false;
	}
	if (c->options.external && !c->options.api && c->enable_call)
		enable_calls(c);
	c->cuptiActivityFlushPeriod(FLUSH_MS);
	return true;
}

static void make_buffers(struct collector *c)
{
	while (c->n_buffers < READY_BUFFERS) {
		uint8_t *buffer = aligned_alloc(8, BUFFER_BYTES);

		if (!buffer)
			return;
		memset(buffer, 0, BUFFER_BYTES); /* its pages are there from now on */
		c->free[c->n_free++] = buffer;
		c->n_buffers++;
	}
}

struct collector *collector_start(const struct collector_sink *sink,
				  const struct collector_options *options, char *why,
				  size_t why_bytes)
{
	struct collector *c = &the_collector;

	if (c->running) {
		snprintf(why, why_bytes, "this process is recorded already");
		return NULL;
	}
	c->sink = *sink;
	c->options = *options;
	c->counts = (struct wire_counts){ 0 };
	c->n_names = 0;
	memset(c->names, 0, sizeof(c->names));
	memset(c->ranges, 0, sizeof(c->ranges));
	make_buffers(c);
	c->running = load(c, options->library, why, why_bytes) && subscribe(c, why, why_bytes);
	if (c->running && enable(c, why, why_bytes))
		return c;
	if (c->running)
		c->cuptiUnsubscribe(c->subscriber);
	c->running = false;
	return NULL;
}

void collector_push(struct collector *c, uint32_t id)
{
	c->cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id);
}

void collector_pop(struct collector *c)
{
	uint64_t last;

	c->cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

void collector_flush(struct collector *c, bool all)
{
	c->cuptiActivityFlushAll(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void collector_stop(struct collector *c, bool detach)
{
	collector_flush(c, true);
	for (int i = 0; i < N_KINDS; i++)
		if (wanted(&c->options, kinds[i]))
			c->cuptiActivityDisable(kinds[i]);
	c->cuptiUnsubscribe(c->subscriber);
	if (detach)
		c->cuptiFinalize();
	pthread_mutex_lock(&c->turn);
	for (int i = 0; i < OPEN_RANGES; i++)
		c->counts.doubtful += c->ranges[i].begin_ns != 0;
	pthread_mutex_unlock(&c->turn);
	c->running = false;
}

void collector_counts(struct collector *c, struct wire_counts *out)
{
	pthread_mutex_lock(&c->turn);
	*out = c->counts;
	pthread_mutex_unlock(&c->turn);
	out->buffers = (uint32_t)c->n_buffers;
}

int collector_nvtx(const char *library, void *get_export_table)
{
	void *cupti = open_cupti(library);
	int (*begin)(void *) = NULL;

	if (cupti)
		*(void **)&begin = dlsym(cupti, "InitializeInjectionNvtx2");
	return begin ? begin(get_export_table) : 0;
}
