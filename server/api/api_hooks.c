/* server/api/api_hooks.c -- /api/v1/hooks: who is told of changes and verdicts, what was sent, and
 * what is sent. */
#define HANDLER_hooks(name) name
#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum {
	PROJECT_MOST = 100,
	SECRET_LEAST = 16,
	SECRET_MOST = 200,
	LIST_DEFAULT = 50,
	MOST_STEPS = 50
};

/* ---- the body of a delivery ---- */

static const char *page_of(const char *workload, struct arena *arena)
{
	const char *at = "/history?workload=";

	for (; *workload; workload++) {
		unsigned char c = (unsigned char)*workload;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';

		at = arena_printf(arena, plain ? "%s%c" : "%s%%%02X", at, c);
	}
	return at;
}

/* The run that was made for it: done, or why it shows nothing; null: none could be made. */
static json_t *again_of(struct db *db, int64_t run, struct arena *arena)
{
	struct err gone = { 0 };
	struct run_row row;
	bool is = run && db_run_get(db, run, arena, &row, &gone);

	return run ? json_pack("{s:I, s:s}", "run", (json_int_t)run, "status",
			       is ? run_status_name(row.status) : "removed")
		   : json_null();
}

/* A change with more steps than can be read is cut, and says so. */
static json_t *shortened(json_t *change)
{
	json_t *steps = json_object_get(change, "steps");
	size_t n = json_array_size(steps);

	if (n > MOST_STEPS)
		json_object_set_new(change, "steps_left_out",
				    json_integer((json_int_t)(n - MOST_STEPS)));
	while (json_array_size(steps) > MOST_STEPS)
		json_array_remove(steps, json_array_size(steps) - 1);
	return change;
}

static json_t *change_body(struct app *app, const struct hook_news *news, struct arena *arena,
			   struct err *err)
{
	struct report_history_change_list list;
	struct change_list found;
	json_t *change;

	if (!db_changes_list(app->db, &(struct change_query){ .id = news->subject, .limit = 1 },
			     arena, &found, err))
		return NULL;
	if (found.n == 0) {
		err_set(err, ERR_NOT_FOUND, "there is no change %lld", (long long)news->subject);
		return NULL;
	}
	if (!changes_fill(app->db, &found, arena, &list))
		return NULL;
	change = report_write_history_change(&list.at[0]);
	return json_pack("{s:s, s:o, s:o, s:s}", "event", news->event, "change", shortened(change),
			 "again", again_of(app->db, news->again, arena), "page",
			 page_of(found.at[0].name, arena));
}

static json_t *verdict_body(struct app *app, const struct hook_news *news, struct arena *arena,
			    struct err *err)
{
	struct run_row run;

	if (!db_run_get(app->db, news->subject, arena, &run, err))
		return NULL;
	return json_pack("{s:s, s:o, s:I, s:s, s:s, s:s}", "event", news->event, "run",
			 run_list_json(app, &run), "before", (json_int_t)news->before, "was",
			 news->was, "verdict", run.summary.mode ? run.summary.verdict : "", "page",
			 arena_printf(arena, "/compare?a=%lld&b=%lld", (long long)news->before,
				      (long long)run.id));
}

json_t *hook_body(void *self, const struct hook_news *news, struct err *err)
{
	struct arena arena = { 0 };
	json_t *body = strcmp(news->event, "change") == 0 ? change_body(self, news, &arena, err)
							  : verdict_body(self, news, &arena, err);

	arena_finish(&arena);
	if (!body && err->code == ERR_NONE)
		err_set(err, ERR_MEMORY, "out of memory for a delivery");
	return body;
}

/* ---- the routes ---- */

static json_t *events_json(const char *events)
{
	json_t *list = json_array();

	for (size_t len; *events; events += len + (events[len] == ',')) {
		len = strcspn(events, ",");
		json_array_append_new(list, json_stringn(events, len));
	}
	return list;
}

json_t *hook_json(const struct hook_row *h)
{
	return json_pack(
	    "{s:I, s:s, s:s, s:o, s:s, s:I, s:I, s:o}", "id", (json_int_t)h->id, "url", h->url,
	    "project", h->project, "events", events_json(h->events), "author", h->author,
	    "created_ns", (json_int_t)h->created_ns, "waiting", (json_int_t)h->waiting, "last",
	    *h->last ? json_pack("{s:s, s:I}", "state", h->last, "at_ns", (json_int_t)h->last_ns)
		     : json_null());
}

static bool api_hooks_list(struct req *req, struct reply *reply, struct err *err)
{
	json_t *list = json_array();
	struct hook_row *rows;
	int n;
	bool ok = db_hook_list(req->app->db, req->caller.project, req->arena, &rows, &n, err);

	for (int i = 0; ok && i < n; i++)
		json_array_append_new(list, hook_json(&rows[i]));
	if (ok)
		reply->json = json_pack("{s:O}", "hooks", list);
	json_decref(list);
	return ok;
}

/* The members of what is posted; each is a text, events may be a list of texts too. */
static bool read_hook(struct req *req, const json_t *json, struct hook_row *row, struct err *err)
{
	static const char *const known[] = { "url", "project", "events", "secret" };
	const char *key, *texts[4] = { NULL };
	json_t *value;

	if (!json_is_object(json))
		return err_set(err, ERR_BAD_REQUEST, "an object with url is needed");
	json_object_foreach((json_t *)json, key, value) {
		size_t k = 0;

		while (k < 4 && strcmp(known[k], key) != 0)
			k++;
		if (k == 4)
			return err_set(err, ERR_BAD_REQUEST,
				       "%.40s is not known: url, project, events, secret are", key);
		if (!json_is_string(value))
			return err_set(err, ERR_BAD_REQUEST, "%s is a text", known[k]);
		texts[k] = json_string_value(value);
	}
	*row = (struct hook_row){ .url = texts[0] ? texts[0] : "",
				  .project = texts[1],
				  .secret = texts[3],
				  .author = req->caller.name };
	row->events = hook_events_check(texts[2] ? texts[2] : "change", req->arena, err);
	if (!row->events || !hook_url_check(row->url, err))
		return false;
	if (row->project && strlen(row->project) > PROJECT_MOST)
		return err_set(err, ERR_BAD_REQUEST, "a project has up to %d bytes", PROJECT_MOST);
	return !row->secret ||
	       (strlen(row->secret) >= SECRET_LEAST && strlen(row->secret) <= SECRET_MOST) ||
	       err_set(err, ERR_BAD_REQUEST, "a secret has %d to %d bytes", SECRET_LEAST,
		       SECRET_MOST);
}

static bool api_hooks_post(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	char secret[SECRET_CHARS + 1];
	struct hook_row row;
	int64_t id;
	bool ok = json && req_take_project(req, json, err) && read_hook(req, json, &row, err);

	if (ok && !row.secret && (ok = secret_make(SECRET_TOKEN, secret, err)))
		row.secret = secret;
	ok = ok && db_hook_add(req->app->db, &row, &id, err);
	if (ok) {
		reply->status = 201;
		reply->json = json_pack("{s:I, s:s}", "id", (json_int_t)id, "secret", row.secret);
	}
	json_decref(json);
	return ok;
}

/* The one, of a project that who asks may see. */
static bool find_hook(struct req *req, int64_t *id, struct err *err)
{
	return req_id(req, 0, id, err) &&
	       db_hook_find(req->app->db, req->caller.project, *id, req->arena, err);
}

static bool api_hook_delete(struct req *req, struct reply *reply, struct err *err)
{
	int64_t id;

	if (!find_hook(req, &id, err) || !db_hook_remove(req->app->db, id, err))
		return false;
	reply->json = json_pack("{s:I, s:b}", "id", (json_int_t)id, "removed", 1);
	return true;
}

static bool api_hook_test(struct req *req, struct reply *reply, struct err *err)
{
	int64_t id, delivery;

	if (!find_hook(req, &id, err) || !hook_test(req->app->db, id, &delivery, err))
		return false;
	if (req->app->hooks)
		hooks_wake(req->app->hooks);
	reply->status = 202;
	reply->json = json_pack("{s:I}", "delivery", (json_int_t)delivery);
	return true;
}

json_t *delivery_json(const struct delivery_row *d)
{
	return json_pack(
	    "{s:I, s:s, s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:s}", "id", (json_int_t)d->id, "event",
	    d->event, "subject", d->subject ? json_integer((json_int_t)d->subject) : json_null(),
	    "state", delivery_state_name(d->state), "tries", (json_int_t)d->tries, "created_ns",
	    (json_int_t)d->created_ns, "due_ns",
	    d->state == DELIVERY_WAITING ? json_integer((json_int_t)d->due_ns) : json_null(),
	    "tried_ns", d->tried_ns ? json_integer((json_int_t)d->tried_ns) : json_null(), "status",
	    d->status ? json_integer((json_int_t)d->status) : json_null(), "said", d->said);
}

static bool api_hook_deliveries(struct req *req, struct reply *reply, struct err *err)
{
	struct delivery_list found;
	int64_t id, limit;
	json_t *list;

	if (!find_hook(req, &id, err) ||
	    !req_query_int(req, "limit", (struct req_range){ 1, HOOK_LOG_KEPT, LIST_DEFAULT },
			   &limit, err) ||
	    !db_delivery_list(req->app->db, id, (int)limit, req->arena, &found, err))
		return false;
	list = json_array();
	for (int i = 0; i < found.n; i++)
		json_array_append_new(list, delivery_json(&found.at[i]));
	reply->json = json_pack("{s:o}", "deliveries", list);
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for deliveries");
}

handler_fn *const hooks_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
