/* tests/read_whole.h -- a test's file, as text. */
#ifndef TESTS_READ_WHOLE_H
#define TESTS_READ_WHOLE_H

/* cmocka.h wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

/* The caller's to free; a file that cannot be read fails the test. */
static inline char *read_whole(const char *path)
{
	enum { MOST = 1 << 20 };
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, MOST);
	size_t n;

	if (!file)
		fail_msg("%s cannot be read; run from the project's root", path);
	assert_non_null(text);
	n = fread(text, 1, MOST - 1, file);
	assert_true(n < MOST - 1);
	fclose(file);
	return text;
}

#endif
