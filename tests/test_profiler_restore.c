/* tests/test_profiler_restore.c -- inputs that a program writes are put back on the device, where
 * their kernels' memory is.
 */
#include "profiler/measure/candidate.h"
#include "tests/cuda_emulated.h"
#include "tests/report_help.h"

#define WRITES                                                                                     \
	"{'source': 'def model(x, m):\\n    m.copy_(x * 2)\\n    return x + 1\\n', "               \
	"'device': 'cuda', 'seconds': 0.05, 'modes': ['eager', 'static', 'graphs'], 'calls': "     \
	"[[{'random': {'shape': [64, 64]}}, {'random': {'shape': [64, 64], 'seed': 9}}]]}"

struct case_of {
	json_t *json;
	struct workload *w;
	struct inputs inputs;
	struct candidate candidate;
};

static void begin(struct case_of *c, enum fusion_mode mode)
{
	struct err err = { 0 };

	c->json = load(WRITES);
	c->w = workload_parse(c->json, &err);
	if (!c->w)
		fail_msg("%s", err.message);
	assert_true(inputs_create(&c->inputs, c->w, &c->w->points[0], &err));
	if (!candidate_create(
		&c->candidate,
		&(struct candidate_spec){
		    .w = c->w, .p = &c->w->points[0], .mode = mode, .originals = &c->inputs },
		&err))
		fail_msg("%s", err.message);
}

static void end(struct case_of *c)
{
	candidate_destroy(&c->candidate);
	inputs_destroy(&c->inputs);
	workload_destroy(c->w);
	json_decref(c->json);
}

static void call(struct case_of *c)
{
	struct err err = { 0 };
	struct value out;

	assert_true(candidate_call(&c->candidate, 0, &out, &err));
	value_unref(out);
}

static const struct tensor *memory(const struct candidate *candidate, int k)
{
	return candidate->args[0][k].tensor->memory;
}

static bool same(const struct tensor *a, const struct tensor *b)
{
	return memcmp(tensor_read((struct tensor *)a), tensor_read((struct tensor *)b),
		      64 * 64 * sizeof(float)) == 0;
}

/* Whether the call has been: m is twice x. */
static bool has_run(const struct candidate *candidate)
{
	const float *x = tensor_read(candidate->args[0][0].tensor->memory);
	const float *m = tensor_read(candidate->args[0][1].tensor->memory);

	for (int i = 0; i < 64 * 64; i++)
		if (m[i] != 2 * x[i])
			return false;
	return true;
}

static int64_t pointed(const struct candidate *candidate)
{
	return fusion_graph(candidate->session, 0).recording.pointed;
}

/* The same in each mode: what is written, and it alone, comes from a copy on the device into
 * the tensor that there is, so that no recording has to point elsewhere. */
static void what_is_written_is_put_back_on_the_device(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_GRAPHS };

	(void)state;
	emulate();
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		struct err err = { 0 };
		struct case_of c;
		const void *at;
		int64_t points = 0;

		begin(&c, modes[i]);
		call(&c);
		assert_true(candidate_note_writes(&c.candidate, 0, &err));
		assert_int_equal(c.candidate.use[0][0], USE_READ);
		assert_int_equal(c.candidate.use[0][1], USE_WRITTEN);
		at = tensor_kernel_reads(c.candidate.args[0][1].tensor->memory);
		for (int k = 1; k <= 3; k++) {
			assert_true(has_run(&c.candidate));
			assert_true(candidate_restore(&c.candidate, 0, &err));
			assert_true(
			    same(memory(&c.candidate, 1), c.inputs.args[0][1].tensor->memory));
			assert_int_equal(c.candidate.restores, k);
			assert_int_equal(c.candidate.restored_on_device, k);
			call(&c);
			assert_ptr_equal(tensor_kernel_reads(c.candidate.args[0][1].tensor->memory),
					 at);
			if (modes[i] != FUSION_GRAPHS)
				continue;
			if (k > 1)
				assert_int_equal(pointed(&c.candidate), points);
			points = pointed(&c.candidate);
		}
		end(&c);
	}
}

/* Those that take turns are each other's equals: fresh where they are written, else shared. */
static void sets_are_made_and_put_back_on_the_device(void **state)
{
	struct err err = { 0 };
	struct case_of c;

	(void)state;
	emulate();
	begin(&c, FUSION_STATIC);
	call(&c);
	assert_true(candidate_note_writes(&c.candidate, 0, &err));
	assert_true(candidate_make_sets(&c.candidate, 3, &err));
	assert_int_equal(c.candidate.n_sets, 3);
	for (int turn = 0; turn < 2; turn++)
		for (int s = 0; s < 3; s++) {
			candidate_use_set(&c.candidate, s);
			assert_true(candidate_restore(&c.candidate, 0, &err));
			assert_true(
			    same(memory(&c.candidate, 1), c.inputs.args[0][1].tensor->memory));
			call(&c);
			assert_true(has_run(&c.candidate));
			assert_ptr_equal(c.candidate.args[0][0].tensor,
					 c.candidate.sets[0][0][0].tensor);
		}
	assert_int_equal(c.candidate.restores, 6);
	assert_int_equal(c.candidate.restored_on_device, 6);
	candidate_use_set(&c.candidate, 0);
	candidate_drop_sets(&c.candidate);
	end(&c);
}

/* A whole run says so of each mode. */
static void a_report_says_where_inputs_were_put_back(void **state)
{
	static const char *const modes[] = { "eager", "static", "graphs" };
	json_t *report;

	(void)state;
	emulate();
	report = run_whole(load(WRITES), true);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		const json_t *m = json_object_get(at(report, "modes"), modes[i]);
		const json_t *restored = json_object_get(m, "restored");

		assert_string_equal(json_string_value(json_object_get(restored, "where")),
				    "device");
		assert_true(number(restored, "arguments") > 0);
		assert_true(number(restored, "copied_on_device") == number(restored, "arguments"));
		assert_true(number(restored, "sets") >= 1);
	}
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_put_back_on_the_device),
		cmocka_unit_test(sets_are_made_and_put_back_on_the_device),
		cmocka_unit_test(a_report_says_where_inputs_were_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
