/* tests/test_server_access.c -- who asks, without a socket: names, sites, tokens, cookies, proxies.
 */
#include "server/api/routes.h"
#include <netinet/in.h>
#include <sys/socket.h>

#include "server/http/patience.h"
#include "server/http/sites.h"
#include "tests/db_fixture.h"

static bool may(const struct sites *s, struct site_headers h, bool reads)
{
	struct err err = { 0 };
	bool ok = sites_check(s, &h, reads, &err);

	assert_int_equal(err.code, ok ? ERR_NONE : ERR_FORBIDDEN);
	return ok;
}

static void a_name_of_loopback_has_the_port(void **state)
{
	const struct sites s = { .port = 8080 }, web = { .port = 80 }, any = { .any_host = true };

	(void)state;
	assert_true(may(&s, (struct site_headers){ .host = "127.0.0.1:8080" }, false));
	assert_true(may(&s, (struct site_headers){ .host = "[::1]:8080" }, false));
	assert_true(may(&s, (struct site_headers){ 0 }, false)); /* no browser */
	assert_false(may(&s, (struct site_headers){ .host = "localhost" }, true));
	assert_true(may(&web, (struct site_headers){ .host = "localhost" }, true));
	assert_false(may(&s, (struct site_headers){ .host = "127.1:8080" }, true));
	assert_false(may(&s, (struct site_headers){ .host = "[::1" }, true));
	assert_true(may(&any, (struct site_headers){ .host = "x" }, true));
	assert_false(may(&any, (struct site_headers){ .host = "x", .origin = "http://y" }, true));
	assert_true(may(&any, (struct site_headers){ .host = "x", .origin = "https://X" }, false));
	assert_false(may(&any, (struct site_headers){ .origin = "http://" }, true));
}

static struct caller ask(struct fixture *f, const struct access_options *o, struct credentials c,
			 enum err_code wanted)
{
	struct err err = { 0 };
	struct access_desk *a = access_create(f->db, o, &err);
	struct caller who;

	assert_non_null(a);
	if (access_find(a, &c, &f->arena, &who, &err) != (wanted == ERR_NONE) || err.code != wanted)
		fail_msg("%s", err.message);
	access_destroy(a);
	return who;
}

static void whoever_asks_is_known_by_what_the_store_has(void **state)
{
	const struct access_options none = { 0 };
	struct fixture *f = *state;
	struct token_row row = { .name = "ci", .project = "p", .scope = SCOPE_READ };
	uint8_t hash[SECRET_HASH_BYTES];
	char token[SECRET_CHARS + 1], bearer[128];
	struct err err = { 0 };
	struct caller who = ask(f, &none, (struct credentials){ .peer = "::1" }, ERR_NONE);

	assert_int_equal(who.scope, SCOPE_ADMIN); /* no accounts */
	assert_true(secret_make(SECRET_TOKEN, token, &err));
	secret_hash(token, hash);
	assert_true(db_token_add(f->db, &row, hash, &err));
	who = ask(f, &none, (struct credentials){ .peer = "::1" }, ERR_NONE);
	assert_int_equal(who.scope, SCOPE_OPEN);
	snprintf(bearer, sizeof(bearer), "bearer %s", token);
	who = ask(f, &none, (struct credentials){ .authorization = bearer }, ERR_NONE);
	assert_string_equal(who.name, "ci");
	assert_string_equal(who.project, "p");
	assert_int_equal(who.scope, SCOPE_READ);
	bearer[strlen(bearer) - 1] ^= 1;
	ask(f, &none, (struct credentials){ .authorization = bearer }, ERR_UNAUTHORIZED);
	ask(f, &none, (struct credentials){ .authorization = "Basic eA==" }, ERR_UNAUTHORIZED);
}

static void the_last_address_that_is_no_proxy_asks(void **state)
{
	static const char *const proxies[] = { "10.0.0.1", "10.0.0.2" };
	const struct access_options o = { .proxies = proxies, .n_proxies = 2 };
	static const char *const cases[][3] = {
		{ "10.0.0.1", "1.2.3.4", "1.2.3.4" },
		{ "::ffff:10.0.0.1", "1.2.3.4, 10.0.0.2", "1.2.3.4" },
		{ "10.0.0.1", "6.6.6.6, 1.2.3.4,10.0.0.2", "1.2.3.4" },
		{ "10.0.0.1", "10.0.0.2", "10.0.0.2" },
		{ "10.0.0.1", "evil\n", "10.0.0.1" },
		{ "10.0.0.1", "", "10.0.0.1" },
		{ "10.0.0.1", NULL, "10.0.0.1" },
		{ "10.0.0.9", "1.2.3.4", "10.0.0.9" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
		    ask(f, &o,
			(struct credentials){ .peer = cases[i][0], .forwarded_for = cases[i][1] },
			ERR_NONE)
			.address,
		    cases[i][2]);
}

static void accounts_are_there_from_the_first_token_on(void **state)
{
	struct fixture *f = *state;
	const struct access_options none = { 0 }, users = { .user_header = "X-User" };
	struct err err = { 0 };
	struct access_desk *a = access_create(f->db, &none, &err),
			   *b = access_create(f->db, &users, &err);

	assert_false(access_has_accounts(a, &err));
	assert_true(access_has_accounts(b, &err));
	access_destroy(a);
	access_destroy(b);
}

static void the_cookie_is_found_among_others(void **state)
{
	struct fixture *f = *state;

	assert_null(session_cookie(NULL, &f->arena));
	assert_null(session_cookie("a=1; not_breakeven_session=2", &f->arena));
	assert_string_equal(session_cookie("a=1; breakeven_session=x; b=2", &f->arena), "x");
	assert_string_equal(session_cookie("breakeven_session=", &f->arena), "");
}

static void what_shows_all_projects_is_not_for_a_token_of_one(void **state)
{
	struct fixture *f = *state;
	struct req req = { .arena = &f->arena, .caller = { .name = "t", .project = "p" } };
	int refused = 0;

	for (int i = 0; i < routes.n; i++) {
		struct err err = { 0 };

		if (strchr(routes.rows[i].path, '{') || strstr(routes.rows[i].path, "compare") ||
		    strstr(routes.rows[i].path, "history"))
			continue;
		refused += !is_of_project(&req, &routes.rows[i], &err);
		assert_true(err.code == ERR_NONE || err.code == ERR_FORBIDDEN);
	}
	assert_int_equal(refused, 5); /* metrics, suites, files, hosts, audit */
}

/* Both ends of a connection: the server's, the client's. */
static void connect_pair(int pair[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listening, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &len), 0);
	pair[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(pair[1], (struct sockaddr *)&at, len), 0);
	pair[0] = accept(listening, NULL, NULL);
	assert_true(pair[0] >= 0);
	close(listening);
}

static void in_a_crowd_a_slow_client_goes_and_others_stay(void **state)
{
	struct err err = { 0 };
	struct patience *p = patience_create(1, 120, &err);
	struct patient *slow, *idle, *quick;
	char text[128] = "";
	int a[2], b[2], c[2];

	(void)state;
	connect_pair(a);
	connect_pair(b);
	connect_pair(c);
	slow = patient_enter(p, a[0]);
	idle = patient_enter(p, b[0]);
	quick = patient_enter(p, c[0]);
	assert_int_equal(write(b[1], "a request", 9), 9);
	assert_int_equal(read(b[0], text, 9), 9);
	patient_sends(idle, 0, true);
	patient_waits(idle, 9);
	patient_sends(quick, 0, true);
	assert_int_equal(write(a[1], "a part", 6), 6);
	patient_sends(slow, 6, false);
	assert_true(read(a[1], text, sizeof(text) - 1) > 0); /* waits for it */
	assert_memory_equal(text, "HTTP/1.1 408 ", 13);
	assert_int_equal(read(b[1], text, 1), 0); /* no answer to what it did not ask */
	assert_int_equal(recv(c[1], text, 1, MSG_DONTWAIT), -1);
	patient_leave(p, slow);
	patient_leave(p, idle);
	patient_waits(quick, -1); /* alone it is no crowd */
	patient_leave(p, quick);
	patience_destroy(p);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
		close(c[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_of_loopback_has_the_port),
		TEST(whoever_asks_is_known_by_what_the_store_has),
		TEST(the_last_address_that_is_no_proxy_asks),
		TEST(accounts_are_there_from_the_first_token_on),
		TEST(the_cookie_is_found_among_others),
		TEST(in_a_crowd_a_slow_client_goes_and_others_stay),
		TEST(what_shows_all_projects_is_not_for_a_token_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
