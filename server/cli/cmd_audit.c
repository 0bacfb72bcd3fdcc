/* server/cli/cmd_audit.c -- `breakeven audit`: who made, changed or removed what on a server. */
#include <stdio.h>
#include <time.h>

#include "db/db.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"

enum { AUDIT_DEFAULT = 100, WHEN_CHARS = 32 };

static json_t *rows_json(const struct audit_row *rows, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, audit_json(&rows[i]));
	return json_pack("{s:o}", "audit", list);
}

static void print_row(const struct audit_row *row)
{
	time_t at = (time_t)(row->at_ns / 1000000000);
	char when[WHEN_CHARS];
	struct tm utc;

	gmtime_r(&at, &utc);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &utc);
	printf("%s  %-24s %-16s %s", when, *row->who ? row->who : "-",
	       *row->address ? row->address : "-", row->route);
	if (row->subject)
		printf("  %lld", (long long)row->subject);
	putchar('\n');
}

static int failed(const struct err *err)
{
	fprintf(stderr, "breakeven audit: %s\n", err->message);
	return EXIT_FAILED;
}

int cmd_audit(int argc, char **argv, const struct registry *registry)
{
	const char *path = "breakeven.db", *limit = NULL;
	bool as_json = false;
	const struct flag table[] = {
		{ "--db", .value = &path },
		{ "--limit", .value = &limit },
		{ "--json", .on = &as_json },
	};
	struct flags flags = { .command = "audit",
			       .table = table,
			       .n = sizeof(table) / sizeof(table[0]) };
	int status = flags_read(&flags, argc, argv);
	long long most = AUDIT_DEFAULT;
	struct arena arena = { 0 };
	struct audit_row *rows;
	struct err err = { 0 };
	struct db *db;
	int n = 0;

	(void)registry;
	if (status >= 0 || !flags_integer("audit", "--limit", limit, 1, AUDIT_KEPT, &most))
		return status >= 0 ? status : EXIT_USAGE;
	db = db_open_reading(path, &err);
	if (!db || !db_audit_list(db, (int)most, &arena, &rows, &n, &err))
		status = failed(&err);
	else if (as_json)
		status = json_flag_print("audit", rows_json(rows, n));
	for (int i = 0; !as_json && i < n; i++)
		print_row(&rows[i]);
	arena_finish(&arena);
	db_close(db);
	return status < 0 ? EXIT_DONE : status;
}
