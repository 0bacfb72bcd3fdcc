/* profiler/recorder/device_trace.c -- what ran on the GPUs of this process, by CUPTI. */
#include "profiler/recorder/device_trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "profiler/cupti/collector.h"
#include "profiler/recorder/demangle.h"

struct external {
	uint32_t correlation, id;
};

struct device_trace {
	struct collector *collector;
	struct demangler demangler;
	pthread_mutex_t lock; /* guards what follows: CUPTI's threads fill it in */
	VEC(struct wire_event) events, taken;
	VEC(struct external) externals;
	VEC(char *) symbols; /* by number */
	uint64_t lost;
};

static void on_name(void *self, uint32_t number, const char *text)
{
	struct device_trace *t = self;
	char *readable = demangle(&t->demangler, text), *symbol;

	symbol = readable ? readable : strdup(text);
	pthread_mutex_lock(&t->lock);
	while (t->symbols.len <= number)
		if (!VEC_PUSH(&t->symbols, NULL))
			break;
	if (t->symbols.len > number)
		t->symbols.at[number] = symbol;
	else
		free(symbol);
	pthread_mutex_unlock(&t->lock);
}

static void on_events(void *self, const struct wire_event *events, size_t n)
{
	struct device_trace *t = self;

	pthread_mutex_lock(&t->lock);
	for (size_t i = 0; i < n; i++) {
		const struct wire_event *e = &events[i];
		bool kept;

		if (e->kind == WIRE_EXTERNAL)
			kept = t->externals.len < DEVICE_TRACE_EVENTS &&
			       VEC_PUSH(&t->externals,
					(struct external){ e->correlation, e->name });
		else
			kept = t->events.len < DEVICE_TRACE_EVENTS && VEC_PUSH(&t->events, *e);
		t->lost += !kept;
	}
	pthread_mutex_unlock(&t->lock);
}

struct device_trace *device_trace_start(bool api, char *why, size_t why_bytes)
{
	const struct collector_options options = { .library = getenv(WIRE_CUPTI),
						   .api = api,
						   .external = true };
	struct device_trace *t = calloc(1, sizeof(*t));
	struct collector_sink sink = { .self = t, .name = on_name, .events = on_events };

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	demangler_open(&t->demangler);
	t->collector = collector_start(&sink, &options, why, why_bytes);
	if (t->collector)
		return t;
	device_trace_stop(t, NULL);
	return NULL;
}

void device_trace_stop(struct device_trace *t, struct wire_counts *counts)
{
	if (!t)
		return;
	if (t->collector)
		collector_stop(t->collector, true);
	if (t->collector && counts) {
		collector_counts(t->collector, counts);
		counts->lost = t->lost;
	}
	for (size_t i = 0; i < t->symbols.len; i++)
		free(t->symbols.at[i]);
	VEC_FREE(&t->symbols);
	VEC_FREE(&t->events);
	VEC_FREE(&t->taken);
	VEC_FREE(&t->externals);
	demangler_close(&t->demangler);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void device_trace_push(struct device_trace *t, uint32_t id)
{
	collector_push(t->collector, id);
}

void device_trace_pop(struct device_trace *t)
{
	collector_pop(t->collector);
}

static int by_correlation(const void *a, const void *b)
{
	const struct external *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_start(const void *a, const void *b)
{
	const struct wire_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

size_t device_trace_take(struct device_trace *t, const struct wire_event **events)
{
	size_t n;

	collector_flush(t->collector, true);
	pthread_mutex_lock(&t->lock);
	t->taken.len = 0;
	if (t->externals.len)
		qsort(t->externals.at, t->externals.len, sizeof(*t->externals.at), by_correlation);
	for (size_t i = 0; i < t->events.len; i++) {
		struct wire_event e = t->events.at[i];
		const struct external key = { e.correlation, 0 }, *found;

		found = t->externals.len ? bsearch(&key, t->externals.at, t->externals.len,
						   sizeof(key), by_correlation)
					 : NULL;
		e.external = found ? found->id : 0;
		t->lost += !VEC_PUSH(&t->taken, e);
	}
	t->events.len = t->externals.len = 0;
	n = t->taken.len;
	pthread_mutex_unlock(&t->lock);
	if (n)
		qsort(t->taken.at, n, sizeof(*t->taken.at), by_start);
	*events = t->taken.at;
	return n;
}

const char *device_trace_symbol(struct device_trace *t, uint32_t name)
{
	const char *symbol;

	pthread_mutex_lock(&t->lock);
	symbol = name < t->symbols.len ? t->symbols.at[name] : NULL;
	pthread_mutex_unlock(&t->lock);
	return symbol ? symbol : "unnamed";
}
