/* server/http/ready.c -- see ready.h: a few places, each taken and filled at once. */
#include "server/http/ready.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char id_header[] = "X-Request-Id";

static void destroy(struct ready_response *r)
{
	if (!r)
		return;
	MHD_destroy_response(r->response);
	free(r);
}

/* NULL where there is no memory; then it is destroyed. */
static struct ready_response *name(struct ready_response *r, const char *id)
{
	if (*r->id)
		MHD_del_response_header(r->response, id_header, r->id);
	if (MHD_add_response_header(r->response, id_header, id) == MHD_YES) {
		memcpy(r->id, id, strlen(id) + 1); /* of at most REQUEST_ID_CHARS */
		return r;
	}
	destroy(r);
	return NULL;
}

struct ready_response *ready_take(struct ready_shelf *shelf, int kind, const char *id)
{
	struct ready_response *r = NULL;

	for (int i = 0; !r && i < READY_MOST; i++)
		if (atomic_load_explicit(&shelf->at[kind][i], memory_order_relaxed))
			r = atomic_exchange(&shelf->at[kind][i], NULL);
	return r ? name(r, id) : NULL;
}

struct ready_response *ready_new(const char *bytes, size_t len, int kind, const char *id)
{
	struct ready_response *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->response = MHD_create_response_from_buffer(len, (void *)bytes, MHD_RESPMEM_PERSISTENT);
	r->kind = kind;
	if (r->response)
		return name(r, id);
	free(r);
	return NULL;
}

void ready_give(struct ready_shelf *shelf, struct ready_response *r, ptrdiff_t *bytes)
{
	bool counted = r->counted;

	*bytes = counted ? 0 : READY_BYTES;
	r->counted = true; /* before another may have it */
	for (int i = 0; i < READY_MOST; i++) {
		struct ready_response *none = NULL;

		if (!atomic_load_explicit(&shelf->at[r->kind][i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&shelf->at[r->kind][i], &none, r))
			return;
	}
	*bytes = counted ? -READY_BYTES : 0;
	destroy(r);
}

void ready_clear(struct ready_shelf *shelf)
{
	for (int kind = 0; kind < READY_KINDS; kind++)
		for (int i = 0; i < READY_MOST; i++)
			destroy(atomic_exchange(&shelf->at[kind][i], NULL));
}
