/* tests/test_profiler_breaks.c -- what a graph break costs: from timelines whose gaps are
 * known, and of real runs. */
#include "tests/break_set.h"
#include "tests/report_help.h"

static void gaps_kernels_and_frames_are_what_breaks_cost(void **state)
{
	const double moved[2] = { 0, 400 };
	struct break_costs c;
	struct set s;
	struct interval cost;
	struct err err = { 0 };

	(void)state;
	break_costs_init(&c, 2);
	s.w = open_writer(&c);
	for (int set = 0; set < 3; set++) {
		open_set(&s);
		for (int i = 0; i < 5; i++)
			a_call_with_two_breaks(&s, 100000 * set + 5000 * i);
	}
	close_writer(s.w);
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	assert_int_equal(c.groups.len, 3);
	for (int set = 0; set < 3; set++) {
		const struct break_group *g = &c.groups.at[set];
		const struct break_sample *b = g->breaks;

		assert_int_equal(g->calls, 5);
		assert_float_equal(g->call_ns, 3000, 1e-6);
		/* 20 before the first piece and 400 after the last are of both */
		assert_float_equal(b[0].gap.statement_ns, 200, 1e-6);
		assert_float_equal(b[0].gap.guards_ns, 30, 1e-6);
		assert_float_equal(b[0].gap.alloc_ns, 70, 1e-6);
		assert_float_equal(b[0].gap.outputs_ns, 20, 1e-6);
		assert_float_equal(b[0].gap.frame_ns, 290, 1e-6);
		assert_float_equal(b[0].gap.entry_ns, 210, 1e-6);
		assert_float_equal(b[0].kernel_ns, 100, 1e-6);
		assert_float_equal(b[1].gap.statement_ns, 10, 1e-6);
		assert_float_equal(b[1].gap.guards_ns, 200, 1e-6);
		assert_float_equal(b[1].gap.outputs_ns, 40, 1e-6);
		assert_float_equal(b[1].gap.frame_ns, 450, 1e-6);
		assert_float_equal(b[1].gap.entry_ns, 210, 1e-6);
		/* 400 bytes take 300 ns more than none, and both kernels beside it move
		 * their 800 bytes in less time than memory takes for them; but the
		 * shorter one takes 300 in all */
		assert_float_equal(b[1].kernel_ns, 300, 1e-6);
		assert_float_equal(b[0].cost_ns, 610 + 210 + 100, 1e-6);
		assert_float_equal(b[1].cost_ns, 700 + 210 + 300, 1e-6);
		assert_float_equal(g->cost_ns, b[0].cost_ns + b[1].cost_ns, 1e-6);
	}
	assert_true(break_costs_interval(&c, 0, &cost));
	assert_float_equal(cost.mid, 920, 1e-6);
	break_costs_scale(&c, 1500); /* unwatched a call takes half the time */
	assert_true(break_costs_interval(&c, -1, &cost));
	assert_float_equal(cost.mid, (920 + 1210) / 2.0, 1e-6);
	break_costs_finish(&c);
}

/* Three groups of a call with two breaks, which cost 920 and 1210 by their timelines. */
static void read_two_breaks(struct break_costs *c)
{
	const double moved[2] = { 0, 400 };
	struct set s;
	struct err err = { 0 };

	break_costs_init(c, 2);
	s.w = open_writer(c);
	for (int set = 0; set < 3; set++) {
		open_set(&s);
		for (int i = 0; i < 5; i++)
			a_call_with_two_breaks(&s, 100000 * set + 5000 * i);
	}
	close_writer(s.w);
	assert_true(break_costs_read(c, &curve, moved, false, NULL, &err));
}

static void check_interval(const struct break_costs *c, int index, double low, double mid,
			   double high)
{
	struct interval cost;

	assert_true(break_costs_interval(c, index, &cost));
	assert_float_equal(cost.low, low, 1e-6);
	assert_float_equal(cost.mid, mid, 1e-6);
	assert_float_equal(cost.high, high, 1e-6);
}

static void breaks_cost_together_what_was_timed_without_them(void **state)
{
	const bool both[2] = { true, true }, first[2] = { true, false };
	const double share = 920.0 / 2130;
	struct interval saved = { .low = 190, .mid = 213, .high = 240 }, explained;
	struct break_costs c;

	(void)state;
	read_two_breaks(&c);
	c.gone = both;
	c.saved = &saved;
	check_interval(&c, 0, share * 190, 92, share * 240);
	check_interval(&c, 1, (1 - share) * 190, 121, (1 - share) * 240);
	check_interval(&c, -1, 190, 213, 240);
	assert_true(break_costs_explained(&c, NULL, &explained));
	assert_float_equal(explained.mid, 2130, 1e-6);

	c.gone = first; /* one break is left, and has its estimate */
	check_interval(&c, 0, 190, 213, 240);
	check_interval(&c, 1, 1210, 1210, 1210);
	check_interval(&c, -1, 1400, 1423, 1450);

	c.gone = both; /* nothing could be told: of each neither */
	saved = (struct interval){ .low = -20, .mid = 10, .high = 40 };
	check_interval(&c, 0, -20, share * 10, 40);
	check_interval(&c, -1, -20, 10, 40);
	saved = (struct interval){ .low = -50, .mid = -40, .high = -30 };
	check_interval(&c, 1, -50, (1 - share) * -40, 0);
	check_interval(&c, -1, -50, -40, -30);
	break_costs_finish(&c);
}

/* Of ten calls one takes a millisecond more, in the gap. */
static void a_call_that_was_interrupted_is_left_out(void **state)
{
	const double moved[2] = { 0, 0 };
	struct break_costs c;
	struct set s;
	struct err err = { 0 };

	(void)state;
	break_costs_init(&c, 2);
	s.w = open_writer(&c);
	open_set(&s);
	for (int i = 0; i < 10; i++) {
		int64_t t = 5000 * i, more = i == 9 ? 1000000 : 0;

		put(&s, TIMELINE_CALL, s.calls, s.call, t, t + 3000 + more, 0);
		piece(&s, t + 100, t + 900);
		launch(&s, t + 200, t + 800);
		meet(&s, 0, t + 1000, t + 1100);
		piece(&s, t + 1500 + more, t + 2500 + more);
		launch(&s, t + 1600 + more, t + 2400 + more);
	}
	close_writer(s.w);
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	assert_int_equal(c.groups.at[0].calls, 9);
	assert_float_equal(c.groups.at[0].call_ns, 3000, 1e-9);
	break_costs_finish(&c);
}

/* Two versions take turns: graphs 0 and 1, then 2 and 3, with one break between them. */
static void guards_are_those_of_the_version_that_ran(void **state)
{
	const int guards[4] = { 1, 3, 1, 8 };
	const double moved[1] = { 0 };
	uint32_t graphs[4];
	struct break_costs c;
	struct set s;
	struct err err = { 0 };

	(void)state;
	break_costs_init(&c, 1);
	s.w = open_writer(&c);
	open_set(&s);
	for (int i = 0; i < 4; i++)
		graphs[i] = timeline_writer_name(
		    s.w, json_pack("{s:s, s:i}", "name", "graph", "graph", i));
	for (int i = 0; i < 10; i++) {
		int64_t t = 5000 * i;

		put(&s, TIMELINE_CALL, s.calls, s.call, t, t + 3000, 0);
		s.graph = graphs[i % 2 * 2];
		piece(&s, t + 100, t + 900);
		launch(&s, t + 200, t + 800);
		meet(&s, 0, t + 1000, t + 1100);
		s.graph = graphs[i % 2 * 2 + 1];
		piece(&s, t + 1500, t + 2500);
		launch(&s, t + 1600, t + 2400);
	}
	close_writer(s.w);
	c.guards = guards;
	c.n_graphs = 4;
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	assert_float_equal(c.groups.at[0].breaks[0].met, 1, 0);
	assert_float_equal(c.groups.at[0].breaks[0].guards, 5.5, 1e-9);
	break_costs_finish(&c);
}

/* Readings of 3 ns and reports of 4: 23 stand within the call, between its own two, and 15
 * are made there, of each kernel two. */
static double read_watched(struct break_costs *c, double unwatched_ns)
{
	const double moved[2] = { 0, 400 };
	struct set s;
	struct err err = { 0 };

	break_costs_init(c, 2);
	s.w = open_writer(c);
	open_set(&s);
	a_call_with_two_breaks(&s, 0);
	assert_true(timeline_writer_finish(
	    s.w, json_pack("{s:i, s:i}", "clock_ns", 3, "tell_ns", 4), &err));
	timeline_writer_destroy(s.w);
	assert_true(break_costs_read(c, &curve, moved, false, &unwatched_ns, &err));
	return c->groups.at[0].call_ns;
}

static void readings_and_reports_are_taken_off_where_they_stand(void **state)
{
	const struct break_sample *b;
	struct break_costs c;

	(void)state;
	assert_float_equal(read_watched(&c, 0), 3000 - 24 * 3 - 15 * 4, 1e-6);
	assert_float_equal(c.groups.at[0].watch_ns, 24 * 3 + 15 * 4, 1e-6);
	b = c.groups.at[0].breaks;
	assert_float_equal(b[0].gap.statement_ns, 200 - 3, 1e-6);
	assert_float_equal(b[0].gap.guards_ns, 30 - 3, 1e-6);
	assert_float_equal(b[0].gap.alloc_ns, 70 - 3, 1e-6);
	/* the kernel is reported at its end, twice */
	assert_float_equal(b[0].gap.outputs_ns, 20 - 3 - 2 * 4, 1e-6);
	/* 80 between the piece and the break, 100 to its guards, 20 to the piece, 50 and 40 in
	 * it: each between two readings, after four of them a report */
	assert_float_equal(b[0].gap.frame_ns, 290 - 5 * 3 - 4 * 4, 1e-6);
	/* of both breaks: 20 after the guards, 400 after the last piece */
	assert_float_equal(b[0].gap.entry_ns, (420 - 2 * 3 - 2 * 4) / 2.0, 1e-6);
	/* kernels stand between two readings */
	assert_float_equal(c.groups.at[0].device_ns, 300 + 300 + 490 - 3 * 3, 1e-6);
	break_costs_finish(&c);
}

static void a_call_that_nobody_watches_says_what_watching_takes_here(void **state)
{
	struct interval all;
	struct break_costs c;

	(void)state;
	for (int slower = 0; slower < 2; slower++) {
		double pace = slower ? 1.5 : 0.75, off = slower ? 0.5 : -0.25, sum;
		const struct break_group *g;

		assert_float_equal(read_watched(&c, 3000 - 132 * pace), 3000 - 132 * pace, 1e-6);
		g = &c.groups.at[0];
		assert_float_equal(g->watch_ns, 132 * pace, 1e-6);
		assert_float_equal(g->breaks[0].gap.guards_ns, 30 - 3 * pace, 1e-6);
		/* what it is more, or less, may be of the gaps alone or of the rest */
		sum = g->more_ns + g->less_ns;
		assert_float_equal(sum, 132 * (slower ? off : -off), 1e-6);
		assert_true(g->more_ns > 0 && g->less_ns > 0);
		assert_true(break_costs_interval(&c, -1, &all));
		assert_float_equal(all.high - all.mid, g->more_ns, 1e-6);
		assert_float_equal(all.mid - all.low, g->less_ns, 1e-6);
		break_costs_finish(&c);
	}
}

static void kernels_that_compute_hide_their_bytes(void **state)
{
	const double moved[2] = { 0, 400 };
	struct break_costs c;
	struct set s;
	struct err err = { 0 };

	(void)state;
	break_costs_init(&c, 2);
	s.w = open_writer(&c);
	open_set(&s);
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 20000, 0);
	host(&s, TIMELINE_GUARDS, 0, 50);
	piece(&s, 50, 8100);
	launch(&s, 100, 8000); /* 7,900 ns for 800 bytes */
	meet(&s, 1, 8200, 8300);
	piece(&s, 8400, 16600);
	launch(&s, 8500, 16600); /* 8,100 */
	close_writer(s.w);
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	/* 700 ns of bytes beside 7,800 of computing: the bytes cost nothing */
	assert_float_equal(c.groups.at[0].breaks[1].kernel_ns, 100, 1);
	break_costs_finish(&c);
}

/* A kernel's time for its bytes, and the break's; the kernel that the break adds. */
static double added_kernel(int64_t ns, bool reads)
{
	const double moved[1] = { 400 };
	struct break_costs c;
	struct set s;
	struct err err = { 0 };
	double kernel_ns;

	break_costs_init(&c, 1);
	s.w = open_writer(&c);
	open_set(&s);
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 20000, 0);
	piece(&s, 50, 100 + ns);
	launch(&s, 100, 100 + ns);
	meet(&s, 0, 8200, 8300);
	piece(&s, 8400, 8500 + ns);
	launch(&s, 8500, 8500 + ns);
	close_writer(s.w);
	c.reads = &reads;
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	kernel_ns = c.groups.at[0].breaks[0].kernel_ns;
	break_costs_finish(&c);
	return kernel_ns;
}

static void memory_counts_as_far_as_it_holds_kernels_up(void **state)
{
	(void)state;
	/* 800 bytes take 800 ns: at the roof all of the 300 is saved, far below it nothing */
	assert_float_equal(added_kernel(800, false), 100 + 300, 1e-6);
	assert_float_equal(added_kernel(6000, false), 100, 2);
	/* t = 1,000, m = 700: c = 934; both 2,000, one (1,867^4 + 1,100^4)^(1/4) = 1,921 */
	assert_float_equal(added_kernel(1100, false), 100 + 79, 1);
	/* a number that is read: the kernel after it waits in one graph too */
	assert_float_equal(added_kernel(800, true), 0, 0);
}

/* Launches of 10 ns, 1,000 ns apart by a break; kernels of `ns` follow as they can. */
static struct break_sample of_device(int64_t ns, double *all)
{
	const double moved[1] = { 400 };
	struct break_costs c;
	struct set s;
	struct break_sample b;
	struct err err = { 0 };
	int64_t device = 0;

	break_costs_init(&c, 1);
	s.w = open_writer(&c);
	open_set(&s);
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 1500, 0);
	host(&s, TIMELINE_GUARDS, 0, 50);
	piece(&s, 50, 200);
	meet(&s, 0, 300, 900);
	piece(&s, 1000, 1500);
	for (uint32_t i = 0; i < 2; i++) {
		int64_t at = 100 + 1000 * (int64_t)i;

		put(&s, TIMELINE_LAUNCH, s.host, s.kernel, at, at + 10, i + 1);
		device = device > at ? device : at;
		put(&s, TIMELINE_KERNEL, s.kernels, s.kernel, device + 5, device + 5 + ns, i + 1);
		device += 5 + ns;
	}
	close_writer(s.w);
	assert_true(break_costs_read(&c, &curve, moved, true, NULL, &err));
	b = c.groups.at[0].breaks[0];
	*all = c.groups.at[0].cost_ns;
	break_costs_finish(&c);
	return b;
}

static void on_a_device_the_longer_of_host_and_device_counts(void **state)
{
	struct break_sample b;
	double all;

	(void)state;
	b = of_device(100, &all); /* the host is the longer one, with the break or without */
	assert_float_equal(b.gap.statement_ns, 600, 1e-6);
	assert_float_equal(b.gap.launch_ns, 10, 1e-6);
	assert_float_equal(all, 1000, 1e-6);
	assert_float_equal(b.cost_ns, all, 1e-6);
	b = of_device(400, &all); /* without it the kernels are: 800 less their bytes' 400 */
	assert_float_equal(b.kernel_ns, 400, 1e-6);
	assert_float_equal(all, 1500 - 500, 1e-6);
	b = of_device(20000, &all); /* the device always, which computes */
	assert_float_equal(all, b.kernel_ns, 1e-6);
	assert_float_equal(b.kernel_ns, 100, 0.1);
}

/* ---- real runs ---- */

static json_t *run_source(const char *source, const char *mode)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:[s], s:s, s:[[{s:{s:[i, i], s:i}}]]}", "name",
				 "broken", "threads", 1, "backend", "interp", "modes", mode,
				 "source", source, "calls", "random", "shape", 8, 16, "seed", 1);

	return run_whole(json, true);
}

static double gap_parts_of(const json_t *cost)
{
	double sum = 0;

#define PART(name, what) sum += number(cost, #name "_us");
	GAP_PARTS(PART)
#undef PART
	return sum;
}

static void check_cost(const json_t *item, int64_t kept, int64_t moved)
{
	const json_t *cost = json_object_get(item, "cost"), *ci = json_object_get(cost, "ci_us");
	double us = number(item, "cost_us");

	assert_true(json_number_value(json_array_get(ci, 0)) <= us);
	assert_true(json_number_value(json_array_get(ci, 1)) >= us);
	assert_true(number(cost, "idle_us") > 0);
	assert_float_equal(number(cost, "idle_us"), gap_parts_of(cost), 1e-6);
	assert_float_equal(us, number(cost, "idle_us") + number(cost, "kernel_us"), 1e-6);
	assert_float_equal(number(cost, "met"), 1, 0);
	assert_float_equal(number(cost, "launches"), 1, 0);
	assert_true(number(cost, "guards") > 0);
	assert_int_equal((int64_t)number(cost, "kept_bytes"), kept);
	assert_int_equal((int64_t)number(cost, "moved_bytes"), moved);
	assert_string_equal(json_string_value(json_object_get(cost, "kernel_from")), "fused");
}

static void a_run_says_what_each_break_costs_and_times_it_without(void **state)
{
	const char *source = "import torch\n"
			     "def model(x):\n"
			     "    y = x * 2 + 1\n"
			     "    torch._dynamo.graph_break()\n"
			     "    z = torch.sin(y) + x\n"
			     "    print('here')\n"
			     "    return (z * y).sum()\n";
	json_t *report = run_source(source, "static"),
	       *m = json_object_get(json_object_get(report, "modes"), "static"),
	       *breaks = json_object_get(m, "breaks"), *all = json_object_get(m, "break_cost"),
	       *without = json_object_get(all, "without");
	const char *changed = json_string_value(json_object_get(without, "source"));

	(void)state;
	assert_int_equal(json_array_size(breaks), 2);
	/* y, 512 bytes, is written and read; then z and y: the one is read again */
	check_cost(json_array_get(breaks, 0), 512, 1024);
	check_cost(json_array_get(breaks, 1), 1024, 2048);
	number(all, "sum_us");
	assert_true(number(json_object_get(all, "watching"), "added_us") > 0);
	assert_true(number(json_object_get(all, "watching"), "reading_ns") > 0);
	assert_true(number(all, "groups") >= 6);
	assert_non_null(changed);
	assert_null(strstr(changed, "graph_break"));
	assert_null(strstr(changed, "print"));
	assert_int_equal(number(without, "breaks_left"), 0);
	assert_int_equal(json_array_size(json_object_get(without, "lines")), 2);
	number(without, "explained_us");
	assert_true(number(without, "median_us") > 0);
	number(without, "measured_us");
	assert_true(json_is_boolean(json_object_get(without, "agrees")));
	json_decref(report);
}

static void what_is_never_met_again_has_no_cost_and_what_cannot_change_no_check(void **state)
{
	json_t *report = run_source("import torch\n"
				    "def model(x):\n"
				    "    return x[x > 0].sum()\n",
				    "static"),
	       *m = json_object_get(json_object_get(report, "modes"), "static"),
	       *item = json_array_get(json_object_get(m, "breaks"), 0);

	(void)state;
	assert_true(number(item, "cost_us") > 0);
	assert_true(number(json_object_get(item, "cost"), "eager_launches") >= 1);
	assert_string_equal(
	    json_string_value(json_object_get(json_object_get(item, "cost"), "kernel_from")),
	    "estimate");
	assert_true(json_is_null(json_object_get(json_object_get(m, "break_cost"), "without")));
	json_decref(report);
	report = run_source("def model(x):\n    return x + 1\n", "static");
	m = json_object_get(json_object_get(report, "modes"), "static");
	assert_null(json_object_get(m, "break_cost"));
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_kernels_and_frames_are_what_breaks_cost),
		cmocka_unit_test(breaks_cost_together_what_was_timed_without_them),
		cmocka_unit_test(a_call_that_was_interrupted_is_left_out),
		cmocka_unit_test(guards_are_those_of_the_version_that_ran),
		cmocka_unit_test(readings_and_reports_are_taken_off_where_they_stand),
		cmocka_unit_test(a_call_that_nobody_watches_says_what_watching_takes_here),
		cmocka_unit_test(kernels_that_compute_hide_their_bytes),
		cmocka_unit_test(memory_counts_as_far_as_it_holds_kernels_up),
		cmocka_unit_test(on_a_device_the_longer_of_host_and_device_counts),
		cmocka_unit_test(a_run_says_what_each_break_costs_and_times_it_without),
		cmocka_unit_test(
		    what_is_never_met_again_has_no_cost_and_what_cannot_change_no_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
