/* tests/test_passes_list.c -- the list of passes as data: orders, switches, the log. */
#include "tests/passes_help.h"

#include "fusion/passes/pass.h"

static bool nothing(struct pass_run *run, bool *changed, struct err *err)
{
	(void)run, (void)changed, (void)err;
	return true;
}

static struct pass_info pass_of(const char *name, unsigned needs, unsigned makes, unsigned breaks,
				const char *after)
{
	return (struct pass_info){ .name = name,
				   .purpose = "a pass of this test",
				   .needs = needs,
				   .makes = makes,
				   .breaks = breaks,
				   .after = after,
				   .plugin = "test.so",
				   .run = nothing };
}

static void assert_order_refused(const struct pass_info *pass, const char *place, bool after,
				 const char *want)
{
	struct pass_list list = *pass_list_default();
	struct err err = { 0 };

	if (pass_list_insert(&list, pass, place, after, &err))
		fail_msg("%s was taken", pass->name);
	assert_string_equal(err.message, want);
	assert_int_equal(list.n, pass_list_default()->n);
}

static void our_order_is_right(void **state)
{
	struct err err = { 0 };

	(void)state;
	if (!pass_list_check(pass_list_default(), 0, &err))
		fail_msg("%s", err.message);
}

static void every_wrong_order_of_two_neighbours_that_need_each_other_is_refused(void **state)
{
	static const char *const pairs[][2] = { { "pattern_match", "decompose" },
						{ "decompose", "fold" },
						{ "fold", "simplify" },
						{ "simplify", "cse" },
						{ "cse", "hoist_views" },
						{ "hoist_views", "sink_views" },
						{ "dce", "views" },
						{ "sink_views", "dce" },
						{ "outputs", "fuse" } };

	(void)state;
	for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++) {
		struct pass_list list = *pass_list_default();
		int a = pass_list_find(&list, pairs[p][0]), b = pass_list_find(&list, pairs[p][1]);
		struct pass_info kept = list.passes[a];
		struct err err = { 0 };

		list.passes[a] = list.passes[b];
		list.passes[b] = kept;
		if (pass_list_check(&list, 0, &err))
			fail_msg("%s before %s was taken", pairs[p][1], pairs[p][0]);
		assert_non_null(strstr(err.message, pairs[p][0]));
		assert_non_null(strstr(err.message, pairs[p][1]));
	}
}

static void a_wrong_order_says_what_is_missing_and_who_makes_it(void **state)
{
	struct pass_info early = pass_of("mine", 1u << PROPERTY_primitive, 0, 0, "");
	struct pass_info before = pass_of("mine", 0, 0, 0, "dce");
	struct pass_info breaks = pass_of("mine", 0, 0, 1u << PROPERTY_apart, "");
	struct pass_info taken = pass_of("cse", 0, 0, 0, "");

	(void)state;
	assert_order_refused(
	    &early, "decompose", false,
	    "pass mine needs a graph in which no op that is made of others is left "
	    "('primitive'), which pass decompose makes: decompose has to run before it");
	assert_order_refused(&before, "cse", false,
			     "pass mine has to run after pass dce, and is before it");
	assert_order_refused(
	    &breaks, "fuse", false,
	    "pass fuse needs a graph in which each output has memory of its own "
	    "('apart'), but pass mine, which breaks that, is between outputs and it");
	assert_order_refused(
	    &breaks, "fuse", true,
	    "the lowering needs a graph in which each output has memory of its own "
	    "('apart'), but pass mine, which breaks that, is between outputs and it");
	assert_order_refused(&taken, "fuse", true, "there is a pass 'cse' already");
	assert_order_refused(&early, "fuze", true, "there is no pass 'fuze'; did you mean 'fuse'?");
}

static void a_pass_takes_its_place_and_can_be_switched_off(void **state)
{
	struct pass_list list = *pass_list_default();
	struct pass_info mine = pass_of("mine", 0, 0, 0, "cse");
	uint64_t disabled = 0;
	struct err err = { 0 };

	(void)state;
	assert_true(pass_list_insert(&list, &mine, "cse", true, &err));
	assert_string_equal(list.passes[pass_list_find(&list, "cse") + 1].name, "mine");
	assert_true(pass_list_disable(&list, "mine", &disabled, &err));
	assert_true(disabled == (uint64_t)1 << pass_list_find(&list, "mine"));
}

/* Of before 2026-11-23: in settings, plugins and reports. */
static void a_pass_is_known_by_the_name_it_had(void **state)
{
	struct pass_list list = *pass_list_default();
	struct pass_info mine = pass_of("mine", 0, 0, 0, "lift"),
			 sink = pass_of("sink", 0, 0, 0, "");
	uint64_t disabled = 0;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(pass_list_find(&list, "calls"), pass_list_find(&list, "pattern_match"));
	assert_true(pass_list_disable(&list, "lift", &disabled, &err));
	assert_true(disabled == (uint64_t)1 << pass_list_find(&list, "hoist_views"));
	assert_true(pass_list_insert(&list, &sink, "sink", true, &err));
	assert_string_equal(list.passes[pass_list_find(&list, "sink") - 1].name, "sink_views");
	assert_false(pass_list_insert(&list, &mine, "cse", false, &err));
	assert_non_null(strstr(err.message, "pass mine has to run after pass hoist_views"));
}

static void what_others_need_is_not_switched_off(void **state)
{
	static const char *const needed[] = { "decompose", "views", "outputs" };
	const struct pass_list *list = pass_list_default();
	uint64_t disabled = 0;
	int n = 0;

	(void)state;
	for (int i = 0; i < list->n; i++)
		n += (list->required >> i & 1) != 0;
	assert_int_equal(n, 3);
	for (int i = 0; i < 3; i++) {
		struct err err = { 0 };

		assert_false(pass_list_disable(list, needed[i], &disabled, &err));
		assert_non_null(strstr(err.message, "cannot be switched off"));
		assert_true(disabled == 0);
	}
}

static void a_pass_that_lies_is_caught(void **state)
{
	struct pass_list list = *pass_list_default();
	struct pass_info liar = pass_of("liar", 0, 1u << PROPERTY_live, 0, "");
	struct world *w = *state;
	struct pass_options options = { .list = &list };
	struct pass_result result;
	struct arg x = input(w, DTYPE_F32, SIZES(4));

	ADD(w, OP_cos, x);
	RETURN(w, ADD(w, OP_sin, x));
	assert_true(pass_list_insert(&list, &liar, "decompose", true, &w->err));
	assert_false(passes_run(w->g, &options, &result, &w->err));
	assert_string_equal(w->err.message, "pass liar of the plugin test.so broke the graph: "
					    "nothing reads %cos");
	assert_int_equal(w->err.code, ERR_PLUGIN);
}

static const struct pass_step *step_of(const struct pass_log *log, const char *name)
{
	for (int i = 0; i < log->n; i++)
		if (strcmp(log->steps[i].name, name) == 0)
			return &log->steps[i];
	fail_msg("no step %s", name);
	return NULL;
}

/* relu(relu(x * 1)), twice, and a sine that nobody reads */
static void build_sample(struct world *w)
{
	struct arg x = input(w, DTYPE_F32, SIZES(4));
	struct arg a = ADD(w, OP_relu, ADD(w, OP_relu, ADD(w, OP_mul, x, arg_float(1))));
	struct arg b = ADD(w, OP_relu, ADD(w, OP_relu, ADD(w, OP_mul, x, arg_float(1))));

	ADD(w, OP_sin, x);
	RETURN(w, ADD(w, OP_add, a, b));
}

static void the_log_has_the_graph_before_and_behind_each_pass_that_changed_it(void **state)
{
	struct world *w = *state;
	struct pass_options options = { .verify = true };
	struct pass_log log = { .max_bytes = 1 << 20, .max_firings = 100 };
	const struct pass_step *step;

	build_sample(w);
	assert_true(passes_watch(w->g, &options, &log, &w->err));
	assert_int_equal(log.n, pass_list_default()->n);
	assert_non_null(strstr(log.before, "%mul: float32[4] = mul(%arg0, 1.0)"));
	step = step_of(&log, "decompose");
	assert_false(step->changed);
	assert_null(step->after);
	assert_int_equal(step->firings.len, 0);
	step = step_of(&log, "simplify");
	assert_true(step->changed);
	assert_null(strstr(step->after, "mul"));
	assert_int_equal(step->firings.len, 4);
	assert_string_equal(step->firings.at[0].rule, "x * 1 is x");
	assert_string_equal(step->firings.at[0].node, "mul");
	assert_string_equal(step->firings.at[1].rule, "f(f(x)) is f(x)");
	step = step_of(&log, "cse");
	assert_string_equal(step->firings.at[0].rule, "computed before");
	step = step_of(&log, "dce");
	assert_string_equal(step->firings.at[0].rule, "nothing reads it");
	assert_string_equal(step->firings.at[0].node, "sin");
	step = step_of(&log, "fuse");
	assert_non_null(strstr(step->after, "kernel 0: %relu, %add\n"));
	assert_null(w->g->log);
	pass_log_finish(&log);
}

static void the_log_is_bounded_and_counts_what_it_leaves_out(void **state)
{
	struct world *w = *state;
	struct pass_options options = { .disabled = (uint64_t)1
						    << pass_list_find(pass_list_default(), "dce") };
	struct pass_log log = { .max_bytes = 400, .max_firings = 1 };

	build_sample(w);
	assert_true(passes_watch(w->g, &options, &log, &w->err));
	assert_true(log.bytes <= 400);
	assert_true(log.left_out_bytes > 0);
	assert_int_equal(step_of(&log, "simplify")->firings.len, 1);
	assert_int_equal(step_of(&log, "simplify")->firings_left_out, 3);
	assert_true(step_of(&log, "simplify")->changed);
	assert_true(step_of(&log, "dce")->off);
	pass_log_finish(&log);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(our_order_is_right),
		CASE(every_wrong_order_of_two_neighbours_that_need_each_other_is_refused),
		CASE(a_wrong_order_says_what_is_missing_and_who_makes_it),
		CASE(a_pass_takes_its_place_and_can_be_switched_off),
		CASE(a_pass_is_known_by_the_name_it_had),
		CASE(what_others_need_is_not_switched_off),
		CASE(a_pass_that_lies_is_caught),
		CASE(the_log_has_the_graph_before_and_behind_each_pass_that_changed_it),
		CASE(the_log_is_bounded_and_counts_what_it_leaves_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
