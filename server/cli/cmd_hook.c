/* server/cli/cmd_hook.c -- `breakeven hook`: who is told of changes and verdicts.
 *
 * It writes to the store; the server that uses the store sends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/http/access.h"
#include "server/queue/queue.h"

enum { WAIT_S = 60, LOOK_US = 200000, WHEN_CHARS = 32, LOG_SHOWN = 50 };

struct hook_flags {
	const char *words[2];
	const char *project, *events, *db;
	bool json;
};

static int failed(const struct err *err)
{
	fprintf(stderr, "breakeven hook: %s\n", err->message);
	return EXIT_FAILED;
}

static void write_when(int64_t ns, char out[WHEN_CHARS])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(out, WHEN_CHARS, "%Y-%m-%d %H:%M:%S", &utc);
}

static int add(struct db *db, const struct hook_flags *f, struct arena *arena)
{
	struct hook_row row = { .url = f->words[1], .project = f->project, .author = "" };
	char secret[SECRET_CHARS + 1];
	struct err err = { 0 };
	int64_t id;

	row.secret = secret;
	row.events = hook_events_check(f->events ? f->events : "change", arena, &err);
	if (!row.events || !hook_url_check(row.url, &err)) {
		flags_refuse("hook", err.message, "");
		return EXIT_USAGE;
	}
	if (!secret_make(secret, &err) || !db_hook_add(db, &row, &id, &err))
		return failed(&err);
	if (f->json)
		return json_flag_print("hook", json_pack("{s:I, s:s, s:s, s:s}", "id",
							 (json_int_t)id, "url", row.url, "events",
							 row.events, "secret", secret));
	printf("%s\n", secret);
	fprintf(stderr,
		"Webhook %lld is told of %s. This secret, which signs what is sent, is shown only "
		"once.\n",
		(long long)id, row.events);
	return EXIT_DONE;
}

static int list(struct db *db, const struct hook_flags *f, struct arena *arena)
{
	struct hook_row *rows;
	struct err err = { 0 };
	char when[WHEN_CHARS];
	int n;

	if (!db_hook_list(db, f->project, arena, &rows, &n, &err))
		return failed(&err);
	if (f->json) {
		json_t *all = json_array();

		for (int i = 0; i < n; i++)
			json_array_append_new(all, hook_json(&rows[i]));
		return json_flag_print("hook", json_pack("{s:o}", "hooks", all));
	}
	printf("%-4s %-16s %-15s %-8s %-31s %s\n", "id", "project", "events", "waiting",
	       "last (UTC)", "address");
	for (int i = 0; i < n; i++) {
		write_when(rows[i].last_ns, when);
		printf("%-4lld %-16s %-15s %-8lld %-10s%-21s %s\n", (long long)rows[i].id,
		       *rows[i].project ? rows[i].project : "all", rows[i].events,
		       (long long)rows[i].waiting, *rows[i].last ? rows[i].last : "none",
		       *rows[i].last ? when : "", rows[i].url);
	}
	return EXIT_DONE;
}

static void print_delivery(const struct delivery_row *d)
{
	char when[WHEN_CHARS], status[16];

	write_when(d->tried_ns ? d->tried_ns : d->created_ns, when);
	snprintf(status, sizeof(status), "%lld", (long long)d->status);
	printf("%-6lld %s  %-8s %-10s %-6lld %-6s %s\n", (long long)d->id, when, d->event,
	       delivery_state_name(d->state), (long long)d->tries, d->status ? status : "-",
	       d->said);
}

static int show_log(struct db *db, int64_t hook, bool as_json, struct arena *arena)
{
	struct delivery_list found;
	struct err err = { 0 };

	if (!db_hook_find(db, "", hook, arena, &err) ||
	    !db_delivery_list(db, hook, LOG_SHOWN, arena, &found, &err))
		return failed(&err);
	if (as_json) {
		json_t *all = json_array();

		for (int i = 0; i < found.n; i++)
			json_array_append_new(all, delivery_json(&found.at[i]));
		return json_flag_print("hook", json_pack("{s:o}", "deliveries", all));
	}
	printf("%-6s %-19s  %-8s %-10s %-6s %-6s %s\n", "id", "tried (UTC)", "event", "state",
	       "tries", "answer", "why");
	for (int i = 0; i < found.n; i++)
		print_delivery(&found.at[i]);
	return EXIT_DONE;
}

/* As it is after it was tried once; false: nobody has tried it. */
static bool find_tried(struct db *db, int64_t hook, int64_t delivery, struct arena *arena,
		       struct delivery_row *out)
{
	struct delivery_list found;
	struct err err = { 0 };

	if (db_delivery_list(db, hook, LOG_SHOWN, arena, &found, &err))
		for (int i = 0; i < found.n; i++)
			if (found.at[i].id == delivery && found.at[i].tries > 0) {
				*out = found.at[i];
				return true;
			}
	return false;
}

static int test(struct db *db, int64_t hook, bool as_json, struct arena *arena)
{
	struct delivery_row row;
	struct err err = { 0 };
	int64_t delivery;

	if (!hook_test(db, hook, &delivery, &err))
		return failed(&err);
	for (int i = 0; i < WAIT_S * 1000000 / LOOK_US; i++) {
		if (find_tried(db, hook, delivery, arena, &row)) {
			if (!as_json)
				print_delivery(&row);
			else if (json_flag_print("hook", delivery_json(&row)) != EXIT_DONE)
				return EXIT_FAILED;
			return row.state == DELIVERY_DELIVERED ? EXIT_DONE : EXIT_FAILED;
		}
		usleep(LOOK_US);
	}
	err_set(&err, ERR_IO, "delivery %lld waits: the server that uses this store sends it",
		(long long)delivery);
	return failed(&err);
}

/* What is wrong in the words and flags; -1: nothing. */
static int check(const struct hook_flags *f, int n_words, long long *id)
{
	static const char *const actions[] = { "add", "list", "remove", "test", "log", NULL };
	bool adds = n_words > 0 && strcmp(f->words[0], "add") == 0;
	bool lists = n_words > 0 && strcmp(f->words[0], "list") == 0;

	if (n_words == 0)
		flags_refuse("hook", "add URL, list, remove ID, test ID or log ID is needed", "");
	else if (!flags_one_of("hook", "", f->words[0], actions))
		;
	else if (n_words != (lists ? 1 : 2))
		flags_refuse("hook", lists ? "list takes no " : "something is missing after ",
			     lists ? f->words[1] : f->words[0]);
	else if (!adds && f->events)
		flags_refuse("hook", "--events is for add", "");
	else if (!adds && !lists && f->project)
		flags_refuse("hook", "--project is for add and list", "");
	else if (adds || lists || flags_integer("hook", "the ID", f->words[1], 1, INT64_MAX, id))
		return -1;
	return EXIT_USAGE;
}

static int act(struct db *db, const struct hook_flags *f, int64_t id, struct arena *arena)
{
	struct err err = { 0 };

	switch (*f->words[0]) {
	case 'a':
		return add(db, f, arena);
	case 't':
		return test(db, id, f->json, arena);
	case 'r':
		if (!db_hook_remove(db, id, &err))
			return failed(&err);
		return f->json ? json_flag_print("hook", json_pack("{s:I, s:b}", "id",
								   (json_int_t)id, "removed", true))
			       : EXIT_DONE;
	default:
		return strcmp(f->words[0], "list") == 0 ? list(db, f, arena)
							: show_log(db, id, f->json, arena);
	}
}

int cmd_hook(int argc, char **argv, const struct registry *registry)
{
	struct hook_flags f = { .db = "breakeven.db" };
	const struct flag table[] = {
		{ "--project", .value = &f.project },
		{ "--events", .value = &f.events },
		{ "--db", .value = &f.db },
		{ "--json", .on = &f.json },
	};
	struct flags flags = {
		.command = "hook",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f.words, .most = 2 },
	};
	int status = flags_read(&flags, argc, argv);
	struct arena arena = { 0 };
	struct err err = { 0 };
	long long id = 0;
	struct db *db;

	(void)registry;
	if (status < 0)
		status = check(&f, flags.words.n, &id);
	if (status >= 0)
		return status;
	db = db_open_beside(f.db, &err);
	if (!db)
		return failed(&err);
	status = act(db, &f, (int64_t)id, &arena);
	db_close(db);
	arena_finish(&arena);
	return status;
}
