/* server/cli/cmd_serve.c -- what a server is started with, printed by config; puts the server
 * together and waits for a signal. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/db.h"
#include "fusion/base/clock.h"
#include "fusion/base/log.h"
#include "profiler/fields/fields.h"
#include "profiler/lists/lists.h"
#include "profiler/profiler.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/http/http.h"
#include "server/http/listen.h"
#include "server/http/metrics.h"
#include "server/queue/cgroup.h"
#include "server/queue/queue.h"
#include "server/queue/sandbox.h"
#include "server/text/text.h"

/* ---- flags that may stand in the environment and in a file too.
 *
 * A flag counts before BREAKEVEN_NAME of the environment, and that before the file, which
 * --config names: /etc/breakeven.conf, where it is there.  Its lines are `name = value`, the name
 * that of the flag without its dashes; a flag without a value is yes or no; what may be given often
 * has a line for each, and blanks between in the environment.  `#` begins a comment.
 */

enum { CONFIG_MOST = 64 };

/* Where each row of the table has its value from: "flag", "BREAKEVEN_DB", "FILE:3" or "default". */
struct config {
	const char *file; /* NULL: there is none */
	const char *from[CONFIG_MOST];
};

static const char usual_file[] = "/etc/breakeven.conf";

enum { FILE_BYTES = 64 << 10 };

/* Places of a row while its flag is looked for: empty, and then as they were. */
struct row_before {
	const char *value;
	bool on;
};

struct config_reader {
	struct flags *flags;
	struct config *out;
	struct arena *arena;
	struct row_before kept[CONFIG_MOST];
};

/* "BREAKEVEN_FILES_GIB" of "--files-gib". */
static const char *variable_of(const char *flag, struct arena *arena)
{
	char *name = (char *)arena_printf(arena, "BREAKEVEN_%s", flag + strspn(flag, "-"));

	for (char *c = name; c && *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static bool refuse(const struct config_reader *r, const char *where, const char *what,
		   const char *detail)
{
	fprintf(stderr, "breakeven %s: %s: %s%s\n", r->flags->command, where, what, detail);
	return false;
}

static bool is_given(const struct flag *row)
{
	return row->on ? *row->on : row->many ? row->many->n > 0 : *row->value != NULL;
}

static void empty(struct config_reader *r)
{
	for (int i = 0; i < r->flags->n; i++) {
		const struct flag *row = &r->flags->table[i];

		r->out->from[i] = NULL;
		if (row->value) {
			r->kept[i].value = *row->value;
			*row->value = NULL;
		}
	}
}

/* What nobody gave is as it was. */
static void fill(struct config_reader *r)
{
	for (int i = 0; i < r->flags->n; i++) {
		const struct flag *row = &r->flags->table[i];

		if (row->value && !*row->value)
			*row->value = r->kept[i].value;
		if (!r->out->from[i])
			r->out->from[i] = "default";
	}
}

static bool read_switch(const char *text, bool *on)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (int i = 0; i < 8; i++) {
		if (strcmp(text, words[i]) == 0) {
			*on = i % 2 == 1;
			return true;
		}
	}
	return false;
}

/* Gives row i a value from `where`. */
static bool set(struct config_reader *r, int i, const char *text, const char *where)
{
	const struct flag *row = &r->flags->table[i];

	r->out->from[i] = where;
	if (row->on)
		return read_switch(text, row->on) ||
		       refuse(r, where, row->name + 2, " is yes or no");
	if (!*text)
		return refuse(r, where, row->name + 2, " has no value");
	if (!row->many) {
		*row->value = text;
		return true;
	}
	if (row->many->n == row->many->most)
		return refuse(r, where, "too many of ", row->name + 2);
	row->many->at[row->many->n++] = text;
	return true;
}

static bool read_variable(struct config_reader *r, int i)
{
	const struct flag *row = &r->flags->table[i];
	const char *name = variable_of(row->name, r->arena);
	const char *text = name ? getenv(name) : NULL;

	if (r->out->from[i] || !text || !*text)
		return true;
	if (!row->many)
		return set(r, i, text, name);
	for (size_t len; *(text += strspn(text, " ")); text += len) {
		len = strcspn(text, " ");
		if (!set(r, i, arena_strndup(r->arena, text, len), name))
			return false;
	}
	return true;
}

/* ---- the file ---- */

/* Its text; "" where there is none that was asked for; NULL after a message. */
static const char *read_file(struct config_reader *r, const char *named)
{
	const char *path = named ? named : usual_file;
	char *text = arena_alloc(r->arena, FILE_BYTES + 1);
	FILE *f = fopen(path, "re");
	size_t len;

	if (!f && !named && errno == ENOENT)
		return "";
	if (!f || !text) {
		refuse(r, path, f ? "out of memory" : strerror(errno), "");
		if (f)
			fclose(f);
		return NULL;
	}
	len = fread(text, 1, FILE_BYTES + 1, f);
	fclose(f);
	if (len > FILE_BYTES || memchr(text, 0, len)) {
		refuse(r, path, "no file of settings: it is longer than 64 KiB, or no text", "");
		return NULL;
	}
	text[len] = '\0';
	r->out->file = path;
	return text;
}

/* Without blanks around it; a copy. */
static const char *trimmed(struct arena *arena, const char *begin, const char *end)
{
	while (begin < end && isspace((unsigned char)*begin))
		begin++;
	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	return arena_strndup(arena, begin, (size_t)(end - begin));
}

static int row_of(const struct flags *f, const char *name)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->table[i].name + 2, name) == 0 && strcmp(name, "config") != 0)
			return i;
	return -1;
}

/* `before` has the line of the file that gave each row, 0: none. */
static bool read_line(struct config_reader *r, const char *line, const char *end, int number,
		      int before[CONFIG_MOST])
{
	const char *where = arena_printf(r->arena, "%s:%d", r->out->file, number);
	const char *equals = memchr(line, '=', (size_t)(end - line)), *name, *text;
	int i;

	name = trimmed(r->arena, line, equals ? equals : end);
	if (!where || !name)
		return refuse(r, r->out->file, "out of memory", "");
	if (!*name && !equals)
		return true;
	if (!equals)
		return refuse(r, where, "a line is `name = value`, not ", name);
	text = trimmed(r->arena, equals + 1, end);
	i = row_of(r->flags, name);
	if (i < 0)
		return refuse(r, where, "there is no such setting: ", name);
	if (before[i] && !r->flags->table[i].many)
		return refuse(r, where, "it stands twice: ", name);
	before[i] = number;
	/* A flag and the environment count before it. */
	if (r->out->from[i] && strncmp(r->out->from[i], r->out->file, strlen(r->out->file)) != 0)
		return true;
	return text ? set(r, i, text, where) : refuse(r, where, "out of memory", "");
}

static bool read_lines(struct config_reader *r, const char *text)
{
	int before[CONFIG_MOST] = { 0 }, number = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), said = strcspn(text, "#\n");

		if (!read_line(r, text, text + said, ++number, before))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static bool read_rest(struct config_reader *r)
{
	const char *named = NULL, *text;

	for (int i = 0; i < r->flags->n; i++) {
		if (is_given(&r->flags->table[i]))
			r->out->from[i] = "flag";
		if (!read_variable(r, i))
			return false;
		if (strcmp(r->flags->table[i].name, "--config") == 0)
			named = *r->flags->table[i].value;
	}
	text = read_file(r, named);
	return text && read_lines(r, text);
}

/* As flags_read(), with the defaults in the table's places before.  The table has a row --config
 * and at most CONFIG_MOST rows.  Texts live in the arena. */
static int config_read(struct flags *f, int argc, char **argv, struct config *out,
		       struct arena *arena)
{
	struct config_reader r = { .flags = f, .out = out, .arena = arena };
	int status;

	out->file = NULL;
	empty(&r);
	status = flags_read(f, argc, argv);
	if (status < 0 && !read_rest(&r))
		status = EXIT_USAGE;
	fill(&r);
	return status;
}

/* ---- */

enum { MOST_NAMES = 64 };

/* What a number among the bounds may be. */
static const struct bound {
	const char *flag;
	int64_t value, least, most;
	size_t at; /* in struct serve_bounds */
} bound_rows[] = {
#define BOUND(name, flag, value, least, most, unit, answer, meaning)                               \
	{ flag, value, least, most, offsetof(struct serve_bounds, name) },
#define FIXED(value, unit, answer, meaning)
#include "server/queue/bounds.def"
#undef BOUND
#undef FIXED
};

enum {
	N_BOUNDS = sizeof(bound_rows) / sizeof(bound_rows[0]),
	N_FLAGS = 15,
	NUMBER_CHARS = 24,
};

struct serve_options {
	const char *listen, *db, *cache, *torch_python, *user_header, *base_path, *config,
	    *log_format;
	struct flag_texts allow_hosts, proxies, admin_users, hook_hosts;
	const char *allow_host_texts[MOST_NAMES], *proxy_texts[MOST_NAMES],
	    *admin_user_texts[MOST_NAMES], *hook_host_texts[MOST_NAMES];
	bool first_run, insecure, log_requests;
	struct serve_bounds bounds;
	const char *bound_texts[N_BOUNDS];
	char numbers[N_BOUNDS][NUMBER_CHARS]; /* the defaults among them */
	char usual_cache[4096];
	struct flag table[N_FLAGS + N_BOUNDS];
};

static void fill_table(struct serve_options *o)
{
	const struct flag named[N_FLAGS] = {
		{ "--config", .value = &o->config },
		{ "--listen", .value = &o->listen },
		{ "--db", .value = &o->db },
		{ "--cache", .value = &o->cache },
		{ "--torch-python", .value = &o->torch_python },
		{ "--first-run", .on = &o->first_run },
		{ "--base-path", .value = &o->base_path },
		{ "--allow-host", .many = &o->allow_hosts },
		{ "--trust-proxy", .many = &o->proxies },
		{ "--user-header", .value = &o->user_header },
		{ "--admin-user", .many = &o->admin_users },
		{ "--hook-host", .many = &o->hook_hosts },
		{ "--log-format", .value = &o->log_format },
		{ "--log-requests", .on = &o->log_requests },
		{ "--insecure", .on = &o->insecure },
	};

	memcpy(o->table, named, sizeof(named));
	for (int i = 0; i < N_BOUNDS; i++) {
		snprintf(o->numbers[i], NUMBER_CHARS, "%lld", (long long)bound_rows[i].value);
		o->bound_texts[i] = o->numbers[i];
		o->table[N_FLAGS + i] = (struct flag){ bound_rows[i].flag,
						       .value = &o->bound_texts[i] };
	}
}

static void set_defaults(struct serve_options *o)
{
	o->listen = "127.0.0.1:8080";
	o->db = "breakeven.db";
	o->log_format = "text";
	o->allow_hosts = (struct flag_texts){ .at = o->allow_host_texts, .most = MOST_NAMES };
	o->proxies = (struct flag_texts){ .at = o->proxy_texts, .most = MOST_NAMES };
	o->admin_users = (struct flag_texts){ .at = o->admin_user_texts, .most = MOST_NAMES };
	o->hook_hosts = (struct flag_texts){ .at = o->hook_host_texts, .most = MOST_NAMES };
	if (default_cache_dir(o->usual_cache, sizeof(o->usual_cache)))
		o->cache = o->usual_cache;
	fill_table(o);
}

/* It goes into HTML, headers and cookies as it is. */
static bool base_path_check(const char *path, struct err *err)
{
	static const char taken[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~./";
	size_t len = strlen(path);

	return (*path == '/' && len > 1 && len <= BASE_PATH_CHARS && path[len - 1] != '/' &&
		strspn(path, taken) == len && !strstr(path, "//") && !strstr(path, "/.")) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "--base-path takes a path of letters, digits and - _ ~ . that begins with / "
		       "and does not end with it, as /breakeven; '%.120s' is none",
		       path);
}

static bool check_options(struct serve_options *o, const char *command)
{
	static const char *const forms[] = { "text", "json", NULL };
	struct err err = { 0 };
	long long number = 0;

	if (!flags_one_of(command, "--log-format", o->log_format, forms))
		return false;
	for (int i = 0; i < N_BOUNDS; i++) {
		const struct bound *row = &bound_rows[i];

		if (!flags_integer(command, row->flag, o->bound_texts[i], row->least, row->most,
				   &number))
			return false;
		*(int64_t *)((char *)&o->bounds + row->at) = number;
	}
	if (o->user_header && o->proxies.n == 0)
		return flags_refuse(
		    command, "--user-header counts from a --trust-proxy alone; name one", "");
	if (o->admin_users.n > 0 && !o->user_header)
		return flags_refuse(command,
				    "--admin-user names users of a --user-header; name one", "");
	return (listen_check(o->listen, &err) &&
		(!o->base_path || base_path_check(o->base_path, &err))) ||
	       flags_refuse(command, err.message, "");
}

/* Compilers of workers run in folders of their own. */
static bool make_absolute(const char **path, const char *command, struct arena *arena)
{
	char here[4096];

	if (!*path || **path == '/')
		return true;
	if (!getcwd(here, sizeof(here)))
		return flags_refuse(command, "--cache: this folder has no path; name one from / on",
				    "");
	*path = arena_printf(arena, "%s/%s", here, *path);
	return *path || flags_refuse(command, "out of memory", "");
}

/* Returns -1 to go on, else the exit status. */
static int read_options(const char *command, int argc, char **argv, struct serve_options *o,
			struct config *from, struct arena *arena)
{
	struct flags flags = { .command = command, .n = N_FLAGS + N_BOUNDS };
	int status;

	if (!o) {
		fprintf(stderr, "breakeven %s: out of memory\n", command);
		return EXIT_FAILED;
	}
	set_defaults(o);
	flags.table = o->table;
	status = config_read(&flags, argc, argv, from, arena);
	if (status < 0 && !(check_options(o, command) && make_absolute(&o->cache, command, arena)))
		status = EXIT_USAGE;
	return status;
}

/* ---- breakeven config ---- */

static void print_setting(const struct flag *row, const char *from)
{
	const char *name = row->name + 2;

	if (row->on)
		printf("%s = %s  # %s\n", name, *row->on ? "yes" : "no", from);
	else if (row->value && *row->value)
		printf("%s = %s  # %s\n", name, *row->value, from);
	else if (row->value)
		printf("# %s: none\n", name);
	for (int i = 0; row->many && i < row->many->n; i++)
		printf("%s = %s  # %s\n", name, row->many->at[i], from);
	if (row->many && row->many->n == 0)
		printf("# %s: none\n", name);
}

int cmd_config(int argc, char **argv, const struct registry *registry)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	struct arena arena = { 0 };
	struct config from;
	int status = read_options("config", argc, argv, o, &from, &arena);

	(void)registry;
	if (status < 0) {
		printf("# %s%s\n", from.file ? "settings of " : "no file of settings",
		       from.file ? from.file : "");
		for (int i = 1; i < N_FLAGS + N_BOUNDS; i++)
			print_setting(&o->table[i], from.from[i]);
		status = EXIT_DONE;
	}
	arena_finish(&arena);
	free(o);
	return status;
}

/* ---- breakeven serve ---- */

static bool queue_first_run(struct db *db, struct err *err)
{
	int64_t counts[RUN_STATUS_COUNT], total = 0, id;
	struct workload *workload;
	json_t *json;
	bool ok;

	if (!db_run_counts(db, counts, err))
		return false;
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		total += counts[i];
	if (total > 0)
		return true;
	json = examples_first(err);
	workload = json ? workload_parse(json, err) : NULL;
	ok = workload && enqueue(db, json, workload, "", &id, err);
	workload_destroy(workload);
	json_decref(json);
	return ok;
}

/* After SIGTERM what is in hand may end: nothing new is begun, readers are answered. */
static void drain(struct app *app, const sigset_t *ends)
{
	const struct timespec look = { .tv_nsec = 50000000 };
	int64_t end = clock_ns() + app->bounds.drain_seconds * 1000000000, id;

	app->draining = true;
	jobs_drain(app->jobs);
	id = jobs_in_hand(app->jobs);
	if (id == 0 || app->bounds.drain_seconds == 0)
		return;
	log_line(LOG_INFO, "SIGTERM: nothing new is taken; run %lld has %lld s to end in",
		 (long long)id, (long long)app->bounds.drain_seconds);
	while (jobs_in_hand(app->jobs) != 0 && clock_ns() < end)
		if (sigtimedwait(ends, NULL, &look) > 0) {
			log_line(LOG_INFO, "a second signal: it is stopped at once");
			return;
		}
	if (jobs_in_hand(app->jobs) != 0)
		log_line(LOG_WARN, "run %lld has not ended within --drain-seconds %lld",
			 (long long)jobs_in_hand(app->jobs), (long long)app->bounds.drain_seconds);
}

/* Blocks until SIGINT or SIGTERM.  They are blocked in every thread, so that
 * no handler ever runs. */
static void wait_for_end(struct app *app, const sigset_t *ends)
{
	int sig = 0;

	while (sigwait(ends, &sig) != 0)
		;
	if (sig == SIGTERM)
		drain(app, ends);
	log_line(LOG_INFO, "%s: stopping", sig == SIGINT ? "Ctrl-C" : "SIGTERM");
}

/* The log's first line; programs that start a server read where it listens. */
static void tell_start(const struct serve_options *o, const struct http *http)
{
	if (strcmp(o->log_format, "json") == 0)
		log_line(LOG_INFO, "breakeven %s listening on %s (Ctrl-C stops it)",
			 breakeven_version(), http_url(http));
	else
		fprintf(stderr, "breakeven %s listening on %s (Ctrl-C stops it)\n",
			breakeven_version(), http_url(http));
}

/* What was found of engine torch is said where somebody asked for it. */
static bool find_torch(const struct serve_options *o, struct app *app, struct arena *arena,
		       struct err *err)
{
	const struct report_engine *torch;
	bool confined = json_integer_value(json_object_get(app->sandbox, "landlock")) > 0 &&
			json_is_true(json_object_get(app->sandbox, "seccomp"));

	app->torch = lists_torch(o->torch_python, true);
	torch = report_read_engine(app->torch, arena, err);
	if (!torch)
		return false;
	app->no_torch = torch->why_not;
	if (o->torch_python && torch->why_not)
		log_line(LOG_WARN, "engine torch does not work: %s", torch->why_not);
	else if (o->torch_python)
		log_line(LOG_WARN, "engine torch: %s of %s executes what is posted, %s",
			 torch->version ? torch->version : "?", o->torch_python,
			 confined ? "confined by Landlock and seccomp: it reads its own modules "
				    "and the system's programs"
				  : "WITH THE RIGHTS OF THIS SERVER'S USER: this kernel has not "
				    "what would confine it");
	if (o->torch_python && !torch->why_not)
		json_object_set_new(app->sandbox, "torch",
				    json_string(confined ? "confined" : "not confined"));
	return true;
}

static struct http *start_http(const struct serve_options *o, struct app *app, struct err *err)
{
	const struct http_options options = {
		.listen = o->listen,
		.allow_hosts = o->allow_hosts.at,
		.n_allow_hosts = o->allow_hosts.n,
		.access = { .proxies = o->proxies.at,
			    .n_proxies = o->proxies.n,
			    .user_header = o->user_header,
			    .admin_users = o->admin_users.at,
			    .n_admin_users = o->admin_users.n,
			    .user_requests = (int)o->bounds.user_requests },
	};
	struct http *http = http_start(app, &routes, &options, err);

	if (http && app->insecure)
		log_line(LOG_WARN,
			 "--insecure: WHOEVER REACHES %s MAY READ AND REMOVE EVERY RUN AND HAVE "
			 "PROGRAMS EXECUTED HERE",
			 http_url(http));
	return http;
}

/* What the kernel lacks is a warning: programs run all the same. */
static void tell_sandbox(const struct app *app)
{
	const char *lacks = json_string_value(json_object_get(app->sandbox, "lacks"));
	json_int_t version = json_integer_value(json_object_get(app->sandbox, "landlock"));

	if (lacks && *lacks)
		log_line(LOG_WARN, "workers are confined, but this kernel lets them have no %s",
			 lacks);
	else
		log_line(LOG_INFO,
			 "workers are confined by Landlock (version %lld), seccomp and a "
			 "network of their own%s",
			 (long long)version,
			 json_is_true(json_object_get(app->sandbox, "groups"))
			     ? ", each in a control group"
			     : "");
}

/* What the requests share: events, exports, the queue.  What was made is in *app, also where one of
 * them fails. */
static bool start_queue(const struct serve_options *o, struct app *app, struct arena *arena,
			struct err *err)
{
	app->events = events_create(run_event, app, (int)o->bounds.streams,
				    (int)o->bounds.user_streams);
	app->exports = exports_create();
	app->sandbox = sandbox_parts();
	app->metrics = metrics_create(&routes);
	if (!app->events || !app->exports || !app->sandbox || !app->metrics)
		return err_set(err, ERR_MEMORY, "out of memory while starting");
	if (!find_torch(o, app, arena, err) || (o->first_run && !queue_first_run(app->db, err)))
		return false;
	app->jobs = jobs_start(app->db, app->events,
			       &(struct jobs_options){ .cache_dir = o->cache,
						       .yields = true,
						       .registry = app->registry,
						       .torch_python = o->torch_python,
						       .files_folder = app->files_folder,
						       .run_seconds = (int)o->bounds.run_seconds },
			       err);
	if (app->jobs)
		app->hooks = hooks_start(
		    app->db, app->jobs,
		    &(struct hooks_options){ .describe = hook_body,
					     .self = app,
					     .registry = app->registry,
					     .retry_seconds = (int)o->bounds.hook_seconds,
					     .inside = o->hook_hosts.at,
					     .n_inside = o->hook_hosts.n },
		    err);
	return app->hooks != NULL;
}

static bool serve(const struct serve_options *o, const struct registry *registry,
		  const sigset_t *ends, struct err *err)
{
	char folder[4096]; /* beside the store */
	struct app app = { .started_ns = clock_ns(),
			   .registry = registry,
			   .store = o->db,
			   .files_folder = folder,
			   .bounds = o->bounds,
			   .base_path = o->base_path ? o->base_path : "",
			   .insecure = o->insecure,
			   .log_requests = o->log_requests };
	struct arena arena = { 0 };
	struct http *http = NULL;
	bool groups, ok = false;

	snprintf(folder, sizeof(folder), "%s.files", o->db);
	app.page = page_below(app.base_path, &arena, err);
	app.db = app.page ? db_open(o->db, err) : NULL;
	if (!app.db) {
		arena_finish(&arena);
		return false;
	}
	groups = cgroup_divide();
	if (start_queue(o, &app, &arena, err))
		http = start_http(o, &app, err);
	if (http) {
		json_object_set_new(app.sandbox, "groups", json_boolean(groups));
		tell_sandbox(&app);
		tell_start(o, http);
		wait_for_end(&app, ends);
		ok = true;
	}
	/* From the outside in: requests use the queue to their end. */
	app.stopping = true;
	if (app.events)
		events_stop(app.events);
	http_stop(http);
	hooks_stop(app.hooks);
	jobs_stop(app.jobs);
	events_destroy(app.events);
	exports_destroy(app.exports);
	metrics_destroy(app.metrics);
	db_close(app.db);
	json_decref(app.torch);
	json_decref(app.sandbox);
	arena_finish(&arena);
	if (groups)
		cgroup_join();
	return ok;
}

static int serve_by(const struct serve_options *o, const struct registry *registry)
{
	struct err err = { 0 };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGINT, SIG_DFL); /* a shell may have set it to be ignored, as for `&` */
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	setenv("BREAKEVEN_LOG_FORMAT", o->log_format, 1); /* of workers too */
	signal(SIGXFSZ, SIG_IGN); /* a file over the shell's limit is an error like a full disk */
	if (serve(o, registry, &ends, &err))
		return EXIT_DONE;
	fprintf(stderr, "breakeven serve: %s\n", err.message);
	return EXIT_FAILED;
}

int cmd_serve(int argc, char **argv, const struct registry *registry)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	struct arena arena = { 0 };
	struct config from;
	int status = read_options("serve", argc, argv, o, &from, &arena);

	if (status < 0)
		status = serve_by(o, registry);
	arena_finish(&arena);
	free(o);
	return status;
}
