/* profiler/export/kernels.c -- what ran on the device, added up by name. */
#include "profiler/export/kernels.h"

#include <stdlib.h>

static struct kernel_total *slot_of(struct kernel_total *slots, size_t cap,
				    const struct timeline_event *e)
{
	uint64_t at = (((uint64_t)e->lane << 40) ^ ((uint64_t)e->name << 8) ^ e->kind) *
		      UINT64_C(0x9e3779b97f4a7c15);

	for (at >>= 20;; at++) {
		struct kernel_total *t = &slots[at & (cap - 1)];

		if (!t->events || (t->lane == e->lane && t->name == e->name && t->kind == e->kind))
			return t;
	}
}

static bool grow(struct kernels *k)
{
	size_t cap = k->cap ? 2 * k->cap : 1024;
	struct kernel_total *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < k->cap; i++) {
		const struct kernel_total *t = &k->slots[i];
		struct timeline_event e = { .lane = t->lane, .name = t->name, .kind = t->kind };

		if (t->events)
			*slot_of(slots, cap, &e) = *t;
	}
	free(k->slots);
	k->slots = slots;
	k->cap = cap;
	return true;
}

static bool add_kernel(void *self, const struct timeline_event *e, struct err *err)
{
	struct kernels *k = self;
	struct kernel_total *t;

	if (!job_lane_is_device(k->job, e->lane))
		return true;
	if (2 * k->n >= k->cap && !grow(k))
		return err_set(err, ERR_MEMORY, "out of memory for the kernels");
	t = slot_of(k->slots, k->cap, e);
	k->n += t->events == 0;
	t->lane = e->lane;
	t->name = e->name;
	t->kind = e->kind;
	t->events++;
	t->sum_ns = timeline_add(t->sum_ns, e->duration_ns);
	t->bytes = timeline_add(t->bytes, e->bytes);
	t->most_ns = e->duration_ns > t->most_ns ? e->duration_ns : t->most_ns;
	k->events++;
	k->sum_ns = timeline_add(k->sum_ns, e->duration_ns);
	return true;
}

/* Those of no events last. */
static int by_sum(const void *a, const void *b)
{
	const struct kernel_total *x = a, *y = b;

	if (!x->events != !y->events)
		return x->events ? -1 : 1;
	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	return x->lane != y->lane ? (x->lane > y->lane) - (x->lane < y->lane)
				  : (x->name > y->name) - (x->name < y->name);
}

bool kernels_gather(struct kernels *k, struct export_job *job, struct err *err)
{
	*k = (struct kernels){ .job = job };
	if (!job_events(job, add_kernel, k, err))
		return false;
	if (k->cap)
		qsort(k->slots, k->cap, sizeof(*k->slots), by_sum);
	return true;
}
