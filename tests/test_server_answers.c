/* tests/test_server_answers.c -- answers that are kept, without a socket; the store's version. */
#include <pthread.h>

#include "server/http/answers.h"
#include "server/http/part.h"
#include "server/http/route.h"
#include "tests/db_fixture.h"

static const struct answers_version first = { 1, 1 };

static const struct route rows[] = { { .path = "/fast" }, { .path = "/slow", .slow = true } };
static const struct route_table table = { .rows = rows, .n = 2 };

static struct kept_answer *keep(struct answers *all, const char *address, const char *text,
				enum keep keep)
{
	struct reply reply = { .text = strdup(text), .text_len = strlen(text) };
	struct answer_made made = {
		.address = address, .version = first, .keep = keep, .table = true
	};
	struct err err = { 0 };
	struct kept_answer *a = answers_keep(all, &made, &reply, &err);

	assert_non_null(a);
	assert_null(reply.text);
	return a;
}

static bool has(struct answers *all, const char *address, struct answers_version now)
{
	struct kept_answer *a = answers_find(all, address, now);

	if (a)
		answer_release(all, a, NULL);
	return a != NULL;
}

static void an_answer_is_found_until_what_it_is_made_from_changes(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	const struct answers_version live = { 1, 2 }, written = { 2, 2 };

	(void)state;
	answer_release(all, keep(all, "/a?x=1", "[1]", KEEP_STORE), NULL);
	answer_release(all, keep(all, "/b", "[2]", KEEP_LIVE), NULL);
	assert_true(has(all, "/a?x=1", first));
	assert_false(has(all, "/a?x=2", first));
	assert_true(has(all, "/b", first));
	assert_true(has(all, "/a?x=1", live));
	assert_false(has(all, "/b", live));
	assert_false(has(all, "/a?x=1", written));
	assert_false(has(all, "/a?x=1", first)); /* it has gone */
	answers_destroy(all);
}

static void one_that_is_in_use_outlives_its_place(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	struct kept_answer *old = keep(all, "/a", "[1]", KEEP_STORE);
	struct kept_answer *now = keep(all, "/a", "[2]", KEEP_STORE);

	(void)state;
	assert_string_equal(old->text, "[1]");
	assert_string_not_equal(old->etag, now->etag);
	answer_release(all, old, NULL);
	answer_release(all, now, NULL);
	assert_true(has(all, "/a", first));
	answers_destroy(all);
}

static void what_was_used_longest_ago_makes_room(void **state)
{
	enum { MIB = 1 << 20, N = 40 };
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	char *text = malloc(2 * MIB + 1), address[16];

	(void)state;
	memset(text, 'x', 2 * MIB);
	text[2 * MIB] = '\0';
	for (int i = 0; i < N; i++) { /* 80 MiB of 64 */
		snprintf(address, sizeof(address), "/%d", i);
		answer_release(all, keep(all, address, text, KEEP_STORE), NULL);
		assert_true(has(all, "/0", first));
	}
	assert_false(has(all, "/1", first));
	assert_true(has(all, "/39", first));
	free(text);
	answers_destroy(all);
}

static void one_that_is_squeezed_is_made_once(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	char text[4001];
	struct kept_answer *a;

	(void)state;
	memset(text, 'y', 4000);
	text[4000] = '\0';
	a = keep(all, "/a", text, KEEP_STORE);
	for (enum coding c = CODING_PLAIN; c < CODING_COUNT; c++) {
		enum coding got = c;
		struct answer_bytes bytes = answer_text(all, a, &got);

		assert_int_equal(got, c);
		assert_true(answer_is_quick(a, c));
		assert_true(c == CODING_PLAIN ? bytes.at == a->text : bytes.len < a->len);
		assert_ptr_equal(answer_text(all, a, &got).at, bytes.at);
	}
	answer_release(all, a, NULL);
	a = keep(all, "/b", "[]", KEEP_STORE); /* as it is is shorter */
	for (enum coding c = CODING_PLAIN; c < CODING_COUNT; c++) {
		enum coding got = c;

		assert_ptr_equal(answer_text(all, a, &got).at, a->text);
		assert_int_equal(got, CODING_PLAIN);
	}
	answer_release(all, a, NULL);
	answers_destroy(all);
}

static void a_coding_is_taken_where_the_header_takes_it(void **state)
{
	(void)state;
	assert_int_equal(coding_of(NULL), CODING_PLAIN);
	assert_int_equal(coding_of(""), CODING_PLAIN);
	assert_int_equal(coding_of("gzip, deflate, br"), CODING_GZIP);
	assert_int_equal(coding_of("gzip, deflate, br, zstd"), CODING_ZSTD);
	assert_int_equal(coding_of("gzip;q=0"), CODING_PLAIN);
	assert_int_equal(coding_of("zstd ; q=0.0,gzip ;q=0.5"), CODING_GZIP);
	assert_int_equal(coding_of("xgzip, zstdx"), CODING_PLAIN);
	assert_int_equal(coding_of(",,;q=;, ;"), CODING_PLAIN);
}

static struct ready_response *response_of(struct kept_answer *a, int kind, const char *id)
{
	struct ready_response *r = ready_take(&a->ready, kind, id);

	return r ? r : ready_new(a->text, a->len, kind, id);
}

static void a_response_is_of_one_request_at_a_time_and_has_its_id(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	struct kept_answer *a = keep(all, "/a", "[1]", KEEP_STORE);
	struct ready_response *r[READY_MOST + 2];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < READY_MOST + 2; i++) {
			char id[8];

			snprintf(id, sizeof(id), "%d-%d", round, i);
			r[i] = response_of(a, i == 0, id);
			for (int j = 0; j < i; j++)
				assert_ptr_not_equal(r[i]->response, r[j]->response);
			assert_int_equal(r[i]->kind, i == 0);
			assert_string_equal(r[i]->id, id);
		}
		for (int i = 0; i < READY_MOST + 2; i++)
			answer_release(all, answers_find(all, "/a", first),
				       r[i]); /* more of kind 0 than there is room */
	}
	answer_release(all, a, NULL);
	answers_destroy(all);
}

static void *use(void *self)
{
	struct answers *all = self;

	for (uint64_t i = 0; i < 2000; i++) {
		const struct answers_version now = { 1, i / 10 };
		struct reply reply = { .text = strdup("[7]"), .text_len = 3 };
		struct answer_made made = {
			.address = "/a", .version = now, .keep = KEEP_LIVE, .table = true
		};
		struct kept_answer *a = answers_find(all, "/a", now);
		struct err err = { 0 };

		if (!a)
			a = answers_keep(all, &made, &reply, &err);
		free(reply.text);
		assert_string_equal(answer_text(all, a, &(enum coding){ CODING_ZSTD }).at, "[7]");
		answer_release(all, a, response_of(a, (int)(i % READY_KINDS), "id"));
	}
	return NULL;
}

static void many_threads_share_them(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, all), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	answers_destroy(all);
}

static void wait_here(void *self)
{
	++*(int *)self;
}

static void go_on(void *self)
{
	*(int *)self += 10;
}

static struct making asks(const struct route *route, const char *address, int *self)
{
	return (struct making){ .route = route,
				.address = address,
				.version = first,
				.self = self,
				.pause = wait_here,
				.go_on = go_on };
}

static void what_many_ask_for_is_made_once(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	int told[4] = { 0 };
	struct making a = asks(&rows[0], "/a", &told[0]), b = asks(&rows[0], "/a", &told[1]),
		      c = asks(&rows[0], "/c", &told[2]), late = asks(&rows[0], "/a", &told[3]);
	struct kept_answer *answer;

	(void)state;
	late.version.store++;
	assert_false(answers_waits(all, &a));
	assert_true(answers_waits(all, &b));
	assert_false(answers_waits(all, &c));
	assert_false(answers_waits(all, &late)); /* something was written meanwhile */
	assert_int_equal(told[1], 1);
	answer = keep(all, "/a", "[1]", KEEP_STORE);
	answers_over(all, &a, answer, true);
	assert_int_equal(told[1], 11);
	assert_ptr_equal(b.answer, answer);
	answer_release(all, b.answer, NULL);
	answer_release(all, answer, NULL);
	assert_int_equal(told[0] + told[2] + told[3], 0);
	answers_over(all, &c, NULL, true); /* so answers of the route are not kept */
	answers_over(all, &late, NULL, false);
	assert_false(answers_waits(all, &a));
	assert_false(a.makes);
	answers_destroy(all);
}

static void nobody_waits_at_the_end_nor_for_what_may_take_long(void **state)
{
	struct err err = { 0 };
	struct answers *all = answers_create(&table, &err);
	int told[3] = { 0 };
	struct making slow = asks(&rows[1], "/s", &told[0]), a = asks(&rows[0], "/a", &told[1]),
		      b = asks(&rows[0], "/a", &told[2]);

	(void)state;
	assert_false(answers_waits(all, &slow));
	assert_false(slow.makes); /* nothing is known of it yet */
	assert_false(answers_waits(all, &a));
	assert_true(answers_waits(all, &b));
	answers_stop(all);
	assert_int_equal(told[2], 11);
	assert_null(b.answer);
	b = asks(&rows[0], "/a", &told[2]);
	assert_false(answers_waits(all, &b));
	answers_over(all, &a, NULL, false);
	answers_over(all, &b, NULL, false);
	answers_destroy(all);
}

static void check_part(const char *range, const char *only, int status, const char *said)
{
	struct answer_part p = part_of(range, only, 100, "tag");
	char out[CONTENT_RANGE_CHARS] = "";

	if (p.status != 200)
		part_content_range(&p, 100, out);
	assert_int_equal(p.status, status);
	assert_string_equal(out, said);
}

static void a_part_is_what_the_headers_ask_for(void **state)
{
	(void)state;
	check_part(NULL, NULL, 200, "");
	check_part("bytes=0-9", NULL, 206, "bytes 0-9/100");
	check_part("bytes=0-9", "\"tag\"", 206, "bytes 0-9/100");
	check_part("bytes=0-9", "\"other\"", 200, "");
	check_part("bytes=0-9", "W/\"tag\"", 200, "");
	check_part("bytes=90-", NULL, 206, "bytes 90-99/100");
	check_part("bytes=90-900", NULL, 206, "bytes 90-99/100");
	check_part("bytes=-10", NULL, 206, "bytes 90-99/100");
	check_part("bytes=-900", NULL, 206, "bytes 0-99/100");
	check_part("bytes=-0", NULL, 416, "bytes */100");
	check_part("bytes=100-", NULL, 416, "bytes */100");
	check_part("bytes=100-99999999999999999999999", NULL, 416, "bytes */100");
	check_part("bytes=9-0", NULL, 200, "");
	check_part("bytes=-", NULL, 200, "");
	check_part("bytes=", NULL, 200, "");
	check_part("bytes=1-2,4-5", NULL, 200, "");
	check_part("lines=1-2", NULL, 200, "");
	assert_true(etag_matches("\"a\", W/\"tag\"", "tag"));
	assert_true(etag_matches("*", "tag"));
	assert_false(etag_matches("\"tags\"", "tag"));
	assert_false(etag_matches(NULL, "tag"));
}

static void the_version_moves_with_what_is_written_here_and_elsewhere(void **state)
{
	struct fixture *f = *state;
	struct run_row row = { .name = "w", .device = "cpu", .workload = "{}", .modes = "eager" };
	struct err err = { 0 };
	uint64_t before = db_version(f->db), now;
	struct db *beside;
	int64_t id;

	assert_true(db_version(f->db) == before);
	assert_true(db_run_insert(f->db, &row, &id, &err));
	now = db_version(f->db);
	assert_true(now != before);
	usleep(2000);
	assert_true(db_version(f->db) == now);
	beside = db_open_beside(f->path, &err);
	assert_non_null(beside);
	assert_true(db_run_insert(beside, &row, &id, &err));
	usleep(2000);
	assert_true(db_version(f->db) != now);
	db_close(beside);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_found_until_what_it_is_made_from_changes),
		cmocka_unit_test(one_that_is_in_use_outlives_its_place),
		cmocka_unit_test(what_was_used_longest_ago_makes_room),
		cmocka_unit_test(one_that_is_squeezed_is_made_once),
		cmocka_unit_test(a_coding_is_taken_where_the_header_takes_it),
		cmocka_unit_test(a_response_is_of_one_request_at_a_time_and_has_its_id),
		cmocka_unit_test(many_threads_share_them),
		cmocka_unit_test(what_many_ask_for_is_made_once),
		cmocka_unit_test(nobody_waits_at_the_end_nor_for_what_may_take_long),
		cmocka_unit_test(a_part_is_what_the_headers_ask_for),
		TEST(the_version_moves_with_what_is_written_here_and_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
