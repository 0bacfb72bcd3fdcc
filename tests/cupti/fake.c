/* tests/cupti/fake.c -- a libcupti without a GPU: FAKE_KERNELS kernels are "recorded" in
 * the buffers that it asks for, and FAKE_DROPPED more are told as dropped; FAKE_HOLDER
 * names who else records.  Then a driver: loads the injection library as CUDA does. */
#include <cupti.h>
#include <stdlib.h>
#include <string.h>

static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc complete;
static uint32_t at, dropped;

#define API __attribute__((visibility("default")))
static uint32_t number(const char *name)
{
	return getenv(name) ? (uint32_t)atoi(getenv(name)) : 0;
}

API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc a,
					       CUpti_BuffersCallbackCompleteFunc b)
{
	wanted = a;
	complete = b;
	dropped = number("FAKE_DROPPED");
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f)
{
	return f() > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

API CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	(void)kind;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	(void)kind;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
	(void)ms;
	return CUPTI_SUCCESS;
}

/* All kernels, a buffer after the other. */
API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	while (flag && at < number("FAKE_KERNELS")) {
		uint8_t *buffer = NULL;
		size_t bytes = 0, most = 0, used = 0;

		wanted(&buffer, &bytes, &most);
		for (;
		     used + sizeof(CUpti_ActivityKernel10) <= bytes && at < number("FAKE_KERNELS");
		     used += sizeof(CUpti_ActivityKernel10), at++) {
			CUpti_ActivityKernel10 *k = (CUpti_ActivityKernel10 *)(buffer + used);

			memset(k, 0, sizeof(*k));
			k->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
			k->start = 1000000 + 100 * (uint64_t)at;
			k->end = k->start + 60;
			k->streamId = 7 + at % 2;
			k->name = at % 2 ? "_Z3addPfi" : "plain";
			k->gridX = 8;
			k->correlationId = at;
		}
		complete(NULL, 0, buffer, bytes, used);
	}
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(CUpti_ActivityKernel10) : buffer;

	if (next + sizeof(CUpti_ActivityKernel10) > buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
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
	if (!getenv("FAKE_HOLDER"))
		return CUPTI_SUCCESS;
	strncpy(p->oldSubscriberName, getenv("FAKE_HOLDER"), p->oldSubscriberSize - 1);
	return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}
