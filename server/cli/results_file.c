/* server/cli/results_file.c -- results of other tools in files, and where they go. */
#include "server/cli/results_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/fields/fields.h"
#include "server/cli/post.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

enum { PATH_BYTES = 4096 };

/* ---- in ---- */

/* All of a file that is no longer than results may be; NULL with IO or TOO_LARGE. */
static char *bytes_of(const char *path, size_t *len, struct err *err)
{
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct buf all = { 0 };
	char block[65536];
	ssize_t n = 0;

	if (fd < 0) {
		err_set(err, ERR_IO, "%.300s cannot be opened: %s", path, strerror(errno));
		return NULL;
	}
	while (!all.failed && all.len <= RESULTS_MOST_BYTES &&
	       (n = read(fd, block, sizeof(block))) > 0)
		buf_add(&all, block, (size_t)n);
	if (n < 0)
		err_set(err, ERR_IO, "%.300s cannot be read: %s", path, strerror(errno));
	else if (all.failed)
		err_set(err, ERR_MEMORY, "out of memory for %.300s", path);
	else if (all.len > RESULTS_MOST_BYTES)
		err_set(err, ERR_TOO_LARGE, "%.300s is over %d MiB", path,
			RESULTS_MOST_BYTES >> 20);
	if (fd != STDIN_FILENO)
		close(fd);
	if (err->code == ERR_NONE) {
		*len = all.len;
		return all.data ? all.data : calloc(1, 1);
	}
	buf_finish(&all);
	return NULL;
}

bool results_file_is(const char *path)
{
	struct err none = { 0 };
	struct stat st;
	size_t len = 0;
	char *bytes = stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
			      st.st_size <= RESULTS_MOST_BYTES
			  ? bytes_of(path, &len, &none)
			  : NULL;
	bool is = bytes && results_recognises(bytes, len);

	free(bytes);
	return is;
}

/* Of results/MACHINE/COMMIT-ENV.json it is results/benchmarks.json.  NULL: there is none. */
static json_t *benchmarks_beside(const char *path)
{
	char beside[PATH_BYTES];
	const char *slash = strrchr(path, '/');

	snprintf(beside, sizeof(beside), "%.*s/../benchmarks.json", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	return json_load_file(beside, 0, NULL);
}

static json_t *read_benchmarks(const char *path, struct err *err)
{
	json_error_t at;
	json_t *json = json_load_file(path, 0, &at);

	if (!json)
		err_set(err, ERR_JSON, "%.300s is no benchmarks.json: line %d: %s", path, at.line,
			at.text);
	return json;
}

json_t *results_file_read(const char *path, const char *benchmarks,
			  const struct results_request *request, struct err *err)
{
	struct results_request asked = *request;
	const char *slash = strrchr(path, '/');
	json_t *beside = benchmarks ? read_benchmarks(benchmarks, err) : benchmarks_beside(path);
	size_t len;
	char *bytes = benchmarks && !beside ? NULL : bytes_of(path, &len, err);
	json_t *results = NULL;

	asked.benchmarks = beside;
	asked.file = slash ? slash + 1 : path;
	if (bytes)
		results = results_read(bytes, len, &asked, err);
	if (bytes && !results) {
		struct err why = *err;

		err_set(err, why.code, "%.200s: %.800s", path, why.message);
	}
	free(bytes);
	json_decref(beside);
	return results;
}

/* ---- out ---- */

static void print(const struct report_results *r, struct buf *out)
{
	for (size_t i = 0; i < r->results.n; i++)
		run_table_print(out, &r->results.at[i]);
	for (size_t i = 0; i < r->notes.n; i++)
		buf_printf(out, "note: %s\n", r->notes.at[i]);
}

static bool show(const json_t *results, const struct report_results *read, bool json,
		 struct err *err)
{
	struct buf out = { 0 };
	char *text = json ? json_dumps(results, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;

	if (text)
		buf_printf(&out, "%s\n", text);
	else if (!json)
		print(read, &out);
	free(text);
	if (out.failed || !out.data)
		err_set(err, ERR_MEMORY, "out of memory for results");
	else if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
	buf_finish(&out);
	return err->code == ERR_NONE;
}

static void say_stored(const struct results_to *to, const char *where, int64_t first, size_t n,
		       int64_t suite)
{
	fprintf(stderr, "breakeven %s: ", to->command);
	if (n == 1)
		fprintf(stderr, "run %lld of %s\n", (long long)first, where);
	else
		fprintf(stderr, "%zu runs from %lld on, suite %lld of %s\n", n, (long long)first,
			(long long)suite, where);
}

static bool post_results(const json_t *results, const struct results_to *to, struct err *err)
{
	struct post *post = post_open(to->post, err);
	char *text = post ? json_dumps(results, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
	json_t *answer = NULL, *runs;
	bool ok = text &&
		  post_send(post, "/results",
			    (struct post_body){
				.type = "application/json", .bytes = text, .len = strlen(text) },
			    &answer, err);

	runs = json_object_get(answer, "runs");
	if (ok)
		say_stored(to, to->post, json_integer_value(json_array_get(runs, 0)),
			   json_array_size(runs),
			   json_integer_value(json_object_get(answer, "suite")));
	json_decref(answer);
	free(text);
	post_close(post);
	return ok || (err->code == ERR_NONE ? err_set(err, ERR_MEMORY, "out of memory for results")
					    : false);
}

static bool store_results(const json_t *results, const struct results_to *to, struct err *err)
{
	struct db *db = db_open_beside(to->db, err);
	struct arena arena = { 0 };
	struct results_stored stored;
	bool ok = db && results_store(db, results, "", &arena, &stored, err);

	if (ok)
		say_stored(to, to->db, stored.runs[0], stored.n, stored.suite);
	arena_finish(&arena);
	db_close(db);
	return ok;
}

bool results_deliver(const json_t *results, const struct results_to *to, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_results *read = report_read_results(results, &arena, err);
	bool ok = read && show(results, read, to->json, err);

	arena_finish(&arena);
	return ok && (!to->post || post_results(results, to, err)) &&
	       (!to->db || store_results(results, to, err));
}
