/* server/http/answers.c -- see answers.h: a table of answers by address, the last used first. */
#include "server/http/answers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "fusion/base/hash.h"
#include "fusion/base/refused.h"
#include "server/http/route.h"

enum {
	BUCKETS = 1024,
	ANSWERS_MOST = 1024,
	SQUEEZED_LEAST = 1000, /* bytes; less fits one packet as it is */
	QUICK_MOST = 64 << 10, /* squeezed within a millisecond */
	GZIP_LEVEL = 1,
	ZSTD_LEVEL = 3,
};
static const size_t BYTES_MOST = (size_t)64 << 20, ONE_MOST = (size_t)8 << 20;

struct answer_place {
	struct kept_answer shown; /* first: an answer is its kept */
	struct answer_place *next_in_bucket;
	struct answer_place *newer, *older; /* by use */
	uint64_t hash;
	struct answers_version version;
	enum keep keep;
	int users; /* and one for the table, while it is `held` there */
	bool held;
	size_t bytes;
	pthread_mutex_t making;                     /* of what follows */
	struct answer_bytes squeezed[CODING_COUNT]; /* malloc'd; none where it is no smaller */
	_Atomic bool made[CODING_COUNT];
	char address[];
};

struct answers {
	pthread_mutex_t lock;
	struct answer_place *buckets[BUCKETS];
	struct answer_place *newest, *oldest;
	size_t bytes;
	int n;
	struct making *first; /* those that make and those that wait; there are never many */
	bool stopped;
	const struct route *routes;
	_Atomic unsigned char keeps[]; /* enum keeps, by route */
};

enum keeps { KEEPS_UNKNOWN, KEEPS, KEEPS_NOT };

struct answers *answers_create(const struct route_table *routes, struct err *err)
{
	struct answers *all = calloc(1, sizeof(*all) + (size_t)routes->n);

	if (!all) {
		err_set(err, ERR_MEMORY, "out of memory for the server's answers");
		return NULL;
	}
	all->routes = routes->rows;
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

static void destroy(struct answer_place *k)
{
	for (int i = 0; i < CODING_COUNT; i++)
		free((char *)k->squeezed[i].at);
	ready_clear(&k->shown.ready);
	pthread_mutex_destroy(&k->making);
	free((char *)k->shown.text);
	free(k);
}

static void drop(struct answer_place *k)
{
	if (--k->users == 0)
		destroy(k);
}

static void unlink_use(struct answers *all, struct answer_place *k)
{
	*(k->newer ? &k->newer->older : &all->newest) = k->older;
	*(k->older ? &k->older->newer : &all->oldest) = k->newer;
}

static void link_use(struct answers *all, struct answer_place *k)
{
	k->newer = NULL;
	k->older = all->newest;
	*(all->newest ? &all->newest->newer : &all->oldest) = k;
	all->newest = k;
}

/* Out of the table; who has it may go on. */
static void forget(struct answers *all, struct answer_place *k)
{
	struct answer_place **at = &all->buckets[k->hash % BUCKETS];

	while (*at != k)
		at = &(*at)->next_in_bucket;
	*at = k->next_in_bucket;
	unlink_use(all, k);
	all->bytes -= k->bytes;
	all->n--;
	k->held = false;
	drop(k);
}

void answers_destroy(struct answers *all)
{
	if (!all)
		return;
	while (all->newest)
		forget(all, all->newest);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static struct answer_place *look_up(struct answers *all, const char *address, uint64_t hash)
{
	struct answer_place *k = all->buckets[hash % BUCKETS];

	while (k && (k->hash != hash || strcmp(k->address, address) != 0))
		k = k->next_in_bucket;
	return k;
}

static bool is_of(const struct answer_place *k, struct answers_version now)
{
	return k->version.store == now.store &&
	       (k->keep == KEEP_STORE || k->version.live == now.live);
}

struct kept_answer *answers_find(struct answers *all, const char *address,
				 struct answers_version now)
{
	uint64_t hash = hash_bytes(address, strlen(address), 0);
	struct answer_place *k;

	pthread_mutex_lock(&all->lock);
	k = look_up(all, address, hash);
	if (k && !is_of(k, now)) {
		forget(all, k);
		k = NULL;
	}
	if (k) {
		k->users++;
		if (all->newest != k) {
			unlink_use(all, k);
			link_use(all, k);
		}
	}
	pthread_mutex_unlock(&all->lock);
	return k ? &k->shown : NULL;
}

static struct answer_place *kept_of(const struct kept_answer *a)
{
	return (struct answer_place *)a;
}

/* A new one has two users: the table, and who made it. */
static struct answer_place *make(const struct answer_made *made, const struct reply *reply)
{
	size_t len = strlen(made->address), name = reply->filename ? strlen(reply->filename) : 0;
	struct answer_place *k = calloc(1, sizeof(*k) + len + name + 2);
	char hex[HASH_HEX_BYTES];

	if (!k)
		return NULL;
	memcpy(k->address, made->address, len);
	k->hash = hash_bytes(made->address, len, 0);
	k->version = made->version;
	k->keep = made->keep;
	k->users = 2;
	k->bytes = sizeof(*k) + len + reply->text_len;
	k->shown = (struct kept_answer){
		.route = made->route,
		.type = reply->content_type ? reply->content_type : "application/json",
		.text = reply->text,
		.len = reply->text_len,
		.filename = name ? memcpy(k->address + len + 1, reply->filename, name) : NULL,
	};
	hash_hex(reply->text, reply->text_len, hex);
	snprintf(k->shown.etag, sizeof(k->shown.etag), "%s", hex);
	pthread_mutex_init(&k->making, NULL);
	return k;
}

/* Within the bounds, for one more. */
static void make_room(struct answers *all, size_t bytes)
{
	while (all->oldest && (all->bytes + bytes > BYTES_MOST || all->n >= ANSWERS_MOST))
		forget(all, all->oldest);
}

struct kept_answer *answers_keep(struct answers *all, const struct answer_made *made,
				 struct reply *reply, struct err *err)
{
	struct answer_place *k = make(made, reply), *before;

	if (!k) {
		err_set(err, ERR_MEMORY, "out of memory for the answer");
		return NULL;
	}
	reply->text = NULL;
	pthread_mutex_lock(&all->lock);
	before = look_up(all, k->address, k->hash);
	if (before)
		forget(all, before);
	if (!made->table || k->bytes > ONE_MOST) {
		k->users = 1;
	} else {
		make_room(all, k->bytes);
		k->held = true;
		k->next_in_bucket = all->buckets[k->hash % BUCKETS];
		all->buckets[k->hash % BUCKETS] = k;
		link_use(all, k);
		all->bytes += k->bytes;
		all->n++;
	}
	pthread_mutex_unlock(&all->lock);
	return &k->shown;
}

/* What it takes has grown, or shrunk. */
static void count_bytes(struct answers *all, struct answer_place *k, ptrdiff_t more)
{
	if (!more)
		return;
	pthread_mutex_lock(&all->lock);
	k->bytes += (size_t)more;
	all->bytes += k->held ? (size_t)more : 0;
	pthread_mutex_unlock(&all->lock);
}

void answer_release(struct answers *all, struct kept_answer *a, struct ready_response *r)
{
	ptrdiff_t more = 0;

	if (r)
		ready_give(&a->ready, r, &more);
	count_bytes(all, kept_of(a), more);
	pthread_mutex_lock(&all->lock);
	drop(kept_of(a));
	pthread_mutex_unlock(&all->lock);
}

/* ---- codings ---- */

/* One zlib stream with gzip's header; returns its bytes, 0: no memory, or no smaller. */
static size_t gzip_text(const char *text, size_t len, char *out, size_t most)
{
	z_stream z = { .next_in = (Bytef *)text,
		       .avail_in = (uInt)len,
		       .next_out = (Bytef *)out,
		       .avail_out = (uInt)most };
	bool whole;

	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	whole = deflate(&z, Z_FINISH) == Z_STREAM_END;
	deflateEnd(&z);
	return whole ? z.total_out : 0;
}

/* Malloc'd; none: no memory, or no smaller. */
static struct answer_bytes squeeze(const struct kept_answer *a, enum coding coding)
{
	char *out = memory_try(a->len);
	size_t n = 0;

	if (out && coding == CODING_GZIP) {
		n = gzip_text(a->text, a->len, out, a->len);
	} else if (out) {
		n = ZSTD_compress(out, a->len, a->text, a->len, ZSTD_LEVEL);
		n = ZSTD_isError(n) ? 0 : n;
	}
	if (n == 0) {
		free(out);
		out = NULL;
	}
	return (struct answer_bytes){ out, n };
}

bool answer_is_quick(const struct kept_answer *a, enum coding coding)
{
	return coding == CODING_PLAIN || a->len <= QUICK_MOST || kept_of(a)->made[coding];
}

struct answer_bytes answer_text(struct answers *all, struct kept_answer *a, enum coding *coding)
{
	struct answer_place *k = kept_of(a);
	struct answer_bytes *bytes = &k->squeezed[*coding];
	size_t more = 0;

	if (*coding != CODING_PLAIN && a->len >= SQUEEZED_LEAST && !k->made[*coding]) {
		pthread_mutex_lock(&k->making);
		if (!k->made[*coding]) {
			*bytes = squeeze(a, *coding);
			more = bytes->len;
		}
		k->made[*coding] = true;
		pthread_mutex_unlock(&k->making);
	}
	count_bytes(all, k, (ptrdiff_t)more);
	if (*coding != CODING_PLAIN && bytes->at)
		return *bytes;
	*coding = CODING_PLAIN;
	return (struct answer_bytes){ a->text, a->len };
}

/* "gzip;q=0" takes none; "br, zstd, gzip" takes both, and zstd is the quicker one. */
enum coding coding_of(const char *accept)
{
	bool takes[CODING_COUNT] = { true };

	while (accept && *accept) {
		size_t len = strcspn(accept, ",; \t"), whole = strcspn(accept, ",");
		const char *q = memchr(accept, ';', whole);

		q = q ? q + 1 + strspn(q + 1, " \t") : NULL;
		for (enum coding i = CODING_GZIP; i < CODING_COUNT; i++)
			if (strlen(coding_name(i)) == len &&
			    strncasecmp(accept, coding_name(i), len) == 0)
				takes[i] = !q || strncasecmp(q, "q=", 2) != 0 ||
					   strtod(q + 2, NULL) > 0;
		accept += whole;
		accept += strspn(accept, ", \t");
	}
	return takes[CODING_ZSTD] ? CODING_ZSTD : takes[CODING_GZIP] ? CODING_GZIP : CODING_PLAIN;
}

/* ---- what is made once ---- */

static struct kept_answer *share(struct kept_answer *a)
{
	kept_of(a)->users++;
	return a;
}

static bool is_same(const struct making *a, const struct making *b)
{
	return a->version.store == b->version.store && a->version.live == b->version.live &&
	       strcmp(a->address, b->address) == 0;
}

bool answers_waits(struct answers *all, struct making *mine)
{
	unsigned char keeps = all->keeps[mine->route - all->routes];
	const struct making *other;
	bool waits;

	if (keeps == KEEPS_NOT || (keeps == KEEPS_UNKNOWN && mine->route->slow))
		return false;
	pthread_mutex_lock(&all->lock);
	other = all->first;
	while (other && !(other->makes && is_same(other, mine)))
		other = other->next;
	waits = other && !all->stopped;
	mine->waits = waits;
	mine->makes = !waits;
	mine->next = all->first;
	all->first = mine;
	if (waits) /* under the lock: before it can be resumed, and is another's */
		mine->pause(mine->self);
	pthread_mutex_unlock(&all->lock);
	return waits;
}

/* Takes `mine` out and gives who waits for it the answer.  Under the lock. */
static struct making *take_waiting(struct answers *all, struct making *mine,
				   struct kept_answer *answer)
{
	struct making *done = NULL, *at;

	for (struct making **to = &all->first; (at = *to);) {
		bool waits = at->waits && is_same(at, mine);

		if (!waits && at != mine) {
			to = &at->next;
			continue;
		}
		*to = at->next;
		if (!waits)
			continue;
		at->waits = false;
		at->answer = answer ? share(answer) : NULL;
		at->next = done;
		done = at;
	}
	return done;
}

/* One that is resumed may be gone at once. */
static void resume_all(struct making *done)
{
	while (done) {
		struct making *next = done->next;

		done->go_on(done->self);
		done = next;
	}
}

void answers_over(struct answers *all, struct making *mine, struct kept_answer *answer,
		  bool is_usual)
{
	struct making *done;

	if (is_usual)
		all->keeps[mine->route - all->routes] = answer ? KEEPS : KEEPS_NOT;
	if (!mine->makes)
		return;
	pthread_mutex_lock(&all->lock);
	mine->makes = false;
	done = take_waiting(all, mine, answer);
	pthread_mutex_unlock(&all->lock);
	resume_all(done);
}

void answers_stop(struct answers *all)
{
	struct making *done = NULL, *at;

	pthread_mutex_lock(&all->lock);
	all->stopped = true;
	for (struct making **to = &all->first; (at = *to);) {
		if (!at->waits) {
			to = &at->next;
			continue;
		}
		*to = at->next;
		at->waits = false;
		at->next = done;
		done = at;
	}
	pthread_mutex_unlock(&all->lock);
	resume_all(done);
}
