/* server/http/exchange.h -- one request on its way, which http.c receives and send.c answers.
 */
#ifndef SERVER_HTTP_EXCHANGE_H
#define SERVER_HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/buf.h"
#include "server/http/answers.h"
#include "server/http/listen.h"
#include "server/http/patience.h"
#include "server/http/route.h"
#include "server/http/sites.h"
#include "server/http/slow_pool.h"
#include "server/queue/queue.h"

struct http {
	struct app *app;
	const struct route_table *routes;
	struct MHD_Daemon *daemon;
	struct slow_pool *slow_pool;
	struct sites sites;
	struct access_desk *access;
	struct patience *patience;
	struct answers *answers;
	const char *user_header; /* of access's options */
	char url[128 + BASE_PATH_CHARS];
};

/* One request on its way. */
struct exchange {
	struct arena arena;
	const struct route *route;
	struct req req;
	struct buf body;
	struct err err;               /* found before the body was read */
	const char *allow;            /* with METHOD: what the path takes */
	bool head;                    /* asked for without its body */
	bool unframed;                /* where its body ends is in doubt */
	unsigned long long announced; /* Content-Length */
	size_t received;              /* of the body so far */
	struct slow_task task;        /* of a slow route */
	struct reply reply;           /* what its handler left ... */
	struct event_wait wait;       /* for the run that it is about ... */
	uint64_t seen;                /* ... of events before it was looked at */
	bool waits, waited, waited_out;
	bool shares;            /* it waits for what another makes */
	bool received_all;      /* finish() has looked at it */
	bool asked_again;       /* the library, so that it can be paused: exchange_ask_again() */
	struct request_key key; /* of once.h; taken for it: `once` */
	bool once, replayed;
	bool wrong_type;  /* of the body: status 415 */
	bool handled, ok; /* ... once it has run; else err */
	bool begun;       /* its headers are there */
	const char *method;
	struct answers_version version; /* before it was looked at */
	struct kept_answer *kept;       /* what is sent; NULL: the reply */
	enum coding coding;             /* of that */
	struct ready_response *ready;   /* that it is sent by; NULL: another response */
	bool squeezed;                  /* it need not be any more */
	struct making making;           /* of an answer that others may ask for meanwhile */
	struct http *http;
	int64_t began_ns;              /* its head was there */
	char id[REQUEST_ID_CHARS + 1]; /* of the log and of the header X-Request-Id */
	char address[];                /* as it was asked for, with its query */
};

static inline void reply_finish(struct reply *reply)
{
	json_decref(reply->json);
	free(reply->text);
	if (reply->file)
		close(reply->file);
	*reply = (struct reply){ 0 };
}

/* NULL: there is none. */
static inline const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static inline bool header_has(struct MHD_Connection *c, const char *name, const char *part)
{
	const char *value = header(c, name);

	return value && strstr(value, part);
}

/* Before a connection is paused, once: true, and the caller returns MHD_YES for the library to call
 * again.  From then on that waits for the answer alone; a connection that is paused while it would
 * still receive is read when it goes on, and dropped where its peer has closed its sending side.
 * Who has sent a whole request may do that, and is owed the answer. */
static inline bool exchange_ask_again(struct exchange *x)
{
	bool again = !x->asked_again;

	x->asked_again = true;
	return again;
}

/* Has `fn` do what takes long, apart from the threads of HTTP; finish() goes on after it. */
bool exchange_run_slowly(struct http *http, struct exchange *x, struct MHD_Connection *c,
			 void (*fn)(struct slow_task *task));

/* Sends what was handled, or found wrong; closes the connection where memory for the answer is
 * refused. */
enum MHD_Result exchange_send(struct http *http, struct exchange *x, struct MHD_Connection *c);

#endif
