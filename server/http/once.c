/* server/http/once.c -- see once.h. */
#include "server/http/once.h"

#include <jansson.h>

#include "fusion/base/hash.h"
#include "fusion/base/log.h"

enum { KEY_CHARS = 200, ANSWER_BYTES = 64 << 10 }; /* a longer answer is of what makes nothing */

/* Its address and its body, as one hash. */
static const char *request_hash(struct exchange *x)
{
	char address[HASH_HEX_BYTES], body[HASH_HEX_BYTES];
	char both[2 * HASH_HEX_BYTES], *out = arena_alloc(&x->arena, HASH_HEX_BYTES);

	hash_hex(x->address, strlen(x->address), address);
	hash_hex(x->body.data ? x->body.data : "", x->body.len, body);
	snprintf(both, sizeof(both), "%s%s", address, body);
	if (out)
		hash_hex(both, strlen(both), out);
	return out;
}

static bool is_key(const char *key)
{
	size_t n = strlen(key);

	for (const char *c = key; *c; c++)
		if (*c < 0x21 || *c > 0x7e)
			return false;
	return n >= 1 && n <= KEY_CHARS;
}

/* The answer of the first time, or why there is none. */
static bool answer_again(struct exchange *x, const char *request)
{
	const struct request_key *k = &x->key;

	if (strcmp(k->request, request) != 0)
		return err_set(&x->err, ERR_VALUE,
			       "Idempotency-Key: %.40s was sent with another request; each has a "
			       "key of its own",
			       k->key);
	if (k->status == 0)
		return err_set(&x->err, ERR_CONFLICT,
			       "the first request with Idempotency-Key: %.40s is under way; send "
			       "it again later",
			       k->key);
	x->reply.text = strdup(k->answer);
	x->reply.text_len = strlen(k->answer);
	x->reply.status = (int)k->status;
	x->reply.location = *k->location ? k->location : NULL;
	x->replayed = true;
	return x->reply.text || err_set(&x->err, ERR_MEMORY, "out of memory for the answer");
}

bool once_begin(struct exchange *x, struct MHD_Connection *c)
{
	const char *key = header(c, "Idempotency-Key"), *request;
	bool added = false;

	if (!key || !x->route || strcmp(x->route->method, "POST") != 0 ||
	    x->route->scope < SCOPE_SUBMIT)
		return true;
	request = request_hash(x);
	x->key = (struct request_key){ .who = caller_key(&x->req.caller),
				       .key = arena_strdup(&x->arena, key),
				       .request = request };
	if (!is_key(key))
		x->ok = err_set(&x->err, ERR_BAD_REQUEST,
				"Idempotency-Key must have 1 to %d visible ASCII characters",
				KEY_CHARS);
	else if (!request || !x->key.key)
		x->ok = err_set(&x->err, ERR_MEMORY, "out of memory for the request");
	else
		x->ok = db_key_take(x->req.app->db, &x->key, &x->arena, &added, &x->err);
	x->once = x->ok && added;
	if (x->ok && !added)
		x->ok = answer_again(x, request);
	x->handled = !x->once;
	return x->once;
}

void once_end(struct exchange *x)
{
	struct reply *reply = &x->reply;
	struct err err = { 0 };

	if (!x->once)
		return;
	x->once = false;
	if (x->ok && reply->json && !reply->text) {
		reply->text = json_dumps(reply->json, JSON_COMPACT | JSON_ENSURE_ASCII);
		reply->text_len = reply->text ? strlen(reply->text) : 0;
		json_decref(reply->json); /* the text is what is sent */
		reply->json = NULL;
	}
	x->key.status = x->ok && reply->text && reply->status < 400 &&
				reply->text_len <= ANSWER_BYTES
			    ? (reply->status ? reply->status : MHD_HTTP_OK)
			    : 0;
	x->key.answer = reply->text;
	x->key.location = reply->location;
	if (!db_key_answer(x->req.app->db, &x->key, &err))
		log_line(LOG_ERROR, "what was answered to Idempotency-Key: %.40s is not kept: %s",
			 x->key.key, err.message);
}
