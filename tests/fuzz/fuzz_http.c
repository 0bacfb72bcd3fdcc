/* tests/fuzz/fuzz_http.c -- libFuzzer entry of the server's HTTP: an input is what a client sends.
 *
 * The server runs in this process, with its threads, its queue and a store of its own.  Whatever
 * it is sent, it answers whole and closes: no status 500, and what it calls JSON is.  A worker is
 * this program started again, which ends at once, so runs and checks fail.
 *
 * Requests are made from the table of routes: a method, a path with numbers for {id}, parameters
 * of the route and others, headers that the server reads, a body.  Then bytes are changed.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/registry.h"
#include "profiler/lists/lists.h"
#include "server/api/api.h"
#include "server/api/routes.h"
#include "server/http/http.h"
#include "server/http/metrics.h"
#include "server/queue/hosts.h"
#include "server/queue/queue.h"
#include "server/queue/sandbox.h"

enum { SILENT_MS = 100000, MOST_ANSWER_BYTES = 8 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static struct sockaddr_in address = { .sin_family = AF_INET };
static char folder[] = "/tmp/breakeven-fuzz-XXXXXX", store[64], files[80];

/* ---- the server ---- */

static void remove_folder(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command) != 0)
		fprintf(stderr, "%s is left\n", folder);
}

static void fail(const char *what, const struct err *err)
{
	fprintf(stderr, "fuzz_http: %s: %s\n", what, err->message);
	exit(1);
}

static void start(void)
{
	static struct app app = {
		.store = store,
		.files_folder = files,
		.base_path = "",
#define BOUND(name, flag, value, least, most, unit, answer, meaning) .bounds.name = (value),
#define FIXED(value, unit, answer, meaning)
#include "server/queue/bounds.def"
#undef BOUND
#undef FIXED
	};
	static struct err err;
	static struct arena arena;
	const struct http_options options = { .listen = "127.0.0.1:0" };
	struct http *http;

	if (!mkdtemp(folder))
		fail("no folder", &err);
	atexit(remove_folder);
	snprintf(store, sizeof(store), "%s/store.db", folder);
	snprintf(files, sizeof(files), "%s.files", store);
	app.started_ns = clock_ns();
	app.page = page_below("", &arena, &err);
	app.registry = registry_create(&err);
	app.db = app.registry ? db_open(store, &err) : NULL;
	app.events = app.db ? events_create(run_event, &app, (int)app.bounds.streams,
					    (int)app.bounds.user_streams)
			    : NULL;
	app.exports = exports_create();
	app.sandbox = sandbox_parts();
	app.torch = lists_torch(NULL, false);
	app.no_torch = "it is switched off";
	app.metrics = metrics_create(&routes);
	app.hosts = app.events ? hosts_start(app.db, app.events,
					     &(struct hosts_options){ .run_seconds = 10 }, &err)
			       : NULL;
	app.jobs = app.hosts && app.exports
		       ? jobs_start(app.db, app.events,
				    &(struct jobs_options){ .registry = app.registry,
							    .files_folder = files,
							    .hosts = app.hosts,
							    .run_seconds = 10 },
				    &err)
		       : NULL;
	http = app.jobs ? http_start(&app, &routes, &options, &err) : NULL;
	if (!http)
		fail("the server does not start", &err);
	address.sin_port = htons((uint16_t)atoi(strrchr(http_url(http), ':') + 1));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	if (*argc > 1 && strcmp((*argv)[1], "worker") == 0)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	if (!freopen("/dev/null", "w", stdout))
		return 1;
	start();
	return 0;
}

/* ---- what it answers ---- */

/* Whether there is an answer as long as its head says. */
static bool is_whole(const char *answer, size_t n)
{
	const char *end = memmem(answer, n, "\r\n\r\n", 4);
	const char *length = end ? strcasestr(answer, "\r\nContent-Length: ") : NULL;

	return length && length < end &&
	       n - (size_t)(end + 4 - answer) >= strtoul(length + 18, NULL, 10);
}

/* Whether the server can tell that all of a request has come; of others it waits for the rest. */
static bool is_request(const uint8_t *data, size_t size)
{
	const uint8_t *end = memmem(data, size, "\r\n\r\n", 4);

	return size > 5 && memcmp(data, "GET /", 5) == 0 && end &&
	       !memmem(data, (size_t)(end - data), "ength", 5) &&
	       !memmem(data, (size_t)(end - data), "ncoding", 7);
}

/* Until the server closes, or has answered: it waits for the next request then. */
static size_t receive(int fd, char *answer, int patience_ms)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	size_t n = 0;

	for (;;) {
		/* a stream of events, or what is sent in chunks */
		int ready = poll(&polled, 1, n ? 100 : patience_ms);
		ssize_t got;

		if (ready == 0 && n == 0 && patience_ms == SILENT_MS)
			abort(); /* it neither answers nor closes */
		if (ready <= 0)
			return n;
		got = recv(fd, answer + n, MOST_ANSWER_BYTES - n, 0);
		if (got <= 0 || (n += (size_t)got) == MOST_ANSWER_BYTES)
			return n;
		answer[n] = '\0';
		if (is_whole(answer, n))
			return n;
	}
}

static void check_json(const char *head, const char *body, size_t bytes)
{
	json_t *json = json_loadb(body, bytes, JSON_DECODE_ANY, NULL);

	if (!json) {
		fprintf(stderr, "no JSON: %s\n", head);
		abort();
	}
	json_decref(json);
}

/* The first answer: others follow where several requests came.  To HEAD it has no body, whatever
 * length it says; a part of a body (206) is no JSON. */
static void check(const char *answer, size_t n, bool has_body)
{
	const char *end = memmem(answer, n, "\r\n\r\n", 4), *length;
	int status = 0;

	if (n == 0)
		return; /* closed: libmicrohttpd's answer to what is no request */
	if (sscanf(answer, "HTTP/1.%*1d %3d ", &status) != 1 || status < 100 || !end)
		abort();
	if (status == 500 && !memmem(answer, n, "\"worker\"", 8)) {
		fprintf(stderr, "%.*s\n", (int)(n < 2000 ? n : 2000), answer);
		abort();
	}
	length = strcasestr(answer, "\r\nContent-Length: ");
	if (has_body && status != 206 && length && length < end &&
	    strcasestr(answer, "\r\nContent-Type: application/json") &&
	    strcasestr(answer, "\r\nContent-Type: application/json") < end &&
	    !strcasestr(answer, "\r\nContent-Encoding:")) {
		size_t bytes = strtoul(length + 18, NULL, 10);

		end += 4;
		if (bytes > 0 && bytes <= n - (size_t)(end - answer))
			check_json(answer, end, bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char answer[MOST_ANSWER_BYTES + 1];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t n;

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		abort();
	for (size_t at = 0; at < size;) {
		ssize_t sent = send(fd, data + at, size - at, 0);

		if (sent <= 0)
			break;
		at += (size_t)sent;
	}
	shutdown(fd, SHUT_WR);
	n = receive(fd, answer, is_request(data, size) ? SILENT_MS : 100);
	answer[n] = '\0';
	check(answer, n, !memmem(data, size, "HEAD", 4));
	close(fd);
	return 0;
}

/* ---- requests ---- */

static unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 8) % below;
}

#define PICK(list) (list)[draw(state, sizeof(list) / sizeof((list)[0]))]

static const char *const values[] = { "1",       "2",      "-1",    "0",    "99999999999999999999",
				      "",        "%00",    "a%2",   "%zz",  "static",
				      "latency", "n%27--", "..%2f", "json", "html",
				      "chrome",  "csv",    "svg",   "1e400" };
static const char *const waits[] = { "0", "1", "-1", "601", "1e2", "" };
static const char *const headers[] = {
	"Content-Type: application/json",
	"Content-Type: application/zip",
	"Content-Type: application/octet-stream",
	"Content-Type: text/plain; charset=x",
	"Accept-Encoding: gzip, br;q=0",
	"If-None-Match: *",
	"If-None-Match: \"a\", W/\"b\"",
	"Range: bytes=0-1",
	"Range: bytes=-0",
	"Range: bytes=99999999999999999999-",
	"Range: bytes=5-2, 7-",
	"If-Range: \"a\"",
	"If-Range: W/\"a",
	"Idempotency-Key: one",
	"Idempotency-Key: two words",
	"Idempotency-Key: \377",
	"X-Request-Id: request.1",
	"X-Request-Id: <b>",
	"Cookie: breakeven_session=x; a=\"b",
	"Authorization: Bearer x",
	"X-CSRF-Token: x",
	"X-Forwarded-For: 1.2.3.4, ::1",
	"Origin: http://evil.example",
	"Sec-Fetch-Site: cross-site",
	"Expect: 100-continue",
	"Last-Event-ID: 9",
	"Last-Event-ID: -1e9999",
	"Connection: keep-alive, Upgrade",
};
static const char *const bodies[] = {
	"{\"source\": \"import torch\\ndef model(x):\\n    return x\\n\", \"calls\": [[1.5]]}",
	"{\"source\": \"def model(x):\\n  return x.nothing(\", \"calls\": [[{\"python\": "
	"\"torch.randn(2\"}]]}",
	"{\"files\": {\"a/b.py\": \"x = 1\", \"../c.py\": \"\"}, \"entry\": \"a/b.py:x\", "
	"\"calls\": [[]]}",
	"{\"note\": \"<script>\", \"tags\": [\"a\", \"b\\u0000\"], \"baseline\": true}",
	"{\"name\": \"s\", \"policy\": \"both\", \"workloads\": [{}, 1, {\"source\": \"\"}]}",
	"{\"name\": \"t\", \"command\": [\"a\"], \"project\": \"p\", \"tags\": [\"x\"]}",
	"{\"error\": null, \"import\": {\"a\": [[[[]]]]}}",
	"{\"boxes\": [[10, 20, 0, 5], [1e9, -3, -1, 0]], \"groups\": [[-1, 5]], \"edges\": [[0, "
	"1]], \"band_height\": 9}",
	"{\"modules\": [\"a\"], \"loops\": [[-1, -1, 3]], \"nodes\": [[0, 0, 0, 1]], \"reads\": "
	"[[0, 0]]}",
	"{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, "
	"\"dur\": 2, \"args\": {\"correlation\": 1}}]}",
	"[[[[[[[[[[",
	"PK\003\004",
	"\037\213\010",
};

/* A path with numbers for what is in braces. */
static int append_path(char *out, size_t most, const char *path, unsigned *state)
{
	size_t n = 0;

	for (; *path && n + 24 < most; path++) {
		if (*path != '{') {
			out[n++] = *path;
			continue;
		}
		n += (size_t)snprintf(out + n, most - n, "%s", draw(state, 4) ? "1" : PICK(values));
		path += strcspn(path, "}");
	}
	out[n] = '\0';
	return (int)n;
}

/* Parameters of the route, and one that is not. */
static void append_query(char *out, size_t most, const char *names, unsigned *state)
{
	size_t n = 0;

	while (*names && n + 80 < most) {
		size_t len = strcspn(names, " ");

		/* what is waited for so long would be no answer to the fuzzer */
		if (draw(state, 2))
			n += (size_t)snprintf(
			    out + n, most - n, "%c%.*s=%s", n ? '&' : '?', (int)len, names,
			    strncmp(names, "wait", len) == 0 ? PICK(waits) : PICK(values));
		names += len + (names[len] == ' ');
	}
	if (draw(state, 8) == 0)
		n += (size_t)snprintf(out + n, most - n, "%cnothing=1", n ? '&' : '?');
	out[n] = '\0';
}

static size_t make_request(char *out, size_t most, unsigned *state)
{
	const struct route *r = &routes.rows[draw(state, (unsigned)routes.n)];
	const char *body = draw(state, 8) || !r->body_limit ? "" : "{}";
	char path[256], query[512];
	int n;

	if (r->body_limit && draw(state, 8))
		body = PICK(bodies);
	append_path(path, sizeof(path), r->path, state);
	append_query(query, sizeof(query), r->query, state);
	n = snprintf(out, most, "%s %s%s HTTP/1.1\r\nHost: 127.0.0.1\r\n",
		     draw(state, 8) ? r->method : "OPTIONS", path, query);
	if (r->body_limit && draw(state, 8))
		n += snprintf(out + n, most - (size_t)n, "Content-Type: application/json\r\n");
	for (unsigned i = draw(state, 3); i > 0 && (size_t)n + 100 < most; i--)
		n += snprintf(out + n, most - (size_t)n, "%s\r\n", PICK(headers));
	if (*body && draw(state, 4))
		n += snprintf(out + n, most - (size_t)n, "Content-Length: %zu\r\n\r\n%s",
			      strlen(body), body);
	else if (*body)
		n += snprintf(out + n, most - (size_t)n,
			      "Transfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n0\r\n\r\n",
			      strlen(body), body);
	else
		n += snprintf(out + n, most - (size_t)n, "\r\n");
	return (size_t)n < most ? (size_t)n : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	unsigned state = seed;
	char request[4096];
	size_t n;

	if (draw(&state, 3))
		return LLVMFuzzerMutate(data, size, most);
	n = make_request(request, sizeof(request), &state);
	if (n == 0 || n > most)
		return LLVMFuzzerMutate(data, size, most);
	/* Two on one connection, now and then. */
	if (draw(&state, 4) == 0 && size + n <= most) {
		memmove(data + n, data, size);
		size += n;
	} else {
		size = n;
	}
	memcpy(data, request, n);
	return draw(&state, 2) ? size : LLVMFuzzerMutate(data, size, most);
}
