/* profiler/cupti/collector.c -- activity records of CUPTI, as rows.
 *
 * CUPTI's callbacks take no pointer from their user, so there is one collector, static: it
 * lives in a library of its own, in processes that are not ours.
 */
#include "profiler/cupti/collector.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cupti.h>
#include <pthread.h>
#include "profiler/timeline/timeline.h"

enum {
	MAX_BUFFERS = 256,
	BATCH = 1024, /* events that are handed on together */
	NAME_SLOTS = 1 << 15,
	OPEN_RANGES = 1024, /* that have begun and not ended */
};

#define FUNCTIONS(F)                                                                               \
	F(cuptiActivityRegisterCallbacks)                                                          \
	F(cuptiActivityRegisterTimestampCallback)                                                  \
	F(cuptiActivityEnable)                                                                     \
	F(cuptiActivityDisable)                                                                    \
	F(cuptiActivityFlushAll)                                                                   \
	F(cuptiActivityFlushPeriod)                                                                \
	F(cuptiActivityGetNextRecord)                                                              \
	F(cuptiActivityGetNumDroppedRecords)                                                       \
	F(cuptiGetCallbackName)                                                                    \
	F(cuptiGetResultString)                                                                    \
	F(cuptiSubscribe)                                                                          \
	F(cuptiUnsubscribe)                                                                        \
	F(cuptiFinalize)                                                                           \
	F(cuptiActivityPushExternalCorrelationId)                                                  \
	F(cuptiActivityPopExternalCorrelationId)

struct name_slot {
	uint64_t hash; /* 0: free */
	uint32_t number;
};

struct open_range {
	uint64_t begin_ns; /* 0: free */
	uint32_t id, name;
};

struct collector {
	bool running;
	struct collector_options options;
	void *library;
#define F(name) typeof(&name) name;
	FUNCTIONS(F)
#undef F
	typeof(&cuptiSubscribe_v2) subscribe_named; /* NULL: of an older CUPTI; as this: */
	typeof(&cuptiActivityEnableDriverApi) enable_call;
	struct collector_sink sink;
	CUpti_SubscriberHandle subscriber;
	pthread_mutex_t lock; /* guards what follows */
	uint8_t *free[MAX_BUFFERS];
	int n_free, n_buffers;
	pthread_mutex_t turn; /* of records; guards what follows */
	struct wire_event batch[BATCH];
	size_t n_batch;
	struct name_slot names[NAME_SLOTS];
	uint32_t n_names;
	struct open_range ranges[OPEN_RANGES];
	struct wire_counts counts;
};

/* Hands a batch on; with `turn` held. */
static void records_send(struct collector *c)
{
	if (c->n_batch)
		c->sink.events(c->sink.self, c->batch, c->n_batch);
	c->n_batch = 0;
}

/* FNV-1a, never 0. */
static uint64_t hash_text(const char *text)
{
	uint64_t h = 14695981039346656037u;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 1099511628211u;
	return h ? h : 1;
}

/* Its number; 0, "others", where the table is full. */
static uint32_t intern(struct collector *c, const char *text)
{
	uint64_t hash = hash_text(text ? text : (text = "unnamed"));

	for (size_t at = hash % NAME_SLOTS, tried = 0; tried < 64;
	     at = (at + 1) % NAME_SLOTS, tried++) {
		struct name_slot *slot = &c->names[at];

		if (slot->hash == hash)
			return slot->number;
		if (slot->hash == 0) {
			*slot = (struct name_slot){ hash, ++c->n_names };
			c->sink.name(c->sink.self, slot->number, text);
			return slot->number;
		}
	}
	return 0;
}

static void read_kernel(struct collector *c, const CUpti_ActivityKernel10 *k, struct wire_event *e)
{
	*e = (struct wire_event){ .start_ns = (int64_t)k->start,
				  .end_ns = (int64_t)k->end,
				  .kind = TIMELINE_KERNEL,
				  .name = intern(c, k->name),
				  .device = k->deviceId,
				  .context = k->contextId,
				  .stream = k->streamId,
				  .correlation = k->correlationId,
				  .graph = k->graphId,
				  .node = (uint32_t)k->graphNodeId,
				  .grid = { k->gridX, k->gridY, k->gridZ },
				  .block = { k->blockX, k->blockY, k->blockZ },
				  .cluster = { (int32_t)k->clusterX, (int32_t)k->clusterY,
					       (int32_t)k->clusterZ },
				  .registers = k->registersPerThread,
				  .static_bytes = (uint32_t)k->staticSharedMemory,
				  .dynamic_bytes = (uint32_t)k->dynamicSharedMemory };
}

static const char *pick(const char *const *names, size_t n, uint8_t kind)
{
	return names[kind < n ? kind : 0];
}

#define PICK(names, kind) pick(names, sizeof(names) / sizeof((names)[0]), kind)

/* As torch.profiler calls them, so that the two can be laid side by side. */
static const char *const memories[] = { "Unknown", "Pageable", "Pinned",        "Device",
					"Array",   "Managed",  "Device Static", "Managed Static" };

static uint32_t name_copy(struct collector *c, uint8_t way, uint8_t from, uint8_t to)
{
	static const char *const ways[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP" };
	char text[96];

	snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)", PICK(ways, way), PICK(memories, from),
		 PICK(memories, to));
	return intern(c, text);
}

static uint32_t name_set(struct collector *c, const CUpti_ActivityMemset4 *m)
{
	char text[64];

	snprintf(text, sizeof(text), "Memset (%s)", PICK(memories, (uint8_t)m->memoryKind));
	return intern(c, text);
}

/* A record of bytes that a device wrote: three types of CUPTI's have the same fields. */
#define MOVED(m, what, called)                                                                     \
	((struct wire_event){ .start_ns = (int64_t)(m)->start,                                     \
			      .end_ns = (int64_t)(m)->end,                                         \
			      .bytes = (int64_t)(m)->bytes,                                        \
			      .kind = (what),                                                      \
			      .name = (called),                                                    \
			      .device = (m)->deviceId,                                             \
			      .context = (m)->contextId,                                           \
			      .stream = (m)->streamId,                                             \
			      .correlation = (m)->correlationId,                                   \
			      .graph = (m)->graphId,                                               \
			      .node = (uint32_t)(m)->graphNodeId })

static void read_copy(struct collector *c, const CUpti_ActivityMemcpy6 *m, struct wire_event *e)
{
	*e = MOVED(m, TIMELINE_COPY, name_copy(c, m->copyKind, m->srcKind, m->dstKind));
}

/* From one GPU to another: a record of its own, in the lane of the GPU that copies. */
static void read_peer_copy(struct collector *c, const CUpti_ActivityMemcpyPtoP4 *m,
			   struct wire_event *e)
{
	*e = MOVED(m, TIMELINE_COPY, name_copy(c, m->copyKind, m->srcKind, m->dstKind));
}

static void read_set(struct collector *c, const CUpti_ActivityMemset4 *m, struct wire_event *e)
{
	*e = MOVED(m, TIMELINE_SET, name_set(c, m));
}

static void read_call(struct collector *c, const CUpti_ActivityAPI *a, struct wire_event *e)
{
	CUpti_CallbackDomain domain = a->kind == CUPTI_ACTIVITY_KIND_RUNTIME
					  ? CUPTI_CB_DOMAIN_RUNTIME_API
					  : CUPTI_CB_DOMAIN_DRIVER_API;
	const char *name = NULL;

	if (c->cuptiGetCallbackName(domain, a->cbid, &name) != CUPTI_SUCCESS || !name)
		name = "API call";
	*e = (struct wire_event){ .start_ns = (int64_t)a->start,
				  .end_ns = (int64_t)a->end,
				  .kind = TIMELINE_API,
				  .name = intern(c, name),
				  .stream = a->threadId,
				  .correlation = a->correlationId };
}

static void read_overhead(struct collector *c, const CUpti_ActivityOverhead3 *o,
			  struct wire_event *e)
{
	*e = (struct wire_event){ .start_ns = (int64_t)o->start,
				  .end_ns = (int64_t)o->end,
				  .kind = TIMELINE_OVERHEAD,
				  .name = intern(c, "CUPTI overhead") };
}

/* A range comes as its two ends.  False: it is only half there. */
static bool read_marker(struct collector *c, const CUpti_ActivityMarker2 *m, struct wire_event *e)
{
	bool begins = m->flags & CUPTI_ACTIVITY_FLAG_MARKER_START;
	bool ends = m->flags & CUPTI_ACTIVITY_FLAG_MARKER_END;
	struct open_range range = { m->timestamp, m->id, 0 };

	for (uint32_t tried = 0; (begins || ends) && tried < OPEN_RANGES; tried++) {
		struct open_range *slot = &c->ranges[(m->id + tried) % OPEN_RANGES];

		if (begins && !slot->begin_ns) {
			range.name = intern(c, m->name);
			*slot = range;
			return false;
		}
		if (ends && slot->begin_ns && slot->id == m->id) {
			range = *slot;
			*slot = (struct open_range){ 0 };
			goto whole;
		}
	}
	if (begins || ends) {
		c->counts.doubtful++;
		return false;
	}
	range.name = intern(c, m->name); /* a point in time */
whole:
	*e = (struct wire_event){
		.start_ns = (int64_t)range.begin_ns,
		.end_ns = (int64_t)m->timestamp,
		.kind = TIMELINE_RANGE,
		.name = range.name,
		.stream = m->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? m->objectId.pt.threadId
									: 0,
	};
	return true;
}

static void read_memory(struct collector *c, const CUpti_ActivityMemory4 *m, struct wire_event *e)
{
	bool gets = m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
	bool of_device = m->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE ||
			 m->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC ||
			 m->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
	char text[64];

	snprintf(text, sizeof(text), "%s (%s)", gets ? "Allocate" : "Free",
		 PICK(memories, (uint8_t)m->memoryKind));
	*e = (struct wire_event){ .start_ns = (int64_t)m->timestamp,
				  .end_ns = (int64_t)m->timestamp,
				  .bytes = (int64_t)m->bytes,
				  .kind = TIMELINE_MEMORY,
				  .name = intern(c, text),
				  .device = m->deviceId,
				  .context = m->contextId,
				  .memory = !of_device ? WIRE_HOST
					    : gets     ? WIRE_TAKEN
						       : WIRE_GIVEN_BACK,
				  .correlation = m->correlationId };
}

static void read_external(const CUpti_ActivityExternalCorrelation *x, struct wire_event *e)
{
	*e = (struct wire_event){ .kind = WIRE_EXTERNAL,
				  .name = (uint32_t)x->externalId,
				  .correlation = x->correlationId };
}

/* Whether a record became the event. */
static bool read_other(struct collector *c, const CUpti_Activity *record, struct wire_event *e)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		if (c->options.api)
			read_call(c, (const CUpti_ActivityAPI *)record, e);
		return c->options.api; /* else it is there for its external id */
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		read_overhead(c, (const CUpti_ActivityOverhead3 *)record, e);
		return true;
	case CUPTI_ACTIVITY_KIND_MARKER:
		return read_marker(c, (const CUpti_ActivityMarker2 *)record, e);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		read_memory(c, (const CUpti_ActivityMemory4 *)record, e);
		return true;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		read_external((const CUpti_ActivityExternalCorrelation *)record, e);
		return true;
	default:
		return false;
	}
}

/* Both with `turn` held.  Hands a full batch on. */
static void records_read(struct collector *c, const CUpti_Activity *record)
{
	struct wire_event *e = &c->batch[c->n_batch];

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		read_kernel(c, (const CUpti_ActivityKernel10 *)record, e);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		read_copy(c, (const CUpti_ActivityMemcpy6 *)record, e);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		read_peer_copy(c, (const CUpti_ActivityMemcpyPtoP4 *)record, e);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		read_set(c, (const CUpti_ActivityMemset4 *)record, e);
		break;
	default:
		if (!read_other(c, record, e))
			return;
	}
	c->counts.records++;
	/* Where CUPTI has no time for something both of its ends are 0. */
	if (e->kind != WIRE_EXTERNAL && (e->start_ns <= 0 || e->end_ns < e->start_ns)) {
		c->counts.doubtful++;
		return;
	}
	if (++c->n_batch == BATCH)
		records_send(c);
}

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

/* CUPTI's InitializeInjectionNvtx2(): NVTX asks for it in the program's first range.
 * `library` as above.  0: there is no CUPTI. */
int collector_nvtx(const char *library, void *get_export_table)
{
	void *cupti = open_cupti(library);
	int (*begin)(void *) = NULL;

	if (cupti)
		*(void **)&begin = dlsym(cupti, "InitializeInjectionNvtx2");
	return begin ? begin(get_export_table) : 0;
}
