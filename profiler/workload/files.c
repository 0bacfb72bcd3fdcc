/* profiler/workload/files.c -- the text of a workload's program: one source, or files.
 *
 *	"source": "...", "entry": "model"
 *	"files": {"train.py": "...", "models/unet.py": "..."}, "entry": "train.py:model"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "profiler/workload/call.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/workload.h"

bool path_check(const char *path, struct err *err)
{
	size_t len = strlen(path);
	int depth = 0;

	if (len > WORKLOAD_MAX_PATH_BYTES)
		return err_set(err, ERR_BOUND, "the path %.60s... has %zu bytes; the limit is %d",
			       path, len, WORKLOAD_MAX_PATH_BYTES);
	for (const char *at = path;; at += strcspn(at, "/") + 1) {
		size_t n = strcspn(at, "/");

		if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return err_set(err, ERR_WORKLOAD,
				       "'%s' is no path within the program's folder; write it as "
				       "models/unet.py",
				       path);
		if (++depth > WORKLOAD_MAX_PATH_DEPTH)
			return err_set(err, ERR_BOUND, "'%s' is over %d folders deep", path,
				       WORKLOAD_MAX_PATH_DEPTH);
		if (!at[n])
			break;
	}
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < 32 || *c == 127 || *c == '\\' || *c == ':')
			return err_set(err, ERR_WORKLOAD,
				       "a path of the program holds a backslash, a colon or a "
				       "control character; write it as models/unet.py");
	return true;
}

bool workload_path_check(const char *path, struct err *err)
{
	size_t len = strlen(path);

	return path_check(path, err) && ((len > 3 && strcmp(path + len - 3, ".py") == 0) ||
					 err_set(err, ERR_WORKLOAD, "'%s' is no .py file", path));
}

static bool read_files(struct workload *w, const json_t *files, struct err *err)
{
	struct fusion_file *list;
	size_t n = json_object_size(files), bytes = 0;
	const char *path;
	json_t *text;

	if (!json_is_object(files) || n == 0)
		return err_set(err, ERR_WORKLOAD,
			       "files must be an object of texts by path, as {\"train.py\": "
			       "\"import torch ...\"}");
	if (n > WORKLOAD_MAX_FILES)
		return err_set(err, ERR_BOUND, "files has %zu entries; the limit is %d", n,
			       WORKLOAD_MAX_FILES);
	list = calloc(n, sizeof(*list));
	if (!list)
		return err_set(err, ERR_MEMORY, "out of memory for the workload's files");
	w->files.at = list;
	json_object_foreach((json_t *)files, path, text)
	{
		struct fusion_file *f = &list[w->files.n++];

		*f = (struct fusion_file){ path, json_string_value(text),
					   json_string_length(text) };
		if (!workload_path_check(path, err))
			return false;
		if (!f->text || strlen(f->text) != f->len)
			return err_set(err, ERR_WORKLOAD,
				       "files['%s'] must be a text without zero bytes", path);
		if (f->len > WORKLOAD_MAX_SOURCE_BYTES)
			return err_set(err, ERR_BOUND, "%s has %zu bytes; the limit is %d", path,
				       f->len, WORKLOAD_MAX_SOURCE_BYTES);
		bytes += f->len;
	}
	return bytes <= WORKLOAD_MAX_FILES_BYTES ||
	       err_set(err, ERR_BOUND, "files have %zu bytes together; the limit is %d", bytes,
		       WORKLOAD_MAX_FILES_BYTES);
}

/* The colon between the file and what is called of it: "train.py:Net({1: 2})"; NULL. */
static const char *colon_of(const char *entry)
{
	const char *py = strstr(entry, ".py:");

	return py ? py + 3 : strrchr(entry, ':');
}

/* "train.py:model": the file's index, and w->entry. */
static bool find_entry(struct workload *w, const char *entry, struct err *err)
{
	const char *colon = colon_of(entry);
	size_t len = colon ? (size_t)(colon - entry) : strlen(entry);
	char path_text[WORKLOAD_MAX_PATH_BYTES + 1];
	struct nearest near;

	snprintf(path_text, sizeof(path_text), "%.*s", (int)len, entry);
	near = nearest_to(path_text);
	if (len < 3 || strncmp(entry + len - 3, ".py", 3) != 0)
		return err_set(
		    err, ERR_WORKLOAD,
		    "entry must name the file and what it defines, as \"train.py:model\"; "
		    "it is '%.100s'",
		    entry);
	for (int i = 0; i < w->files.n; i++) {
		const char *path = w->files.at[i].path;

		if (strncmp(path, entry, len) == 0 && path[len] == '\0') {
			w->files.entry = i;
			w->source = w->files.at[i].text;
			w->entry = colon && colon[1] ? colon + 1 : "model";
			return true;
		}
		nearest_offer(&near, path);
	}
	return err_set(err, ERR_WORKLOAD, "entry: the program has no file %.*s%s%s", (int)len,
		       entry, near.best ? "; did you mean " : "", near.best ? near.best : "");
}

static bool one_source(struct workload *w, const char *entry, struct err *err)
{
	struct fusion_file *only = calloc(1, sizeof(*only));

	w->files = (struct fusion_files){ only, 1, 0 };
	if (!only)
		return err_set(err, ERR_MEMORY, "out of memory for the workload");
	*only = (struct fusion_file){ "", w->source, strlen(w->source) };
	w->entry = entry;
	return true;
}

bool files_read(struct workload *w, struct err *err)
{
	const json_t *files = json_object_get(w->json, "files");
	const char *entry;

	if (!field_string(w->json, "entry", "model", 200, &entry, err) ||
	    !field_string(w->json, "source", NULL, WORKLOAD_MAX_SOURCE_BYTES, &w->source, err))
		return false;
	if (field_given(files)) {
		if (w->source)
			return err_set(
			    err, ERR_WORKLOAD,
			    "a workload has source or files, not both; leave source out");
		return read_files(w, files, err) && find_entry(w, entry, err);
	}
	if (!w->source)
		return err_set(err, ERR_WORKLOAD,
			       "source is missing: the text of a program that defines %s", entry);
	return one_source(w, entry, err);
}

void files_forget(struct workload *w)
{
	free((void *)w->files.at);
	w->files = (struct fusion_files){ 0 };
}

struct fusion_program *workload_program(const struct workload *w, const char *source, size_t len,
					struct err *err)
{
	struct fusion_file *list = calloc((size_t)w->files.n, sizeof(*list));
	struct fusion_files files = w->files;
	struct fusion_program *p;

	if (!list) {
		err_set(err, ERR_MEMORY, "out of memory for the program's files");
		return NULL;
	}
	memcpy(list, files.at, (size_t)files.n * sizeof(*list));
	list[files.entry].text = source;
	list[files.entry].len = len;
	files.at = list;
	p = fusion_parse_in(w->registry, &files, w->entry, err);
	if (!p && !err->file[0] && err->line > 0) /* only the entry's file must compile */
		snprintf(err->file, sizeof(err->file), "%s", list[files.entry].path);
	free(list);
	return p;
}

const json_t *workload_files(const json_t *workload)
{
	const json_t *files = json_object_get(workload, "files");

	return json_is_object(files) ? files : NULL;
}

const char *workload_entry_text(const json_t *files, const char *entry)
{
	char path[2 * WORKLOAD_MAX_PATH_BYTES];
	const char *colon = colon_of(entry);
	int len = (int)(colon ? colon - entry : (ptrdiff_t)strlen(entry));

	if (snprintf(path, sizeof(path), "%.*s", len, entry) >= (int)sizeof(path))
		return NULL;
	return json_string_value(json_object_get(files, path));
}

struct wanted_expression {
	const char *path, *text;
};

static bool is_wanted(void *self, const char *text, const char *path)
{
	struct wanted_expression *w = self;

	if (strcmp(path, w->path) != 0)
		return true;
	w->text = text;
	return false;
}

/* The expression at a path of spec_each_python(), "calls[0][1].2"; NULL: there is none. */
static const char *expression_at(const json_t *calls, const char *path)
{
	struct wanted_expression w = { .path = path };

	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *call = json_array_get(calls, i);

		for (size_t k = 0; k < call_length(call); k++) {
			char at[CALL_PATH_BYTES];

			call_path(call, (int)i, k, at);
			if (!spec_each_python(call_spec(call, k), at, is_wanted, &w))
				return w.text;
		}
	}
	return NULL;
}

/* Of "train.py:Net(3)" what is after the file. */
static const char *entry_called(const char *entry, bool has_files)
{
	const char *colon = entry && has_files ? colon_of(entry) : NULL;

	return colon ? colon + 1 : entry;
}

const char *workload_text(const json_t *workload, const char *file)
{
	const json_t *files = workload_files(workload);
	const char *entry = json_string_value(json_object_get(workload, "entry"));

	if (file && strncmp(file, "calls[", 6) == 0)
		return expression_at(json_object_get(workload, "calls"), file);
	if (file && strcmp(file, "entry") == 0)
		return entry_called(entry, files != NULL);
	if (!files)
		return json_string_value(json_object_get(workload, "source"));
	if (file && *file)
		return json_string_value(json_object_get(files, file));
	return entry ? workload_entry_text(files, entry) : NULL;
}

void workload_set_files(json_t *workload, json_t *files, const char *entry)
{
	json_object_del(workload, "source");
	json_object_set_new(workload, "files", files);
	json_object_set_new(workload, "entry", json_string(entry));
}
