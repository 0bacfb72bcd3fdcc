/* server/http/request.c -- reads what handlers ask of a request; errors as JSON. */
#include "server/http/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_int(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

bool req_id(struct req *req, int index, int64_t *id, struct err *err)
{
	const char *text = req->path_args[index];

	return (parse_int(text, id) && *id > 0) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "'%.40s' is no id: runs and suites have numbers from 1 on", text);
}

bool req_query_int(struct req *req, const char *name, struct req_range range, int64_t *out,
		   struct err *err)
{
	const char *text = req_query(req, name);

	*out = range.fallback;
	if (!text)
		return true;
	return (parse_int(text, out) && *out >= range.low && *out <= range.high) ||
	       err_set(err, ERR_BAD_REQUEST, "%s=%.40s: a whole number from %lld to %lld is needed",
		       name, text, (long long)range.low, (long long)range.high);
}

enum { WAIT_MOST_S = 600 };

bool req_wait(struct req *req, int64_t *ns, struct err *err)
{
	bool ok = req_query_int(req, "wait", (struct req_range){ 0, WAIT_MOST_S, 0 }, ns, err);

	*ns *= 1000000000;
	return ok;
}

void req_join(struct req *req)
{
	if (req->once)
		db_join(req->app->db);
}

const char *req_location(struct req *req, const char *path, int64_t id)
{
	return arena_printf(req->arena, "%s/api/v1/%s/%lld", req->app->base_path, path,
			    (long long)id);
}

json_t *req_json(struct req *req, struct err *err)
{
	json_error_t at;
	json_t *json = json_loadb(req->body, req->body_len, JSON_REJECT_DUPLICATES, &at);

	if (!json)
		err_at(err, ERR_JSON, at.line, at.column,
		       "the body is not JSON: %s (line %d, column %d)", at.text, at.line,
		       at.column);
	return json;
}

/* A message may be cut within a character; JSON holds whole ones only. */
json_t *json_message(const struct err *err)
{
	json_t *text = json_string(err->message);
	char ascii[ERR_MESSAGE_BYTES];

	if (text)
		return text;
	strcpy(ascii, err->message);
	for (char *c = ascii; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(ascii);
}

json_t *error_fields(const struct err *err)
{
	json_t *line = err->line > 0 ? json_integer(err->line) : json_null();
	json_t *column = err->column > 0 ? json_integer(err->column) : json_null();
	json_t *json = json_pack("{s:s, s:o, s:o, s:o}", "code", err_name(err->code), "message",
				 json_message(err), "line", line, "column", column);

	if (err->file[0])
		json_object_set_new(json, "file", json_string(err->file));
	return json;
}
