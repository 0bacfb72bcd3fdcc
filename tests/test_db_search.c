/* tests/test_db_search.c -- what runs are found by, and that it is in step with them. */
#include <string.h>

#include "tests/db_fixture.h"

static int64_t insert(struct fixture *f, const char *name, const char *workload)
{
	struct err err = { 0 };
	int64_t id = 0;

	if (!db_run_insert(f->db,
			   &(struct run_row){ .name = name,
					      .project = "speech",
					      .device = "cpu",
					      .modes = "eager",
					      .tags = "nightly",
					      .workload = workload },
			   &id, &err))
		fail_msg("%s", err.message);
	return id;
}

static void finish(struct fixture *f, int64_t id, const char *reasons)
{
	struct err err = { 0 };
	struct run_row run;
	bool found;

	assert_true(db_run_claim(f->db, 0, &f->arena, &run, &found, &err));
	assert_int_equal(run.id, id);
	assert_true(db_run_finish(
	    f->db, id,
	    &(struct run_outcome){
		.report = "{}", .report_len = 2, .environment = "{}", .reasons = reasons },
	    &err));
}

static struct run_page search(struct fixture *f, const char *text)
{
	struct err err = { 0 };
	struct run_page page;

	if (!db_run_list(f->db, &(struct run_query){ .text = text, .status = -1, .limit = 9 },
			 &f->arena, &page, &err))
		fail_msg("%s: %s", text, err.message);
	return page;
}

/* The names of what is found, oldest first. */
static void check_found(struct fixture *f, const char *text, const char *names)
{
	struct run_page page = search(f, text);
	struct buf got = { 0 };

	buf_puts(&got, "");
	for (int i = page.n; i-- > 0;)
		buf_printf(&got, "%s%s", got.len ? " " : "", page.runs[i].name);
	if (strcmp(got.data, names) != 0)
		fail_msg("%s finds '%s', not '%s'", text, got.data, names);
	assert_int_equal(page.total, page.n);
	buf_finish(&got);
}

static void two_runs(struct fixture *f)
{
	insert(f, "attention", "{\"source\": \"def model(x):\\n    return torch.softmax(x, -1)\"}");
	insert(f, "norm",
	       "{\"files\": {\"layers/rms.py\": \"def scale(x):\\n    return x.pow(2)\"}}");
	finish(f, 1, "data-dependent-branch GB0170 a branch on a tensor's value");
	finish(f, 2, "");
}

static void runs_are_found_by_names_sources_notes_and_reasons(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	two_runs(f);
	assert_true(
	    db_run_annotate(f->db, 2, &(struct run_notes){ .note = "New driver, cold" }, &err));
	check_found(f, "SOFTMAX", "attention");
	check_found(f, "softmax(x", "attention");
	check_found(f, "rms.py", "norm");
	check_found(f, "GB0170", "attention");
	check_found(f, "driver", "norm");
	check_found(f, "speech", "attention norm");
	check_found(f, "atten nightly", "attention");
	check_found(f, "softmax driver", "");
	check_found(f, "\"driver, cold\"", "norm");
	check_found(f, "\"cold driver\"", "");
	check_found(f, "-softmax", "norm");
	check_found(f, "nightly -softmax -driver", "");
	check_found(f, "source:branch", "");
	check_found(f, "reason:branch", "attention");
	check_found(f, "no", "norm"); /* too short for the index: names and notes alone */
	check_found(f, "#2", "norm");
	check_found(f, "2", "norm");
	check_found(f, "'; DROP TABLE run; --", "");
	check_found(f, "a\"b", "");
	check_found(f, " ", "attention norm");
}

static void what_is_found_is_shown_with_what_is_around_it(void **state)
{
	struct fixture *f = *state;
	struct run_page page;

	two_runs(f);
	page = search(f, "Softmax");
	assert_int_equal(page.runs[0].n_found, 1);
	assert_string_equal(page.runs[0].found[0].in, "source");
	assert_string_equal(page.runs[0].found[0].text,
			    "def model(x):\n    return torch.\2softmax\3(x, -1)");
	page = search(f, "branch -softmin");
	assert_string_equal(page.runs[0].found[0].in, "reason");
	page = search(f, "attention");
	assert_int_equal(page.runs[0].n_found, 0);
}

static void what_a_run_is_found_by_changes_with_it_and_goes_with_it(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	bool more;

	two_runs(f);
	assert_true(db_run_annotate(
	    f->db, 1,
	    &(struct run_notes){
		.name = "flash", .tags = "weekly", .note = "warm", .project = "vision" },
	    &err));
	check_found(f, "attention", "");
	check_found(f, "flash weekly warm vision", "flash");
	assert_true(db_run_annotate(f->db, 1, &(struct run_notes){ .note = "" }, &err));
	check_found(f, "warm", "");
	assert_true(db_run_delete(f->db, 1, &err));
	check_found(f, "flash", "");
	assert_true(db_run_restore(f->db, 1, &err));
	check_found(f, "flash", "flash");
	assert_true(db_run_delete(f->db, 1, &err));
	assert_true(db_run_purge(f->db, INT64_MAX, &more, &err));
	assert_int_equal(ask_store(f, "SELECT count(*) FROM search_run WHERE run = 1"), 0);
	assert_int_equal(
	    ask_store(f, "SELECT count(*) FROM search_text WHERE body LIKE '%softmax%'"), 0);
	check_found(f, "speech", "norm");
	/* The index agrees with the texts: else this is an error. */
	if (!is_shared())
		tell_store(f, "INSERT INTO search(search, rank) VALUES('integrity-check', 1)");
}

static void a_text_that_many_runs_have_is_kept_once(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++)
		insert(f, "same", "{\"source\": \"def model(x): return x.gelu()\"}");
	assert_int_equal(ask_store(f, "SELECT count(*) FROM search_text WHERE kind = 'source'"), 1);
	assert_int_equal(ask_store(f, "SELECT count(*) FROM search_run WHERE kind = 'source'"), 5);
	assert_int_equal(search(f, "gelu").total, 5);
}

static void a_search_that_is_wrong_is_refused_and_says_what_is_right(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "\"two words", "is not closed" },
		{ "a -", "- has no word" },
		{ "\"\"", "has no word" },
		{ "note:", "note: has no word" },
		{ "1 2 3 4 5 6 7 8 9", "at most 8 words" },
		{ "a\xff zz", "UTF-8" },
	};
	struct fixture *f = *state;
	char *longest = calloc(1, 402);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		struct run_page page;

		assert_false(db_run_list(
		    f->db, &(struct run_query){ .text = cases[i].text, .status = -1, .limit = 9 },
		    &f->arena, &page, &err));
		assert_int_equal(err.code, ERR_BAD_REQUEST);
		if (!strstr(err.message, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
	memset(longest, 'a', 400);
	assert_int_equal(search(f, longest).total, 0);
	longest[400] = 'a';
	assert_false(db_run_list(f->db,
				 &(struct run_query){ .text = longest, .status = -1, .limit = 9 },
				 &f->arena, &(struct run_page){ 0 }, &(struct err){ 0 }));
	free(longest);
}

static char *reasons(const char *report, size_t len)
{
	assert_memory_equal(report, "{}", len);
	return strdup("a reason that was read again");
}

static void runs_of_an_earlier_version_are_found_when_they_were_looked_at(void **state)
{
	struct fixture *f = *state;
	struct search_look look = { 0 };
	struct err err = { 0 };
	bool more = true;

	two_runs(f);
	for (int i = 0; i < 70; i++)
		insert(f, "many", "{}");
	tell_store(f, "DELETE FROM search_run");
	check_found(f, "softmax", "");
	while (more)
		assert_true(db_search_catch_up(f->db, &look, reasons, &more, &err));
	assert_int_equal(search(f, "many").total, 70);
	check_found(f, "softmax", "attention");
	check_found(f, "reason:again", "attention norm");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(runs_are_found_by_names_sources_notes_and_reasons),
		TEST(what_is_found_is_shown_with_what_is_around_it),
		TEST(what_a_run_is_found_by_changes_with_it_and_goes_with_it),
		TEST(a_text_that_many_runs_have_is_kept_once),
		TEST(a_search_that_is_wrong_is_refused_and_says_what_is_right),
		TEST(runs_of_an_earlier_version_are_found_when_they_were_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
