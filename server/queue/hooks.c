/* server/queue/hooks.c -- webhooks: looks for what there is to tell, stores it for those who want
 * to hear of it, and sends what is stored.
 *
 * All that it knows is in the store, so that a restart loses nothing: what waits, how often it was
 * tried, which changes were told, and up to when runs were looked at. */
#include <inttypes.h>
#include <nettle/hmac.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fusion/base/clock.h"
#include "fusion/base/log.h"
#include "server/queue/outgoing.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

enum {
	TICK_MS = 2000,
	LOOK_AT = 20,
	CONNECT_MS = 10000,
	SEND_MS = 20000,
	ANSWER_BYTES = 4096,
	MOST_WAIT_S = 6 * 3600,
	LONGER = 5, /* each wait than the one before */
	HOST_BYTES = 256,
	STATUS_GONE = 410,
};

struct hooks {
	struct db *db;
	struct jobs *jobs;
	struct hooks_options options;
	struct outgoing *out; /* NULL: not opened yet, or it cannot be */
	pthread_t thread;
	atomic_bool stopping;
	pthread_mutex_t lock; /* guards `woken` */
	pthread_cond_t wake;
	bool woken;
	bool down; /* the store refused something, and the log has it */
};

/* ---- what a webhook may be ---- */

/* The host of an address of http or https: where it begins, and how long it is; NULL: there is
 * none.
 */
static const char *host_of(const char *url, size_t *len)
{
	const char *at = strncmp(url, "http://", 7) == 0    ? url + 7
			 : strncmp(url, "https://", 8) == 0 ? url + 8
							    : NULL;
	size_t authority = at ? strcspn(at, "/?#") : 0;

	if (!authority || memchr(at, '@', authority))
		return NULL;
	*len = *at == '[' ? strcspn(at, "]") + 1 : strcspn(at, ":/?#");
	return *len && *len <= authority && *len < HOST_BYTES ? at : NULL;
}

bool hook_url_check(const char *url, struct err *err)
{
	size_t n = strlen(url), host;

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)url[i] <= ' ' || (unsigned char)url[i] >= 0x7f || url[i] == '\\')
			return err_set(err, ERR_BAD_REQUEST,
				       "an address has no blanks and no bytes beyond ASCII; write "
				       "%%20 and the like");
	if (n > HOOK_URL_BYTES)
		return err_set(err, ERR_BAD_REQUEST, "an address has up to %d bytes",
			       HOOK_URL_BYTES);
	return host_of(url, &host) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "%.200s: an address begins with http:// or https:// and a host, without a "
		       "user or a password: https://ci.example.org/breakeven",
		       url);
}

const char *hook_events_check(const char *events, struct arena *arena, struct err *err)
{
	static const char *const known[] = { "change", "verdict" };
	bool wanted[2] = { false, false };

	for (const char *at = events; *at;) {
		size_t len = strcspn(at, ","), k = 0;

		while (k < 2 && (strlen(known[k]) != len || memcmp(known[k], at, len) != 0))
			k++;
		if (k == 2) {
			err_set(err, ERR_BAD_REQUEST,
				"%.*s is no event; change and verdict are, joined by a comma",
				(int)(len < 40 ? len : 40), at);
			return NULL;
		}
		wanted[k] = true;
		at += len + (at[len] == ',');
	}
	if (!wanted[0] && !wanted[1]) {
		err_set(err, ERR_BAD_REQUEST, "events is change, verdict or change,verdict");
		return NULL;
	}
	return arena_printf(arena, "%s%s%s", wanted[0] ? known[0] : "",
			    wanted[0] && wanted[1] ? "," : "", wanted[1] ? known[1] : "");
}

bool hook_test(struct db *db, int64_t hook, int64_t *delivery, struct err *err)
{
	static const char body[] = "{\"event\":\"test\"}";
	const struct delivery_row row = { .hook = hook, .event = "test", .body = body };

	return db_delivery_add(db, NULL, &row, delivery, err) &&
	       (*delivery ||
		err_set(err, ERR_NOT_FOUND, "there is no webhook %lld", (long long)hook));
}

/* ---- what there is to tell ---- */

static void note(struct hooks *h, bool works, const struct err *err)
{
	if (!works && !h->down)
		log_line(LOG_WARN, "webhooks: %s; trying again every few seconds", err->message);
	h->down = !works;
}

/* For all who want to hear of it. */
static bool tell(struct hooks *h, const char *project, const struct hook_news *news,
		 struct err *err)
{
	json_t *json = h->options.describe(h->options.self, news, err);
	char *body = json ? json_dumps(json, JSON_COMPACT) : NULL;
	int64_t id;
	bool ok;

	if (json && !body)
		err_set(err, ERR_MEMORY, "out of memory for a delivery");
	ok = body &&
	     db_delivery_add(h->db, project,
			     &(struct delivery_row){
				 .event = news->event, .subject = news->subject, .body = body },
			     &id, err);
	free(body);
	json_decref(json);
	return ok;
}

/* The same workload once more, tagged; *id is 0 where it cannot be read any more. */
static bool run_again(struct hooks *h, int64_t run, int64_t *id, struct err *err)
{
	struct arena arena = { 0 };
	struct err unread = { 0 };
	struct run_row row;
	bool ok = db_run_get(h->db, run, &arena, &row, err);
	json_t *json = ok ? json_loads(row.workload, 0, NULL) : NULL, *tags;
	struct workload *w;

	*id = 0;
	tags = json_object_get(json, "tags");
	if (json && !json_is_array(tags))
		json_object_set_new(json, "tags", tags = json_array());
	json_array_append_new(tags, json_string("again"));
	w = json ? workload_parse_in(json, h->options.registry, &unread) : NULL;
	if (w)
		ok = enqueue(h->db, json, w, row.author, id, err);
	workload_destroy(w);
	json_decref(json);
	arena_finish(&arena);
	if (*id)
		jobs_wake(h->jobs);
	return ok;
}

static bool tell_change(struct hooks *h, const struct alert_row *a, struct err *err)
{
	const struct hook_news news = { .event = "change", .subject = a->change, .again = a->run };

	return tell(h, a->project, &news, err) && db_alert_set(h->db, a->change, a->run, true, err);
}

/* Whether the run that was to show a change again has ended, whatever became of it. */
static bool has_ended(struct hooks *h, int64_t run)
{
	struct arena arena = { 0 };
	struct err gone = { 0 };
	struct run_row row;
	bool waits = db_run_get(h->db, run, &arena, &row, &gone) &&
		     (row.status == RUN_QUEUED || row.status == RUN_RUNNING);

	arena_finish(&arena);
	return !waits;
}

/* A change that is none any more, with the run that was made for it, is not told. */
static bool is_still(struct hooks *h, int64_t change, bool *is, struct err *err)
{
	struct arena arena = { 0 };
	struct change_list list;
	bool ok = db_changes_list(h->db, &(struct change_query){ .id = change, .limit = 1 }, &arena,
				  &list, err);

	*is = ok && list.n == 1 && !list.at[0].gone;
	arena_finish(&arena);
	return ok;
}

static bool attend(struct hooks *h, struct alert_row *a, struct err *err)
{
	bool left, is = false;

	if (!a->run && a->newest) {
		if (!run_again(h, a->newest, &a->run, err))
			return false;
		if (a->run)
			return db_alert_set(h->db, a->change, a->run, false, err);
	}
	if (a->run && !has_ended(h, a->run))
		return true;
	return changes_catch_up(h->db, a->name, LOOK_AT, &left, err) &&
	       is_still(h, a->change, &is, err) && (!is || tell_change(h, a, err));
}

static bool look_at_changes(struct hooks *h, struct err *err)
{
	struct arena arena = { 0 };
	struct alert_row *rows = NULL;
	int n = 0;
	bool ok = db_alerts(h->db, &arena, &rows, &n, err);

	for (int i = 0; ok && i < n && !atomic_load(&h->stopping); i++)
		ok = attend(h, &rows[i], err);
	arena_finish(&arena);
	return ok;
}

static bool is_other_verdict(const struct ended_run *r)
{
	return r->before && *r->verdict && strcmp(r->verdict, r->was) != 0;
}

static bool look_at_runs(struct hooks *h, struct err *err)
{
	struct arena arena = { 0 };
	struct ended_run *rows = NULL;
	int n = 0;
	bool left, ok = db_ended(h->db, &arena, &rows, &n, err);

	for (int i = 0; ok && i < n && !atomic_load(&h->stopping); i++) {
		const struct ended_run *r = &rows[i];
		const struct hook_news news = {
			.event = "verdict", .subject = r->id, .before = r->before, .was = r->was
		};

		ok = changes_catch_up(h->db, r->name, LOOK_AT, &left, err) &&
		     (!is_other_verdict(r) || tell(h, r->project, &news, err)) &&
		     db_ended_mark(h->db, r->finished_ns, err);
	}
	arena_finish(&arena);
	return ok;
}

/* ---- sending ---- */

void hook_sign(const char *secret, int64_t seconds, const char *body,
	       char out[HOOK_SIGNATURE_BYTES])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct hmac_sha256_ctx hmac;
	char when[24];
	int at;

	snprintf(when, sizeof(when), "%" PRId64 ".", seconds);
	hmac_sha256_set_key(&hmac, strlen(secret), (const uint8_t *)secret);
	hmac_sha256_update(&hmac, strlen(when), (const uint8_t *)when);
	hmac_sha256_update(&hmac, strlen(body), (const uint8_t *)body);
	hmac_sha256_digest(&hmac, sizeof(digest), digest);
	at = snprintf(out, HOOK_SIGNATURE_BYTES, "t=%" PRId64 ",v1=", seconds);
	for (size_t i = 0; i < sizeof(digest); i++)
		at += snprintf(out + at, HOOK_SIGNATURE_BYTES - (size_t)at, "%02x", digest[i]);
}

static bool is_named(const struct hooks *h, const char *url)
{
	size_t len;
	const char *host = host_of(url, &len);

	for (int i = 0; host && i < h->options.n_inside; i++)
		if (strlen(h->options.inside[i]) == len &&
		    strncasecmp(h->options.inside[i], host, len) == 0)
			return true;
	return false;
}

/* Seconds until the try after so many. */
static int64_t wait_s(const struct hooks *h, int64_t tries)
{
	int64_t wait = h->options.retry_seconds;

	while (--tries > 0 && wait < MOST_WAIT_S)
		wait *= LONGER;
	return wait < MOST_WAIT_S ? wait : MOST_WAIT_S;
}

/* Of an answer what fits on a line of a log. */
static void say(char out[HOOK_SAID_BYTES], const char *what, const char *answer)
{
	int n = snprintf(out, HOOK_SAID_BYTES, "%s%s%s", what, *answer ? ": " : "", answer);

	for (int i = 0; i < n && out[i]; i++)
		if ((unsigned char)out[i] < ' ' || (unsigned char)out[i] >= 0x7f)
			out[i] = ' ';
}

/* What becomes of it, after a try that was answered, or not (status 0). */
static void conclude(const struct hooks *h, struct delivery_row *d,
		     const struct outgoing_answer *answer, char said[HOOK_SAID_BYTES])
{
	long status = answer->status;

	d->status = status;
	if (status / 100 == 2) {
		d->state = DELIVERY_DELIVERED;
		*said = '\0';
		return;
	}
	if (status / 100 == 3)
		say(said, "it redirects, which is not followed", "");
	else if (status)
		say(said, "it was not taken", answer->bytes ? answer->bytes : "");
	d->state = d->tries + 1 >= HOOK_TRIES || status == STATUS_GONE || status / 100 == 3
		       ? DELIVERY_FAILED
		       : DELIVERY_WAITING;
	d->due_ns = clock_wall_ns() + wait_s(h, d->tries + 1) * 1000000000;
}

static void send_one(struct hooks *h, struct delivery_row *d, char said[HOOK_SAID_BYTES])
{
	char event[64], delivery[64], signature[HOOK_SIGNATURE_BYTES + 32], agent[96];
	char signed_[HOOK_SIGNATURE_BYTES];
	const char *const headers[] = {
		"Content-Type: application/json", agent, event, delivery, signature, NULL
	};
	const struct outgoing_post post = { .url = d->url,
					    .headers = headers,
					    .bytes = d->body,
					    .len = strlen(d->body),
					    .inside = is_named(h, d->url) };
	struct outgoing_answer answer = { 0 };
	struct err why = { 0 };

	hook_sign(d->secret, (int64_t)time(NULL), d->body, signed_);
	snprintf(agent, sizeof(agent), "User-Agent: breakeven/%.60s", breakeven_version());
	snprintf(event, sizeof(event), "Breakeven-Event: %.32s", d->event);
	snprintf(delivery, sizeof(delivery), "Breakeven-Delivery: %" PRId64, d->id);
	snprintf(signature, sizeof(signature), "Breakeven-Signature: %s", signed_);
	if (!outgoing_post(h->out, &post, &answer, &why))
		say(said, why.message, "");
	conclude(h, d, &answer, said);
}

/* Where libcurl is missing, what waits fails with that. */
static void open_out(struct hooks *h, struct err *why)
{
	const struct outgoing_options options = { .connect_ms = CONNECT_MS,
						  .send_ms = SEND_MS,
						  .answer_bytes = ANSWER_BYTES,
						  .cut = true,
						  .outside = true,
						  .stopping = &h->stopping };

	if (!h->out)
		h->out = outgoing_open(&options, why);
}

/* Sends what is due first; *due_ns is when the next is, 0: none waits. */
static bool send_due(struct hooks *h, bool *sent, int64_t *due_ns, struct err *err)
{
	char said[HOOK_SAID_BYTES] = "";
	struct arena arena = { 0 };
	struct delivery_row d;
	struct err why = { 0 };
	bool ok = db_delivery_due(h->db, clock_wall_ns(), &arena, &d, err);

	*sent = ok && d.id;
	*due_ns = d.due_ns;
	if (*sent) {
		open_out(h, &why);
		if (h->out)
			send_one(h, &d, said);
		else {
			say(said, why.message, "");
			conclude(h, &d, &(struct outgoing_answer){ 0 }, said);
		}
		d.said = said;
		/* One that was given up because the server stops was no try. */
		ok = atomic_load(&h->stopping) && d.state != DELIVERY_DELIVERED
			 ? true
			 : db_delivery_tried(h->db, &d, err);
		if (d.state == DELIVERY_FAILED)
			log_line(LOG_WARN, "webhook %lld: delivery %lld failed: %s",
				 (long long)d.hook, (long long)d.id, said);
	}
	arena_finish(&arena);
	return ok;
}

/* ---- the thread ---- */

/* At most so long, or until somebody wakes it. */
static void rest(struct hooks *h, int64_t ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&h->lock);
	while (!h->woken && !atomic_load(&h->stopping) &&
	       pthread_cond_timedwait(&h->wake, &h->lock, &until) == 0)
		;
	h->woken = false;
	pthread_mutex_unlock(&h->lock);
}

static void *work(void *self)
{
	struct hooks *h = self;

	while (!atomic_load(&h->stopping)) {
		struct err err = { 0 };
		int64_t due_ns = 0, now_ns = clock_wall_ns(), ms = TICK_MS;
		bool sent = false, ok = look_at_runs(h, &err) && look_at_changes(h, &err) &&
					send_due(h, &sent, &due_ns, &err);

		note(h, ok, &err);
		if (sent && ok)
			continue;
		if (ok && due_ns > now_ns && (due_ns - now_ns) / 1000000 < ms)
			ms = (due_ns - now_ns) / 1000000 + 1;
		rest(h, ms);
	}
	return NULL;
}

void hooks_wake(struct hooks *h)
{
	pthread_mutex_lock(&h->lock);
	h->woken = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

struct hooks *hooks_start(struct db *db, struct jobs *jobs, const struct hooks_options *options,
			  struct err *err)
{
	struct hooks *h = calloc(1, sizeof(*h));
	pthread_condattr_t attributes;

	if (!h) {
		err_set(err, ERR_MEMORY, "out of memory for webhooks");
		return NULL;
	}
	*h = (struct hooks){ .db = db, .jobs = jobs, .options = *options };
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&h->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&h->lock, NULL);
	if (pthread_create(&h->thread, NULL, work, h) == 0)
		return h;
	err_set(err, ERR_MEMORY, "no thread for webhooks");
	free(h);
	return NULL;
}

void hooks_stop(struct hooks *h)
{
	if (!h)
		return;
	atomic_store(&h->stopping, true);
	hooks_wake(h);
	pthread_join(h->thread, NULL);
	outgoing_close(h->out);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->wake);
	free(h);
}
