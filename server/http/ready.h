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

struct ready_response {
	struct MHD_Response *response;
	int kind;
	bool counted;                  /* among the bytes of its answer */
	char id[REQUEST_ID_CHARS + 1]; /* that it has now */
};

/* Those of one answer that nobody has. */
struct ready_shelf {
	_Atomic(struct ready_response *) at[READY_KINDS][READY_MOST];
};

/* One that says the id of this request; NULL: none of the kind is there. */
struct ready_response *ready_take(struct ready_shelf *shelf, int kind, const char *id);

/* A new one of these bytes, which stay where they are for as long as it is there, and with no other
 * header line than the id; NULL where there is no memory. */
struct ready_response *ready_new(const char *bytes, size_t len, int kind, const char *id);

/* Leaves it for the next; *bytes: by how much what the shelf holds has grown.  Where there is no
 * room it is destroyed. */
void ready_give(struct ready_shelf *shelf, struct ready_response *r, ptrdiff_t *bytes);

void ready_clear(struct ready_shelf *shelf);

#endif
