/* server/cli/post.c -- posts to a Breakeven server by libcurl. */
#include "server/cli/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/fields/fields.h"
#include "server/queue/outgoing.h"

enum { ANSWER_BYTES = 1 << 20, CONNECT_MS = 5000, SEND_MS = 60000 };

struct post {
	struct outgoing *out;
	char *url;
};

struct post *post_open(const char *url, struct err *err)
{
	static const struct outgoing_options options = { .connect_ms = CONNECT_MS,
							 .send_ms = SEND_MS,
							 .answer_bytes = ANSWER_BYTES };
	struct post *p = calloc(1, sizeof(*p));
	size_t len = strlen(url);

	if (!p || !(p->url = strdup(url))) {
		post_close(p);
		err_set(err, ERR_MEMORY, "out of memory for a connection");
		return NULL;
	}
	while (len > 0 && p->url[len - 1] == '/')
		p->url[--len] = '\0';
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		err_set(err, ERR_IO, "%.200s is no server's address; http://127.0.0.1:8080 is one",
			url);
	else if ((p->out = outgoing_open(&options, err)))
		return p;
	post_close(p);
	return NULL;
}

void post_close(struct post *p)
{
	if (!p)
		return;
	outgoing_close(p->out);
	free(p->url);
	free(p);
}

/* What the server says is wrong. */
static bool refused(struct post *p, const json_t *json, long status, struct err *err)
{
	struct arena arena = { 0 };
	struct err unread = { 0 };
	const struct report_refusal *said = report_read_refusal(json, &arena, &unread);

	if (said && said->error->code)
		err_set(err, err_from_name(said->error->code), "%.400s", said->error->message);
	else
		err_set(err, ERR_BAD_REQUEST, "%.200s answers %ld and does not say why", p->url,
			status);
	arena_finish(&arena);
	return false;
}

bool post_send(struct post *p, const char *path, struct post_body body, json_t **answer,
	       struct err *err)
{
	const char *token = getenv("BREAKEVEN_TOKEN");
	char url[1024], type[128], bearer[128], key[256];
	const char *headers[4] = { NULL };
	int n = 0;
	struct outgoing_answer got;
	struct err why = { 0 };
	json_t *json;
	bool ok;

	snprintf(url, sizeof(url), "%.600s/api/v1%.300s", p->url, path);
	snprintf(type, sizeof(type), "Content-Type: %.100s", body.type ? body.type : "");
	snprintf(bearer, sizeof(bearer), "Authorization: Bearer %.100s", token ? token : "");
	snprintf(key, sizeof(key), "Idempotency-Key: %.200s", body.key ? body.key : "");
	if (body.type)
		headers[n++] = type;
	if (token && *token)
		headers[n++] = bearer;
	if (body.key)
		headers[n++] = key;
	if (!outgoing_post(
		p->out,
		&(struct outgoing_post){
		    .url = url, .headers = headers, .bytes = body.bytes, .len = body.len },
		&got, &why))
		return err_set(err, ERR_IO, "%.200s: %s", p->url, why.message);
	json = json_loadb(got.bytes, got.len, 0, NULL);
	ok = got.status / 100 == 2 || refused(p, json, got.status, err);
	if (ok && answer)
		*answer = json;
	else
		json_decref(json);
	return ok;
}

bool post_create(struct post *p, const char *path, struct post_body body, int64_t *id,
		 struct err *err)
{
	struct arena arena = { 0 };
	const struct report_created *made = NULL;
	json_t *answer = NULL;

	if (post_send(p, path, body, &answer, err))
		made = report_read_created(answer, &arena, err);
	*id = made ? made->id : 0;
	json_decref(answer);
	arena_finish(&arena);
	return made != NULL;
}

/* ---- a file, in pieces ---- */

enum { PIECE_BYTES = 8 << 20, TRIES = 4 };

struct upload {
	const char *id; /* what the file must be */
	char name[32];  /* what the server calls it; "": not begun, or all there */
	int64_t received;
};

/* One request; `len` bytes of the file.  `upload` is what is there after it. */
static bool send_piece(struct post *p, const char *path, const char *bytes, size_t len,
		       struct upload *upload, struct err *err)
{
	struct post_body body = { .type = "application/octet-stream", .bytes = bytes, .len = len };
	const struct report_file_received *got = NULL;
	struct arena arena = { 0 };
	json_t *answer = NULL;

	if (post_send(p, path, body, &answer, err))
		got = report_read_file_received(answer, &arena, err);
	if (got) {
		snprintf(upload->name, sizeof(upload->name), "%s",
			 got->id ? "" : report_text(got->upload));
		upload->received = got->received;
	}
	json_decref(answer);
	arena_finish(&arena);
	return got != NULL;
}

static bool next_piece(struct post *p, FILE *f, char *piece, struct upload *upload, struct err *err)
{
	char path[192];
	size_t len;

	if (fseeko(f, upload->received, SEEK_SET) != 0)
		return err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
	len = fread(piece, 1, PIECE_BYTES, f);
	if (len == 0)
		return err_set(err, ERR_IO, "it has become shorter while it was sent");
	snprintf(path, sizeof(path), "/files?upload=%s&at=%" PRId64 "&id=%s", upload->name,
		 upload->received, upload->id);
	return send_piece(p, path, piece, len, upload, err);
}

/* After a piece that may have come or not: asks what is there. */
static bool ask_received(struct post *p, struct upload *upload, struct err *err)
{
	char path[128];

	memset(err, 0, sizeof(*err));
	snprintf(path, sizeof(path), "/files?upload=%s", upload->name);
	return send_piece(p, path, "", 0, upload, err);
}

static bool send_file(struct post *p, FILE *f, struct upload *upload, struct err *err)
{
	char *piece = malloc(PIECE_BYTES);
	bool ok = piece || err_set(err, ERR_MEMORY, "out of memory for a piece of a file");

	for (int tries = 0; ok && upload->name[0];) {
		int64_t before = upload->received;

		ok = next_piece(p, f, piece, upload, err);
		while (!ok && err->code == ERR_IO && ++tries < TRIES)
			ok = ask_received(p, upload, err);
		if (upload->received > before)
			tries = 0;
	}
	free(piece);
	return ok;
}

bool post_weights(struct post *p, const char *path, const char *id, struct err *err)
{
	FILE *f = fopen(path, "re");
	struct upload upload = { .id = id };
	char first[160];
	struct stat at;
	bool ok;

	if (!f || fstat(fileno(f), &at) != 0)
		ok = err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
	else {
		snprintf(first, sizeof(first), "/files?bytes=%" PRId64 "&id=%s",
			 (int64_t)at.st_size, id);
		ok = send_piece(p, first, "", 0, &upload, err) && send_file(p, f, &upload, err);
	}
	if (f)
		fclose(f);
	return ok;
}
