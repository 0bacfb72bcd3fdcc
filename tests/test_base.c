/* tests/test_base.c -- the ground floor: errors, arenas, buffers, arrays. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fusion/base/arena.h"
#include "fusion/base/ask.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/base/err.h"
#include "fusion/base/hash.h"
#include "fusion/base/spawn.h"
#include "fusion/base/vec.h"
#include "fusion/base/write.h"

static void every_error_has_a_status_and_a_name_that_leads_back(void **state)
{
	(void)state;
	for (int i = 1; i < ERR_COUNT; i++) {
		assert_in_range(err_status((enum err_code)i), 400, 599);
		assert_int_equal(err_from_name(err_name((enum err_code)i)), i);
	}
	assert_int_equal(err_from_name("no such code"), ERR_INTERNAL);
}

static void a_long_message_is_cut_and_ends(void **state)
{
	struct err err = { 0 };
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(err_at(&err, ERR_SHAPE, 3, 5, "%s", text));
	assert_int_equal(strlen(err.message), ERR_MESSAGE_BYTES - 1);
	assert_int_equal(err.line, 3);
	assert_false(err_set(NULL, ERR_SHAPE, "nobody listens"));
}

static void arena_memory_is_zeroed_aligned_and_bounded(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena, 100000);
	for (size_t i = 1; i < 300; i++) {
		unsigned char *p = arena_alloc(&arena, i);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xff, i);
	}
	assert_null(arena_alloc(&arena, 100000));
	assert_null(arena_array(&arena, SIZE_MAX / 2, 4));
	assert_non_null(arena_alloc(&arena, 16)); /* a refusal spoils nothing */
	assert_string_equal(arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
	assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
	arena_finish(&arena);
	assert_int_equal(arena.used_bytes, 0);
	arena_finish(NULL);
}

static void a_buffer_stops_at_its_ceiling_and_says_so(void **state)
{
	struct buf buf;
	char *text;

	(void)state;
	buf_init(&buf, 10);
	buf_puts(&buf, "12345");
	buf_printf(&buf, "%d", 67890);
	assert_false(buf.failed);
	buf_putc(&buf, 'x');
	assert_true(buf.failed);
	assert_string_equal(buf.data, "1234567890");
	assert_null(buf_steal(&buf));
	buf_init(&buf, 0);
	for (int i = 0; i < 10000; i++)
		buf_printf(&buf, "%d,", i);
	assert_int_equal(buf.len, strlen(buf.data));
	text = buf_steal(&buf);
	assert_non_null(strstr(text, "9998,9999,"));
	free(text);
	text = buf_steal(&buf); /* an empty one is an empty string */
	assert_string_equal(text, "");
	free(text);
}

static void an_array_keeps_what_was_pushed(void **state)
{
	VEC(int64_t) v = { 0 };

	(void)state;
	for (int64_t i = 0; i < 1000; i++)
		assert_true(VEC_PUSH(&v, i * i));
	assert_int_equal(v.len, 1000);
	for (int64_t i = 0; i < 1000; i++)
		assert_int_equal(v.at[i], i * i);
	VEC_FREE(&v);
}

static void hashes_differ_by_content_and_seed(void **state)
{
	char a[HASH_HEX_BYTES], b[HASH_HEX_BYTES];

	(void)state;
	hash_hex("abc", 3, a);
	hash_hex("abd", 3, b);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	assert_true(hash_bytes("abc", 3, 1) != hash_bytes("abc", 3, 2));
	assert_true(hash_bytes("abc", 3, 1) == hash_bytes("abc", 3, 1));
}

static void the_clock_does_not_go_back(void **state)
{
	int64_t a = clock_ns();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t b = clock_ns();

		assert_true(b >= a);
		a = b;
	}
	assert_true(clock_wall_ns() > INT64_C(1700000000) * 1000000000);
}

#define ASK(line, ...) ask_command((const char *const[]){ __VA_ARGS__, NULL }, line, sizeof(line))

static void a_command_is_asked_for_its_first_line(void **state)
{
	char line[8];

	(void)state;
	assert_true(ASK(line, "printf", "one\ntwo\n"));
	assert_string_equal(line, "one");
	assert_true(ASK(line, "sh", "-c", "echo a long line; head -c 300000 /dev/zero"));
	assert_string_equal(line, "a long "); /* cut, and the command not cut short */
	assert_false(ASK(line, "sh", "-c", "echo said; exit 3"));
	assert_false(ASK(line, "true"));
	assert_false(ASK(line, "sh", "-c", "echo unseen >&2"));
	assert_false(ASK(line, "there-is-no-such-command"));
	assert_string_equal(line, "");
}

/* Starts `path`, whose output is `out`, and waits to be killed. */
static _Noreturn void start_and_wait(const char *path, int out)
{
	const char *argv[] = { path, "3600", NULL }, *env[] = { NULL };
	pid_t pid;

	if (spawn_bound(&pid, &(struct spawn_bound){ path, argv, env, (int[]){ 0, out }, 2 }) != 0)
		_exit(1);
	close(out);
	while (true)
		pause();
}

static void a_program_ends_with_who_started_it(void **state)
{
	const char *argv[] = { "there-is-no-such-command", NULL }, *env[] = { NULL };
	struct spawn_bound none = { argv[0], argv, env, (int[]){ 0, 1, 2 }, 3 };
	int ends[2];
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(spawn_bound(&pid, &none), ENOENT);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0)
		start_and_wait("sleep", ends[1]);
	close(ends[1]);
	usleep(100000); /* so that it most likely has begun; it ends at any time */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* as long as it runs nothing comes */
	close(ends[0]);
}

static void note_signal(int number)
{
	(void)number;
}

/* Counts what comes out of a pipe, which is 64 KiB long: writing more waits, and signals end it. */
static void read_and_exit(int from, size_t want)
{
	size_t got = 0;
	char piece[1000];
	ssize_t n;

	while ((n = read(from, piece, sizeof(piece))) > 0)
		for (ssize_t i = 0; i < n; i++)
			got += piece[i] == (char)('a' + got % 23);
	_exit(got == want ? 0 : 1);
}

static void all_is_written_whatever_signals_come(void **state)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0 }, { 0 } };
	struct sigaction noted = { .sa_handler = note_signal }, before,
			 ignored = { .sa_handler = SIG_IGN };
	enum { BYTES = 8 << 20 };
	char *text = malloc(BYTES);
	int fds[2], status;
	pid_t child;

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		text[i] = (char)('a' + i % 23);
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[1]);
		read_and_exit(fds[0], BYTES);
	}
	close(fds[0]);
	sigaction(SIGALRM, &noted, &before); /* without SA_RESTART */
	setitimer(ITIMER_REAL, &often, NULL);
	assert_true(write_all(fds[1], text, BYTES));
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	sigaction(SIGPIPE, &ignored, &before);
	assert_false(write_all(fds[1], text, 1)); /* nobody reads */
	assert_int_equal(errno, EPIPE);
	sigaction(SIGPIPE, &before, NULL);
	close(fds[1]);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_error_has_a_status_and_a_name_that_leads_back),
		cmocka_unit_test(a_long_message_is_cut_and_ends),
		cmocka_unit_test(arena_memory_is_zeroed_aligned_and_bounded),
		cmocka_unit_test(a_buffer_stops_at_its_ceiling_and_says_so),
		cmocka_unit_test(an_array_keeps_what_was_pushed),
		cmocka_unit_test(hashes_differ_by_content_and_seed),
		cmocka_unit_test(the_clock_does_not_go_back),
		cmocka_unit_test(a_command_is_asked_for_its_first_line),
		cmocka_unit_test(a_program_ends_with_who_started_it),
		cmocka_unit_test(all_is_written_whatever_signals_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
