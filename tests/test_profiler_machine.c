/* tests/test_profiler_machine.c -- the machine while samples are taken: /proc of a folder, an NVML
 * that does as it is told, the control. */
#include <dlfcn.h>
#include <libgen.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/measure/gpu_state.h"
#include "profiler/measure/machine.h"

/* ---- a machine in a folder */

static char root[] = "/tmp/machine-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_root(void **state)
{
	char path[256];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	return mkdir(path, 0700);
}

static int drop_root(void **state)
{
	static const char *const names[] = { "proc/stat", "proc/loadavg", "proc/cpuinfo", "proc",
					     "" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		remove(path);
	}
	return 0;
}

static void look_again(struct machine_watch *m)
{
	m->next_ns = 0; /* as if a tenth of a second had gone by */
	machine_look(m, NULL);
}

static void what_proc_says_is_kept(void **state)
{
	struct report_draft draft = { 0 };
	struct report_machine *to;
	struct machine_watch m;

	(void)state;
	put("stat", "cpu  100 0 100 700 50 0 0 50 0 0\ncpu0 1 2 3\n");
	put("loadavg", "0.50 0.4 0.3 1/99 7\n");
	put("cpuinfo", "model name\t: X\ncpu MHz\t\t: 2400.5\ncpu MHz\t\t: 3100\n");
	machine_begin(&m, root, false);
	look_again(&m);
	put("stat", "cpu  160 0 100 730 50 0 0 60 0 0\n"); /* 100 ticks: 30 idle, 10 stolen */
	put("loadavg", "1.50 0.4 0.3 1/99 7\n");
	put("cpuinfo", "cpu MHz\t\t: 1200\n");
	look_again(&m);
	to = machine_state(&m, &draft);
	assert_non_null(to);
	assert_int_equal(to->looks, 2);
	assert_float_equal(to->busy, 0.7, 1e-9);
	assert_float_equal(to->steal, 0.1, 1e-9);
	assert_float_equal(to->load.low, 0.5, 1e-9);
	assert_float_equal(to->load.high, 1.5, 1e-9);
	assert_float_equal(to->mhz.low, 1200, 1e-9);
	assert_float_equal(to->mhz.high, 3100, 1e-9);
	assert_int_equal(to->unknown.n, 0);
	assert_string_equal(to->text, "cores 70 % busy, load 0.5 to 1.5, 10.0 % stolen by other "
				      "machines, 1200 to 3100 MHz");
	report_draft_finish(&draft);
	machine_finish(&m);
}

static void what_is_not_told_is_said(void **state)
{
	struct report_draft draft = { 0 };
	struct report_machine *to;
	struct machine_watch m;

	(void)state;
	machine_begin(&m, "/nowhere", false);
	look_again(&m);
	to = machine_state(&m, &draft);
	assert_false(to->has.busy || to->has.steal || to->has.load || to->has.mhz);
	assert_int_equal(to->unknown.n, 3);
	assert_non_null(strstr(to->unknown.at[1], "/proc/stat cannot be read"));
	assert_string_equal(to->text, "nothing is told");
	report_draft_finish(&draft);
	machine_finish(&m);
}

static void the_control_has_a_sample_a_look_and_takes_anothers(void **state)
{
	int64_t others[] = { 900000000, 900000000, 900000000, 900000000,
			     900000000, 900000000, 900000000 };
	struct report_control other = { .samples_ns = { others, 7 } }, *c;
	struct report_draft draft = { 0 };
	struct machine_watch m;

	(void)state;
	machine_begin(&m, root, false);
	for (int i = 0; i < 9; i++)
		machine_look(&m, NULL);
	machine_join(&m, &other, 1);
	c = machine_control(&m, &draft);
	assert_non_null(c);
	assert_int_equal(c->n, 16);
	assert_int_equal(c->of_process.at[0], 9);
	assert_int_equal(c->of_process.at[1], 7);
	assert_int_equal(c->samples_ns.at[9], 900000000); /* the first process' come first */
	assert_int_equal(c->of_process.n, 2);
	assert_true(c->ci_us.high > 900000 && c->median_us < 900000); /* it holds both processes */
	assert_true(c->ci_us.low > 0 && c->ci_us.low < c->median_us);
	report_draft_finish(&draft);
	machine_finish(&m);
}

/* What is left stays beside the rounds that are left; those before are of another point. */
static void rounds_that_are_set_aside_take_their_control_along(void **state)
{
	static const bool aside[] = { true, false, true, false };
	struct machine_watch m;

	(void)state;
	machine_begin(&m, root, false);
	for (int i = 0; i < 6; i++) {
		machine_look(&m, NULL);
		m.sample_us[0][i] = 10 + i;
	}
	machine_leave(&m, aside, 4);
	assert_int_equal(m.n[0], 4);
	assert_true(m.sample_us[0][0] == 10 && m.sample_us[0][1] == 11);
	assert_true(m.sample_us[0][2] == 13 && m.sample_us[0][3] == 15);
	machine_leave(&m, aside, 5); /* more than there are: nothing is known of them */
	assert_int_equal(m.n[0], 4);
	machine_finish(&m);
}

/* ---- a core that runs at its pace */

/* Cores of a machine that is shared: what the control takes on each now. */
struct shared {
	double us[4];
	int timed, last;
};

static double take_on(void *self, int core)
{
	struct shared *s = self;

	s->timed++;
	s->last = core;
	return s->us[core];
}

static void begin_on(struct machine_watch *m, struct shared *s)
{
	machine_begin(m, root, false);
	m->pace = (struct pace){
		.time_on = take_on, .self = s, .core = { 0, 1, 2, 3 }, .n = 4, .at = -1
	};
}

/* What the control took where the next sample is taken. */
static double next_us(struct machine_watch *m)
{
	machine_look(m, NULL);
	return m->sample_us[0][m->n[0] - 1];
}

static void a_sample_is_taken_where_a_core_runs_at_its_pace(void **state)
{
	struct shared s = { .us = { 50, 48, 30, 31 } };
	struct machine_watch m;
	int before;

	(void)state;
	begin_on(&m, &s);
	assert_float_equal(next_us(&m), 30, 0);
	assert_int_equal(s.last, 2);
	before = s.timed;
	assert_float_equal(next_us(&m), 30, 0); /* it stays: one look */
	assert_int_equal(s.timed, before + 1);
	s.us[2] = 47; /* its neighbour woke up */
	assert_float_equal(next_us(&m), 31, 0);
	assert_int_equal(s.last, 3);
	s.us[3] = 49;
	assert_float_equal(next_us(&m), 47, 0); /* none is: the quickest, at which it ends */
	assert_int_equal(s.last, 2);
	s.us[1] = 29;
	assert_float_equal(next_us(&m), 29, 0);
	assert_int_equal(s.last, 1);
	m.pace.at = -1;
	machine_finish(&m);
}

static void a_core_that_is_forbidden_is_not_taken(void **state)
{
	struct shared s = { .us = { 40, NAN, NAN, 30 } };
	struct machine_watch m;

	(void)state;
	begin_on(&m, &s);
	assert_float_equal(next_us(&m), 30, 0);
	assert_int_equal(s.last, 3);
	s.us[0] = s.us[3] = NAN;
	assert_true(next_us(&m) > 0); /* of the control itself, where the thread is */
	m.pace.n = 1;
	assert_true(next_us(&m) > 0);
	m.pace.at = -1;
	machine_finish(&m);
}

static void a_thread_may_run_anywhere_again(void **state)
{
	cpu_set_t before, after;
	struct machine_watch m;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	machine_begin(&m, root, true);
	for (int i = 0; i < 3; i++)
		machine_look(&m, NULL);
	assert_int_equal(m.n[0], 3);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_int_equal(CPU_COUNT(&after), 1);
	machine_leave(&m, NULL, 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	machine_finish(&m);
}

/* ---- a GPU */

static struct {
	void (*set)(unsigned sm_mhz, unsigned long long reasons);
	int (*started)(void);
} nvml;

static void open_nvml(void)
{
	char self[512], path[640];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *library;

	self[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "%s/cuda/libnvidia-ml.so.1", dirname(self));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		skip();
	nvml.set = dlsym(library, "nvml_stand_in");
	nvml.started = dlsym(library, "nvml_stand_in_started");
}

static void a_gpu_that_is_slowed_down_is_told_and_why(void **state)
{
	enum { IDLE = 0x01, SETTING = 0x02, POWER = 0x04, HOT = 0x40 };
	struct report_draft draft = { 0 };
	const char *unknown = NULL;
	struct report_gpu_state *to;
	struct gpu_state *g;

	(void)state;
	open_nvml();
	unsetenv("CUDA_VISIBLE_DEVICES");
	g = gpu_state_open();
	nvml.set(1980, IDLE | SETTING); /* nobody slows it down */
	assert_false(gpu_state_look(g));
	to = gpu_state_report(g, &unknown, &draft);
	assert_null(unknown);
	assert_int_equal(to->throttled.n, 0);
	nvml.set(1200, POWER | HOT);
	assert_true(gpu_state_look(g));
	nvml.set(1980, 0);
	assert_false(gpu_state_look(g));
	to = gpu_state_report(g, &unknown, &draft);
	assert_int_equal(to->throttled.n, 2);
	assert_string_equal(to->throttled.at[0], "it drew as much power as it may");
	assert_float_equal(to->sm_mhz.high, 1980, 0);
	assert_float_equal(to->memory_mhz.low, 3201, 0);
	assert_float_equal(to->celsius.low, 41, 0);
	assert_float_equal(to->watts.high, 350.5, 1e-9);
	assert_int_equal(nvml.started(), 1);
	gpu_state_close(g);
	assert_int_equal(nvml.started(), 0);
	report_draft_finish(&draft);
}

static void the_gpu_is_the_one_that_cuda_sees(void **state)
{
	static const struct {
		const char *visible;
		bool there;
	} rows[] = {
		{ "0", true }, { "GPU-a1,GPU-b2", true }, { "GPU-b2", false }, { "3,0", false }
	};
	struct report_draft draft = { 0 };

	(void)state;
	open_nvml();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *unknown = NULL;
		struct gpu_state *g;

		setenv("CUDA_VISIBLE_DEVICES", rows[i].visible, 1);
		g = gpu_state_open();
		gpu_state_look(g);
		assert_int_equal(gpu_state_report(g, &unknown, &draft) != NULL, rows[i].there);
		assert_int_equal(unknown == NULL, rows[i].there);
		gpu_state_close(g);
	}
	unsetenv("CUDA_VISIBLE_DEVICES");
	report_draft_finish(&draft);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_proc_says_is_kept),
		cmocka_unit_test(what_is_not_told_is_said),
		cmocka_unit_test(the_control_has_a_sample_a_look_and_takes_anothers),
		cmocka_unit_test(rounds_that_are_set_aside_take_their_control_along),
		cmocka_unit_test(a_sample_is_taken_where_a_core_runs_at_its_pace),
		cmocka_unit_test(a_core_that_is_forbidden_is_not_taken),
		cmocka_unit_test(a_thread_may_run_anywhere_again),
		cmocka_unit_test(a_gpu_that_is_slowed_down_is_told_and_why),
		cmocka_unit_test(the_gpu_is_the_one_that_cuda_sees),
	};

	return cmocka_run_group_tests(tests, make_root, drop_root);
}
