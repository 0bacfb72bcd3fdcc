/* tests/test_server_parts.c -- what needs no socket: routes, messages,
 * summaries, addresses, flags.  tests/api/ has the rest, against the real server. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/gather/inside.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/workload.h"
#include "server/http/slow_pool.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/http/http.h"
#include "server/http/listen.h"
#include "profiler/results/results.h"
#include "server/queue/queue.h"
#include "server/api/routes.h"

static void routes_are_sorted_and_say_what_they_do(void **state)
{
	(void)state;
	for (int i = 0; i < routes.n; i++) {
		const struct route *r = &routes.rows[i];

		assert_true(strlen(r->summary) > 5);
		assert_true(r->body_limit == 0 || strcmp(r->method, "POST") == 0 ||
			    strcmp(r->method, "PATCH") == 0);
		if (i > 0) {
			int order = strcmp(routes.rows[i - 1].path, r->path);

			assert_true(order < 0 || (order == 0 && strcmp(routes.rows[i - 1].method,
								       r->method) < 0));
		}
	}
}

static struct arena of_paths;

static const struct route *find(const char *method, const char *path, const char *args[2],
				struct err *err)
{
	return route_find(&routes, method, path, &of_paths, args, err);
}

static void a_path_finds_its_row_and_its_arguments(void **state)
{
	const char *args[2] = { NULL, NULL };
	struct err err = { 0 };

	(void)state;
	assert_string_equal(find("GET", "/api/v1/runs/42", args, &err)->path, "/api/v1/runs/{id}");
	assert_string_equal(args[0], "42");
	assert_string_equal(find("HEAD", "/runs/7/graph", args, &err)->path, "/runs/{id}/{tab}");
	assert_string_equal(args[1], "graph");
	assert_string_equal(find("DELETE", "/api/v1/runs/42", args, &err)->method, "DELETE");
}

static void what_is_not_there_and_what_is_not_taken_are_told_apart(void **state)
{
	const char *args[2];
	struct err err = { 0 };

	(void)state;
	assert_null(find("GET", "/nothing", args, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_null(find("GET", "/runs/", args, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_null(find("PUT", "/api/v1/runs", args, &err));
	assert_int_equal(err.code, ERR_METHOD);
	assert_non_null(strstr(err.message, "GET, HEAD, POST"));
	assert_string_equal(routes_allow(&routes, "/api/v1/runs/42", &of_paths),
			    "DELETE, GET, HEAD, PATCH");
	assert_string_equal(routes_allow(&routes, "/nothing", &of_paths), "");
}

struct counted {
	struct slow_task task; /* first */
	_Atomic int *done;
};

static void count_one(struct slow_task *task)
{
	++*((struct counted *)task)->done;
}

static void what_a_pool_took_is_done_before_it_stops(void **state)
{
	struct err err = { 0 };
	struct slow_pool *pool = slow_pool_create(2, &err);
	struct counted tasks[100];
	_Atomic int done = 0;

	(void)state;
	assert_non_null(pool);
	for (int i = 0; i < 100; i++) {
		tasks[i] = (struct counted){ { .fn = count_one }, &done };
		assert_true(slow_pool_run(pool, &tasks[i].task, &err));
	}
	slow_pool_stop(pool);
	assert_int_equal(done, 100);
	assert_false(slow_pool_run(pool, &tasks[0].task, &err));
	assert_int_equal(err.code, ERR_BUSY);
	slow_pool_destroy(pool);
}

static void messages_arrive_whole_however_they_are_cut(void **state)
{
	struct message_reader reader = { 0 };
	char big[200000], *text;
	enum message_type type;
	struct err err = { 0 };
	bool bad = false;
	size_t len;
	int pair[2], got = 0;

	(void)state;
	memset(big, 'b', sizeof(big));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &(int){ 1 << 20 }, sizeof(int));
	assert_true(message_send(pair[0], MESSAGE_PROGRESS, "one", 3, &err));
	assert_true(message_send(pair[0], MESSAGE_REPORT, "", 0, &err));
	assert_true(message_send(pair[0], MESSAGE_ERROR, big, sizeof(big), &err));
	close(pair[0]);
	do {
		while (message_next(&reader, &type, &text, &len, &bad)) {
			got++;
			assert_int_equal(strlen(text), len);
			assert_int_equal(type, got == 1 ? 'P' : got == 2 ? 'R' : 'E');
			assert_int_equal(len, got == 1 ? 3 : got == 2 ? 0 : sizeof(big));
		}
	} while (message_fill(&reader, pair[1]) > 0);
	assert_int_equal(got, 3);
	assert_false(bad);
	message_reader_finish(&reader);
	close(pair[1]);
}

static void a_message_that_claims_too_much_is_bad(void **state)
{
	struct message_reader reader = { 0 };
	enum message_type type;
	bool bad = false;
	char *text;
	size_t len;

	(void)state;
	buf_add(&reader.pending, "\xff\xff\xff\xffRx", 6);
	assert_false(message_next(&reader, &type, &text, &len, &bad));
	assert_true(bad);
	message_reader_finish(&reader);
}

/* `report` has ' in place of ". */
static void summarize(const char *report, struct arena *arena, struct run_summary *out)
{
	char *text = strdup(report);
	struct err err = { 0 };
	const struct report_run *run;
	json_t *json;

	for (char *at = text; (at = strchr(at, '\'')); at++)
		*at = '"';
	json = json_loads(text, 0, NULL);
	run = report_read_run(json, arena, &err);
	if (!run)
		fail_msg("%s", err.message);
	summary_of_report(run, arena, out);
	json_decref(json);
	free(text);
}

#define A_BREAK                                                                                    \
	"{'stage': 'capture', 'kind': 'k', 'outcome': 'resume', 'call': 0, 'message': 'm', "       \
	"'count': 1}"
#define A_MODE(more)                                                                               \
	"{'graphs': [], 'recompiles': [], 'breaks': [" A_BREAK ", " A_BREAK "], " more "}"

static void the_summary_speaks_of_static_at_the_last_point(void **state)
{
	static const char report[] =
	    "{'breakeven': 1, 'modes': {}, 'points': [{'n': 1, 'modes': {}, 'break_even': {}},"
	    " {'n': 30, 'modes': {'static': " A_MODE(
		"'latency': {'median_us': 1.5, 'ci_us': "
		"[1, 2]}") "},"
			   "  'break_even': {'dynamic': {'verdict': 'SLOWER'},"
			   "   'static': {'verdict': 'FASTER', 'speedup': 4, 'speedup_ci': [3.9, "
			   "4.1], "
			   "'calls_to_repay': null}}}],"
			   " 'break_even': {'static': {'crossover_n': 3.5}}}";
	struct arena arena = { 0 };
	struct run_summary s = { 0 };

	(void)state;
	summarize(report, &arena, &s);
	assert_string_equal(s.mode, "static");
	assert_string_equal(s.verdict, "FASTER");
	assert_true(s.speedup == 4 && s.speedup_lo == 3.9 && s.median_us == 1.5 && s.at_n == 30);
	assert_true(s.median_lo == 1 && s.median_hi == 2);
	assert_true(isinf(s.calls_to_repay) && s.crossover_n == 3.5);
	assert_int_equal(s.breaks, 1); /* it was met twice */
	s = (struct run_summary){ 0 };
	summarize("{'breakeven': 1, 'modes': {}, 'points': [], 'break_even': {}}", &arena, &s);
	assert_null(s.mode);
	arena_finish(&arena);
}

static void the_summary_speaks_of_the_mode_that_disagrees_wherever_it_does(void **state)
{
	static const char report[] = "{'breakeven': 1, 'modes': {}, 'points': [{'n': 1, 'modes': "
				     "{'dynamic': " A_MODE(
					 "'agrees': false, 'latency': {'median_us': 7, 'ci_us': "
					 "[6, 8]}") "}},"
						    " {'n': 30, 'modes': {'static': " A_MODE(
							"'agrees': true") "},"
									  "  'break_even': "
									  "{'static': {'verdict': "
									  "'FASTER', 'speedup': "
									  "4}}}]}";
	struct arena arena = { 0 };
	struct run_summary s = { 0 };

	(void)state;
	summarize(report, &arena, &s);
	assert_string_equal(s.mode, "dynamic");
	assert_string_equal(s.verdict, RUN_DISAGREES);
	assert_true(s.at_n == 1 && s.median_us == 7 && s.speedup == 0 && s.breaks == 1);
	arena_finish(&arena);
}

static void a_bad_address_names_what_is_wanted(void **state)
{
	struct err err = { 0 };
	char url[128], again[64];
	int fd;

	(void)state;
	assert_int_equal(listen_on("8080", url, sizeof(url), &err), -1);
	assert_non_null(strstr(err.message, "HOST:PORT"));
	assert_int_equal(listen_on("127.0.0.1:http", url, sizeof(url), &err), -1);
	fd = listen_on("127.0.0.1:0", url, sizeof(url), &err);
	assert_true(fd >= 0);
	snprintf(again, sizeof(again), "127.0.0.1:%s", strrchr(url, ':') + 1);
	assert_int_equal(listen_on(again, url, sizeof(url), &err), -1);
	assert_non_null(strstr(err.message, "is taken by another program"));
	close(fd);
}

struct words {
	const char *out, *inputs[2], *files[2];
	struct flag_texts many;
	bool json;
	char **rest;
	int n_files;
};

/* Reads `argv`, which ends with NULL, after the command's name. */
static int read_words(struct words *w, const char **argv)
{
	int argc = 0, status;
	const struct flag table[] = { { "-o", .value = &w->out },
				      { "--input", .many = &w->many },
				      { "--json", .on = &w->json } };
	struct flags flags = { .command = "test",
			       .table = table,
			       .n = 3,
			       .words = { .at = w->files, .most = 2 },
			       .rest = &w->rest };

	*w = (struct words){ .many = { .at = w->inputs, .most = 2, .over = "too many: " } };
	while (argv[argc])
		argc++;
	status = flags_read(&flags, argc, (char **)argv);
	w->n_files = flags.words.n;
	return status;
}

#define READ(w, ...) read_words(w, (const char *[]){ "test", __VA_ARGS__, NULL })

static void flags_stand_in_any_order(void **state)
{
	struct words w;

	(void)state;
	assert_int_equal(
	    READ(&w, "a", "--input=x=1", "--json", "-", "--input", "--json", "-o", "f"), -1);
	assert_string_equal(w.files[0], "a");
	assert_string_equal(w.files[1], "-");
	assert_string_equal(w.inputs[0], "x=1");
	assert_string_equal(w.inputs[1], "--json"); /* a value, whatever it looks like */
	assert_string_equal(w.out, "f");
	assert_true(w.json && !w.rest);
	assert_int_equal(READ(&w, "-o", "a", "-o=b", "--", "ls", "--json", "--help"), -1);
	assert_string_equal(w.out, "b");
	assert_string_equal(w.rest[0], "ls");
	assert_false(w.json);
	assert_int_equal(READ(&w, "--nope", "--help"), EXIT_DONE);
}

static void flags_that_are_wrong_are_refused(void **state)
{
	struct words w;

	(void)state;
	assert_int_equal(READ(&w, "--jso"), EXIT_USAGE);
	assert_int_equal(READ(&w, "--json=1"), EXIT_USAGE);
	assert_int_equal(READ(&w, "--jsonl"), EXIT_USAGE);
	assert_int_equal(READ(&w, "a", "-o"), EXIT_USAGE);
	assert_int_equal(READ(&w, "a", "b", "c"), EXIT_USAGE);
	assert_int_equal(READ(&w, "--input=1", "--input=2", "--input=3"), EXIT_USAGE);
}

static void numbers_of_flags_have_bounds(void **state)
{
	long long n = 7;

	(void)state;
	assert_true(flags_integer("test", "--n", NULL, 1, 5, &n) && n == 7);
	assert_true(flags_integer("test", "--n", "5", 1, 5, &n) && n == 5);
	for (size_t i = 0; i < 6; i++)
		assert_false(flags_integer(
		    "test", "--n",
		    (const char *[]){ "0", "6", "", "2x", "1e1", "99999999999999999999" }[i], 1, 5,
		    &n));
	assert_int_equal(n, 5);
}

static void the_table_of_bounds_has_those_of_the_code(void **state)
{
	static const int64_t rows[] = {
#define BOUND(name, flag, value, least, most, unit, answer, meaning)
#define FIXED(value, unit, answer, meaning) value,
#include "server/queue/bounds.def"
#undef BOUND
#undef FIXED
	};
	static const int64_t code[] = {
		WORKLOAD_MAX_SOURCE_BYTES,
		WORKLOAD_MAX_FILES,
		WORKLOAD_MAX_FILES_BYTES,
		GATHER_MAX_ENTRIES,
		IMPORT_MAX_UNPACKED_BYTES,
		RESULTS_MOST,
		RESULTS_MOST_NUMBERS,
		WORKLOAD_MAX_CALLS,
		WORKLOAD_MAX_ARGS,
		WORKLOAD_MAX_POINTS,
		WORKLOAD_MAX_STATEMENTS,
		SPEC_MAX_DEPTH,
		INT64_C(1) << SPEC_MAX_ELEMENTS_LOG2,
		INT64_C(1) << WORKLOAD_MAX_INPUT_BYTES_LOG2,
		2048,             /* Jansson's */
		50 * 1000 * 1000, /* of struct vm_limits, where nothing is said */
		1000,
		256 << 20,
		TRACE_RUN_BYTES,
		TRACE_RUN_EVENTS,
	};

	(void)state;
	assert_int_equal(sizeof(rows), sizeof(code));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(rows[i], code[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_are_sorted_and_say_what_they_do),
		cmocka_unit_test(a_path_finds_its_row_and_its_arguments),
		cmocka_unit_test(what_is_not_there_and_what_is_not_taken_are_told_apart),
		cmocka_unit_test(what_a_pool_took_is_done_before_it_stops),
		cmocka_unit_test(messages_arrive_whole_however_they_are_cut),
		cmocka_unit_test(a_message_that_claims_too_much_is_bad),
		cmocka_unit_test(the_summary_speaks_of_static_at_the_last_point),
		cmocka_unit_test(the_summary_speaks_of_the_mode_that_disagrees_wherever_it_does),
		cmocka_unit_test(a_bad_address_names_what_is_wanted),
		cmocka_unit_test(flags_stand_in_any_order),
		cmocka_unit_test(flags_that_are_wrong_are_refused),
		cmocka_unit_test(numbers_of_flags_have_bounds),
		cmocka_unit_test(the_table_of_bounds_has_those_of_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
