/* profiler/cupti/records.c -- see records.h. */
#include "profiler/cupti/records.h"

#include <stdio.h>
#include <string.h>

#include "profiler/timeline/timeline.h"

void records_send(struct collector *c)
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

void records_read(struct collector *c, const CUpti_Activity *record)
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
