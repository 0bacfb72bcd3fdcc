/* server/http/ready.c -- see ready.h: a few places, each taken and filled at once. */
#include "server/http/ready.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char id_header[] = "X-Request-Id";

struct ready *ready_take(struct ready_shelf *shelf, int kind)
{
	struct ready *r = NULL;

	for (int i = 0; !r && i < READY_MOST; i++)
		if (atomic_load_explicit(&shelf->at[kind][i], memory_order_relaxed))
			r = atomic_exchange(&shelf->at[kind][i], NULL);
	return r;
}

struct ready *ready_new(struct MHD_Response *response, int kind)
{
	struct ready *r = response ? calloc(1, sizeof(*r)) : NULL;

	if (!r && response)
		MHD_destroy_response(response);
	if (!r)
		return NULL;
	r->response = response;
	r->kind = kind;
	return r;
}

bool ready_name(struct ready *r, const char *id)
{
	if (*r->id)
		MHD_del_response_header(r->response, id_header, r->id);
	*r->id = '\0';
	if (MHD_add_response_header(r->response, id_header, id) != MHD_YES)
		return false;
	strcpy(r->id, id); /* of at most REQUEST_ID_CHARS */
	return true;
}

void ready_give(struct ready_shelf *shelf, struct ready *r, ptrdiff_t *bytes)
{
	bool counted = r->counted;

	*bytes = counted ? 0 : READY_BYTES;
	r->counted = true; /* before another may have it */
	for (int i = 0; i < READY_MOST; i++) {
		struct ready *none = NULL;

		if (!atomic_load_explicit(&shelf->at[r->kind][i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&shelf->at[r->kind][i], &none, r))
			return;
	}
	*bytes = counted ? -READY_BYTES : 0;
	ready_destroy(r);
}

void ready_destroy(struct ready *r)
{
	if (!r)
		return;
	MHD_destroy_response(r->response);
	free(r);
}

void ready_clear(struct ready_shelf *shelf)
{
	for (int kind = 0; kind < READY_KINDS; kind++)
		for (int i = 0; i < READY_MOST; i++)
			ready_destroy(atomic_exchange(&shelf->at[kind][i], NULL));
}
