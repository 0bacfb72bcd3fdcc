/* profiler/cupti/collector.c -- see collector.h.
 *
 * CUPTI's callbacks take no pointer of ours, so there is one collector, static: it
 * lives in a library of its own, in processes that are not ours.
 */
#include "profiler/cupti/collector.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/timeline.h"

enum {
	BUFFER_BYTES = 8 << 20,
	READY_BUFFERS = 4, /* made before */
	MAX_BUFFERS = 16,
	BATCH = 1024, /* events that are handed on together */
	NAME_SLOTS = 1 << 15,
	FLUSH_MS = 500,
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
	F(cuptiUnsubscribe)

struct name_slot {
	uint64_t hash; /* 0: free */
	uint32_t number;
};

struct collector {
	void *library;
#define F(name) typeof(&name) name;
	FUNCTIONS(F)
#undef F
	typeof(&cuptiSubscribe_v2) subscribe_named; /* NULL: of an older CUPTI */
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
	struct wire_counts counts;
};

static struct collector the_collector = { .lock = PTHREAD_MUTEX_INITIALIZER,
					  .turn = PTHREAD_MUTEX_INITIALIZER };

static uint64_t CUPTIAPI now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- records to rows ---- */

static void send_batch(struct collector *c)
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

static uint32_t name_copy(struct collector *c, const CUpti_ActivityMemcpy6 *m)
{
	static const char *const ways[] = { "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP" };
	char text[96];

	snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)", PICK(ways, m->copyKind),
		 PICK(memories, m->srcKind), PICK(memories, m->dstKind));
	return intern(c, text);
}

static uint32_t name_set(struct collector *c, const CUpti_ActivityMemset4 *m)
{
	char text[64];

	snprintf(text, sizeof(text), "Memset (%s)", PICK(memories, (uint8_t)m->memoryKind));
	return intern(c, text);
}

static void read_copy(struct collector *c, const CUpti_ActivityMemcpy6 *m, struct wire_event *e)
{
	*e = (struct wire_event){ .start_ns = (int64_t)m->start,
				  .end_ns = (int64_t)m->end,
				  .bytes = (int64_t)m->bytes,
				  .kind = TIMELINE_COPY,
				  .name = name_copy(c, m),
				  .device = m->deviceId,
				  .context = m->contextId,
				  .stream = m->streamId,
				  .correlation = m->correlationId,
				  .graph = m->graphId };
}

static void read_set(struct collector *c, const CUpti_ActivityMemset4 *m, struct wire_event *e)
{
	*e = (struct wire_event){ .start_ns = (int64_t)m->start,
				  .end_ns = (int64_t)m->end,
				  .bytes = (int64_t)m->bytes,
				  .kind = TIMELINE_SET,
				  .name = name_set(c, m),
				  .device = m->deviceId,
				  .context = m->contextId,
				  .stream = m->streamId,
				  .correlation = m->correlationId,
				  .graph = m->graphId };
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

static void read_record(struct collector *c, const CUpti_Activity *record)
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
	case CUPTI_ACTIVITY_KIND_MEMSET:
		read_set(c, (const CUpti_ActivityMemset4 *)record, e);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		read_call(c, (const CUpti_ActivityAPI *)record, e);
		break;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		read_overhead(c, (const CUpti_ActivityOverhead3 *)record, e);
		break;
	default:
		return;
	}
	c->counts.records++;
	if (++c->n_batch == BATCH)
		send_batch(c);
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
		read_record(c, record);
	send_batch(c);
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

static const CUpti_ActivityKind usual_kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, /* KIND_KERNEL would run them one by one */
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
	CUPTI_ACTIVITY_KIND_DRIVER, /* from here on: `api` */
	CUPTI_ACTIVITY_KIND_RUNTIME,
};
enum { N_KINDS = sizeof(usual_kinds) / sizeof(usual_kinds[0]), N_WITHOUT_API = N_KINDS - 2 };

static bool enable(struct collector *c, bool api, char *why, size_t why_bytes)
{
	const char *text = "";
	CUptiResult result = c->cuptiActivityRegisterCallbacks(buffer_wanted, buffer_full);

	if (result == CUPTI_SUCCESS)
		result = c->cuptiActivityRegisterTimestampCallback(now_ns);
	for (int i = 0; i < (api ? N_KINDS : N_WITHOUT_API) && result == CUPTI_SUCCESS; i++)
		result = c->cuptiActivityEnable(usual_kinds[i]);
	if (result != CUPTI_SUCCESS) {
		c->cuptiGetResultString(result, &text);
		snprintf(why, why_bytes, "CUPTI cannot record here: %s", text);
		return false;
	}
	c->cuptiActivityFlushPeriod(FLUSH_MS);
	return true;
}

struct collector *collector_start(const struct collector_sink *sink, const char *library, bool api,
				  char *why, size_t why_bytes)
{
	struct collector *c = &the_collector;

	if (c->library) {
		snprintf(why, why_bytes, "this process is recorded already");
		return NULL;
	}
	c->sink = *sink;
	for (int i = 0; i < READY_BUFFERS; i++) {
		uint8_t *buffer = aligned_alloc(8, BUFFER_BYTES);

		if (!buffer)
			break;
		memset(buffer, 0, BUFFER_BYTES); /* its pages are there from now on */
		c->free[c->n_free++] = buffer;
		c->n_buffers++;
	}
	if (load(c, library, why, why_bytes) && subscribe(c, why, why_bytes) &&
	    enable(c, api, why, why_bytes))
		return c;
	return NULL;
}

void collector_flush(struct collector *c)
{
	c->cuptiActivityFlushAll(0);
}

void collector_stop(struct collector *c)
{
	c->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	for (int i = 0; i < N_KINDS; i++)
		c->cuptiActivityDisable(usual_kinds[i]);
	c->cuptiUnsubscribe(c->subscriber);
}

void collector_counts(struct collector *c, struct wire_counts *out)
{
	pthread_mutex_lock(&c->turn);
	*out = c->counts;
	pthread_mutex_unlock(&c->turn);
	out->buffers = (uint32_t)c->n_buffers;
}
