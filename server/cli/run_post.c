/* server/cli/run_post.c -- see run_post.h.
 *
 * It goes as the export that a server would write of it, and comes back by the same way: what
 * POST /imports makes of an export of ours is that run.
 */
#include "server/cli/run_post.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fusion/base/buf.h"
#include "fusion/base/vec.h"
#include "profiler/export/export.h"
#include "server/cli/commands.h"
#include "server/cli/post.h"
#include "server/text/run_table.h"

/* Of POST /imports; a longer timeline is left out. */
enum { MOST_BYTES = 64 << 20, TIMELINE_BYTES = 32 << 20 };

struct run_post {
	struct post *post;
	VEC(struct buf) blocks;
	size_t bytes; /* of the blocks */
};

struct run_post *run_post_create(const char *url, struct err *err)
{
	struct run_post *p = calloc(1, sizeof(*p));

	if (!p) {
		err_set(err, ERR_MEMORY, "out of memory for a post");
		return NULL;
	}
	p->post = post_open(url, err);
	if (p->post)
		return p;
	run_post_destroy(p);
	return NULL;
}

static void drop_blocks(struct run_post *p)
{
	for (size_t i = 0; i < p->blocks.len; i++)
		buf_finish(&p->blocks.at[i]);
	VEC_FREE(&p->blocks);
}

void run_post_destroy(struct run_post *p)
{
	if (!p)
		return;
	drop_blocks(p);
	post_close(p->post);
	free(p);
}

bool run_post_block(void *self, const void *block, size_t len, struct err *err)
{
	struct run_post *p = self;
	struct buf copy;

	p->bytes += len;
	if (p->bytes > TIMELINE_BYTES)
		return true;
	buf_init(&copy, len + 1);
	buf_add(&copy, block, len);
	if (!copy.failed && VEC_PUSH(&p->blocks, copy))
		return true;
	buf_finish(&copy);
	return err_set(err, ERR_MEMORY, "out of memory for a timeline");
}

static bool give_blocks(void *store, int64_t kind, timeline_block_fn *each, void *self,
			struct err *err)
{
	const struct run_post *p = store;
	struct timeline_block b;

	for (size_t i = 0; p->bytes <= TIMELINE_BYTES && i < p->blocks.len; i++) {
		const struct buf *block = &p->blocks.at[i];

		if (!timeline_block_read(block->data, block->len, &b, err))
			return false;
		if (b.kind == kind && !each(self, block->data, block->len, err))
			return false;
	}
	return true;
}

static bool add(void *self, const void *bytes, size_t len, struct err *err)
{
	struct buf *out = self;

	buf_add(out, bytes, len);
	return !out->failed ||
	       err_set(err, ERR_TOO_LARGE, "the run has more than %d MiB", (int)(MOST_BYTES >> 20));
}

static const char *text_of(const json_t *workload, const char *field, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(workload, field));

	return text ? text : otherwise;
}

static bool write_run(struct run_post *p, const json_t *report, struct buf *out, struct err *err)
{
	const json_t *workload = json_object_get(report, "workload");
	const struct export_format *format = export_format_find("chrome_gz", err);
	const struct export_query all = { 0 };
	struct buf verdicts = { 0 };
	struct timespec now;
	struct export_run run = {
		.name = text_of(workload, "name", "workload"),
		.project = text_of(workload, "project", ""),
		.status = "done",
		.device = text_of(workload, "device", "cpu"),
		.commit = text_of(workload, "commit", ""),
		.branch = text_of(workload, "branch", ""),
		.version = breakeven_version(),
		.workload = workload,
		.report = report,
		.environment = json_object_get(report, "environment"),
		.blocks = give_blocks,
		.store = p,
	};
	bool ok;

	clock_gettime(CLOCK_REALTIME, &now);
	run.created_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	run_table_sentences(&verdicts, report);
	run.verdicts = verdicts.data;
	ok = format && export_write(format, &run, &all, add, out, err);
	buf_finish(&verdicts);
	return ok;
}

bool run_post_send(struct run_post *p, const json_t *report, int64_t *id, struct err *err)
{
	json_t *answer = NULL;
	struct buf out;
	bool ok;

	buf_init(&out, MOST_BYTES);
	ok = write_run(p, report, &out, err) &&
	     post_send(p->post, "/imports", "application/octet-stream", out.data, out.len, &answer,
		       err);
	*id = json_integer_value(json_object_get(answer, "id"));
	json_decref(answer);
	buf_finish(&out);
	return ok;
}
