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
	const char *path, *scripts, *answers;
	const char *unless; /* parameters with which it reads others; "": there are none */
};

/* As js/view/runs.js asks, of whom nobody has typed or chosen anything. */
#define FIRST_RUNS "/api/v1/runs?sort=-age&limit=100&offset=0&facets=1&fold=1 /api/v1/since"

static const struct view views[] = {
#define VIEW(path, scripts, answer) { path, scripts, answer, "" },
#define LIST(path, scripts, answers, unless) { path, scripts, answers, unless },
#include "server/http/views.def"
#undef VIEW
#undef LIST
};

static int compare_path(const void *key, const void *row)
{
	return strcmp(key, ((const struct asset *)row)->path);
}

static const struct asset *asset_find(const char *path)
{
	return !path ? NULL : bsearch(path, assets, n_assets, sizeof(assets[0]), compare_path);
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

static const char assets_start[] = "/assets/";

/* What follows the hash of this version in "/assets/HASH/js/main.js", from the slash on; NULL: it
 * has none, or another's. */
static const char *after_version(const char *path)
{
	size_t start = sizeof(assets_start) - 1, len = sizeof(assets_version) - 1;

	return strncmp(path, assets_start, start) == 0 &&
		       strncmp(path + start, assets_version, len) == 0 && path[start + len] == '/'
		   ? path + start + len
		   : NULL;
}

/* Once each. */
static void add_link(struct req *req, struct buf *link, const char *path, size_t len,
		     const char *how)
{
	const char *entry = arena_printf(req->arena, "<%s%.*s>; %s", req->app->base_path, (int)len,
					 path, how);

	if (entry && !(link->len && strstr(link->data, entry)))
		buf_printf(link, "%s%s", link->len ? ", " : "", entry);
}

/* Of a script, where it is for ever. */
static void add_module(struct req *req, struct buf *link, const char *path, size_t len)
{
	size_t start = sizeof(assets_start) - 2; /* before its last slash */
	const char *at = arena_printf(req->arena, "%s%s%.*s", assets_start, assets_version,
				      (int)(len - start), path + start);

	if (at)
		add_link(req, link, at, strlen(at), "rel=modulepreload");
}

/* A script and all that it imports. */
static void add_script(struct req *req, struct buf *link, const char *path)
{
	const struct asset *script = path ? asset_find(path) : NULL;

	if (!script)
		return;
	add_module(req, link, path, strlen(path));
	for (const char *at = script->imports; *at;) {
		size_t len = strcspn(at, " ");

		add_module(req, link, at, len);
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
		add_link(req, link, path, strlen(path), "rel=preload; as=fetch; crossorigin");
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

/* The next of names with blanks between them, and steps over it; NULL after the last. */
static const char *next_of(struct req *req, const char **names)
{
	size_t len = strcspn(*names, " ");
	const char *name = len ? arena_strndup(req->arena, *names, len) : NULL;

	*names += len + ((*names)[len] == ' ');
	return name;
}

static void add_answers(struct req *req, struct buf *link, const struct view *view)
{
	const char *names = view->unless, *answers = view->answers ? view->answers : "", *name;

	while ((name = next_of(req, &names)))
		if (req_query(req, name))
			return;
	while ((name = next_of(req, &answers)))
		add_answer(req, link, name);
}

/* What the view at this path needs, as the value of a header; NULL where nothing is known. */
static const char *links_of(struct req *req)
{
	const char *pattern = pattern_of(req), *value = NULL, *scripts, *name;
	struct buf link = { 0 };

	for (size_t i = 0; pattern && i < sizeof(views) / sizeof(views[0]); i++) {
		if (strcmp(views[i].path, pattern) != 0)
			continue;
		add_answers(req, &link, &views[i]);
		if (strcmp(pattern, "/runs/{id}/timeline") == 0 && is_trace(req))
			add_answer(req, &link, "/api/v1/runs/{id}/timeline?mode=");
		add_script(req, &link, "/assets/js/main.js");
		scripts = views[i].scripts;
		while ((name = next_of(req, &scripts)))
			add_script(req, &link,
				   arena_printf(req->arena, "/assets/js/view/%s.js", name));
		value = arena_strndup(req->arena, link.data, link.len);
	}
	buf_finish(&link);
	return value;
}

/* HTML whose addresses of this server, as in href="/runs", are below `base`. */
static bool add_below(struct buf *out, const struct asset *html, const char *base)
{
	const char *at = (const char *)html->data, *end = at + html->len, *slash;

	while ((slash = memmem(at, (size_t)(end - at), "=\"/", 3))) {
		buf_add(out, at, (size_t)(slash + 2 - at));
		buf_printf(out, "%s", base);
		at = slash + 2;
	}
	buf_add(out, at, (size_t)(end - at));
	return !out->failed;
}

const struct asset *page_below(const char *base, struct arena *arena, struct err *err)
{
	const struct asset *page = asset_find("/index.html");
	struct asset *below = ARENA_NEW(arena, struct asset);
	struct buf html = { 0 };

	if (!page)
		err_set(err, ERR_INTERNAL, "the page is not part of this build");
	if (!page || !*base)
		return page;
	if (below && add_below(&html, page, base)) {
		*below = *page;
		below->gzip_len = 0; /* a proxy compresses it where it wants to */
		below->len = html.len;
		below->data = (const void *)arena_strndup(arena, html.data, html.len);
		below->etag = arena_printf(arena, "%.*s%s\"", (int)strlen(page->etag) - 1,
					   page->etag, base);
	}
	buf_finish(&html);
	if (below && below->data && below->etag)
		return below;
	err_set(err, ERR_MEMORY, "out of memory for the page");
	return NULL;
}

static bool send_page(struct req *req, struct reply *reply)
{
	reply->asset = req->app->page;
	return true;
}

static bool not_found(struct req *req, struct reply *reply)
{
	reply->status = 404;
	return send_page(req, reply);
}

bool page_unrouted(struct req *req, struct reply *reply, struct err *err)
{
	const char *rest;

	if (err->code == ERR_NOT_FOUND)
		return not_found(req, reply);
	rest = after_version(req->path);
	reply->immutable = rest != NULL;
	reply->asset = asset_find(rest ? arena_printf(req->arena, "/assets%s", rest) : req->path);
	return reply->asset || err_set(err, ERR_NOT_FOUND, "there is no file %.200s", req->path);
}

bool page_index(struct req *req, struct reply *reply, struct err *err)
{
	(void)err;
	reply->link = links_of(req);
	return send_page(req, reply);
}

bool page_docs(struct req *req, struct reply *reply, struct err *err)
{
	const char *name = req->path_args[0] ? req->path_args[0] : "index";
	const char *path = arena_printf(req->arena, "/assets/docs/%s.json", name);

	if (!path || !asset_find(path))
		return not_found(req, reply);
	return page_index(req, reply, err);
}

bool page_client(struct req *req, struct reply *reply, struct err *err)
{
	(void)req;
	reply->asset = asset_find("/assets/client.py");
	return reply->asset || err_set(err, ERR_INTERNAL, "this build has no client.py");
}
