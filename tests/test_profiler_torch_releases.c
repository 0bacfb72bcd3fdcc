/* tests/test_profiler_torch_releases.c -- what releases of PyTorch write differently into
 * TORCH_TRACE.
 *
 * The records are made up, in the words that 2.6 and 2.14 have for the same programs.
 */
#include "tests/import_file.h"

#define V "V1121 10:00:00.000000 7 torch/x.py:1] "
#define OF(frame, compile)                                                                         \
	"\"frame_id\": " #frame ", \"frame_compile_id\": " #compile ", \"attempt\": 0"
#define START(frame, compile, name, line)                                                          \
	V "{\"dynamo_start\": {\"stack\": [{\"line\": " #line ", \"name\": \"" name                \
	  "\", \"filename\": 0}]}, " OF(frame, compile) "}\n"
#define GRAPH(frame, compile, attempt)                                                             \
	V "{\"dynamo_output_graph\": {\"sizes\": {}}, \"frame_id\": " #frame                       \
	  ", \"frame_compile_id\": " #compile ", \"attempt\": " #attempt "}\n"
#define BREAK(frame, compile, text)                                                                \
	V "{\"artifact\": {\"name\": \"dynamo_graph_break_reason\", \"encoding\": "                \
	  "\"string\"}, " OF(                                                                      \
	      frame,                                                                               \
	      compile) ", \"has_payload\": \"0\"}\n\tGraph break in user code at /w/m.py:" text    \
		       "\n"
#define METRICS(frame, compile, name, line, rest)                                                  \
	V "{\"compilation_metrics\": {\"co_name\": \"" name                                        \
	  "\", \"co_filename\": \"/w/m.py\", \"co_firstlineno\": " #line ", " rest                 \
	  "}, " OF(frame, compile) "}\n"
#define FILE_NAME V "{\"str\": [\"/w/m.py\", 0]}\n"
#define DONE "\"has_guarded_code\": true, \"graph_op_count\": 2, \"restart_reasons\": "
#define UNKNOWN "[\"Unknown fail_and_restart_analysis\"]"

/* A break that cannot be resumed: 2.6 says nothing of it but that the analysis began again. */
static void test_step_of_2_6(void **state)
{
	json_t *r = import_one(FILE_NAME START(0, 0, "tries", 30) GRAPH(0, 0, 1)
				   METRICS(0, 0, "tries", 30, DONE UNKNOWN));

	(void)state;
	assert_count(r, "graphs", 1);
	assert_int_equal(json_array_size(at_path(r, "breaks")), 1);
	assert_string_equal(text_at(r, "breaks.0.file"), "/w/m.py");
	assert_count(r, "breaks.0.line", 30);
	assert_string_equal(text_at(r, "breaks.0.outcome"), "step");
	assert_count(r, "ledger.kept.breaks_without_place", 1);
	assert_count(r, "ledger.kept.other_restarts", 0);
	assert_string_equal(text_at(r, "compiles.0.outcome"), "break");
	assert_count(r, "compiles.0.attempts", 2);
	json_decref(r);
}

/* 2.14 states it and says the same of the restart: it is one break. */
static void test_step_of_2_14(void **state)
{
	json_t *r = import_one(FILE_NAME START(0, 0, "tries", 30) BREAK(
	    0, 0,
	    "33\n\tGraph Break Reason: Encountered graph break that we cannot resume from. "
	    "Compiling up to the previous resumable state, then skipping the rest of the "
	    "function. Graph break encountered:\n\t\n\tFailed to trace builtin operator\n\t  "
	    "Explanation: no print") GRAPH(0, 0, 1) METRICS(0, 0, "tries", 30, DONE UNKNOWN));

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "breaks")), 1);
	assert_count(r, "breaks.0.line", 33);
	assert_string_equal(text_at(r, "breaks.0.outcome"), "step");
	assert_count(r, "ledger.kept.breaks_without_place", 0);
	json_decref(r);
}

/* A break that resumes and one that does not, in one frame of 2.6: two. */
static void test_step_behind_a_resume(void **state)
{
	json_t *r = import_one(
	    FILE_NAME START(0, 0, "f", 3) BREAK(0, 0, "5\n\tReason: Unsupported: Tensor.item")
		METRICS(0, 0, "f", 3,
			DONE "[\"Tensor.item\", \"Unknown fail_and_restart_analysis\"]"));

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "breaks")), 2);
	assert_string_equal(text_at(r, "breaks.0.outcome"), "resume");
	assert_count(r, "breaks.0.outcomes.resume", 1);
	assert_null(at_path(r, "breaks.0.outcomes.unknown"));
	assert_string_equal(text_at(r, "breaks.1.outcome"), "step");
	assert_count(r, "breaks.1.line", 3);
	json_decref(r);
}

/* A break that is warned of: said twice, in two forms, of one place. */
static void test_warned(void **state)
{
	json_t *r = import_one(
	    FILE_NAME START(0, 0, "f", 3) V
	    "{\"artifact\": {\"name\": \"dynamo_graph_break_reason\", \"encoding\": "
	    "\"string\"}, " OF(0, 0) ", \"has_payload\": \"0\"}\n"
				     "\tWON'T CONVERT f /w/m.py line 3 \n"
				     "\t========== TorchDynamo Stack Trace ==========\n"
				     "\tTraceback (most recent call last):\n"
				     "\t  File \"/t/_dynamo/output_graph.py\", line 1, in call\n"
				     "\ttorch._dynamo.exc.BackendCompilerFailed: no such kernel\n"
				     "\t\n"
				     "\t========== The above exception occurred while processing "
				     "the following code ==========\n"
				     "\t\n"
				     "\t  File \"/w/m.py\", line 9, in top\n"
				     "\t    f(x)\n"
				     "\t  File \"/w/m.py\", line 5, in f\n"
				     "\t    print(y)\n"
				     "\t\n"
				     "\t==========\n" BREAK(
					 0, 0, "5\n\tReason: Unsupported: Backend compiler failed")
					 METRICS(0, 0, "f", 3,
						 DONE "[\"Backend compiler failed\"]"));

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "breaks")), 1);
	assert_string_equal(text_at(r, "breaks.0.file"), "/w/m.py");
	assert_count(r, "breaks.0.line", 5);
	assert_count(r, "breaks.0.count", 2);
	assert_string_equal(text_at(r, "breaks.0.message"),
			    "torch._dynamo.exc.BackendCompilerFailed: no such kernel");
	json_decref(r);
}

/* An assignment to an attribute: 2.6 states it by the next attempt, with a restart of no reason. */
static void test_assignment(void **state)
{
	json_t *r = import_one(FILE_NAME START(0, 0, "f", 25)
				   BREAK(0, 0, "28\n\tReason: STORE_ATTR-caused graph break")
				       METRICS(0, 0, "f", 25, DONE UNKNOWN));

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "breaks")), 1);
	assert_count(r, "breaks.0.line", 28);
	assert_string_equal(text_at(r, "breaks.0.outcome"), "resume");
	assert_count(r, "ledger.kept.breaks_without_place", 0);
	json_decref(r);
}

/* 2.6 does not say what became of a frame: its restarts do, and whether it has code. */
static void test_outcomes_of_2_6(void **state)
{
	json_t *r = import_one(
	    FILE_NAME START(0, 0, "f", 3) BREAK(0, 0, "5\n\tReason: Data-dependent jump") METRICS(
		0, 0, "f", 3, DONE "[]") START(1, 0, "loop",
					       10) BREAK(1, 0, "12\n\tReason: Data-dependent jump")
		METRICS(1, 0, "loop", 10, "\"has_guarded_code\": false, \"restart_reasons\": []")
		    START(2, 0, "inlined", 20) BREAK(
			2, 0, "22\n\tReason: Unsupported: Dynamic control flow is not supported")
			METRICS(2, 0, "inlined", 20,
				DONE "[\"Dynamic control flow is not supported\"]"));

	(void)state;
	assert_string_equal(text_at(r, "breaks.0.outcome"), "jump");
	assert_string_equal(text_at(r, "breaks.1.outcome"), "skip");
	assert_string_equal(text_at(r, "breaks.2.outcome"), "resume");
	json_decref(r);
}

/* A restart that is no break leaves a frame whole; its graph was made twice, and said twice. */
static void test_restart_without_a_break(void **state)
{
	json_t *r = import_one(FILE_NAME START(0, 0, "f", 3) GRAPH(0, 0, 0) GRAPH(0, 0, 1) METRICS(
	    0, 0, "f", 3, DONE "[\"<class 'torch._dynamo.exc.TensorifyScalarRestartAnalysis'>\"]"));

	(void)state;
	assert_count(r, "graphs", 2);
	assert_int_equal(json_array_size(at_path(r, "breaks")), 0);
	assert_count(r, "ledger.kept.other_restarts", 1);
	assert_string_equal(text_at(r, "compiles.0.outcome"), "ok");
	assert_count(r, "compiles.0.attempts", 2);
	json_decref(r);
}

/* A number of an attempt that no process comes to is not counted on from. */
static void test_attempt_of_nobody(void **state)
{
	json_t *r = import_one(FILE_NAME START(0, 0, "f", 3) GRAPH(0, 0, 9223372036854775807));

	(void)state;
	assert_count(r, "graphs", 1);
	assert_count(r, "compiles.0.attempts", 1);
	json_decref(r);
}

/* The ninth compilation is refused: 2.6 gives its reason to compile again and nothing else. */
static void test_refused(void **state)
{
	json_t *r = import_one(
	    FILE_NAME START(0, 0, "f", 3) METRICS(0, 0, "f", 3, DONE "[]") V
	    "{\"artifact\": {\"name\": \"recompile_reasons\", \"encoding\": \"json\"}, " OF(
		0, 8) ", \"has_payload\": \"0\"}\n\t[\n\t\"0/7: L['k'] == 3\"\n\t]\n");

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "recompiles")), 1);
	assert_string_equal(text_at(r, "recompiles.0.frame"), "f");
	assert_string_equal(text_at(r, "compiles.1.outcome"), "error");
	json_decref(r);
}

/* What compiled autograd captures is no frame: it has no metrics to miss.  Its frames have. */
static void test_compiled_autograd(void **state)
{
	json_t *r = import_one(
	    V
	    "{\"compiled_autograd_graph\": {}, \"compiled_autograd_id\": 0}\n" V
	    "{\"dynamo_output_graph\": {}, \"compiled_autograd_id\": 0, " OF(
		1,
		0) "}\n" V
		   "{\"compilation_metrics\": {\"compile_id\": \"!0/1/0\", \"graph_op_count\": 4}, "
		   "\"compiled_autograd_id\": 0, " OF(1, 0) "}\n");

	(void)state;
	assert_count(r, "graphs", 1);
	assert_int_equal(json_array_size(at_path(r, "compiles")), 2);
	assert_string_equal(text_at(r, "compiles.0.compile"), "!0");
	assert_string_equal(text_at(r, "compiles.0.outcome"), "ok");
	assert_string_equal(text_at(r, "compiles.1.compile"), "!0/1/0");
	assert_count(r, "ledger.kept.without_metrics", 0);
	json_decref(r);
}

/* torch._dynamo.reset(): ids begin again, and are other frames. */
static void test_reset(void **state)
{
#define AGAIN(frame, compile)                                                                      \
	V "{\"artifact\": {\"name\": \"recompile_reasons\", \"encoding\": \"json\"}, " OF(         \
	    frame, compile) ", \"has_payload\": \"0\"}\n\t0/0: x\n"
	json_t *r = import_one(
	    FILE_NAME START(0, 0, "f", 3) GRAPH(0, 0, 0)
		BREAK(0, 0, "5\n\tReason: Data-dependent jump") METRICS(0, 0, "f", 3, DONE "[]")
		    AGAIN(0, 1) START(0, 1, "f", 3) GRAPH(0, 1, 0) METRICS(0, 1, "f", 3, DONE "[]")
			START(0, 0, "g", 30) GRAPH(0, 0, 0) METRICS(0, 0, "g", 30, DONE "[]")
			    AGAIN(0, 1) START(0, 1, "g", 30) GRAPH(0, 1, 0)
				METRICS(0, 1, "g", 30, DONE "[]"));

	(void)state;
	assert_count(r, "graphs", 4);
	assert_int_equal(json_array_size(at_path(r, "compiles")), 4);
	assert_int_equal(json_array_size(at_path(r, "recompiles")), 2);
	assert_string_equal(text_at(r, "recompiles.0.frame"), "f");
	assert_string_equal(text_at(r, "recompiles.1.frame"), "g");
	assert_string_equal(text_at(r, "compiles.0.outcome"), "break");
	assert_string_equal(text_at(r, "compiles.2.outcome"), "ok");
	assert_string_equal(text_at(r, "compiles.2.compile"), "0/0");
	assert_count(r, "compiles.2.resets", 1);
	assert_count(r, "processes.0.resets", 1);
	json_decref(r);
}

/* A guard that a second attempt finds again. */
static void test_guards_again(void **state)
{
	json_t *r = import_one(V "{\"guard_added_fast\": {\"expr\": \"s0 <= 9\"}, " OF(
	    0, 0) "}\n" V
		  "{\"guard_added_fast\": {\"expr\": \"s0 <= 9\"}, " OF(
		      0, 0) "}\n" V
			    "{\"guard_added\": {\"expr\": \"Eq(s0, s1)\"}, " OF(0, 0) "}\n");

	(void)state;
	assert_int_equal(json_array_size(at_path(r, "compiles.0.shape_guards")), 2);
	json_decref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step_of_2_6),
		cmocka_unit_test(test_step_of_2_14),
		cmocka_unit_test(test_step_behind_a_resume),
		cmocka_unit_test(test_warned),
		cmocka_unit_test(test_assignment),
		cmocka_unit_test(test_outcomes_of_2_6),
		cmocka_unit_test(test_restart_without_a_break),
		cmocka_unit_test(test_attempt_of_nobody),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_compiled_autograd),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_guards_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
