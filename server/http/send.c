/* server/http/send.c -- what is answered: kept, a file, a stream, JSON, an error. */
#include <jansson.h>
#include <stdio.h>

#include "fusion/base/refused.h"
#include "server/http/exchange.h"
#include "server/http/part.h"
#include "server/text/text.h"

static void response_add(struct MHD_Response *r, const char *name, const char *value)
{
	if (r && MHD_add_response_header(r, name, value) != MHD_YES)
		memory_note_refused();
}

static void response_dress(struct MHD_Response *r, const char *type)
{
	response_add(r, "Content-Type", type);
	response_add(r, "X-Content-Type-Options", "nosniff");
	response_add(r, "X-Frame-Options", "DENY");
	response_add(r, "Cross-Origin-Resource-Policy", "same-origin");
	response_add(r, "Referrer-Policy", "no-referrer");
	response_add(r, "Content-Security-Policy",
		     "default-src 'self'; object-src 'none'; base-uri 'none'; "
		     "form-action 'self'; frame-ancestors 'none'");
}

static void response_name_file(struct MHD_Response *r, const char *filename)
{
	char value[256];

	if (!filename)
		return;
	snprintf(value, sizeof(value), "attachment; filename=\"%s\"", filename);
	response_add(r, "Content-Disposition", value);
}

static enum MHD_Result send_response(const struct exchange *x, struct MHD_Response *r, int status,
				     const char *type)
{
	enum MHD_Result ok;

	if (!r)
		return MHD_NO;
	response_dress(r, type);
	if (x->replayed)
		response_add(r, "Idempotent-Replayed", "true");
	if (x->reply.location)
		response_add(r, "Location", x->reply.location);
	response_add(r, "X-Request-Id", x->id);
	if (status == MHD_HTTP_TOO_MANY_REQUESTS) /* the minute that was counted has passed */
		response_add(r, "Retry-After", "60");
	else if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		response_add(r, "Retry-After", "10");
	ok = MHD_queue_response(x->req.connection, (unsigned)status, r);
	MHD_destroy_response(r);
	return ok;
}

static struct MHD_Response *json_response(json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);
	struct MHD_Response *r = NULL;

	json_decref(json);
	if (text)
		r = MHD_create_response_from_buffer_with_free_callback(strlen(text), text, free);
	response_add(r, "Cache-Control", "no-store");
	if (!r)
		free(text);
	return r;
}

static enum MHD_Result send_json(const struct exchange *x, struct reply *reply, int status)
{
	struct MHD_Response *r = json_response(reply->json);

	if (r && reply->cookie)
		response_add(r, "Set-Cookie", reply->cookie);
	return send_response(x, r, status, "application/json");
}

/* Sends what was found wrong. */
static enum MHD_Result refuse(const struct exchange *x)
{
	struct MHD_Response *r = json_response(error_json(&x->err));

	if (r && x->allow)
		response_add(r, "Allow", x->allow);
	if (r && x->err.code == ERR_UNAUTHORIZED)
		response_add(r, "WWW-Authenticate", "Bearer realm=\"breakeven\"");
	return send_response(x, r,
			     x->wrong_type && x->err.code == ERR_BAD_REQUEST
				 ? MHD_HTTP_UNSUPPORTED_MEDIA_TYPE
				 : err_status(x->err.code),
			     "application/json");
}

static enum MHD_Result send_asset(const struct exchange *x, const struct reply *reply, int status)
{
	struct MHD_Connection *c = x->req.connection;
	const struct asset *a = reply->asset;
	bool gzip = header_has(c, "Accept-Encoding", "gzip") && a->gzip_len > 0;
	bool same = status == MHD_HTTP_OK && header_has(c, "If-None-Match", a->etag);
	struct MHD_Response *r;

	if (same)
		r = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	else
		r = MHD_create_response_from_buffer(gzip ? a->gzip_len : a->len,
						    (void *)(gzip ? a->gzip_data : a->data),
						    MHD_RESPMEM_PERSISTENT);
	if (!r)
		return MHD_NO;
	if (gzip && !same)
		response_add(r, "Content-Encoding", "gzip");
	if (reply->link)
		response_add(r, "Link", reply->link);
	response_add(r, "ETag", a->etag);
	response_add(r, "Vary", "Accept-Encoding");
	/* Else asked again each time, answered by 304: a new version shows at once. */
	response_add(r, "Cache-Control",
		     reply->immutable ? "public, max-age=31536000, immutable" : "no-cache");
	return send_response(x, r, same ? MHD_HTTP_NOT_MODIFIED : status, a->type);
}

static void add_range(struct MHD_Response *r, const struct answer_part *p, uint64_t bytes)
{
	char range[CONTENT_RANGE_CHARS];

	if (p->status == MHD_HTTP_OK)
		return;
	part_content_range(p, bytes, range);
	response_add(r, "Content-Range", range);
}

static void add_tag(struct MHD_Response *r, const char *etag, enum coding coding)
{
	const char *name = coding_name(coding);
	char tag[64];

	snprintf(tag, sizeof(tag), "\"%s%s%s\"", etag, *name ? "-" : "", name);
	response_add(r, "ETag", tag);
}

/* All of a file, or the part of it that is asked for.  The library reads it and closes it. */
static enum MHD_Result send_file(const struct exchange *x, struct reply *reply, int status)
{
	struct MHD_Connection *c = x->req.connection;
	bool whole = !reply->etag || x->head || status != MHD_HTTP_OK;
	struct answer_part part = part_of(whole ? NULL : header(c, "Range"), header(c, "If-Range"),
					  reply->file_bytes, reply->etag);
	struct MHD_Response *r;

	if (part.len)
		r = MHD_create_response_from_fd_at_offset64(part.len, reply->file, part.first);
	else
		r = MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	if (!r || !part.len)
		close(reply->file);
	if (!r)
		return MHD_NO;
	add_range(r, &part, reply->file_bytes);
	if (reply->etag) {
		add_tag(r, reply->etag, CODING_PLAIN);
		response_add(r, "Accept-Ranges", "bytes");
	}
	response_name_file(r, reply->filename);
	response_add(r, "Cache-Control", "no-store");
	return send_response(x, r, part.status == MHD_HTTP_OK ? status : part.status,
			     reply->content_type);
}

static enum MHD_Result send_text(const struct exchange *x, struct reply *reply, int status)
{
	const char *type = reply->content_type ? reply->content_type : "application/json";
	struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback(
	    reply->text_len, reply->text, free);

	response_name_file(r, reply->filename);
	response_add(r, "Cache-Control", "no-store");
	if (!r)
		free(reply->text);
	return send_response(x, r, status, type);
}

static enum MHD_Result send_stream(struct exchange *x, struct MHD_Connection *c, int64_t run)
{
	struct MHD_Response *r = events_open(x->req.app->events, c, run, caller_key(&x->req.caller),
					     &x->err);

	if (!r)
		return refuse(x);
	response_add(r, "Cache-Control", "no-store");
	response_add(r, "X-Accel-Buffering", "no");
	return send_response(x, r, MHD_HTTP_OK, "text/event-stream");
}

/* Each coding is another representation, so it has another tag; any of them tells that it is what
 * who asks has. */
static bool is_same(const char *tags, const struct kept_answer *a)
{
	char tag[64];

	for (enum coding i = CODING_PLAIN; tags && i < CODING_COUNT; i++) {
		snprintf(tag, sizeof(tag), "%s%s%s", a->etag, i ? "-" : "", coding_name(i));
		if (etag_matches(tags, tag))
			return true;
	}
	return false;
}

/* The header lines of what is kept. */
static void dress_kept(struct MHD_Response *r, const struct kept_answer *a, enum coding coding)
{
	response_name_file(r, a->filename);
	add_tag(r, a->etag, coding);
	if (coding == CODING_PLAIN)
		response_add(r, "Accept-Ranges", "bytes");
	response_add(r, "Vary", "Accept-Encoding, Authorization, Cookie");
	/* Asked again each time, answered by 304 where it is the same. */
	response_add(r, "Cache-Control", "private, no-cache");
}

/* The whole of it, or its head alone where who asks has it: the response of one that asked before,
 * or a new one that is left for the next. */
static enum MHD_Result send_whole(struct exchange *x, bool same)
{
	struct kept_answer *a = x->kept;
	enum coding coding = x->coding;
	struct answer_bytes bytes = answer_text(x->http->answers, a, &coding);
	int kind = (int)coding * 2 + same;

	x->ready = ready_take(&a->ready, kind, x->id);
	if (!x->ready) {
		x->ready = ready_new(same ? "" : bytes.at, same ? 0 : bytes.len, kind, x->id);
		if (!x->ready) {
			memory_note_refused();
			return MHD_NO;
		}
		dress_kept(x->ready->response, a, coding);
		if (coding != CODING_PLAIN && !same)
			response_add(x->ready->response, "Content-Encoding", coding_name(coding));
		response_dress(x->ready->response, a->type);
	}
	return MHD_queue_response(x->req.connection, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
				  x->ready->response);
}

/* What is kept, or a part of it where one is asked for of this very text. */
static enum MHD_Result send_kept(struct exchange *x, struct MHD_Connection *c)
{
	const struct kept_answer *a = x->kept;
	bool same = is_same(header(c, "If-None-Match"), a);
	const char *range = same || x->head ? NULL : header(c, "Range");
	struct answer_part part = part_of(range, header(c, "If-Range"), a->len, a->etag);
	struct MHD_Response *r;

	if (part.status == MHD_HTTP_OK)
		return send_whole(x, same);
	r = MHD_create_response_from_buffer(
	    part.len, (void *)(a->text + (part.len ? part.first : 0)), MHD_RESPMEM_PERSISTENT);
	if (!r)
		return MHD_NO;
	dress_kept(r, a, CODING_PLAIN);
	add_range(r, &part, a->len);
	return send_response(x, r, part.status, a->type);
}

static enum MHD_Result send_reply(struct exchange *x, struct MHD_Connection *c, struct reply *reply)
{
	int status = reply->status ? reply->status : MHD_HTTP_OK;

	if (reply->stream_run && x->head) /* a stream without its body is no stream */
		return send_response(
		    x, MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT),
		    status, "text/event-stream");
	if (reply->stream_run)
		return send_stream(x, c, reply->stream_run);
	if (reply->asset)
		return send_asset(x, reply, status);
	if (reply->file)
		return send_file(x, reply, status);
	if (reply->text)
		return send_text(x, reply, status);
	return send_json(x, reply, status);
}

/* Squeezes what is kept; send_kept() will find it. */
static void squeeze_slowly(struct slow_task *task)
{
	struct exchange *x = (void *)((char *)task - offsetof(struct exchange, task));

	enum coding coding = x->coding;

	answer_text(x->http->answers, x->kept, &coding);
	MHD_resume_connection(x->req.connection);
}

bool exchange_run_slowly(struct http *http, struct exchange *x, struct MHD_Connection *c,
			 void (*fn)(struct slow_task *task))
{
	x->task.fn = fn;
	MHD_suspend_connection(c); /* before it can be resumed */
	if (slow_pool_run(http->slow_pool, &x->task, &x->err))
		return true;
	MHD_resume_connection(c);
	return false;
}

enum MHD_Result exchange_send(struct http *http, struct exchange *x, struct MHD_Connection *c)
{
	uint64_t refused = memory_refused_here();
	enum MHD_Result sent;

	if (x->ok && x->kept && !x->squeezed) {
		bool quick;

		x->coding = coding_of(header(c, "Accept-Encoding"));
		quick = answer_is_quick(x->kept, x->coding);
		if (!quick && exchange_ask_again(x))
			return MHD_YES;
		x->squeezed = true;
		if (!quick && exchange_run_slowly(http, x, c, squeeze_slowly))
			return MHD_YES;
	}
	if (x->ok && x->kept)
		sent = send_kept(x, c);
	else
		sent = x->ok ? send_reply(x, c, &x->reply) : refuse(x);
	if (x->ok && !x->kept)
		x->reply = (struct reply){ 0 }; /* taken over */
	return memory_refused_here() == refused ? sent : MHD_NO;
}
