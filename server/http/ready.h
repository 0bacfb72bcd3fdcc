/* server/http/ready.h -- responses of kept answers that are made once and sent again and again.
 *
 * A response of the library is a list of header lines, each of them copied where it is added: that
 * costs more than to send it.  Of a kept answer they are the same each time, but for the id of the
 * request; so who has sent one leaves it with the answer for the next.  One request has it at a
 * time.  Thread-safe.
 */
#ifndef SERVER_HTTP_READY_H
#define SERVER_HTTP_READY_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Response;

enum {
	REQUEST_ID_CHARS = 64,
	READY_KINDS = 6, /* each coding, and of each its head alone (304) */
	READY_MOST = 4,  /* of a kind: as many as threads that send */
	READY_BYTES = 3 << 10,
};

struct ready {
	struct MHD_Response *response;
	int kind;
	bool counted;                  /* among the bytes of its answer */
	char id[REQUEST_ID_CHARS + 1]; /* that it has now; "": none yet */
};

/* Those of one answer that nobody has. */
struct ready_shelf {
	_Atomic(struct ready *) at[READY_KINDS][READY_MOST];
};

/* NULL: none of the kind is there. */
struct ready *ready_take(struct ready_shelf *shelf, int kind);

/* Takes over the response; NULL where there is no memory, then it is destroyed, or there was no
 * response. */
struct ready *ready_new(struct MHD_Response *response, int kind);

/* Has it say the id of a request; false where there is no memory. */
bool ready_name(struct ready *r, const char *id);

/* Leaves it for the next; *bytes: by how much what the shelf holds has grown.  Where there is no
 * room it is destroyed. */
void ready_give(struct ready_shelf *shelf, struct ready *r, ptrdiff_t *bytes);

void ready_destroy(struct ready *r); /* NULL is fine */
void ready_clear(struct ready_shelf *shelf);

#endif
