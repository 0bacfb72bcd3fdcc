/* tests/test_profiler_fused.c -- kernels of a function without breaks, and gaps without CUPTI,
 * in what breaks cost. */
#include "tests/break_set.h"

/* One graph in place of three: a call of 2,000 ns with one kernel of `ns`. */
static void a_call_without_breaks(struct set *s, int64_t t, int64_t ns)
{
	put(s, TIMELINE_CALL, s->calls, s->call, t, t + 2000, 0);
	host(s, TIMELINE_GUARDS, t + 0, t + 50);
	launch(s, t + 100, t + 100 + ns);
}

/* Two groups of the function with breaks, each with one of it without some beside it. */
static void record_both(struct timeline_events *seen, int64_t ns)
{
	struct set s;
	struct err err = { 0 };

	s.w = timeline_writer_create(timeline_events_block, seen, &err);
	assert_non_null(s.w);
	for (int set = 0; set < 4; set++) {
		open_set(&s);
		if (set % 2 == 0)
			a_call_with_two_breaks(&s, 100000 * set);
		else
			a_call_without_breaks(&s, 100000 * set, ns);
	}
	close_writer(s.w);
}

static void read_both(const struct timeline_events *seen, struct break_costs *with,
		      struct break_costs *without)
{
	static const double moved[2] = { 0, 400 };
	struct err err = { 0 };

	break_costs_init(with, 2);
	break_costs_init(without, 0);
	with->of = without->of = seen;
	with->step = without->step = 2;
	without->first = 1;
	assert_true(break_costs_read(with, &curve, moved, false, NULL, &err));
	assert_true(break_costs_read(without, &curve, moved, false, NULL, &err));
	assert_int_equal(with->groups.len, 2);
	assert_int_equal(without->groups.len, 2);
}

static void kernels_of_one_graph_are_timed_where_it_is_known(void **state)
{
	const bool both[2] = { true, true }, second[2] = { false, true };
	struct timeline_events seen = { 0 };
	struct break_costs with, without;
	struct break_sample *b;

	(void)state;
	record_both(&seen, 590); /* 1,090 with breaks */
	read_both(&seen, &with, &without);
	assert_float_equal(without.groups.at[0].device_ns, 590, 1e-6);
	break_costs_fuse(&with, &without, both);
	b = with.groups.at[1].breaks;
	assert_float_equal(b[0].kernel_ns, 125, 1e-6); /* estimates are 100 and 300 */
	assert_float_equal(b[1].kernel_ns, 375, 1e-6);
	assert_float_equal(with.groups.at[1].cost_ns, 610 + 700 + 420 + 500, 1e-6);
	break_costs_finish(&with);
	break_costs_finish(&without);
	read_both(&seen, &with, &without);
	break_costs_fuse(&with, &without, second);
	b = with.groups.at[0].breaks;
	assert_float_equal(b[0].kernel_ns, 100, 1e-6); /* nobody knows better */
	assert_float_equal(b[1].kernel_ns, 500, 1e-6);
	break_costs_finish(&with);
	break_costs_finish(&without);
	timeline_events_finish(&seen);
}

static void one_graph_may_be_slower_than_its_parts(void **state)
{
	const bool both[2] = { true, true };
	struct timeline_events seen = { 0 };
	struct break_costs with, without;

	(void)state;
	record_both(&seen, 1890);
	read_both(&seen, &with, &without);
	break_costs_fuse(&with, &without, both);
	assert_float_equal(with.groups.at[0].breaks[1].kernel_ns, -600, 1e-6);
	assert_float_equal(with.groups.at[0].cost_ns, 610 + 700 + 420 - 800, 1e-6);
	break_costs_finish(&with);
	break_costs_finish(&without);
	timeline_events_finish(&seen);
}

/* Beside a device: a launch takes 10 ns by itself and 40 while CUPTI records; the first of
 * a call may be a library's, which takes longer. */
static void read_launches(struct break_costs *c, int64_t first_ns, int64_t ns, int n)
{
	static const double moved[1] = { 0 };
	struct set s;
	struct err err = { 0 };

	break_costs_init(c, n > 1);
	s.w = open_writer(c);
	open_set(&s);
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 1500 + n * ns, 0);
	piece(&s, 50, 190 + first_ns);
	if (n > 1)
		meet(&s, 0, 300 + first_ns, 900);
	for (int i = 0; i < n; i++) {
		int64_t at = 100 + i * (900 + ns);

		if (i)
			piece(&s, at - 5, 1500 + n * ns);
		put(&s, TIMELINE_LAUNCH, s.host, s.kernel, at, at + (i ? ns : first_ns),
		    (uint32_t)i + 1);
	}
	close_writer(s.w);
	assert_true(break_costs_read(c, &curve, moved, true, NULL, &err));
}

static void gaps_beside_a_device_are_those_without_cupti(void **state)
{
	const bool gone[1] = { true };
	struct break_costs watched, alone, without;

	(void)state;
	read_launches(&watched, 40, 40, 2);
	read_launches(&alone, 90, 10, 2);
	read_launches(&without, 40, 40, 2);
	assert_float_equal(watched.groups.at[0].breaks[0].gap.launch_ns, 40, 1e-6);
	break_costs_take_host(&watched, &alone);
	assert_float_equal(watched.groups.at[0].call_ns, 1520, 1e-6);
	assert_float_equal(watched.groups.at[0].breaks[0].gap.launch_ns, 10, 1e-6);
	/* the function without breaks has two launches too: that one is none of the break's */
	break_costs_fuse(&watched, &without, gone);
	assert_float_equal(watched.groups.at[0].breaks[0].gap.launch_ns, 0, 1e-6);
	break_costs_finish(&watched);
	break_costs_finish(&alone);
	break_costs_finish(&without);
}

/* Two calls of `n` kernels of `ns` that the device always has at hand, 7 ns apart; then
 * one that it has to wait for. */
static void read_full_device(struct break_costs *c, int64_t ns, int n)
{
	static const double moved[1] = { 0 };
	struct set s;
	struct err err = { 0 };
	int64_t device = 150;

	break_costs_init(c, n > 1);
	s.w = open_writer(c);
	open_set(&s);
	for (int k = 0; k < 2; k++) {
		int64_t t = 1000 * k;

		put(&s, TIMELINE_CALL, s.calls, s.call, t, t + 600, 0);
		piece(&s, t + 50, t + 200);
		if (n > 1) {
			meet(&s, 0, t + 210, t + 250);
			piece(&s, t + 260, t + 600);
		}
		for (int i = 0; i < n; i++) {
			uint32_t id = (uint32_t)(2 * k + i) + 1;

			put(&s, TIMELINE_LAUNCH, s.host, s.kernel, t + 100 + 200 * i,
			    t + 110 + 200 * i, id);
			put(&s, TIMELINE_KERNEL, s.kernels, s.kernel, device, device + ns, id);
			device += ns + 7;
		}
	}
	put(&s, TIMELINE_CALL, s.calls, s.call, 90000, 90600, 0);
	piece(&s, 90050, 90200);
	put(&s, TIMELINE_LAUNCH, s.host, s.kernel, 90100, 90110, 9);
	put(&s, TIMELINE_KERNEL, s.kernels, s.kernel, 90150, 90150 + ns, 9);
	close_writer(s.w);
	assert_true(break_costs_read(c, &curve, moved, true, NULL, &err));
}

static void a_device_takes_its_time_from_kernel_to_kernel(void **state)
{
	struct break_costs with, without;
	struct break_group *g;

	(void)state;
	read_full_device(&with, 5000, 2);
	read_full_device(&without, 9000, 1);
	assert_int_equal(with.turn.seen, 3);
	assert_int_equal(without.turn.seen, 1);
	assert_float_equal(with.turn.ns, 7, 0); /* not that of the one it waited for */
	g = &with.groups.at[0];
	assert_float_equal(g->device_ns, 5 * 5000 / 3.0, 1e-6);
	break_costs_add_turns(&with, turnaround_of_both(without.turn, with.turn));
	assert_float_equal(g->device_ns, 5 * 5007 / 3.0, 1e-6);
	/* the device is the longer one, so each kernel more costs that too */
	assert_float_equal(g->cost_ns, g->breaks[0].kernel_ns, 1e-6);
	assert_float_equal(g->breaks[0].kernel_ns, g->breaks[0].kernels * (100 + 7), 1e-6);
	break_costs_finish(&with);
	break_costs_finish(&without);
}

/* One piece with a fallback between two kernels: 100 and 20 ns beside the op's own 180. */
static void an_op_that_is_not_lowered_has_its_gap_within_its_graph(void **state)
{
	const double moved[1] = { 400 };
	struct break_costs c;
	struct break_sample *b;
	struct set s;
	struct err err = { 0 };

	(void)state;
	break_costs_init(&c, 1);
	s.w = open_writer(&c);
	open_set(&s);
	s.brk[0] = timeline_writer_name(
	    s.w, json_pack("{s:s, s:i, s:s}", "name", "break", "break", 0, "stage", "lowering"));
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 2000, 0);
	host(&s, TIMELINE_GUARDS, 0, 50);
	piece(&s, 50, 2000);
	launch(&s, 100, 600);
	meet(&s, 0, 620, 900);
	launch(&s, 650, 830); /* the op */
	launch(&s, 900, 1500);
	launch(&s, 1600, 1900); /* no gap of a break */
	close_writer(s.w);
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	b = &c.groups.at[0].breaks[0];
	assert_float_equal(b->met, 1, 0);
	assert_float_equal(b->eager, 1, 0);
	assert_float_equal(b->eager_ns, 180, 1e-6);
	assert_float_equal(b->gap.statement_ns, 100, 1e-6); /* the fallback's, less its kernel */
	assert_float_equal(b->gap.frame_ns, 20, 1e-6);
	assert_float_equal(b->kernels, 1, 1e-6);
	assert_float_equal(b->cost_ns, 120 + b->kernel_ns, 1e-6);
	break_costs_finish(&c);
}

static void a_denied_op_is_priced_and_timed_against_the_function_where_it_is_lowered(void **state)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:[s], s:[s], s:s, s:[[{s:{s:[i, i], s:i}}]]}",
				 "name", "denied", "threads", 1, "backend", "interp", "modes",
				 "static", "deny", "exp", "source",
				 "import torch\n"
				 "def model(x):\n"
				 "    y = torch.sin(x)\n"
				 "    z = torch.exp(y) + y\n"
				 "    torch._dynamo.graph_break()\n"
				 "    return (z * 2).sum()\n",
				 "calls", "random", "shape", 8, 16, "seed", 1);
	json_t *report = run_whole(json, true),
	       *m = json_object_get(json_object_get(report, "modes"), "static"),
	       *breaks = json_object_get(m, "breaks"), *item, *cost,
	       *without = json_object_get(json_object_get(m, "break_cost"), "without");
	size_t i;
	int seen = 0;

	(void)state;
	json_array_foreach(breaks, i, item)
	{
		bool lowering = strcmp(json_string_value(json_object_get(item, "stage")),
				       "lowering") == 0;

		cost = json_object_get(item, "cost");
		assert_float_equal(number(cost, "met"), 1, 0);
		assert_string_equal(json_string_value(json_object_get(cost, "kernel_from")),
				    "fused");
		assert_float_equal(number(cost, "eager_launches"), lowering, 0);
		/* y is written and read again, exp(y) too: twice 512 bytes; z: once */
		assert_int_equal((int)number(cost, "moved_bytes"), lowering ? 2048 : 1024);
		assert_int_equal((int)number(cost, "kept_bytes"), 512);
		seen += lowering ? 1 : 10;
	}
	assert_int_equal(seen, 11);
	assert_true(json_is_true(json_object_get(without, "allowed")));
	assert_int_equal(number(without, "breaks_left"), 0);
	json_decref(report);
}

/* The tensor that crosses the break goes into a graph that runs in pieces. */
static void a_graph_in_pieces_may_stand_behind_a_break(void **state)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:[s], s:[s], s:s, s:[[{s:{s:[i, i], s:i}}]]}",
				 "name", "pieces", "threads", 1, "backend", "interp", "modes",
				 "static", "deny", "exp", "source",
				 "import torch\n"
				 "def model(x):\n"
				 "    y = torch.sin(x)\n"
				 "    torch._dynamo.graph_break()\n"
				 "    return (torch.exp(y * 2) + y).sum()\n",
				 "calls", "random", "shape", 8, 16, "seed", 1);
	json_t *report = run_whole(json, true),
	       *breaks = json_object_get(
		   json_object_get(json_object_get(report, "modes"), "static"), "breaks"),
	       *item;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(breaks), 2);
	json_array_foreach(breaks, i, item)
	    assert_true(number(json_object_get(item, "cost"), "moved_bytes") >= 1024);
	json_decref(report);
}

/* A trace that is read in its middle: tracing is not the barrier's. */
static void a_barrier_costs_what_it_takes_to_run_its_trace(void **state)
{
	const double moved[1] = { 400 };
	struct break_costs c;
	struct break_sample *b;
	struct set s;
	struct err err = { 0 };

	(void)state;
	break_costs_init(&c, 1);
	c.lazy = true;
	s.w = open_writer(&c);
	open_set(&s);
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 5000, 0);
	meet(&s, 0, 1000, 2000);
	piece(&s, 1000, 2000);
	host(&s, TIMELINE_GUARDS, 1000, 1150);
	host(&s, TIMELINE_ALLOC, 1200, 1260);
	launch(&s, 1300, 1900);
	piece(&s, 4000, 4900); /* the end of the step */
	host(&s, TIMELINE_GUARDS, 4000, 4150);
	launch(&s, 4300, 4800);
	close_writer(s.w);
	assert_true(break_costs_read(&c, &curve, moved, false, NULL, &err));
	b = &c.groups.at[0].breaks[0];
	assert_float_equal(b->gap.guards_ns, 150, 1e-6);
	assert_float_equal(b->gap.alloc_ns, 60, 1e-6);
	assert_float_equal(b->gap.frame_ns, 400 - 210, 1e-6);
	assert_float_equal(b->gap.statement_ns, 0, 1e-6);
	assert_float_equal(b->kernels, 1, 0);
	assert_float_equal(b->cost_ns, 400 + b->kernel_ns, 1e-6);
	break_costs_finish(&c);
}

static void barriers_of_a_lazy_run_are_priced(void **state)
{
	json_t *json = json_pack("{s:s, s:i, s:s, s:[s], s:s, s:[[{s:{s:[i, i], s:i}}]]}", "name",
				 "lazy", "threads", 1, "backend", "interp", "modes", "lazy",
				 "source",
				 "import torch\n"
				 "def model(x):\n"
				 "    y = torch.sin(x)\n"
				 "    z = y * y.amax().item()\n"
				 "    return z.sum()\n",
				 "calls", "random", "shape", 8, 16, "seed", 1);
	json_t *report = run_whole(json, true),
	       *m = json_object_get(json_object_get(report, "modes"), "lazy"),
	       *item = json_array_get(json_object_get(m, "breaks"), 0),
	       *cost = json_object_get(item, "cost"),
	       *without = json_object_get(json_object_get(m, "break_cost"), "without");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(item, "outcome")), "barrier");
	assert_float_equal(number(cost, "met"), 1, 0);
	assert_true(number(cost, "guards_us") > 0);
	assert_true(number(cost, "idle_us") > number(cost, "guards_us"));
	assert_int_equal((int)number(cost, "kept_bytes"), 516); /* y and what is read */
	assert_true(json_is_object(without));
	assert_int_equal(number(without, "breaks_left"), 0);
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_one_graph_are_timed_where_it_is_known),
		cmocka_unit_test(one_graph_may_be_slower_than_its_parts),
		cmocka_unit_test(gaps_beside_a_device_are_those_without_cupti),
		cmocka_unit_test(a_device_takes_its_time_from_kernel_to_kernel),
		cmocka_unit_test(an_op_that_is_not_lowered_has_its_gap_within_its_graph),
		cmocka_unit_test(a_graph_in_pieces_may_stand_behind_a_break),
		cmocka_unit_test(a_barrier_costs_what_it_takes_to_run_its_trace),
		cmocka_unit_test(barriers_of_a_lazy_run_are_priced),
		cmocka_unit_test(
		    a_denied_op_is_priced_and_timed_against_the_function_where_it_is_lowered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
