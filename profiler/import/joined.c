/* profiler/import/joined.c -- recordings of the ranks of a job, as one.
 *
 * Each is read twice from its mapping: for its tables, whose rows get numbers of the joined
 * timeline, then for its events.  Memory is that of the tables.
 */
#include "profiler/import/joined.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/vec.h"
#include "profiler/import/import.h"
#include "profiler/timeline/timeline.h"

struct joining {
	FILE *file;
	struct timeline_writer *writer;
	struct timeline_chunk chunk;
	json_t *names, *shapes; /* {row as text: number} */
	json_t *processes;
	int64_t dropped, doubtful, log_bytes, logs_left_out;
	int64_t wall_ahead_ns; /* of the first rank */
	int64_t ranks;
	struct import *import;
	char log[TIMELINE_FILE_NAME_CHARS + 1]; /* that is read; "": none */
};

/* The recording of a rank. */
struct recording {
	int64_t rank;
	const char *bytes;
	size_t len;
	struct timeline_tables tables;
	uint32_t *lanes, *names, *shapes; /* numbers of the joined timeline */
	size_t n_lanes, n_names, n_shapes;
	int64_t later_ns; /* its times on the first rank's clock less as they are */
};

static bool put(void *self, const void *block, size_t len, struct err *err)
{
	struct joining *j = self;

	return fwrite(block, 1, len, j->file) == len ||
	       err_set(err, ERR_IO, "the timeline could not be written: %s", strerror(errno));
}

/* Of the blocks of an import those that are no events. */
static bool put_texts(void *self, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err))
		return false;
	return (b.kind != TIMELINE_TEXTS && b.kind != TIMELINE_INDEX) || put(self, block, len, err);
}

/* ---- tables ---- */

static int64_t fact(const struct recording *r, const char *key)
{
	return json_integer_value(json_object_get(r->tables.facts, key));
}

/* The process that stands for the rank: that with the most kernels.  -1: there is none. */
static json_int_t main_process(const struct recording *r)
{
	const json_t *processes = json_object_get(r->tables.facts, "processes"), *p;
	json_int_t pid = -1, most = -1;
	size_t i;

	json_array_foreach((json_t *)processes, i, p)
	{
		json_int_t kernels = json_integer_value(json_object_get(p, "kernels"));

		if (kernels > most) {
			most = kernels;
			pid = json_integer_value(json_object_get(p, "pid"));
		}
	}
	return pid;
}

/* A row of the rank: it says which, and its main process is called by it, as in an import. */
static json_t *of_rank(const struct recording *r, const json_t *row, json_int_t main)
{
	json_t *own = json_deep_copy(row);

	json_object_set_new(own, "rank", json_integer(r->rank));
	if (json_integer_value(json_object_get(row, "pid")) == main)
		json_object_set_new(own, "pid", json_integer(r->rank));
	return own;
}

typedef uint32_t row_fn(struct timeline_writer *w, json_t *row);

/* The number of a row that several ranks may have. */
static uint32_t shared_row(struct joining *j, json_t *known, row_fn *add, const json_t *row)
{
	char *text = json_dumps(row, JSON_COMPACT | JSON_SORT_KEYS);
	const json_t *there = text ? json_object_get(known, text) : NULL;
	uint32_t number = there ? (uint32_t)json_integer_value(there)
				: add(j->writer, json_deep_copy(row));

	if (text && !there)
		json_object_set_new(known, text, json_integer(number));
	free(text);
	return number;
}

static bool add_tables(struct joining *j, struct recording *r, struct err *err)
{
	json_int_t main = main_process(r);

	r->n_lanes = json_array_size(r->tables.lanes);
	r->n_names = json_array_size(r->tables.names);
	r->n_shapes = json_array_size(r->tables.shapes);
	r->lanes = calloc(r->n_lanes + 1, sizeof(*r->lanes));
	r->names = calloc(r->n_names + 1, sizeof(*r->names));
	r->shapes = calloc(r->n_shapes + 1, sizeof(*r->shapes));
	if (!r->lanes || !r->names || !r->shapes)
		return err_set(err, ERR_MEMORY, "out of memory for a recording");
	for (size_t i = 0; i < r->n_lanes; i++)
		r->lanes[i] = timeline_writer_lane(
		    j->writer, of_rank(r, json_array_get(r->tables.lanes, i), main));
	for (size_t i = 0; i < r->n_names; i++)
		r->names[i] = shared_row(j, j->names, timeline_writer_name,
					 json_array_get(r->tables.names, i));
	for (size_t i = 0; i < r->n_shapes; i++) /* numbers of shapes begin with 1 */
		r->shapes[i + 1] = shared_row(j, j->shapes, timeline_writer_shape,
					      json_array_get(r->tables.shapes, i));
	return true;
}

static void add_facts(struct joining *j, struct recording *r)
{
	const json_t *processes = json_object_get(r->tables.facts, "processes"), *p;
	json_int_t main = main_process(r);
	size_t i;

	json_array_foreach((json_t *)processes, i, p)
	    json_array_append_new(j->processes, of_rank(r, p, main));
	j->dropped += fact(r, "dropped");
	j->doubtful += fact(r, "doubtful");
	j->log_bytes += fact(r, "torch_trace_bytes");
	j->logs_left_out += fact(r, "torch_trace_left_out");
	if (j->ranks++ == 0)
		j->wall_ahead_ns = fact(r, "wall_ahead_ns");
	if (j->wall_ahead_ns && fact(r, "wall_ahead_ns"))
		r->later_ns = fact(r, "wall_ahead_ns") - j->wall_ahead_ns;
}

/* ---- events and logs ---- */

static bool add_events(struct joining *j, const struct recording *r,
		       const struct timeline_block *block, struct err *err)
{
	if (!timeline_chunk_read(&j->chunk, NULL, block, err))
		return false;
	for (int i = 0; i < j->chunk.n; i++) {
		struct timeline_event e = timeline_chunk_event(&j->chunk, i);

		if (e.lane >= r->n_lanes || e.name >= r->n_names || e.shape > r->n_shapes)
			continue; /* it leads nowhere */
		e.lane = r->lanes[e.lane];
		e.name = r->names[e.name];
		e.shape = r->shapes[e.shape];
		e.start_ns = timeline_add(e.start_ns, r->later_ns);
		if (!timeline_writer_add(j->writer, &e, err))
			return false;
	}
	return true;
}

/* A piece of a log, under a name that says the rank: kept, and read. */
static bool add_piece(struct joining *j, const struct recording *r,
		      const struct timeline_block *block, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1], own[TIMELINE_FILE_NAME_CHARS + 1];
	struct buf bytes;
	bool ok;

	buf_init(&bytes, TIMELINE_PIECE_BYTES + 1);
	ok = timeline_file_read(block, name, &bytes, err);
	snprintf(own, sizeof(own), "rank_%lld_%.160s", (long long)r->rank, name);
	ok = ok && timeline_writer_file(j->writer,
					&(struct timeline_piece){ .kind = TIMELINE_FILE,
								  .name = own,
								  .bytes = bytes.data,
								  .len = bytes.len },
					err);
	if (ok && strcmp(own, j->log) != 0) {
		ok = (!j->log[0] || import_end(j->import, err)) &&
		     import_begin(j->import, own, err);
		strcpy(j->log, own);
	}
	ok = ok && import_feed(j->import, bytes.data, bytes.len, err);
	buf_finish(&bytes);
	return ok;
}

static bool add_block(struct joining *j, struct recording *r, const struct timeline_block *b,
		      struct err *err)
{
	return b->kind == TIMELINE_CHUNK  ? add_events(j, r, b, err)
	       : b->kind == TIMELINE_FILE ? add_piece(j, r, b, err)
					  : true; /* texts are made again, of all logs */
}

static bool read_recording(struct joining *j, struct recording *r, struct err *err)
{
	struct timeline_block b;
	bool ok = true;

	for (size_t at = 0; ok && at < r->len; at += b.block_bytes)
		ok = timeline_block_read(r->bytes + at, r->len - at, &b, err) &&
		     (b.kind != TIMELINE_TABLES || timeline_tables_read(&r->tables, &b, err));
	if (ok)
		add_facts(j, r);
	ok = ok && add_tables(j, r, err);
	for (size_t at = 0; ok && at < r->len; at += b.block_bytes)
		ok = timeline_block_read(r->bytes + at, r->len - at, &b, err) &&
		     add_block(j, r, &b, err);
	return ok;
}

static bool add_recording(struct joining *j, const char *path, int64_t rank, struct err *err)
{
	struct recording r = { .rank = rank };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info = { 0 };
	void *bytes = fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0
			  ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
			  : MAP_FAILED;
	struct err why = { 0 };
	bool ok = bytes != MAP_FAILED || err_set(&why, ERR_IO, "it cannot be read");

	r.bytes = bytes;
	r.len = (size_t)info.st_size;
	ok = ok && read_recording(j, &r, &why);
	if (bytes != MAP_FAILED)
		munmap(bytes, r.len);
	if (fd >= 0)
		close(fd);
	timeline_tables_finish(&r.tables);
	free(r.lanes);
	free(r.names);
	free(r.shapes);
	return ok || err_set(err, why.code, "%.300s: %.300s", path, why.message);
}

/* ---- all of them ---- */

static int by_rank(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The numbers of the recordings in the folder, sorted; how many. */
static int ranks_in(const char *folder, int64_t ranks[JOINED_MAX_RANKS])
{
	DIR *dir = opendir(folder);
	int n = 0;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		char again[64];
		int rank;

		if (n < JOINED_MAX_RANKS && sscanf(e->d_name, "rank-%d.trace", &rank) == 1 &&
		    snprintf(again, sizeof(again), "rank-%d.trace", rank) > 0 &&
		    strcmp(again, e->d_name) == 0)
			ranks[n++] = rank;
	}
	if (dir)
		closedir(dir);
	qsort(ranks, (size_t)n, sizeof(*ranks), by_rank);
	return n;
}

static bool join_all(struct joining *j, const char *folder, const int64_t *ranks, int n,
		     struct err *err)
{
	bool ok = true;

	for (int i = 0; ok && i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%.4000s/rank-%lld.trace", folder,
			 (long long)ranks[i]);
		ok = add_recording(j, path, ranks[i], err);
	}
	return ok && (!j->log[0] || import_end(j->import, err));
}

/* The texts come before the last tables, as in a recording. */
static bool end(struct joining *j, struct recordings_joined *out, struct err *err)
{
	json_t *imported = j->log[0] ? import_finish(j->import, err) : NULL;

	if (j->log[0] && !imported)
		return false;
	out->imported = imported;
	out->ranks = j->ranks;
	out->facts = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:O}", "recorder", "cupti",
			       "clock", "CLOCK_MONOTONIC", "wall_ahead_ns",
			       (json_int_t)j->wall_ahead_ns, "dropped", (json_int_t)j->dropped,
			       "doubtful", (json_int_t)j->doubtful, "torch_trace_bytes",
			       (json_int_t)j->log_bytes, "torch_trace_left_out",
			       (json_int_t)j->logs_left_out, "processes", j->processes);
	return timeline_writer_finish(j->writer, json_incref(out->facts), err) &&
	       (fflush(j->file) == 0 || err_set(err, ERR_IO, "the timeline could not be written"));
}

bool recordings_join(const char *folder, const char *path, struct recordings_joined *out,
		     struct err *err)
{
	struct joining j = { .names = json_object(),
			     .shapes = json_object(),
			     .processes = json_array() };
	int64_t *ranks = calloc(JOINED_MAX_RANKS, sizeof(*ranks));
	int n = ranks ? ranks_in(folder, ranks) : 0;
	bool ok = ranks || err_set(err, ERR_MEMORY, "out of memory for ranks");

	*out = (struct recordings_joined){ 0 };
	if (ok && n == 0)
		ok = err_set(err, ERR_NOT_FOUND,
			     "%.300s has no recording of a rank: they are called rank-0.trace, "
			     "rank-1.trace, ...",
			     folder);
	ok = ok && ((j.file = fopen(path, "wbe")) ||
		    err_set(err, ERR_IO, "%.300s: %s", path, strerror(errno)));
	ok = ok && (j.writer = timeline_writer_create(put, &j, err)) &&
	     (j.import = import_create(put_texts, &j, 0, err)) &&
	     timeline_chunk_create(&j.chunk, err) && join_all(&j, folder, ranks, n, err) &&
	     end(&j, out, err);
	timeline_chunk_destroy(&j.chunk);
	timeline_writer_destroy(j.writer);
	import_destroy(j.import);
	if (j.file)
		fclose(j.file);
	free(ranks);
	json_decref(j.names);
	json_decref(j.shapes);
	json_decref(j.processes);
	if (!ok) {
		json_decref(out->facts);
		json_decref(out->imported);
		*out = (struct recordings_joined){ 0 };
	}
	return ok;
}
