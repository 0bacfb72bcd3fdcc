/* server/api/over_ranks.c -- the files that tlparse writes of many ranks, out of a run's texts.
 *
 * They have tlparse's form, so that what reads its files reads these: a graph is called by the
 * folder that it has there, "-_0_1_0": compiled autograd's id, frame, compilation, attempt.
 */
#include "server/api/over_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/texts.h"

enum { FILE_BYTES = 256 << 20, GRAPH_CHARS = 96 };

struct ranks_file {
	struct buf *out;
	const json_t *imported;
	bool more;       /* a row is there */
	json_t *threads; /* of the trace: {"RANK GRAPH": number} */
};

/* The next row of a list (taken over). */
static void put(struct ranks_file *w, json_t *row)
{
	char *text = json_dumps(row, JSON_COMPACT);

	buf_puts(w->out, w->more ? ",\n" : "[\n");
	buf_puts(w->out, text ? text : "null");
	w->more = true;
	free(text);
	json_decref(row);
}

/* "0/1", "!2/0/1" or "!2" of an attempt. */
static void name_graph(const char *compile, int64_t attempt, char out[GRAPH_CHARS])
{
	char autograd[24] = "-", frame[24] = "-", number[24] = "-";

	if (*compile == '!') {
		snprintf(autograd, sizeof(autograd), "%.*s", (int)strcspn(compile + 1, "/"),
			 compile + 1);
		compile += 1 + strcspn(compile + 1, "/");
		compile += *compile == '/';
	}
	if (strchr(compile, '/')) {
		snprintf(frame, sizeof(frame), "%.*s", (int)strcspn(compile, "/"), compile);
		snprintf(number, sizeof(number), "%s", strchr(compile, '/') + 1);
	}
	snprintf(out, GRAPH_CHARS, "%s_%s_%s_%lld", autograd, frame, number, (long long)attempt);
}

/* Of a process; where its log says none, its place. */
static json_int_t rank_of(const struct ranks_file *w, json_int_t process)
{
	const json_t *row = json_array_get(json_object_get(w->imported, "processes"),
					   (size_t)process),
		     *rank = json_object_get(row, "rank");

	return json_is_integer(rank) ? json_integer_value(rank) : process;
}

/* ---- files of one kind of texts ---- */

typedef void text_fn(struct ranks_file *w, json_int_t rank, const char *graph, const json_t *said);

static void put_schedule(struct ranks_file *w, json_int_t rank, const char *graph,
			 const json_t *said)
{
	if (json_array_size(said) > 0)
		put(w, json_pack("{s:I, s:s, s:O}", "rank", rank, "graph", graph, "ops", said));
}

static void put_estimates(struct ranks_file *w, json_int_t rank, const char *graph,
			  const json_t *said)
{
	json_t *ops = json_array(), *op;
	size_t i;

	json_array_foreach(json_object_get(said, "ops"), i, op)
		json_array_append_new(ops,
				      json_pack("{s:O?, s:O?}", "name", json_object_get(op, "name"),
						"estimated_runtime_ns",
						json_object_get(op, "estimated_runtime_ns")));
	if (json_array_size(ops) > 0)
		put(w, json_pack("{s:I, s:s, s:O}", "rank", rank, "graph", graph, "ops", ops));
	json_decref(ops);
}

static void put_name(struct ranks_file *w, const char *what, json_int_t rank, json_int_t thread,
		     const char *name)
{
	put(w, json_pack("{s:s, s:s, s:I, s:I, s:{s:s}}", "name", what, "ph", "M", "pid", rank,
			 "tid", thread, "args", "name", name));
}

/* The thread of a graph; new ones are named. */
static json_int_t thread_of(struct ranks_file *w, json_int_t rank, const char *graph)
{
	char key[GRAPH_CHARS + 32], name[GRAPH_CHARS + 32];
	json_t *known;

	snprintf(key, sizeof(key), "%lld", (long long)rank);
	if (!json_object_get(w->threads, key)) {
		json_object_set_new(w->threads, key, json_integer(0));
		snprintf(name, sizeof(name), "Rank %lld", (long long)rank);
		put_name(w, "process_name", rank, 0, name);
	}
	snprintf(key, sizeof(key), "%lld %s", (long long)rank, graph);
	known = json_object_get(w->threads, key);
	if (known)
		return json_integer_value(known);
	json_object_set_new(w->threads, key,
			    json_integer((json_int_t)json_object_size(w->threads)));
	snprintf(name, sizeof(name), "graph %s", graph);
	put_name(w, "thread_name", rank, json_integer_value(json_object_get(w->threads, key)),
		 name);
	return json_integer_value(json_object_get(w->threads, key));
}

/* Ops one after the other, in whole microseconds, one at least. */
static void put_trace(struct ranks_file *w, json_int_t rank, const char *graph, const json_t *said)
{
	json_int_t at = 0, thread = 0;
	const json_t *op;
	size_t i;

	json_array_foreach(json_object_get(said, "ops"), i, op) {
		double ns = json_number_value(json_object_get(op, "estimated_runtime_ns"));
		json_int_t us = ns > 0 && ns < 1e15 ? (json_int_t)ceil(ns / 1e3) : 1;

		thread = thread ? thread : thread_of(w, rank, graph);
		put(w, json_pack("{s:O?, s:s, s:I, s:I, s:I, s:I, s:s, s:{s:s, s:I, s:f}}", "name",
				 json_object_get(op, "name"), "ph", "X", "ts", at, "dur", us, "pid",
				 rank, "tid", thread, "cat", "runtime", "args", "graph", graph,
				 "rank", rank, "runtime_ns", ns));
		at += us;
	}
}

static bool each_text(struct db *db, int64_t run, const char *kind, text_fn *each,
		      struct ranks_file *w, struct err *err)
{
	const struct texts_asked asked = {
		.kind = kind, .process = -1, .resets = -1, .limit = TEXTS_LIST_MOST
	};
	json_t *list = texts_list(db, run, &asked, err), *row;
	size_t i;

	if (list && json_is_integer(json_object_get(list, "next")))
		err_set(err, ERR_TOO_LARGE, "this log has more than %d texts of kind %s",
			(int)TEXTS_LIST_MOST, kind);
	json_array_foreach(json_object_get(list, "artifacts"), i, row) {
		const char *compile = json_string_value(json_object_get(row, "compile"));
		struct text_asked one = { json_integer_value(json_object_get(row, "n")), 0,
					  TEXTS_MOST_BYTES };
		struct buf text = { 0 };
		char graph[GRAPH_CHARS];
		json_t *said = NULL;

		if (err->code != ERR_NONE)
			break;
		if (json_object_get(row, "at") && text_of_run(db, run, &one, &text, err) &&
		    text.data)
			said = json_loadb(text.data, text.len, 0, NULL);
		name_graph(compile ? compile : "",
			   json_integer_value(json_object_get(row, "attempt")), graph);
		each(w, rank_of(w, json_integer_value(json_object_get(row, "process"))), graph,
		     said);
		json_decref(said);
		buf_finish(&text);
		if (w->out->failed)
			err_set(err, ERR_TOO_LARGE, "this file has more than %d MiB",
				FILE_BYTES >> 20);
	}
	json_decref(list);
	return err->code == ERR_NONE;
}

/* ---- what a report knows ---- */

static json_t *unequal_graphs(const struct ranks_file *w, size_t process)
{
	json_t *graphs = json_array(), *c;
	size_t i;

	json_array_foreach(json_object_get(w->imported, "compiles"), i, c) {
		const char *compile = json_string_value(json_object_get(c, "compile"));
		json_int_t attempts = json_integer_value(json_object_get(c, "attempts")),
			   offset = json_integer_value(json_object_get(c, "schedule_offset")),
			   waits = json_integer_value(json_object_get(c, "missing_waits"));
		char graph[GRAPH_CHARS], id[80];

		if ((size_t)json_integer_value(json_object_get(c, "process")) != process ||
		    !compile || (!offset && !waits))
			continue;
		name_graph(compile, attempts > 0 ? attempts - 1 : 0, graph);
		snprintf(id, sizeof(id), "[%.70s]", compile);
		json_array_append_new(graphs, json_pack("{s:s, s:s, s:I, s:I}", "graph", graph,
							"compile_id", id, "offset", offset,
							"missing_waits", waits));
	}
	return graphs;
}

static void put_parity(struct ranks_file *w)
{
	size_t n = json_array_size(json_object_get(w->imported, "processes"));

	for (size_t i = 0; i < n; i++)
		put(w,
		    json_pack("{s:I, s:s, s:o}", "rank", rank_of(w, (json_int_t)i), "description",
			      "collectives by which Inductor's order and its code differ, and "
			      "collectives in the code that nothing waits for",
			      "graphs", unequal_graphs(w, i)));
}

bool over_ranks_file(struct db *db, int64_t run, const char *file, const json_t *imported,
		     struct buf *out, struct err *err)
{
	static const struct {
		const char *name, *kind;
		text_fn *put;
	} files[] = {
		{ "collective_schedules.json", "inductor_collective_schedule", put_schedule },
		{ "runtime_estimations.json", "inductor_runtime_and_tensor_meta", put_estimates },
		{ "chromium_trace_with_runtime.json", "inductor_runtime_and_tensor_meta",
		  put_trace },
		{ "collectives_parity.json", NULL, NULL },
	};
	struct ranks_file w = { .out = out, .imported = imported, .threads = json_object() };
	size_t n = sizeof(files) / sizeof(files[0]), i = 0;
	bool ok = true;

	buf_init(out, FILE_BYTES);
	while (i < n && strcmp(files[i].name, file) != 0)
		i++;
	if (i == n)
		ok = err_set(err, ERR_NOT_FOUND,
			     "there is no file '%.60s' of ranks: collective_schedules.json, "
			     "collectives_parity.json, runtime_estimations.json and "
			     "chromium_trace_with_runtime.json can be had",
			     file);
	else if (files[i].kind)
		ok = each_text(db, run, files[i].kind, files[i].put, &w, err);
	else
		put_parity(&w);
	buf_puts(out, w.more ? "\n]\n" : "[]\n");
	json_decref(w.threads);
	return ok && (!out->failed || err_set(err, ERR_MEMORY, "out of memory for a file"));
}
