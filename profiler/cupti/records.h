/* profiler/cupti/records.h -- private: what CUPTI has recorded, as rows.
 * Needs the headers of the CUDA Toolkit.
 */
#ifndef PROFILER_CUPTI_RECORDS_H
#define PROFILER_CUPTI_RECORDS_H

#include <cupti.h>
#include <pthread.h>

#include "profiler/cupti/collector.h"

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

/* Both with `turn` held.  Hands a full batch on. */
void records_read(struct collector *c, const CUpti_Activity *record);
void records_send(struct collector *c);

#endif
