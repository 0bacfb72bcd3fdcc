/* server/http/access.h -- who asks: a token, a browser that signed in with one, a user whom a proxy
 * names, or nobody known.
 *
 * Of tokens and sessions the store has the SHA-256 alone (secret.h).  Where the store has or had a
 * token, or a proxy names users, the server has accounts: whoever is not known gets what is open to
 * all.  Else everybody may do everything, as nobody but this machine reaches it.
 */
#ifndef SERVER_HTTP_ACCESS_H
#define SERVER_HTTP_ACCESS_H

#include "db/db.h"
#include "server/text/secret.h"

/* How serve's flags say that others come in; borrowed. */
struct access_options {
	const char *const *proxies; /* addresses that may say for whom they ask */
	int n_proxies;
	const char *user_header;        /* a proxy's, that names a user; NULL: none does */
	const char *const *admin_users; /* users who may do everything */
	int n_admin_users;
	int user_requests; /* of a token or user in a minute; 0: any number */
};

struct caller {
	const char *name;       /* of a token or a user; "": nobody is known */
	const char *project;    /* what a token sees and posts; "": all */
	const char *address;    /* that it asks from, as a trusted proxy says */
	int64_t token;          /* that it sent itself; 0: none, as of a browser that signed in */
	enum token_scope scope; /* what it may do */
	bool accounts;          /* the server has accounts */
	bool https;             /* it reached a trusted proxy so */
	bool job; /* a process that does a run of this server, with the token of this hash */
	uint8_t job_hash[SECRET_HASH_BYTES];
	char csrf[CSRF_CHARS + 1]; /* of a browser that signed in, which writes with it; "": none */
};

/* Whom bounds for each are for: the token or user, or the address where nobody is known. */
static inline const char *caller_key(const struct caller *who)
{
	return *who->name ? who->name : who->address;
}

/* Headers of a request, and the peer of its connection; NULL: it has none. */
struct credentials {
	const char *peer;
	const char *authorization, *cookie;
	const char *user, *forwarded_for, *forwarded_proto; /* count from a proxy alone */
};

struct access_desk;
struct access_desk *access_create(struct db *db, const struct access_options *options,
				  struct err *err);
void access_destroy(struct access_desk *a); /* NULL is fine */

/* Whether users may sign in at all: an address that others reach needs it. */
bool access_has_accounts(struct access_desk *a, struct err *err);

/* Texts live in the arena.  UNAUTHORIZED where a token or session does not count; RATE where an
 * address has tried too many, or a user asks too often.  Thread-safe. */
bool access_find(struct access_desk *a, const struct credentials *c, struct arena *arena,
		 struct caller *out, struct err *err);

/* The value of the session's cookie in a header Cookie, in the arena; NULL: it has none. */
const char *session_cookie(const char *header, struct arena *arena);

#endif
