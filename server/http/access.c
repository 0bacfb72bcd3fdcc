/* server/http/access.c -- see access.h: secrets, addresses, attempts that failed. */
#include "server/http/access.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fusion/base/clock.h"
#include "fusion/base/hash.h"
#include "fusion/base/utf8.h"

enum {
	ADDRESSES = 1024, /* whose failures are counted; a collision counts two as one */
	FAILURES = 10,    /* of an address in a window */
	WINDOW_S = 60,
	LOOK_AGAIN_MS = 1000, /* whether there are tokens now */
	ADDRESS_CHARS = 64,
	USER_CHARS = 200,
};

struct attempts {
	int64_t since_ns;
	int n;
};

struct access_desk {
	struct db *db;
	struct access_options options;
	pthread_mutex_t lock;
	bool accounts; /* once seen, for good */
	int64_t looked_ns;
	struct attempts failures[ADDRESSES]; /* by address */
	struct attempts requests[ADDRESSES]; /* by token or user */
};

const char *session_cookie(const char *header, struct arena *arena)
{
	static const char name[] = "breakeven_session=";

	while (header && *header) {
		header += strspn(header, "; ");
		if (strncmp(header, name, sizeof(name) - 1) == 0) {
			header += sizeof(name) - 1;
			return arena_strndup(arena, header, strcspn(header, "; "));
		}
		header = strchr(header, ';');
	}
	return NULL;
}

/* ---- the server's state ---- */

struct access_desk *access_create(struct db *db, const struct access_options *options,
				  struct err *err)
{
	struct access_desk *a = calloc(1, sizeof(*a));

	if (!a) {
		err_set(err, ERR_MEMORY, "out of memory for the server");
		return NULL;
	}
	a->db = db;
	a->options = *options;
	a->accounts = options->user_header != NULL;
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

void access_destroy(struct access_desk *a)
{
	if (!a)
		return;
	pthread_mutex_destroy(&a->lock);
	free(a);
}

bool access_has_accounts(struct access_desk *a, struct err *err)
{
	int64_t now = clock_ns();
	bool has = true, ok = true;

	pthread_mutex_lock(&a->lock);
	if (!a->accounts &&
	    (!a->looked_ns || now - a->looked_ns > LOOK_AGAIN_MS * INT64_C(1000000))) {
		ok = db_has_tokens(a->db, &a->accounts, err);
		a->looked_ns = now;
	}
	has = a->accounts || !ok; /* what cannot be known is not open */
	pthread_mutex_unlock(&a->lock);
	return has;
}

/* Counts one more of a name; false where there were `most` in a minute. */
static bool count(struct access_desk *a, struct attempts *all, const char *name, int most)
{
	struct attempts *t = &all[hash_bytes(name, strlen(name), 0) % ADDRESSES];
	int64_t now = clock_ns();
	bool few;

	pthread_mutex_lock(&a->lock);
	if (now - t->since_ns > WINDOW_S * INT64_C(1000000000))
		*t = (struct attempts){ .since_ns = now };
	few = t->n < most;
	t->n += few;
	pthread_mutex_unlock(&a->lock);
	return few;
}

/* ---- a request ---- */

static bool is_among(const char *const *list, int n, const char *text)
{
	for (int i = 0; i < n; i++)
		if (strcasecmp(list[i], text) == 0)
			return true;
	return false;
}

/* To whoever names users Ada and ada may be two. */
static bool is_admin(const struct access_options *o, const char *user)
{
	for (int i = 0; i < o->n_admin_users; i++)
		if (strcmp(o->admin_users[i], user) == 0)
			return true;
	return false;
}

static bool is_proxy(const struct access_desk *a, const char *address)
{
	return is_among(a->options.proxies, a->options.n_proxies, address);
}

/* "::ffff:127.0.0.1" is 127.0.0.1. */
static const char *plain(const char *address)
{
	return strncasecmp(address, "::ffff:", 7) == 0 ? address + 7 : address;
}

/* Each proxy adds the address that asked it at the end: the client is the last address that is no
 * trusted proxy. */
static const char *client_of(const struct access_desk *a, const char *forwarded, const char *peer,
			     struct arena *arena)
{
	const char *end = forwarded ? forwarded + strlen(forwarded) : NULL;

	while (end && end > forwarded) {
		const char *from = end;
		const char *one;

		while (from > forwarded && from[-1] != ',')
			from--;
		one = from + strspn(from, " ");
		one = arena_strndup(arena, one, (size_t)(end - one));
		if (!one || strlen(one) >= ADDRESS_CHARS ||
		    one[strspn(one, "0123456789abcdefABCDEF.:")])
			return peer; /* it is no address: who asks is not known */
		peer = plain(one);
		if (!is_proxy(a, peer))
			return peer;
		end = from > forwarded ? from - 1 : forwarded;
	}
	return peer;
}

static bool refuse(struct access_desk *a, const struct caller *out, const char *what,
		   struct err *err)
{
	if (!count(a, a->failures, out->address, FAILURES))
		return err_set(err, ERR_RATE,
			       "%s tried more than %d tokens within %d s that do not count; wait",
			       out->address, FAILURES, WINDOW_S);
	return err_set(err, ERR_UNAUTHORIZED, "%s", what);
}

static bool find_secret(struct access_desk *a, const char *text, bool session, struct arena *arena,
			struct caller *out, struct err *err)
{
	struct token_secret secret = { .session = session };
	struct token_row token;
	bool found;

	secret_hash(text, secret.hash);
	if (!db_token_find(a->db, &secret, arena, &token, &found, err))
		return false;
	if (!found)
		return session || refuse(a, out,
					 "this token does not count: it is unknown, revoked or "
					 "expired",
					 err);
	out->name = token.name;
	out->project = token.project;
	out->scope = token.scope;
	out->token = session ? 0 : token.id;
	if (session)
		secret_csrf(text, out->csrf);
	return true;
}

/* The token of a job: what it may post is looked at where it does. */
static bool find_job(struct access_desk *a, const char *text, struct caller *out, struct err *err)
{
	bool counts;

	out->job = true;
	secret_hash(text, out->job_hash);
	return db_placement_counts(a->db, out->job_hash, 0, &counts, err) &&
	       (counts || refuse(a, out,
				 "this token of a job does not count: its runs have ended, or were "
				 "handed to another",
				 err));
}

/* A name is shown and logged: it is text, of one line and one direction. */
static bool is_name(const char *name)
{
	size_t n = strlen(name), len;
	uint32_t c;

	if (n >= USER_CHARS)
		return false;
	for (size_t at = 0; at < n; at += len) {
		len = (size_t)utf8_decode(name + at, n - at, &c);
		if (len == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) ||
		    (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		    (c >= 0x2066 && c <= 0x2069))
			return false;
	}
	return true;
}

static bool find(struct access_desk *a, const struct credentials *c, struct arena *arena,
		 struct caller *out, struct err *err)
{
	const char *cookie = session_cookie(c->cookie, arena);
	const char *peer = plain(c->peer ? c->peer : "unknown");
	bool proxied = is_proxy(a, peer);

	*out = (struct caller){ .name = "", .project = "", .address = peer };
	out->accounts = access_has_accounts(a, err);
	out->scope = out->accounts ? SCOPE_OPEN : SCOPE_ADMIN;
	if (proxied) {
		out->address = client_of(a, c->forwarded_for, peer, arena);
		out->https = c->forwarded_proto && strcasecmp(c->forwarded_proto, "https") == 0;
	}
	if (c->authorization) {
		if (strncasecmp(c->authorization, "Bearer ", 7) != 0)
			return err_set(
			    err, ERR_UNAUTHORIZED,
			    "send Authorization: Bearer TOKEN; other kinds are not taken");
		if (secret_is(SECRET_JOB, c->authorization + 7))
			return find_job(a, c->authorization + 7, out, err);
		return find_secret(a, c->authorization + 7, false, arena, out, err);
	}
	if (proxied && a->options.user_header && c->user && *c->user) {
		if (!is_name(c->user))
			return err_set(err, ERR_UNAUTHORIZED,
				       "%s names nobody: a user is one line of UTF-8 of at most %d "
				       "bytes, without control characters",
				       a->options.user_header, USER_CHARS - 1);
		out->name = arena_strdup(arena, c->user);
		out->scope = is_admin(&a->options, c->user) ? SCOPE_ADMIN : SCOPE_SUBMIT;
		return out->name || err_set(err, ERR_MEMORY, "out of memory for the request");
	}
	return !cookie || find_secret(a, cookie, true, arena, out, err);
}

bool access_find(struct access_desk *a, const struct credentials *c, struct arena *arena,
		 struct caller *out, struct err *err)
{
	int most = a->options.user_requests;

	return find(a, c, arena, out, err) &&
	       (!*out->name || most == 0 || count(a, a->requests, out->name, most) ||
		err_set(err, ERR_RATE,
			"'%.64s' asked more than %d times within a minute; the limit", out->name,
			most));
}
