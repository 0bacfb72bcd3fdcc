/* tests/test_db_join.c -- what a thread writes as one transaction, with a key that goes with it. */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/db_fixture.h"

static void insert(struct fixture *f, const char *name)
{
	const struct run_row row = {
		.name = name, .device = "cpu", .modes = "eager", .workload = "{}"
	};
	struct err err = { 0 };
	int64_t id;

	assert_true(db_run_insert(f->db, &row, &id, &err));
}

static int64_t total(struct db *db, struct fixture *f)
{
	struct err err = { 0 };
	struct run_page page;

	assert_true(db_run_list(db, &(struct run_query){ .status = -1, .limit = 10 }, &f->arena,
				&page, &err));
	return page.total;
}

static struct request_key take_key(struct fixture *f, const char *name, bool expected)
{
	struct request_key key = { .who = "", .key = name, .request = "hash" };
	struct err err = { 0 };
	bool added;

	assert_true(db_key_take(f->db, &key, &f->arena, &added, &err));
	assert_int_equal(added, expected);
	return key;
}

static void what_is_joined_is_seen_when_it_is_stored(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	struct db *other = db_open_reading(f->path, &err);
	struct request_key key = take_key(f, "k", true);

	key.status = 202;
	key.answer = "{}";
	db_join(f->db);
	insert(f, "a");
	assert_int_equal(total(f->db, f), 1);
	assert_false(db_run_delete(f->db, 7, &err)); /* takes back nothing but its own */
	assert_true(db_key_answer(f->db, &key, &err));
	assert_int_equal(total(other, f), 0);
	assert_true(db_join_end(f->db, true, &err));
	assert_int_equal(total(other, f), 1);
	assert_int_equal(take_key(f, "k", false).status, 202);
	db_join(f->db);
	insert(f, "b");
	assert_false(db_join_end(f->db, false, &err));
	assert_int_equal(total(f->db, f), 1);
	assert_true(db_join_end(f->db, true, &err)); /* nothing is joined */
	insert(f, "c");
	assert_int_equal(total(other, f), 2);
	db_close(other);
}

/* A process that ends between a write and its key's answer. */
static void a_key_goes_with_what_it_is_for(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	int status, n;
	pid_t child;

	db_close(f->db);
	child = fork();
	if (child == 0) {
		f->db = db_open(f->path, &err);
		take_key(f, "k", true);
		db_join(f->db);
		insert(f, "a");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	f->db = db_open(f->path, &err);
	assert_non_null(f->db);
	assert_true(db_run_recover(f->db, &n, &err));
	assert_int_equal(total(f->db, f), 0);
	take_key(f, "k", true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_joined_is_seen_when_it_is_stored),
		TEST(a_key_goes_with_what_it_is_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
