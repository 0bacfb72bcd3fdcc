/* server/cli/poster.c -- posts a timeline's file to a server while it grows. */
#include "server/cli/poster.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/format.h"
#include "server/cli/post.h"

enum {
	POST_BYTES = TIMELINE_MAX_BLOCK_BYTES + TIMELINE_HEAD_BYTES, /* holds any block */
	TICK_MS = 500,
	ALIVE_TICKS = 40, /* without news: it still records */
	LAST_TRIES = 10,
	BEGIN_TRIES = 3,
};

struct poster {
	struct post *post;
	int fd;
	int64_t run, offset, blocks; /* posted so far */
	char *bytes;                 /* POST_BYTES of them */
	pthread_t thread;
	pthread_mutex_t lock; /* guards `done` */
	pthread_cond_t wake;
	bool done;
	struct err err;   /* the server's last no; IO: it was not reached */
	json_t *imported; /* NULL: it is no import */
};

/* How many of the bytes are whole blocks. */
static size_t whole_blocks(const char *bytes, size_t len, int64_t *blocks)
{
	struct timeline_head head;
	size_t at = 0;

	*blocks = 0;
	while (len - at >= sizeof(head)) {
		memcpy(&head, bytes + at, sizeof(head));
		if (head.body_bytes > len - at - sizeof(head))
			break;
		at += sizeof(head) + head.body_bytes;
		(*blocks)++;
	}
	return at;
}

static bool send_blocks(struct poster *p, size_t len, int64_t blocks)
{
	char path[96];

	snprintf(path, sizeof(path), "/traces/%lld/blocks?at=%lld", (long long)p->run,
		 (long long)p->blocks);
	p->err = (struct err){ 0 };
	if (!post_send(p->post, path,
		       (struct post_body){
			   .type = "application/octet-stream", .bytes = p->bytes, .len = len },
		       NULL, &p->err))
		return false;
	p->offset += (int64_t)len;
	p->blocks += blocks;
	return true;
}

/* What the file has more; false where the server did not take it. */
static bool send_news(struct poster *p, bool alive)
{
	for (;;) {
		ssize_t n = pread(p->fd, p->bytes, POST_BYTES, p->offset);
		int64_t blocks;
		size_t len = whole_blocks(p->bytes, n > 0 ? (size_t)n : 0, &blocks);

		if (len == 0 && !alive)
			return true;
		alive = false;
		if (!send_blocks(p, len, blocks))
			return false;
	}
}

/* A no of the server's stays one. */
static bool is_final(const struct err *err)
{
	return err->code != ERR_NONE && err->code != ERR_IO && err->code != ERR_BUSY &&
	       err->code != ERR_STORAGE && err->code != ERR_FULL;
}

static void *run(void *self)
{
	struct poster *p = self;
	int quiet = 0;

	pthread_mutex_lock(&p->lock);
	while (!p->done && !is_final(&p->err)) {
		struct timespec until;
		int64_t before = p->blocks;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += TICK_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&p->wake, &p->lock, &until);
		pthread_mutex_unlock(&p->lock);
		send_news(p, quiet >= ALIVE_TICKS);
		quiet = quiet >= ALIVE_TICKS || p->blocks != before ? 0 : quiet + 1;
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

enum { KEY_CHARS = 64 };

/* An Idempotency-Key that nobody else has; NULL where there is no chance to be had. */
static const char *key_for(const char *what, char key[KEY_CHARS])
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return NULL;
	snprintf(key, KEY_CHARS, "%s-%016llx%016llx", what, (unsigned long long)random[0],
		 (unsigned long long)random[1]);
	return key;
}

/* One run, however often it is asked for: an answer that is lost on the way is asked for again. */
static bool begin(struct poster *p, const json_t *json, struct err *err)
{
	char *text = json_dumps(json, JSON_COMPACT), key[KEY_CHARS];
	struct post_body body = { "application/json", text, text ? strlen(text) : 0,
				  key_for("begin", key) };
	bool ok = false;

	if (!text)
		return err_set(err, ERR_MEMORY, "out of memory for a post");
	for (int i = 0; !ok && i < (body.key ? BEGIN_TRIES : 1) && (i == 0 || !is_final(err));
	     i++) {
		if (i > 0)
			usleep(TICK_MS * 1000);
		*err = (struct err){ 0 };
		ok = post_create(p->post, "/traces", body, &p->run, err);
	}
	free(text);
	return ok;
}

static void drop(struct poster *p)
{
	post_close(p->post);
	json_decref(p->imported);
	if (p->fd >= 0)
		close(p->fd);
	free(p->bytes);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->wake);
	free(p);
}

struct poster *poster_start(const char *url, const char *file, json_t *json, struct err *err)
{
	struct poster *p = calloc(1, sizeof(*p));
	pthread_condattr_t attributes;
	bool ok;

	if (!p) {
		json_decref(json);
		err_set(err, ERR_MEMORY, "out of memory for a post");
		return NULL;
	}
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&p->lock, NULL);
	p->bytes = malloc(POST_BYTES);
	p->fd = open(file, O_RDONLY | O_CLOEXEC);
	p->post = post_open(url, err);
	ok = p->post && ((p->bytes && p->fd >= 0) ||
			 err_set(err, ERR_IO, "%.300s: %s", file, strerror(errno)));
	ok = ok && begin(p, json, err);
	json_decref(json);
	if (ok && pthread_create(&p->thread, NULL, run, p) == 0)
		return p;
	if (ok)
		err_set(err, ERR_MEMORY, "no thread for posting");
	drop(p);
	return NULL;
}

int64_t poster_run(const struct poster *p)
{
	return p->run;
}

void poster_set_import(struct poster *p, json_t *imported)
{
	json_decref(p->imported);
	p->imported = imported;
}

/* ---- the end: once, however often it is sent.  A slow server may take longer than a request
 * waits, and one that is started again has forgotten that it was asked. ---- */

enum { END_WAIT_MS = 500, END_MOST_WAIT_MS = 2000 };
static const int64_t end_ns = INT64_C(10) * 60 * 1000000000;
static const int64_t gone_ns = INT64_C(5) * 1000000000; /* who answers no sooner is there */

struct trace_ending {
	char path[64], run_path[64], key[KEY_CHARS];
	struct post_body body;
	bool failed; /* it ends with an error */
};

/* After a conflict: whether the run has ended as it was to.  *under_way: not yet. */
static bool has_ended(struct poster *p, const struct trace_ending *e, bool *under_way)
{
	struct err err = { 0 };
	json_t *run = NULL;
	const char *status;
	bool ended;

	post_send(p->post, e->run_path, (struct post_body){ 0 }, &run, &err);
	status = json_string_value(json_object_get(run, "status"));
	ended = status && strcmp(status, e->failed ? "failed" : "done") == 0;
	*under_way = status ? strcmp(status, "running") == 0 : !is_final(&err);
	json_decref(run);
	return ended;
}

/* Once, or twice: libcurl sends again what a connection that it had kept lost.  *again: it may be
 * sent again. */
static bool end_once(struct poster *p, const struct trace_ending *e, bool *again, struct err *err)
{
	*err = (struct err){ 0 };
	*again = false;
	if (post_send(p->post, e->path, e->body, NULL, err))
		return true;
	if (err->code == ERR_CONFLICT)
		return has_ended(p, e, again);
	*again = !is_final(err);
	return false;
}

static bool send_end(struct poster *p, const struct trace_ending *e, struct err *err)
{
	int64_t until = clock_ns() + end_ns;
	int wait_ms = END_WAIT_MS, gone = 0;
	bool again;

	while (true) {
		int64_t began = clock_ns();

		if (end_once(p, e, &again, err))
			break;
		gone = err->code == ERR_IO && clock_ns() - began < gone_ns ? gone + 1 : 0;
		if (!again || gone == LAST_TRIES || clock_ns() >= until)
			return false;
		usleep((useconds_t)wait_ms * 1000);
		wait_ms = wait_ms < END_MOST_WAIT_MS ? 2 * wait_ms : END_MOST_WAIT_MS;
		send_blocks(p, 0, 0); /* it is not silent; the answer is that to the end */
	}
	*err = (struct err){ 0 };
	return true;
}

static bool end(struct poster *p, const char *error, struct err *err)
{
	json_t *json = json_pack("{s:s?}", "error", error);
	struct trace_ending e = { .failed = error != NULL };
	char *text;
	bool ok;

	if (p->imported)
		json_object_set(json, "import", p->imported);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	snprintf(e.path, sizeof(e.path), "/traces/%lld/end", (long long)p->run);
	snprintf(e.run_path, sizeof(e.run_path), "/runs/%lld?view=summary", (long long)p->run);
	e.body = (struct post_body){ "application/json", text, text ? strlen(text) : 0,
				     key_for("end", e.key) };
	ok = (text || err_set(err, ERR_MEMORY, "out of memory for the end of a trace")) &&
	     send_end(p, &e, err);
	free(text);
	return ok;
}

bool poster_finish(struct poster *p, const char *error, struct err *err)
{
	bool ok = false;

	pthread_mutex_lock(&p->lock);
	p->done = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	for (int i = 0; i < LAST_TRIES && !ok && !is_final(&p->err); i++) {
		if (i > 0)
			usleep(TICK_MS * 1000);
		ok = send_news(p, false);
	}
	ok = ok ? end(p, error, err) : (*err = p->err, false);
	drop(p);
	return ok;
}
