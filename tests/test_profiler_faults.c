/* Allocations that fail: an import, at each of them, and its timeline read again.  What comes is
 * an error or a whole report, never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/sanitized.h"
#include "profiler/fields/json.h"
#include "profiler/import/import.h"
#include "profiler/timeline/format.h"

#if ADDRESS_SANITIZED || THREAD_SANITIZED
/* The sanitizers have an allocator of their own. */
int main(void)
{
	return 0;
}
#else

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);

/* Of the allocations of this thread: how many are left before one fails; negative: none does. */
static __thread long left = -1;
static __thread long made;
static __thread bool goes_on; /* and all after it */

static bool fails(void)
{
	made++;
	if (left < 0 || left-- > 0)
		return false;
	left = goes_on ? 0 : -1;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t bytes);
void *calloc(size_t n, size_t bytes);
void *realloc(void *at, size_t bytes);

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *at, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(at, bytes);
}

static char *log_text;
static size_t log_len;

static bool read_block(void *self, const void *block, size_t len, struct err *err)
{
	struct timeline_tables tables = { 0 };
	struct timeline_block b;
	bool ok = timeline_block_read(block, len, &b, err) &&
		  (b.kind != TIMELINE_TABLES || timeline_tables_read(&tables, &b, err));

	(void)self;
	timeline_tables_finish(&tables);
	return ok;
}

static bool import(struct err *err)
{
	struct import *im = import_create(read_block, NULL, 0, err);
	bool ok = im && import_begin(im, "log", err) && import_feed(im, log_text, log_len, err) &&
		  import_end(im, err);
	json_t *report = ok ? import_finish(im, err) : NULL;

	import_destroy(im);
	json_decref(report);
	return report != NULL;
}

static void try_log(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct err err = { 0 };
	const char *full = getenv("FULL");
	long n, step;

	assert_non_null(file);
	log_text = __libc_malloc(1 << 20);
	log_len = fread(log_text, 1, 1 << 20, file);
	fclose(file);
	import(&err);
	made = 0;
	assert_true(import(&err));
	n = made;
	/* Those of the beginning, and some of the rest. */
	step = full && *full ? 1 : n / 500 + 1;
	for (int all = 0; all < 2; all++)
		for (long at = 0; at < n; at += at < 200 ? 1 : step) {
			bool ok;

			err = (struct err){ 0 };
			goes_on = all;
			left = at;
			ok = import(&err);
			left = -1;
			if (!ok && err.code == ERR_NONE)
				fail_msg("%s: failed at allocation %ld without an error", path, at);
		}
	free(log_text);
}

static void test_kineto(void **state)
{
	(void)state;
	try_log("tests/import/kineto.json");
}

static void test_counters(void **state)
{
	(void)state;
	try_log("tests/import/counters.json");
}

static void test_torch_trace(void **state)
{
	(void)state;
	try_log("tests/import/torch_trace_2.14.log");
}

static void test_pt_xla(void **state)
{
	(void)state;
	try_log("tests/import/pt_xla.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kineto),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_torch_trace),
		cmocka_unit_test(test_pt_xla),
	};

	if (!json_reserve())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
