/* tests/test_profiler_setup.c -- what a run does beside measuring: numbers, sums, restoring. */
#include "fusion/tensor/tensor.h"
#include "profiler/roofline/copy_curve.h"
#include "profiler/measure/candidate.h"
#include "profiler/measure/wall.h"
#include "profiler/workload/bulk.h"
#include "profiler/workload/random.h"
#include "tests/report_help.h"

/* More than threads are started for, and no multiple of a block. */
enum { MANY = 5 * BULK_BLOCK + 77 };

static struct tensor *filled(struct allocator *a, enum random_kind kind, int threads)
{
	struct random r = { .kind = kind, .seed = 5, .high = 1 };
	struct err err = { 0 };
	struct tensor *t = tensor_create(a, DTYPE_F32, 1, (int64_t[]){ MANY }, &err);

	assert_non_null(t);
	random_fill(&r, DTYPE_F32, tensor_data(t), MANY, threads);
	return t;
}

static void numbers_do_not_depend_on_threads(void **state)
{
	static const enum random_kind kinds[] = { RANDOM_RANDN, RANDOM_RAND, RANDOM_ARANGE };
	struct allocator *a = allocator_create((size_t)1 << 30, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct tensor *one = filled(a, kinds[i], 1), *many = filled(a, kinds[i], 5);
		struct bulk_summary by_one, by_many;

		assert_true(bulk_same(tensor_read(one), tensor_read(many), MANY * 4, 3));
		assert_true(bulk_summarise(one, 1, &by_one));
		assert_true(bulk_summarise(many, 3, &by_many));
		assert_true(by_one.sum == by_many.sum && by_one.hash == by_many.hash);
		((float *)tensor_data(many))[MANY - 1] += 1;
		assert_false(bulk_same(tensor_read(one), tensor_read(many), MANY * 4, 3));
		assert_true(bulk_summarise(many, 3, &by_many));
		assert_true(by_one.hash != by_many.hash);
		tensor_unref(one);
		tensor_unref(many);
	}
	allocator_destroy(a);
}

static void the_parts_of_the_wall_time_add_up(void **state)
{
	static const char *const parts[] = { "setup",     "compile", "warm_up", "measuring",
					     "comparing", "storing", "other" };
	json_t *report = run_whole(load("{'source': 'def model(x):\\n    return x * 2\\n', "
					"'backend': 'interp', 'seconds': 0.05, 'modes': ['eager', "
					"'static'], 'calls': [[{'random': {'shape': [64]}}]]}"),
				   true);
	json_t *wall = json_object_get(report, "wall_ms");
	double sum = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		assert_true(number(wall, parts[i]) >= 0);
		sum += number(wall, parts[i]);
	}
	assert_float_equal(sum, number(wall, "total"), 1e-6 * sum);
	assert_true(number(wall, "compile") > 0 && number(wall, "measuring") > 0);
	assert_int_equal(json_object_size(wall), 8);
	json_decref(report);
}

static void what_is_moved_between_parts_is_no_more_than_there_was(void **state)
{
	struct report_wall to = { 0 };
	struct wall wall;

	(void)state;
	wall_begin(&wall);
	assert_int_equal(wall_to(&wall, WALL_WARM_UP), WALL_OTHER);
	wall_move(&wall, WALL_COMPILE, INT64_MAX);
	assert_int_equal(wall.ns[WALL_WARM_UP], 0);
	wall_move(&wall, WALL_COMPILE, -5);
	wall_report(&wall, &to);
	assert_true(to.compile >= 0 && to.warm_up >= 0);
	assert_int_equal(wall_to(NULL, WALL_SETUP), WALL_OTHER);
	wall_move(NULL, WALL_SETUP, 1);
}

/* Whether a kernel was held against a copy that lies in the cache: it was, far beyond. */
static void a_copy_is_of_memory_where_the_kernels_are(void **state)
{
	json_t *json = load("{'source': 'def model(x):\\n    return x\\n', 'backend': 'interp', "
			    "'threads': 1, 'calls': [[{'value': 1}]]}");
	const int64_t cache = 1 << 17;
	struct err err = { 0 };
	struct workload *w = workload_parse(json, &err);
	struct copy_curve inside, beyond;

	(void)state;
	assert_non_null(w);
	assert_true(copy_curve_measure(&inside, w, 1000, 64 << 20, &err));
	assert_false(inside.whole);
	assert_false(copy_curve_reaches(&inside, 128 << 20));
	assert_true(copy_curve_measure(&beyond, w, 8 * cache, 2 * cache, &err));
	assert_true(beyond.whole);
	assert_true(beyond.bytes[beyond.n - 1] >= COPY_BEYOND * 2 * cache);
	assert_true(copy_curve_reaches(&beyond, INT64_C(1) << 40));
	workload_destroy(w);
	json_decref(json);
}

/* One argument is written, the other is not: it alone is put back. */
static void what_is_only_read_is_left_alone(void **state)
{
	json_t *report = run_whole(
	    load("{'source': 'def model(x, m):\\n    m.add_(x.sum())\\n    return x + m\\n', "
		 "'backend': 'interp', 'seconds': 0.05, 'modes': ['eager', 'static'], 'calls': "
		 "[[{'random': {'shape': [64]}}, {'random': {'shape': [1]}}]]}"),
	    true);
	const json_t *m = json_object_get(json_object_get(report, "modes"), "static");
	const json_t *restored = json_object_get(m, "restored");

	(void)state;
	assert_true(json_is_true(json_object_get(m, "agrees")));
	assert_string_equal(json_string_value(json_object_get(restored, "where")), "host");
	assert_true(number(restored, "arguments") > 0);
	json_decref(report);
}

static void restores_are_counted_by_argument(void **state)
{
	json_t *json = load("{'source': 'def model(x, m):\\n    m.add_(1)\\n    return x + m\\n', "
			    "'backend': 'interp', 'calls': [[{'random': {'shape': [64]}}, "
			    "{'random': {'shape': [1]}}]]}");
	struct err err = { 0 };
	struct workload *w = workload_parse(json, &err);
	struct inputs inputs;
	struct candidate candidate;
	struct value out;

	(void)state;
	assert_non_null(w);
	assert_true(inputs_create(&inputs, w, &w->points[0], &err));
	assert_true(candidate_create(
	    &candidate,
	    &(struct candidate_spec){
		.w = w, .p = &w->points[0], .mode = FUSION_EAGER, .originals = &inputs },
	    &err));
	assert_true(candidate_call(&candidate, 0, &out, &err));
	value_unref(out);
	assert_true(candidate_note_writes(&candidate, 0, &err));
	assert_true(candidate.writes);
	assert_int_equal(candidate.use[0][0], USE_READ);
	assert_int_equal(candidate.use[0][1], USE_WRITTEN);
	assert_true(candidate_restore(&candidate, 0, &err));
	assert_int_equal(candidate.restores, 1);
	assert_true(candidate_make_sets(&candidate, 3, &err));
	assert_int_equal(candidate.n_sets, 3);
	assert_ptr_equal(candidate.sets[1][0][0].tensor, candidate.sets[0][0][0].tensor);
	assert_ptr_not_equal(candidate.sets[1][0][1].tensor, candidate.sets[0][0][1].tensor);
	candidate_use_set(&candidate, 2);
	assert_true(candidate_call(&candidate, 0, &out, &err));
	value_unref(out);
	assert_true(candidate_restore(&candidate, 0, &err));
	candidate_drop_sets(&candidate);
	candidate_destroy(&candidate);
	inputs_destroy(&inputs);
	workload_destroy(w);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_do_not_depend_on_threads),
		cmocka_unit_test(the_parts_of_the_wall_time_add_up),
		cmocka_unit_test(what_is_moved_between_parts_is_no_more_than_there_was),
		cmocka_unit_test(a_copy_is_of_memory_where_the_kernels_are),
		cmocka_unit_test(what_is_only_read_is_left_alone),
		cmocka_unit_test(restores_are_counted_by_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
