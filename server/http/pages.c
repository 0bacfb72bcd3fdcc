/* server/http/pages.c -- answers with the page and its files.
 *
 * Every view of the page has its own URL and is answered with the same HTML;
 * the view is chosen in the browser.  What it will need is named in the header
 * Link (views.def), so that scripts and data come together, not one after the other.
 */
#include "server/http/pages.h"

#include <stdlib.h>
#include <string.h>

#include "server/text/text.h"

enum { ID_DIGITS = 18 };

struct view {
	const char *path, *scripts, *answer;
};

static const struct view views[] = {
#define VIEW(path, scripts, answer) { path, scripts, answer },
#include "server/http/views.def"
#undef VIEW
};

static int compare_path(const void *key, const void *row)
{
	return strcmp(key, ((const struct asset *)row)->path);
}

static const struct asset *asset_find(const char *path)
{
	return bsearch(path, assets, n_assets, sizeof(assets[0]), compare_path);
}

/* "/runs/12/graphs" as "/runs/{id}/graphs", and "/docs/cli" as "/docs/{id}"; NULL for what has no
 * number and no name. */
static const char *pattern_of(struct req *req)
{
	const char *id = req->path_args[0], *tab = req->path_args[1];

	if (!id)
		return req->path;
	if (strncmp(req->path, "/docs/", 6) != 0 &&
	    (strlen(id) > ID_DIGITS || id[strspn(id, "0123456789")]))
		return NULL;
	return arena_printf(req->arena, "%.*s/{id}%s%s", (int)strcspn(req->path + 1, "/") + 1,
			    req->path, tab ? "/" : "", tab ? tab : "");
}

/* Once each. */
static void add_link(struct arena *arena, struct buf *link, const char *path, size_t len,
		     const char *how)
{
	const char *entry = arena_printf(arena, "<%.*s>; %s", (int)len, path, how);

	if (entry && !(link->len && strstr(link->data, entry)))
		buf_printf(link, "%s%s", link->len ? ", " : "", entry);
}

/* A script and all that it imports. */
static void add_script(struct arena *arena, struct buf *link, const char *path)
{
	const struct asset *script = path ? asset_find(path) : NULL;

	if (!script)
		return;
	add_link(arena, link, path, strlen(path), "rel=modulepreload");
	for (const char *at = script->imports; *at;) {
		size_t len = strcspn(at, " ");

		add_link(arena, link, at, len, "rel=modulepreload");
		at += len + (at[len] == ' ');
	}
}

/* {id} is the request's; `crossorigin` is how fetch() asks. */
static void add_answer(struct req *req, struct buf *link, const char *path)
{
	const char *id = path ? strstr(path, "{id}") : NULL;

	if (id)
		path = arena_printf(req->arena, "%.*s%s%s", (int)(id - path), path,
				    req->path_args[0], id + 4);
	if (path)
		add_link(req->arena, link, path, strlen(path),
			 "rel=preload; as=fetch; crossorigin");
}

/* The page asks for the lanes of a trace without a mode; which ones of another run, it says when it
 * has read that. */
static bool is_trace(struct req *req)
{
	struct err none = { 0 };
	struct run_row run;
	int64_t id;

	return req_id(req, 0, &id, &none) &&
	       db_run_get(req->app->db, id, req->arena, &run, &none) && run.trace;
}

/* What the view at this path needs, as the value of a header; NULL where nothing is known. */
static const char *links_of(struct req *req)
{
	const char *pattern = pattern_of(req), *value = NULL;
	struct buf link = { 0 };

	for (size_t i = 0; pattern && i < sizeof(views) / sizeof(views[0]); i++) {
		if (strcmp(views[i].path, pattern) != 0)
			continue;
		add_answer(req, &link, views[i].answer);
		if (strcmp(pattern, "/runs/{id}/timeline") == 0 && is_trace(req))
			add_answer(req, &link, "/api/v1/runs/{id}/timeline?mode=");
		add_script(req->arena, &link, "/assets/js/main.js");
		for (const char *at = views[i].scripts; *at;) {
			int len = (int)strcspn(at, " ");

			add_script(req->arena, &link,
				   arena_printf(req->arena, "/assets/js/view/%.*s.js", len, at));
			at += len + (at[len] == ' ');
		}
		value = arena_strndup(req->arena, link.data, link.len);
	}
	buf_finish(&link);
	return value;
}

static bool send_page(struct reply *reply, struct err *err)
{
	reply->asset = asset_find("/index.html");
	return reply->asset || err_set(err, ERR_INTERNAL, "the page is not part of this build");
}

static bool not_found(struct reply *reply, struct err *err)
{
	reply->status = 404;
	return send_page(reply, err);
}

bool page_unrouted(struct req *req, struct reply *reply, struct err *err)
{
	if (err->code == ERR_NOT_FOUND)
		return not_found(reply, err);
	reply->asset = asset_find(req->path);
	return reply->asset || err_set(err, ERR_NOT_FOUND, "there is no file %.200s", req->path);
}

bool page_index(struct req *req, struct reply *reply, struct err *err)
{
	reply->link = links_of(req);
	return send_page(reply, err);
}

bool page_docs(struct req *req, struct reply *reply, struct err *err)
{
	const char *name = req->path_args[0] ? req->path_args[0] : "index";
	const char *path = arena_printf(req->arena, "/assets/docs/%s.json", name);

	if (!path || !asset_find(path))
		return not_found(reply, err);
	return page_index(req, reply, err);
}
