/* tests/test_profiler_gather.c -- what is taken of a program's .zip, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zip.h>

#include "profiler/gather/gather.h"
#include "profiler/workload/workload.h"

struct packed {
	char *bytes;
	size_t len;
};
struct entry {
	const char *path, *text;
	size_t zeros; /* so many after the text */
	bool link, encrypted;
};

static void add_entry(zip_t *z, const struct entry *e)
{
	size_t len = strlen(e->text) + e->zeros;
	char *text = calloc(1, len + 1);
	zip_int64_t at;

	memcpy(text, e->text, strlen(e->text));
	memset(text + strlen(e->text), ' ', e->zeros);
	at = zip_file_add(z, e->path, zip_source_buffer(z, text, len, len > 0), 0);
	if (!len) /* libzip takes over nothing */
		free(text);
	assert_true(at >= 0);
	if (e->link)
		zip_file_set_external_attributes(z, (zip_uint64_t)at, 0, ZIP_OPSYS_UNIX,
						 (zip_uint32_t)(S_IFLNK | 0777) << 16);
	if (e->encrypted)
		assert_int_equal(
		    zip_file_set_encryption(z, (zip_uint64_t)at, ZIP_EM_AES_256, "secret"), 0);
}

static struct packed pack(const struct entry *entries, int n)
{
	struct packed p = { 0 };
	zip_error_t error;
	zip_source_t *to = zip_source_buffer_create(NULL, 0, 0, &error);
	zip_t *z = zip_open_from_source(to, ZIP_TRUNCATE, &error);
	zip_stat_t st;

	zip_source_keep(to);
	for (int i = 0; i < n; i++)
		add_entry(z, &entries[i]);
	assert_int_equal(zip_close(z), 0);
	zip_source_stat(to, &st);
	p.len = st.size;
	p.bytes = malloc(p.len);
	zip_source_open(to);
	assert_int_equal(zip_source_read(to, p.bytes, p.len), p.len);
	zip_source_close(to);
	zip_source_free(to);
	return p;
}

static void gives(const struct entry *entries, int n, const char *paths)
{
	struct packed p = pack(entries, n);
	struct err err = { 0 };
	json_t *files = gather_zip(p.bytes, p.len, "a.zip", &err), *text;
	char all[1000] = "";
	const char *path;

	if (!files)
		fail_msg("%s", err.message);
	json_object_foreach(files, path, text)
	{
		strcat(all, path);
		strcat(all, " ");
	}
	assert_string_equal(all, paths);
	json_decref(files);
	free(p.bytes);
}

static void refuses(const struct entry *entries, int n, enum err_code code, const char *part)
{
	struct packed p = pack(entries, n);
	struct err err = { 0 };
	json_t *files = gather_zip(p.bytes, p.len, "a.zip", &err);

	if (files || err.code != code || !strstr(err.message, part))
		fail_msg("%s, not %s with \"%s\"", files ? "was taken" : err.message,
			 err_name(code), part);
	free(p.bytes);
}

#define F(name, content, ...)                                                                      \
	{                                                                                          \
		.path = name, .text = content, ##__VA_ARGS__                                       \
	}
#define GIVES(paths, ...)                                                                          \
	gives((struct entry[]){ __VA_ARGS__ },                                                     \
	      (int)(sizeof((struct entry[]){ __VA_ARGS__ }) / sizeof(struct entry)), paths)
#define REFUSES(code, part, ...)                                                                   \
	refuses((struct entry[]){ __VA_ARGS__ },                                                   \
		(int)(sizeof((struct entry[]){ __VA_ARGS__ }) / sizeof(struct entry)), code, part)

static void takes_python_in_order_and_skips_the_rest(void **state)
{
	GIVES("a.py b/c.py ", F("b/c.py", "x = 1"), F("a.py", "import b.c"), F("README.md", "#"),
	      F(".git/hook.py", ""), F("__pycache__/a.py", ""), F("__MACOSX/a.py", ""));
	(void)state;
}

static void takes_off_the_only_folder_unless_it_is_a_package(void **state)
{
	GIVES("a.py b/c.py ", F("repo-main/a.py", ""), F("repo-main/b/c.py", ""),
	      F("repo-main/README.md", ""));
	GIVES("net/__init__.py net/a.py ", F("net/a.py", ""), F("net/__init__.py", ""));
	GIVES("a/x.py b/x.py ", F("a/x.py", ""), F("b/x.py", ""));
	GIVES("a/x.py top.py ", F("a/x.py", ""), F("top.py", ""));
	(void)state;
}

static void refuses_paths_that_lead_out(void **state)
{
	REFUSES(ERR_WORKLOAD, "leads out", F("../a.py", ""));
	REFUSES(ERR_WORKLOAD, "leads out", F("b/../../a.txt", ""));
	REFUSES(ERR_WORKLOAD, "no path within", F("/etc/a.py", ""));
	REFUSES(ERR_WORKLOAD, "no path within", F("a\\b.py", ""));
	(void)state;
}

static void refuses_links_and_secrets(void **state)
{
	REFUSES(ERR_WORKLOAD, "symbolic link", F("a.py", "/etc/passwd", .link = true));
	REFUSES(ERR_WORKLOAD, "encrypted", F("a.py", "x = 1", .encrypted = true));
	REFUSES(ERR_SYNTAX, "UTF-8", F("a.py", "\xff\xfe"));
	REFUSES(ERR_WORKLOAD, "no .py file", F("a.txt", ""));
	(void)state;
}

static void refuses_bombs_before_it_unpacks_them(void **state)
{
	struct entry many[WORKLOAD_MAX_FILES + 1], large[18];
	char names[WORKLOAD_MAX_FILES + 1][16];

	REFUSES(ERR_BOUND, "the limit is 1048576", F("a.py", "", .zeros = 1 << 28));
	for (int i = 0; i <= WORKLOAD_MAX_FILES; i++) {
		snprintf(names[i], sizeof(names[i]), "f%d.py", i);
		many[i] = (struct entry)F(names[i], "");
	}
	refuses(many, WORKLOAD_MAX_FILES + 1, ERR_BOUND, "more than 1000 .py files");
	for (int i = 0; i < 18; i++)
		large[i] = (struct entry)F(names[i], "", .zeros = 1 << 20);
	refuses(large, 18, ERR_BOUND, "more than 16 MiB");
	REFUSES(ERR_BOUND, "folders deep", F("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r.py", ""));
	(void)state;
}

static void refuses_what_says_another_length_than_it_has(void **state)
{
	struct packed p = pack(&(struct entry)F("a.py", "x = 1234567890\n"), 1);
	struct err err = { 0 };
	json_t *files;

	for (size_t i = 0; i + 28 < p.len; i++)
		if (memcmp(p.bytes + i, "PK\1\2", 4) == 0)
			p.bytes[i + 24] = 5; /* the size, in the directory */
		else if (memcmp(p.bytes + i, "PK\3\4", 4) == 0)
			p.bytes[i + 22] = 5;
	files = gather_zip(p.bytes, p.len, "a.zip", &err);
	assert_null(files);
	assert_int_equal(err.code, ERR_WORKLOAD);
	err = (struct err){ 0 };
	assert_null(gather_zip(p.bytes, p.len / 2, "a.zip", &err));
	assert_non_null(strstr(err.message, "a.zip is no .zip that can be read"));
	free(p.bytes);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_python_in_order_and_skips_the_rest),
		cmocka_unit_test(takes_off_the_only_folder_unless_it_is_a_package),
		cmocka_unit_test(refuses_paths_that_lead_out),
		cmocka_unit_test(refuses_links_and_secrets),
		cmocka_unit_test(refuses_bombs_before_it_unpacks_them),
		cmocka_unit_test(refuses_what_says_another_length_than_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
