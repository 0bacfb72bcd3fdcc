/* fusion/backends/host/builder.c -- makes kernels by the system compiler, here or for another
 * process.
 *
 * The process that asks may do anything that it likes with its own memory, so it is believed
 * nothing: it sends C, and the vector unit.  The compiler's arguments, the key and the place in
 * the cache are made here of these.  One kernel is under way at a time, as an engine has it.
 */
#include "fusion/backends/host/builder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/spawn.h"

/* EMITTER_VERSION: to be raised whenever the meaning of cached objects changes. */
enum { EMITTER_VERSION = 5, MOST_SOURCE_BYTES = 64 << 20, MOST_TIMEOUT_MS = 600000 };

struct kernel_builder {
	int fd; /* to the process; -1: it is not started */
	pid_t pid;
	pthread_mutex_t turn; /* from build_begin() to build_end() */
};

/* What is asked; the source follows. */
struct request {
	uint32_t len;
	int32_t vector_bytes, timeout_ms;
	bool keeps; /* it has a cache */
};

struct answer {
	enum err_code code; /* ERR_NONE: text is the object's path */
	char text[PATH_MAX + 16];
};

/* The key says all that the object depends on, and nothing else.  False without memory. */
static bool make_key(struct cpu_build *b)
{
	struct buf all;
	bool ok;

	buf_init(&all, 0);
	buf_printf(&all, "%d %s\n%s\n%s\n%d\n", EMITTER_VERSION, gnu_get_libc_version(),
		   b->toolchain.identity, toolchain_flags(&b->toolchain, b->vector_bytes),
		   b->vector_bytes);
	buf_add(&all, b->source, b->len);
	ok = !all.failed;
	if (ok)
		hash_hex(all.data, all.len, b->key);
	buf_finish(&all);
	return ok;
}

/* ---- in this process ---- */

static bool write_source(const struct cpu_build *b, struct err *err)
{
	char path[PATH_MAX + 16];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/kernel.c", b->workshop);
	file = fopen(path, "wex");
	if (!file)
		return err_set(err, ERR_COMPILER, "%.300s cannot be written: %s.", path,
			       strerror(errno));
	ok = fwrite(b->source, 1, b->len, file) == b->len;
	if (fclose(file) != 0 || !ok)
		return err_set(err, ERR_COMPILER, "%.300s cannot be written: %s.", path,
			       strerror(errno));
	return true;
}

static bool begin_here(struct cpu_build *b, char object[PATH_MAX + 16], struct err *err)
{
	if (!cache_workshop(&b->cache, b->workshop)) {
		b->workshop[0] = '\0';
		return err_set(
		    err, ERR_COMPILER,
		    "No folder for the C compiler can be made in the cache or in the temporary "
		    "folder: %s.",
		    strerror(errno));
	}
	snprintf(object, PATH_MAX + 16, "%s/kernel.so", b->workshop);
	return write_source(b, err) &&
	       toolchain_compile(&b->toolchain, b->workshop, b->vector_bytes, b->timeout_ms, err);
}

static void end_here(struct cpu_build *b, bool keep)
{
	if (!b->workshop[0])
		return;
	if (keep)
		cache_store(&b->cache, b->key, b->workshop);
	cache_sweep(b->workshop);
	b->workshop[0] = '\0';
}

/* ---- what the two processes say ---- */

static bool send_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool receive_all(int fd, void *bytes, size_t len)
{
	char *at = bytes;

	while (len > 0) {
		ssize_t n = recv(fd, at, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* ---- the process that compiles ---- */

static bool serve_source(int fd, struct cpu_build *b, bool keep, struct err *err)
{
	struct answer answer = { 0 };
	char loaded = 0, stored = 1;
	bool ok = toolchain_find(&b->toolchain, NULL, err) &&
		  (make_key(b) ||
		   err_set(err, ERR_MEMORY, "The generated C does not fit in memory.")) &&
		  begin_here(b, answer.text, err);

	if (!ok) {
		answer.code = err->code;
		snprintf(answer.text, sizeof(answer.text), "%s", err->message);
	}
	ok = send_all(fd, &answer, sizeof(answer)) && receive_all(fd, &loaded, 1);
	end_here(b, ok && loaded && keep && answer.code == ERR_NONE);
	return ok && send_all(fd, &stored, 1);
}

/* One request; false: who asks is gone, or says what it should not. */
static bool serve_one(int fd, const char *cache_dir, size_t cache_bytes)
{
	struct cpu_build b = { 0 };
	struct request asked;
	struct err err = { 0 };
	char *source;
	bool ok;

	if (!receive_all(fd, &asked, sizeof(asked)) || asked.len > MOST_SOURCE_BYTES ||
	    asked.timeout_ms < 0 || asked.timeout_ms > MOST_TIMEOUT_MS)
		return false;
	source = malloc(asked.len + 1);
	ok = source && receive_all(fd, source, asked.len);
	if (ok) {
		b.source = source;
		b.len = asked.len;
		b.vector_bytes = asked.vector_bytes;
		b.timeout_ms = asked.timeout_ms;
		/* A kernel that is not kept is made there too: whoever asks may read it. */
		cache_open(&b.cache, cache_dir, cache_bytes);
		ok = serve_source(fd, &b, asked.keeps, &err);
		cache_close(&b.cache);
	}
	free(source);
	return ok;
}

static void serve(const struct kernel_builder_options *start, int fd)
{
	signal(SIGINT, SIG_IGN); /* who asks decides when it is over */
	signal(SIGTERM, SIG_IGN);
	close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0u, 0);
	end_with_parent(fd);
	if (start->confine)
		start->confine(start->self);
	while (serve_one(fd, start->cache_dir, start->cache_bytes))
		;
	_exit(0);
}

struct kernel_builder *kernel_builder_create(void)
{
	struct kernel_builder *b = calloc(1, sizeof(*b));

	if (b) {
		b->fd = -1;
		pthread_mutex_init(&b->turn, NULL);
	}
	return b;
}

bool kernel_builder_start(struct kernel_builder *b, const struct kernel_builder_options *start,
			  struct err *err)
{
	struct cache cache;
	int pair[2];

	/* The folder must be there before rights to it are given. */
	cache_open(&cache, start->cache_dir, start->cache_bytes);
	cache_close(&cache);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set(err, ERR_IO, "no socket for the process that compiles: %s",
			       strerror(errno));
	b->pid = fork();
	if (b->pid == 0)
		serve(start, pair[1]);
	close(pair[1]);
	b->fd = pair[0];
	if (b->pid < 0) {
		close(b->fd);
		b->fd = -1;
		return err_set(err, ERR_IO, "no process that compiles: %s", strerror(errno));
	}
	return true;
}

void kernel_builder_destroy(struct kernel_builder *b)
{
	if (!b)
		return;
	if (b->fd >= 0) {
		close(b->fd);
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	pthread_mutex_destroy(&b->turn);
	free(b);
}

/* ---- the process that asks ---- */

static bool begin_there(struct cpu_build *b, char object[PATH_MAX + 16], struct err *err)
{
	const struct request asked = { .len = (uint32_t)b->len,
				       .vector_bytes = b->vector_bytes,
				       .timeout_ms = b->timeout_ms,
				       .keeps = b->cache.folder >= 0 };
	struct answer answer;

	if (b->len > MOST_SOURCE_BYTES)
		return err_set(err, ERR_COMPILER, "The generated C has more than %d MiB.",
			       MOST_SOURCE_BYTES >> 20);
	if (!send_all(b->builder->fd, &asked, sizeof(asked)) ||
	    !send_all(b->builder->fd, b->source, b->len) ||
	    !receive_all(b->builder->fd, &answer, sizeof(answer)))
		return err_set(err, ERR_COMPILER, "The process that compiles kernels has ended.");
	answer.text[sizeof(answer.text) - 1] = '\0';
	if (answer.code != ERR_NONE)
		return err_set(err, answer.code, "%s", answer.text);
	memcpy(object, answer.text, sizeof(answer.text));
	return true;
}

static void end_there(struct cpu_build *b, bool keep)
{
	char loaded = keep, stored;

	if (send_all(b->builder->fd, &loaded, 1))
		receive_all(b->builder->fd, &stored, 1);
}

/* A kernel is made in two steps, since only who loads it knows that it can be kept.  The first
 * compiles; the path of the object to load. */
static bool build_begin(struct cpu_build *b, char object[PATH_MAX + 16], struct err *err)
{
	if (b->builder && b->builder->fd < 0)
		b->builder = NULL;
	if (!b->builder)
		return begin_here(b, object, err);
	pthread_mutex_lock(&b->builder->turn);
	return begin_there(b, object, err);
}

/* The object goes into the cache, or nowhere. */
static void build_end(struct cpu_build *b, bool keep)
{
	if (!b->builder) {
		end_here(b, keep);
		return;
	}
	end_there(b, keep);
	pthread_mutex_unlock(&b->builder->turn);
}

static void *build_object(struct cpu_build *b, struct err *err)
{
	char object[PATH_MAX + 16];
	void *handle = NULL;

	if (build_begin(b, object, err)) {
		handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
		if (!handle)
			err_set(err, ERR_COMPILER, "The compiled kernel cannot be loaded: %.300s",
				dlerror());
	}
	build_end(b, handle != NULL);
	return handle;
}

void *build_load(struct cpu_build *b, bool *cached, struct err *err)
{
	void *handle;

	if (!make_key(b)) {
		err_set(err, ERR_MEMORY, "The generated C does not fit in memory.");
		return NULL;
	}
	handle = cache_read(&b->cache, b->key, b->source, b->len, NULL);
	*cached = handle != NULL;
	return handle ? handle : build_object(b, err);
}
