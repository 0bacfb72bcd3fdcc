/* server/http/send.c -- what is answered: kept, a file, a stream, JSON, an error. */
#include <jansson.h>
#include <stdio.h>

#include "fusion/base/refused.h"
#include "server/http/exchange.h"
#include "server/http/response.h"
#include "server/text/text.h"

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

enum MHD_Result exchange_refuse(const struct exchange *x)
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
	/* Asked again each time, answered by 304: a new version shows at once. */
	response_add(r, "Cache-Control", "no-cache");
	return send_response(x, r, same ? MHD_HTTP_NOT_MODIFIED : status, a->type);
}

/* The library reads the file and closes it. */
static enum MHD_Result send_file(const struct exchange *x, struct reply *reply, int status)
{
	struct MHD_Response *r = MHD_create_response_from_fd64(reply->file_bytes, reply->file);

	if (!r) {
		close(reply->file);
		return MHD_NO;
	}
	response_name_file(r, reply->filename);
	response_add(r, "Cache-Control", "no-store");
	return send_response(x, r, status, reply->content_type);
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
		return exchange_refuse(x);
	response_add(r, "Cache-Control", "no-store");
	response_add(r, "X-Accel-Buffering", "no");
	return send_response(x, r, MHD_HTTP_OK, "text/event-stream");
}

enum asked_part { RANGE_NONE, RANGE_PART, RANGE_OUTSIDE };

/* "bytes=100-199", "bytes=100-" or "bytes=-100" of so many; what is none, or has several, is not
 * looked at. */
static enum asked_part read_range(const char *text, size_t len, size_t *first, size_t *last)
{
	unsigned long long from = 0, to = len;
	const char *at = text + 6;
	bool suffix;
	char *end;

	if (strncmp(text, "bytes=", 6) != 0 || at[strspn(at, "0123456789-")] || strlen(at) > 40)
		return RANGE_NONE;
	suffix = *at == '-';
	if (!suffix)
		from = strtoull(at, &end, 10);
	else
		end = (char *)at;
	if (*end++ != '-')
		return RANGE_NONE;
	if (*end)
		to = strtoull(end, &end, 10);
	else if (suffix)
		return RANGE_NONE;
	if (*end || (!suffix && to < from))
		return RANGE_NONE;
	if (suffix ? to == 0 : from >= len)
		return RANGE_OUTSIDE;
	*first = !suffix ? from : to < len ? len - to : 0;
	*last = suffix || to >= len ? len - 1 : to;
	return len ? RANGE_PART : RANGE_OUTSIDE;
}

/* The bytes first to last of what is kept; none of it where `first` is past its end.  New. */
static struct MHD_Response *kept_part(const struct kept_answer *a, size_t first, size_t last)
{
	size_t len = first < a->len ? last - first + 1 : 0;
	struct MHD_Response *r = MHD_create_response_from_buffer(
	    len, (void *)(a->text + (len ? first : 0)), MHD_RESPMEM_MUST_COPY);
	char range[96], tag[64];

	snprintf(range, sizeof(range), "bytes %zu-%zu/%zu", first, last, a->len);
	if (!len)
		snprintf(range, sizeof(range), "bytes */%zu", a->len);
	snprintf(tag, sizeof(tag), "\"%s\"", a->etag);
	response_dress(r, a->type);
	response_name_file(r, a->filename);
	response_add(r, "ETag", tag);
	response_add(r, "Cache-Control", "private, no-cache");
	response_add(r, "Content-Range", range);
	return r;
}

/* A part of what is kept, where one is asked for of this very text; NULL: send all. */
static struct MHD_Response *part_of_kept(const struct exchange *x, struct MHD_Connection *c,
					 unsigned *status)
{
	const char *asked = header(c, "Range"), *only = header(c, "If-Range");
	const struct kept_answer *a = x->kept;
	size_t first = a->len, last = 0;
	enum asked_part part;

	if (!asked || x->head || (only && !strstr(only, a->etag)))
		return NULL;
	part = read_range(asked, a->len, &first, &last);
	if (part == RANGE_NONE)
		return NULL;
	*status = part == RANGE_PART ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_RANGE_NOT_SATISFIABLE;
	return kept_part(a, first, last);
}

/* What is kept, or its head alone where who asks has it. */
static enum MHD_Result send_kept(const struct http *http, struct exchange *x,
				 struct MHD_Connection *c)
{
	const char *tags = header(c, "If-None-Match");
	bool same = tags && (strcmp(tags, "*") == 0 || strstr(tags, x->kept->etag));
	unsigned status = same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
	struct MHD_Response *part = same ? NULL : part_of_kept(x, c, &status);
	struct MHD_Response *r = part ? part
				      : answer_response(http->answers, x->kept, x->coding, same);
	enum MHD_Result sent = r ? MHD_queue_response(c, status, r) : MHD_NO;

	if (part)
		MHD_destroy_response(part);
	return sent;
}

/* Has an answer that may be kept be so; false without memory. */
static bool keep(const struct http *http, struct exchange *x)
{
	struct reply *reply = &x->reply;
	const struct answer_made made = { .address = x->address,
					  .route = x->route,
					  .version = x->version,
					  .keep = reply->keep,
					  .table = !*x->req.caller.project };

	if (!reply->text && reply->json) {
		reply->text = json_dumps(reply->json, JSON_COMPACT | JSON_ENSURE_ASCII);
		reply->text_len = reply->text ? strlen(reply->text) : 0;
	}
	if (!reply->text)
		return memory_refused_error(&x->err, "the answer");
	x->kept = answers_keep(http->answers, &made, reply, &x->err);
	return x->kept != NULL;
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

	answer_response(x->answers, x->kept, x->coding, false);
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

	if (x->ok && x->reply.keep && !x->kept)
		x->ok = keep(http, x);
	if (x->ok && x->kept && !x->squeezed) {
		x->coding = coding_of(header(c, "Accept-Encoding"));
		x->squeezed = true;
		if (!answer_is_quick(x->kept, x->coding) &&
		    exchange_run_slowly(http, x, c, squeeze_slowly))
			return MHD_YES;
	}
	if (x->ok && x->kept)
		sent = send_kept(http, x, c);
	else
		sent = x->ok ? send_reply(x, c, &x->reply) : exchange_refuse(x);
	if (x->ok && !x->kept)
		x->reply = (struct reply){ 0 }; /* taken over */
	return memory_refused_here() == refused ? sent : MHD_NO;
}
