/* server/api/routes.h -- what the files of the API share: the tables of handlers, and the
 * answers that several of them give. */
#ifndef SERVER_API_ROUTES_H
#define SERVER_API_ROUTES_H

#include "profiler/timeline/timeline.h"
#include "server/api/api.h"

/* A file of handlers has a table of its own, FILE_handlers: it defines HANDLER_FILE(name) as name
 * before it includes this, and handlers of other files are not in it. */
enum route_id {
#define ROUTE(file, method, path, handler, ...) AT_##handler,
#include "server/api/routes_some.h"
	ROUTE_COUNT
};

#ifndef HANDLER_alignment
#define HANDLER_alignment(name) NULL
#endif
#ifndef HANDLER_archive
#define HANDLER_archive(name) NULL
#endif
#ifndef HANDLER_artifacts
#define HANDLER_artifacts(name) NULL
#endif
#ifndef HANDLER_bundles
#define HANDLER_bundles(name) NULL
#endif
#ifndef HANDLER_changes
#define HANDLER_changes(name) NULL
#endif
#ifndef HANDLER_check
#define HANDLER_check(name) NULL
#endif
#ifndef HANDLER_commits
#define HANDLER_commits(name) NULL
#endif
#ifndef HANDLER_compare
#define HANDLER_compare(name) NULL
#endif
#ifndef HANDLER_export
#define HANDLER_export(name) NULL
#endif
#ifndef HANDLER_files
#define HANDLER_files(name) NULL
#endif
#ifndef HANDLER_gate
#define HANDLER_gate(name) NULL
#endif
#ifndef HANDLER_groups
#define HANDLER_groups(name) NULL
#endif
#ifndef HANDLER_history
#define HANDLER_history(name) NULL
#endif
#ifndef HANDLER_hooks
#define HANDLER_hooks(name) NULL
#endif
#ifndef HANDLER_hosts
#define HANDLER_hosts(name) NULL
#endif
#ifndef HANDLER_imports
#define HANDLER_imports(name) NULL
#endif
#ifndef HANDLER_layout
#define HANDLER_layout(name) NULL
#endif
#ifndef HANDLER_meta
#define HANDLER_meta(name) NULL
#endif
#ifndef HANDLER_routes
#define HANDLER_routes(name) NULL
#endif
#ifndef HANDLER_runs
#define HANDLER_runs(name) NULL
#endif
#ifndef HANDLER_session
#define HANDLER_session(name) NULL
#endif
#ifndef HANDLER_since
#define HANDLER_since(name) NULL
#endif
#ifndef HANDLER_suites
#define HANDLER_suites(name) NULL
#endif
#ifndef HANDLER_timeline
#define HANDLER_timeline(name) NULL
#endif
#ifndef HANDLER_traces
#define HANDLER_traces(name) NULL
#endif
#ifndef HANDLER_unpack
#define HANDLER_unpack(name) NULL
#endif
#ifndef HANDLER_views
#define HANDLER_views(name) NULL
#endif

extern handler_fn *const alignment_handlers[ROUTE_COUNT];
extern handler_fn *const archive_handlers[ROUTE_COUNT];
extern handler_fn *const artifacts_handlers[ROUTE_COUNT];
extern handler_fn *const bundles_handlers[ROUTE_COUNT];
extern handler_fn *const changes_handlers[ROUTE_COUNT];
extern handler_fn *const check_handlers[ROUTE_COUNT];
extern handler_fn *const commits_handlers[ROUTE_COUNT];
extern handler_fn *const compare_handlers[ROUTE_COUNT];
extern handler_fn *const export_handlers[ROUTE_COUNT];
extern handler_fn *const files_handlers[ROUTE_COUNT];
extern handler_fn *const gate_handlers[ROUTE_COUNT];
extern handler_fn *const groups_handlers[ROUTE_COUNT];
extern handler_fn *const history_handlers[ROUTE_COUNT];
extern handler_fn *const hooks_handlers[ROUTE_COUNT];
extern handler_fn *const hosts_handlers[ROUTE_COUNT];
extern handler_fn *const imports_handlers[ROUTE_COUNT];
extern handler_fn *const layout_handlers[ROUTE_COUNT];
extern handler_fn *const meta_handlers[ROUTE_COUNT];
extern handler_fn *const routes_handlers[ROUTE_COUNT];
extern handler_fn *const runs_handlers[ROUTE_COUNT];
extern handler_fn *const session_handlers[ROUTE_COUNT];
extern handler_fn *const since_handlers[ROUTE_COUNT];
extern handler_fn *const suites_handlers[ROUTE_COUNT];
extern handler_fn *const timeline_handlers[ROUTE_COUNT];
extern handler_fn *const traces_handlers[ROUTE_COUNT];
extern handler_fn *const unpack_handlers[ROUTE_COUNT];
extern handler_fn *const views_handlers[ROUTE_COUNT];

/* api_runs.c */

struct workload;

/* Queues a run of a workload that was parsed, where this server takes it. */
bool run_enqueue(struct req *req, const json_t *json, struct workload *w, int64_t *id,
		 struct err *err);

/* api_changes.c */

/* Changes as they are answered, in the arena.  False when out of memory. */
bool changes_fill(struct db *db, const struct change_list *from, struct arena *arena,
		  struct report_history_change_list *to);

/* api_meta.c */

/* Whether the disk of the store has as much free as it must for something to be taken; FULL. */
bool store_has_room(const struct app *app, struct err *err);

/* api_unpack.c */

/* The body as a workload, or a list of such (whose projects are not taken yet): JSON, or a .zip
 * whose settings are in the query (entry=, name=, input= for each, modes=).  New; NULL with JSON,
 * BAD_REQUEST, WORKLOAD or BOUND. */
json_t *req_workload(struct req *req, struct err *err);

/* api_session.c */

/* Of route_table: a token of one project sees its runs and suites alone. */
bool is_of_project(struct req *req, const struct route *r, struct err *err);

/* Sets "project" of what is posted to that of the token, where it is for one; FORBIDDEN where it
 * says another. */
bool req_take_project(struct req *req, json_t *json, struct err *err);

/* Whether who asks may remove what `author` made: their own, or all with scope admin. */
bool req_may_remove(struct req *req, const char *what, const char *author, struct err *err);

/* api_timeline.c: a look at all of a long timeline, ahead of whoever takes it; it is kept. */
void timeline_look_ahead(struct db *db, int64_t id);

/* trace_end.c */

enum { TRACE_RUN_BYTES = 256 << 20, TRACE_RUN_EVENTS = 1 << 28 }; /* that one such run keeps */

/* Ends the run with {"breakeven": 1, "trace": the facts of its timeline, "import": what was
 * imported (NULL: it is no import; borrowed)} as its report.  What was imported may be a run
 * that was exported here, whole: then it is that run again. */
bool trace_end(struct db *db, const struct registry *registry, int64_t id, const json_t *imported,
	       struct err *err);

#endif
