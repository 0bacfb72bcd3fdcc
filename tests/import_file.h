/* tests/import_file.h -- for tests of imports: texts and files in, the report out. */
#ifndef TESTS_IMPORT_FILE_H
#define TESTS_IMPORT_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/import/import.h"

/* The report of files given as texts, fed in pieces of so many bytes; NULL: refused. */
static inline json_t *import_texts(const char *const *texts, int n, size_t piece)
{
	struct err err = { 0 };
	struct import *im = import_create(NULL, NULL, 0, &err);
	json_t *report = NULL;
	bool ok = im != NULL;

	for (int i = 0; ok && i < n; i++) {
		size_t len = strlen(texts[i]);
		char name[32];

		snprintf(name, sizeof(name), "text %d", i);
		ok = import_begin(im, name, &err);
		for (size_t at = 0; ok && at < len; at += piece)
			ok = import_feed(im, texts[i] + at, len - at < piece ? len - at : piece,
					 &err);
		ok = ok && import_end(im, &err);
	}
	if (ok)
		report = import_finish(im, &err);
	import_destroy(im);
	return report;
}

static inline json_t *import_one(const char *text)
{
	return import_texts(&text, 1, 1 << 20);
}

/* The report of a file; NULL: there is none of that name. */
static inline json_t *import_path(const char *path)
{
	struct err err = { 0 };
	FILE *file = fopen(path, "rb");
	struct import *im;
	json_t *report;
	char bytes[65536];
	size_t n;

	if (!file)
		return NULL;
	im = import_create(NULL, NULL, 0, &err);
	assert_non_null(im);
	assert_true(import_begin(im, path, &err));
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		assert_true(import_feed(im, bytes, n, &err));
	fclose(file);
	assert_true(import_end(im, &err));
	report = import_finish(im, &err);
	assert_non_null(report);
	import_destroy(im);
	return report;
}

/* A number at a path such as "ledger.dropped.cut_off"; items of lists by number. */
static inline const json_t *at_path(const json_t *json, const char *path)
{
	char part[64];

	while (json && *path) {
		size_t len = strcspn(path, ".");

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(part))
					   : json_object_get(json, part);
		path += len + (path[len] == '.');
	}
	return json;
}

/* The text there; "(none)" where there is no such. */
static inline const char *text_at(const json_t *json, const char *path)
{
	const char *text = json_string_value(at_path(json, path));

	return text ? text : "(none)";
}

static inline void assert_count(const json_t *json, const char *path, int64_t wanted)
{
	const json_t *found = at_path(json, path);

	if (!json_is_number(found) || (int64_t)json_number_value(found) != wanted) {
		char *text = json_dumps(found ? found : json, JSON_ENCODE_ANY);

		print_error("%s is not %lld: %.2000s\n", path, (long long)wanted, text);
		free(text);
	}
	assert_true(json_is_number(found));
	assert_int_equal((int64_t)json_number_value(found), wanted);
}

static inline void assert_us(const json_t *json, const char *path, double wanted)
{
	double found = json_number_value(at_path(json, path));

	if (found < wanted - 1e-6 || found > wanted + 1e-6)
		print_error("%s is %.9g, not %.9g\n", path, found, wanted);
	assert_true(found > wanted - 1e-6 && found < wanted + 1e-6);
}

#endif
