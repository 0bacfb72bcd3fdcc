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
	close_writer(s.w, 0);
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

/* Beside a device: a launch takes 10 ns by itself and 40 while CUPTI records. */
static void read_launches(struct break_costs *c, int64_t ns, int n)
{
	static const double moved[1] = { 0 };
	struct set s;
	struct err err = { 0 };

	break_costs_init(c, n > 1);
	s.w = open_writer(c);
	open_set(&s);
	put(&s, TIMELINE_CALL, s.calls, s.call, 0, 1500 + n * ns, 0);
	piece(&s, 50, 190 + ns);
	if (n > 1)
		meet(&s, 0, 300 + ns, 900 + ns);
	for (int i = 0; i < n; i++) {
		int64_t at = 100 + i * (900 + ns);

		if (i)
			piece(&s, at - 5, 1500 + n * ns);
		put(&s, TIMELINE_LAUNCH, s.host, s.kernel, at, at + ns, (uint32_t)i + 1);
	}
	close_writer(s.w, 0);
	assert_true(break_costs_read(c, &curve, moved, true, NULL, &err));
}

static void gaps_beside_a_device_are_those_without_cupti(void **state)
{
	const bool gone[1] = { true };
	struct break_costs watched, alone, without;

	(void)state;
	read_launches(&watched, 40, 2);
	read_launches(&alone, 10, 2);
	read_launches(&without, 40, 2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_one_graph_are_timed_where_it_is_known),
		cmocka_unit_test(one_graph_may_be_slower_than_its_parts),
		cmocka_unit_test(gaps_beside_a_device_are_those_without_cupti),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
