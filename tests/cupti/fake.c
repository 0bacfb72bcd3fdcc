/* tests/cupti/fake.c -- a libcupti without a GPU.
 *
 * In a process with tests/cuda/driver.c the kernels that were launched there are
 * "recorded", those between a push and a pop with their external id.  In one without,
 * CUPTI_FAKE_KERNELS are, in steps of CUPTI_FAKE_STEP a flush (half at most where there is
 * CUPTI_FAKE_UNTIL, and all at the end), with an NVTX range around each thousand, as many
 * allocations as CUPTI_FAKE_MEMORY and copies to the next GPU as CUPTI_FAKE_PEERS.
 * CUPTI_FAKE_DROPPED more are reported as dropped, CUPTI_FAKE_TIMELESS have no times, the
 * CUPTI_FAKE_UNSEENth kernel is missing, CUPTI_FAKE_HOLDER names who else records,
 * CUPTI_FAKE_DEVICES take turns by pairs.  Kernels that a CUDA graph launched have one correlation,
 * and their place as the node.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PUSHES = 4096 };

static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc clock_of;
static uint32_t device; /* of what is made next */
static uint32_t at, dropped, timeless, unseen, correlation, markers, memories, peers;
static uint8_t *buffer;
static size_t bytes, used;
static bool kinds[CUPTI_ACTIVITY_KIND_COUNT];

/* The launches of the driver of the tests, by their place in its log. */
static const char *(*launched)(void);
static int (*graph_at)(size_t place);
static void (*forget)(void);
static struct {
	size_t from, to;
	uint64_t id;
} pushes[MAX_PUSHES];
static int n_pushes;

#define API __attribute__((visibility("default")))
static uint32_t number(const char *name)
{
	return getenv(name) ? (uint32_t)atoi(getenv(name)) : 0;
}

static void find_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!driver)
		return;
	*(void **)&launched = dlsym(driver, "stand_in_log");
	*(void **)&graph_at = dlsym(driver, "stand_in_graph_at");
	*(void **)&forget = dlsym(driver, "stand_in_clear");
}

API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc a,
					       CUpti_BuffersCallbackCompleteFunc b)
{
	wanted = a;
	complete = b;
	dropped = number("CUPTI_FAKE_DROPPED");
	timeless = number("CUPTI_FAKE_TIMELESS");
	unseen = number("CUPTI_FAKE_UNSEEN");
	find_driver();
	if (forget)
		forget();
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f)
{
	clock_of = f;
	return f() > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	kinds[kind] = true;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	kinds[kind] = false;
	return CUPTI_SUCCESS;
}

/* Hands over what is there every 20 ms. */
static void *flushes(void *self)
{
	(void)self;
	for (;;) {
		usleep(20000);
		cuptiActivityFlushAll(0);
	}
	return NULL;
}

API CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
	pthread_t thread;

	(void)ms;
	if (number("CUPTI_FAKE_STEP"))
		pthread_create(&thread, NULL, flushes, NULL);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiFinalize(void)
{
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						       uint64_t id)
{
	(void)kind;
	if (launched && n_pushes < MAX_PUSHES) {
		pushes[n_pushes].from = strlen(launched());
		pushes[n_pushes++].id = id;
	}
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						      uint64_t *last)
{
	(void)kind;
	*last = 0;
	if (launched && n_pushes)
		pushes[n_pushes - 1].to = strlen(launched());
	return CUPTI_SUCCESS;
}

/* ---- records */

static size_t size_of(CUpti_ActivityKind kind)
{
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		return sizeof(CUpti_ActivityAPI);
	return kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION
		   ? sizeof(CUpti_ActivityExternalCorrelation)
	       : kind == CUPTI_ACTIVITY_KIND_MARKER  ? sizeof(CUpti_ActivityMarker2)
	       : kind == CUPTI_ACTIVITY_KIND_MEMORY2 ? sizeof(CUpti_ActivityMemory4)
	       : kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ? sizeof(CUpti_ActivityMemcpyPtoP4)
						     : sizeof(CUpti_ActivityKernel10);
}

static void hand_over(void)
{
	if (buffer)
		complete(NULL, 0, buffer, bytes, used);
	buffer = NULL;
	used = 0;
}

/* A record of zeros; NULL: nobody wants its kind, or gives memory. */
static void *record(CUpti_ActivityKind kind)
{
	size_t most = 0, size = size_of(kind);
	CUpti_Activity *made;

	if (!kinds[kind])
		return NULL;
	if (buffer && used + size > bytes)
		hand_over();
	if (!buffer)
		wanted(&buffer, &bytes, &most);
	if (!buffer)
		return NULL;
	made = (CUpti_Activity *)(buffer + used);
	used += size;
	memset(made, 0, size);
	made->kind = kind;
	return made;
}

/* `node`: of a CUDA graph, from 1; 0: launched by itself. */
static void kernel(const char *name, uint64_t start, uint32_t stream, uint32_t node)
{
	CUpti_ActivityKernel10 *k;

	correlation += node <= 1;
	if (unseen && --unseen == 0)
		return;
	k = record(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	if (!k)
		return;
	k->graphId = node ? 4 : 0;
	k->graphNodeId = node ? ((uint64_t)4 << 32) + node : 0;
	k->start = timeless ? 0 : start;
	k->end = timeless ? 0 : start + 60;
	timeless -= timeless > 0;
	k->streamId = stream;
	k->deviceId = device;
	k->name = name;
	k->gridX = 8;
	k->blockX = 128;
	k->registersPerThread = 24;
	k->correlationId = correlation;
}

static void marker(const char *name, uint32_t id, uint64_t time, CUpti_ActivityFlag flags)
{
	CUpti_ActivityMarker2 *m = record(CUPTI_ACTIVITY_KIND_MARKER);

	if (!m)
		return;
	m->flags = flags;
	m->timestamp = time;
	m->id = id;
	m->objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
	m->objectId.pt.threadId = 77;
	m->name = name;
}

static void memory(uint64_t time, bool gets)
{
	CUpti_ActivityMemory4 *m = record(CUPTI_ACTIVITY_KIND_MEMORY2);

	if (!m)
		return;
	m->memoryOperationType = gets ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
				      : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
	m->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	m->bytes = 1000;
	m->deviceId = device;
	m->timestamp = time;
}

static void peer_copy(uint64_t start)
{
	CUpti_ActivityMemcpyPtoP4 *m = record(CUPTI_ACTIVITY_KIND_MEMCPY2);

	if (!m)
		return;
	m->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	m->srcKind = m->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	m->bytes = 64;
	m->start = start + 70;
	m->end = start + 90;
	m->deviceId = m->srcDeviceId = device;
	m->dstDeviceId = device + 1;
	m->streamId = 7 + at % 2;
	m->correlationId = ++correlation;
}

static void made_up(uint32_t until)
{
	for (; at < until; at++) {
		uint64_t start = 1000000 + 100 * (uint64_t)at;

		device = number("CUPTI_FAKE_DEVICES") ? at / 2 % number("CUPTI_FAKE_DEVICES") : 0;
		if (at % 1000 == 0)
			marker("thousand", ++markers, start, CUPTI_ACTIVITY_FLAG_MARKER_START);
		if (memories < number("CUPTI_FAKE_MEMORY"))
			memory(start, memories++ % 3 < 2);
		kernel(at % 2 ? "_Z3addPfi" : "plain", start, 7 + at % 2, 0);
		if (peers < number("CUPTI_FAKE_PEERS") && ++peers)
			peer_copy(start);
		if (at % 1000 == 999)
			marker(NULL, markers, start + 60, CUPTI_ACTIVITY_FLAG_MARKER_END);
	}
}

static uint64_t external_id(size_t place)
{
	for (int i = 0; i < n_pushes; i++)
		if (pushes[i].from <= place && place < pushes[i].to)
			return pushes[i].id;
	return 0;
}

/* The call that launched the kernel before. */
static void call(uint64_t start)
{
	CUpti_ActivityAPI *a = record(CUPTI_ACTIVITY_KIND_DRIVER);

	if (!a)
		return;
	a->start = start - 100;
	a->end = start - 10;
	a->threadId = 5;
	a->correlationId = correlation;
}

/* "k0 ..." a line; names live as long as the process. */
static void of_driver(void)
{
	const char *log = launched();
	int graph = 0, now;
	uint32_t node = 0;

	for (const char *line = log; *line;) {
		size_t len = strcspn(line, " \n");
		uint64_t id = external_id((size_t)(line - log));
		CUpti_ActivityExternalCorrelation *x;

		now = graph_at((size_t)(line - log));
		node = !now ? 0 : now == graph ? node + 1 : 1;
		graph = now;
		kernel(strndup(line, len), clock_of(), 7, node);
		if (node <= 1)
			call(clock_of());
		/* Libraries launch by the runtime; the driver's calls have one if recorded. */
		x = id && (strncmp(line, "product", len) == 0 || kinds[CUPTI_ACTIVITY_KIND_DRIVER])
			? record(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
			: NULL;
		if (x) {
			x->externalId = id;
			x->correlationId = correlation;
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	n_pushes = 0;
	forget();
}

API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	uint32_t all = number("CUPTI_FAKE_KERNELS"), step = number("CUPTI_FAKE_STEP");
	uint32_t most = getenv("CUPTI_FAKE_UNTIL") ? all / 2 : all;

	pthread_mutex_lock(&turn);
	if (launched)
		of_driver();
	else if (flag || step)
		made_up(flag ? all : at + step > most ? most : at + step);
	hand_over();
	pthread_mutex_unlock(&turn);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **next)
{
	uint8_t *here = *next ? (uint8_t *)*next + size_of((*next)->kind) : from;

	if (here >= from + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*next = (CUpti_Activity *)here;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *n)
{
	(void)context, (void)stream;
	*n = dropped;
	dropped = 0;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	(void)domain, (void)id;
	*name = "call";
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	(void)result;
	*text = "FAKE";
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *self)
{
	(void)s, (void)f, (void)self;
	return CUPTI_ERROR_UNKNOWN;
}

API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle s)
{
	(void)s;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *self,
				  CUpti_SubscriberParams *p)
{
	(void)s, (void)f, (void)self;
	if (!getenv("CUPTI_FAKE_HOLDER"))
		return CUPTI_SUCCESS;
	strncpy(p->oldSubscriberName, getenv("CUPTI_FAKE_HOLDER"), p->oldSubscriberSize - 1);
	return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}
