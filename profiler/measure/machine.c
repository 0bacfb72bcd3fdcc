/* profiler/measure/machine.c -- the control, and what /proc says of the machine. */
#include "profiler/measure/machine.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/buf.h"
#include "fusion/fusion.h"
#include "profiler/measure/gpu_state.h"

enum {
	CONTROL_ELEMENTS = 4096, /* 32 KiB: the nearest cache and a little more */
	CONTROL_PASSES = 40,
	CONTROL_LAUNCHES = 32,
	CONTROL_MOST = 1 << 16, /* samples that are kept */
	LOOK_NS = 100 * 1000 * 1000
};
enum { ALL, IDLE, STOLEN };

/* ---- the control */

/* Each element goes on for itself, towards 2. */
static void work(double *x, int passes)
{
	for (int p = 0; p < passes; p++)
		for (int i = 0; i < CONTROL_ELEMENTS; i++)
			x[i] = x[i] * 0.999 + 0.002;
}

static void keep_sample(struct machine_watch *m, double us, int process)
{
	int *n = &m->n[process], *room = &m->room[process];

	if (*n == *room) {
		int more = *room ? 2 * *room : 512;
		double *grown = more <= CONTROL_MOST
				    ? realloc(m->sample_us[process], (size_t)more * sizeof(*grown))
				    : NULL;

		if (!grown)
			return;
		m->sample_us[process] = grown;
		*room = more;
	}
	m->sample_us[process][(*n)++] = us;
}

static double time_work(struct machine_watch *m)
{
	int64_t begin;

	work(m->data, 1); /* back into the caches */
	begin = clock_ns();
	work(m->data, CONTROL_PASSES);
	return (double)(clock_ns() - begin) / 1000;
}

/* ---- a core that runs at its pace */

static const double at_pace = 1.1;

static void pace_begin(struct pace *p, double (*time_on)(void *self, int core), void *self)
{
	cpu_set_t set;

	*p = (struct pace){ .time_on = time_on, .self = self, .at = -1 };
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	for (int c = 0; c < CPU_SETSIZE && p->n < MACHINE_CORES; c++)
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

/* What the control took where a sample is taken now; NAN: there are fewer than two cores. */
static double pace_find(struct pace *p)
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

static void set_aside(struct machine_watch *m, const bool *aside, int n)
{
	int from = m->n[0] - n, kept = from;

	if (from < 0)
		return;
	for (int i = 0; i < n; i++)
		if (!aside[i])
			m->sample_us[0][kept++] = m->sample_us[0][from + i];
	m->n[0] = kept;
}

void machine_leave(struct machine_watch *m, const bool *aside, int n)
{
	struct pace *p = &m->pace;
	cpu_set_t set;

	if (aside)
		set_aside(m, aside, n);
	if (p->at < 0)
		return;
	CPU_ZERO(&set);
	for (int i = 0; i < p->n; i++)
		CPU_SET(p->core[i], &set);
	sched_setaffinity(0, sizeof(set), &set);
	p->at = -1;
}

static double time_work_on(void *self, int core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0 ? time_work(self) : (double)NAN;
}

/* Microseconds; NAN: `engine` launches on no device. */
static double time_launches(struct fusion *engine)
{
	int64_t begin;

	if (!engine || !fusion_launch_nothing(engine, 1))
		return NAN;
	begin = clock_ns();
	return fusion_launch_nothing(engine, CONTROL_LAUNCHES) ? (double)(clock_ns() - begin) / 1000
							       : (double)NAN;
}

static void sample_control(struct machine_watch *m, struct fusion *engine)
{
	double work_us, launches_us;

	if (!m->data)
		return;
	work_us = pace_find(&m->pace); /* first: the thread launches where that put it */
	launches_us = time_launches(engine);
	if (!isnan(launches_us)) {
		m->launches = CONTROL_LAUNCHES;
		keep_sample(m, launches_us, 0);
	} else {
		keep_sample(m, isnan(work_us) ? time_work(m) : work_us, 0);
	}
}

void machine_join(struct machine_watch *m, const struct report_control *control, int process)
{
	for (size_t i = 0; control && i < control->samples_ns.n; i++)
		keep_sample(m, (double)control->samples_ns.at[i] / 1000, process);
}

static size_t samples_of(const struct machine_watch *m)
{
	size_t all = 0;

	for (int p = 0; p < STATS_PROCESSES; p++)
		all += (size_t)m->n[p];
	return all;
}

struct report_control *machine_control(const struct machine_watch *m, struct report_draft *draft)
{
	struct report_control *to = report_new_control(1, &draft->arena);
	size_t all = samples_of(m), had = 0, n = 0;
	int64_t *ns = ARENA_ARRAY(&draft->arena, int64_t, all + 1);
	int64_t *of = ARENA_ARRAY(&draft->arena, int64_t, STATS_PROCESSES);
	double *us = ARENA_ARRAY(&draft->arena, double, all + 1);
	struct interval i;

	if (!to || !ns || !of || !us || m->n[0] == 0)
		return NULL;
	for (int p = 0; p < STATS_PROCESSES; p++) {
		if (m->n[p])
			of[n++] = m->n[p];
		for (int k = 0; k < m->n[p]; k++)
			us[had++] = m->sample_us[p][k];
	}
	for (size_t k = 0; k < all; k++)
		ns[k] = llround(us[k] * 1000);
	if (!stats_processes(us, m->n, 0.5, &i))
		return NULL;
	REPORT_SET_IF(to, launches, m->launches, m->launches);
	REPORT_SET(to, median_us, i.mid);
	REPORT_SET(to, ci_us, (struct report_interval){ i.low, i.high });
	REPORT_SET(to, n, (int64_t)all);
	REPORT_SET(to, of_process, (struct report_integers){ of, n });
	REPORT_SET(to, samples_ns, (struct report_integers){ ns, all });
	return to;
}

/* ---- the state */

static void widen(struct seen_range *s, double x)
{
	s->low = fmin(s->low, x);
	s->high = fmax(s->high, x);
}

static FILE *open_in(const struct machine_watch *m, const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", m->root, path);
	return fopen(whole, "re");
}

/* "cpu  user nice system idle iowait irq softirq steal ...": all since the machine started. */
static bool read_ticks(const struct machine_watch *m, double ticks[3])
{
	FILE *f = open_in(m, "/proc/stat");
	double of[8] = { 0 };
	bool ok = f && fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &of[0], &of[1], &of[2],
			      &of[3], &of[4], &of[5], &of[6], &of[7]) == 8;

	if (f)
		fclose(f);
	ticks[ALL] = 0;
	for (int i = 0; i < 8; i++)
		ticks[ALL] += of[i];
	ticks[IDLE] = of[3] + of[4];
	ticks[STOLEN] = of[7];
	return ok;
}

static void look_at_clocks(struct machine_watch *m)
{
	FILE *f = open_in(m, "/proc/cpuinfo");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "cpu MHz", 7) == 0 && colon && strtod(colon + 1, NULL) > 0)
			widen(&m->mhz, strtod(colon + 1, NULL));
	}
	if (f)
		fclose(f);
}

static void look_at_load(struct machine_watch *m)
{
	FILE *f = open_in(m, "/proc/loadavg");
	double load;

	if (f && fscanf(f, "%lf", &load) == 1)
		widen(&m->load, load);
	if (f)
		fclose(f);
}

void machine_begin(struct machine_watch *m, const char *root, bool gpu)
{
	*m = (struct machine_watch){ .root = root,
				     .load = { INFINITY, -INFINITY },
				     .mhz = { INFINITY, -INFINITY },
				     .data = calloc(CONTROL_ELEMENTS, sizeof(*m->data)),
				     .gpu = gpu ? gpu_state_open() : NULL };
	if (gpu)
		pace_begin(&m->pace, time_work_on, m);
}

void machine_finish(struct machine_watch *m)
{
	gpu_state_close(m->gpu);
	free(m->data);
	for (int p = 0; p < STATS_PROCESSES; p++)
		free(m->sample_us[p]);
	*m = (struct machine_watch){ 0 };
}

bool machine_look(struct machine_watch *m, struct fusion *engine)
{
	bool slowed = gpu_state_look(m->gpu);

	if (clock_ns() >= m->next_ns) {
		if (read_ticks(m, m->last) && m->looks == 0)
			memcpy(m->first, m->last, sizeof(m->first));
		look_at_load(m);
		look_at_clocks(m);
		m->looks++;
		m->next_ns = clock_ns() + LOOK_NS;
	}
	sample_control(m, engine);
	return slowed;
}

/* ---- as a report has it */

static bool known(const struct seen_range *s)
{
	return s->low <= s->high;
}

static const char *span_text(const struct seen_range *s, const char *unit,
			     struct report_draft *draft)
{
	if (s->high - s->low < 0.005 * s->high)
		return arena_printf(&draft->arena, "%.4g%s", s->high, unit);
	return arena_printf(&draft->arena, "%.4g to %.4g%s", s->low, s->high, unit);
}

static void add_gpu_text(struct buf *out, const struct report_gpu_state *g,
			 struct report_draft *draft)
{
	const struct {
		bool there;
		struct report_interval of;
		const char *before, *unit;
	} parts[] = { { g->has.sm_mhz, g->sm_mhz, "; the GPU at ", " MHz" },
		      { g->has.memory_mhz, g->memory_mhz, ", its memory at ", " MHz" },
		      { g->has.celsius, g->celsius, ", ", " °C" },
		      { g->has.watts, g->watts, ", ", " W" } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].there)
			buf_printf(
			    out, "%s%s", parts[i].before,
			    span_text(&(struct seen_range){ parts[i].of.low, parts[i].of.high },
				      parts[i].unit, draft));
	for (size_t i = 0; i < g->throttled.n; i++)
		buf_printf(out, "%s%s",
			   i ? ", and " : "; it ran below its clocks: ", g->throttled.at[i]);
}

static const char *text_of(const struct report_machine *r, struct report_draft *draft)
{
	struct buf out;
	const char *text;

	buf_init(&out, 2048);
	if (r->has.busy)
		buf_printf(&out, "cores %.0f %% busy", 100 * r->busy);
	if (r->has.load)
		buf_printf(&out, "%sload %s", out.len ? ", " : "",
			   span_text(&(struct seen_range){ r->load.low, r->load.high }, "", draft));
	if (r->has.steal)
		buf_printf(&out, ", %.1f %% stolen by other machines", 100 * r->steal);
	if (r->has.mhz)
		buf_printf(
		    &out, "%s%s", out.len ? ", " : "",
		    span_text(&(struct seen_range){ r->mhz.low, r->mhz.high }, " MHz", draft));
	if (r->gpu)
		add_gpu_text(&out, r->gpu, draft);
	text = out.len ? arena_strdup(&draft->arena, out.data) : "nothing is told";
	buf_finish(&out);
	return text;
}

struct report_machine *machine_state(const struct machine_watch *m, struct report_draft *draft)
{
	struct report_machine *to = report_new_machine(1, &draft->arena);
	const char **unknown = ARENA_ARRAY(&draft->arena, const char *, 4), *no_gpu = NULL;
	double ticks = m->last[ALL] - m->first[ALL];
	struct report_gpu_state *gpu = gpu_state_report(m->gpu, &no_gpu, draft);
	size_t n = 0;

	if (!to || !unknown || m->looks == 0)
		return NULL;
	if (!known(&m->load))
		unknown[n++] = "the load: /proc/loadavg cannot be read";
	if (ticks <= 0)
		unknown[n++] =
		    m->last[ALL] > 0
			? "how busy the cores were: the samples took no tick of a clock"
			: "how busy the cores were, and steal: /proc/stat cannot be read";
	if (!known(&m->mhz))
		unknown[n++] = "the cores' clocks: /proc/cpuinfo has none";
	if (no_gpu)
		unknown[n++] = no_gpu;
	REPORT_SET(to, looks, m->looks);
	REPORT_SET_IF(to, load, known(&m->load),
		      (struct report_interval){ m->load.low, m->load.high });
	REPORT_SET_IF(to, busy, ticks > 0, 1 - (m->last[IDLE] - m->first[IDLE]) / ticks);
	REPORT_SET_IF(to, steal, ticks > 0, (m->last[STOLEN] - m->first[STOLEN]) / ticks);
	REPORT_SET_IF(to, mhz, known(&m->mhz), (struct report_interval){ m->mhz.low, m->mhz.high });
	REPORT_SET_IF(to, gpu, gpu, gpu);
	REPORT_SET_IF(to, unknown, n, (struct report_texts){ unknown, n });
	REPORT_SET(to, text, text_of(to, draft));
	return to;
}
