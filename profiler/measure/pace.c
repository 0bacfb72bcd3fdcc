/* profiler/measure/pace.c -- keeps the measuring thread on a core that runs at its pace. */
#include "profiler/measure/pace.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>

static const double at_pace = 1.1;

void pace_begin(struct pace *p, double (*time_on)(void *self, int core), void *self)
{
	cpu_set_t set;

	*p = (struct pace){ .time_on = time_on, .self = self, .at = -1 };
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (int c = 0; c < CPU_SETSIZE && p->n < PACE_CORES; c++)
		if (CPU_ISSET(c, &set))
			p->core[p->n++] = c;
}

static double time_at(struct pace *p, int at)
{
	double us = p->time_on(p->self, p->core[at]);

	if (us > 0 && (p->best_us == 0 || us < p->best_us))
		p->best_us = us;
	return us;
}

static bool runs_at_pace(const struct pace *p, double us)
{
	return us <= at_pace * p->best_us;
}

/* All of them once, so that the best that they do is known. */
static void see_all(struct pace *p)
{
	p->at = 0;
	for (int i = 0; i < p->n; i++)
		time_at(p, i);
}

double pace_find(struct pace *p)
{
	double quickest_us = INFINITY;
	int quickest = 0;

	if (p->n < 2)
		return NAN;
	if (p->at < 0)
		see_all(p);
	for (int tries = 0; tries < p->n; tries++) {
		int i = (p->at + tries) % p->n;
		double us = time_at(p, i);

		if (us < quickest_us) {
			quickest_us = us;
			quickest = i;
		}
		if (runs_at_pace(p, us))
			break;
	}
	if (isinf(quickest_us))
		return NAN;
	p->at = quickest;
	return runs_at_pace(p, quickest_us) ? quickest_us : time_at(p, quickest);
}

void pace_end(struct pace *p)
{
	cpu_set_t set;

	if (p->at < 0)
		return;
	CPU_ZERO(&set);
	for (int i = 0; i < p->n; i++)
		CPU_SET(p->core[i], &set);
	sched_setaffinity(0, sizeof(set), &set);
	p->at = -1;
}
