/* server/cli/cmd_digest.c -- `breakeven digest`: what the last days brought. */
#include <stdio.h>
#include <time.h>

#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"

enum { DAYS = 7, WHEN_BYTES = 32 };

struct digest_flags {
	const char *days, *project, *db;
	bool json;
};

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static long long number_of(const json_t *row, const char *key)
{
	return (long long)json_integer_value(json_object_get(row, key));
}

static void print_run(const json_t *run)
{
	printf("  #%-7lld %-24s ", number_of(run, "id"), text_of(run, "name"));
}

/* A row of each list of the answer. */
static void print_step(const json_t *row)
{
	const json_t *parts = json_object_get(row, "sentence"), *part;
	size_t i;

	printf("  %-9s %-24s ", text_of(row, "verdict"), text_of(row, "workload"));
	json_array_foreach(parts, i, part)
		fputs(text_of(part, "text"), stdout);
	putchar('\n');
}

static void print_change(const json_t *row)
{
	const json_t *run = json_object_get(row, "run");

	print_run(run);
	printf("%s, was %s in #%lld\n", text_of(json_object_get(run, "summary"), "verdict"),
	       text_of(row, "was"), number_of(row, "before"));
}

static void print_failed(const json_t *run)
{
	print_run(run);
	puts(text_of(json_object_get(run, "error"), "message"));
}

static void print_suite(const json_t *suite)
{
	printf("  suite #%lld %s\n", number_of(suite, "id"), text_of(suite, "name"));
}

static void print_pinned(const json_t *run)
{
	const json_t *summary = json_object_get(run, "summary");

	print_run(run);
	puts(json_is_object(summary) ? text_of(summary, "verdict") : text_of(run, "status"));
}

static void print_list(const json_t *said, const char *key, const char *title, long long all,
		       void (*print)(const json_t *row))
{
	const json_t *list = json_object_get(said, key), *row;
	size_t i, n = json_array_size(list);

	if (n == 0)
		return;
	printf("\n%s", title);
	if (all > (long long)n)
		printf(", %zu of %lld", n, all);
	puts(":");
	json_array_foreach(list, i, row)
		print(row);
}

static void print_digest(const json_t *said)
{
	const json_t *runs = json_object_get(said, "runs");
	time_t since = (time_t)(number_of(said, "since_ns") / 1000000000);
	char when[WHEN_BYTES] = "";
	struct tm utc;
	long long all = 0;
	const char *key;
	json_t *n;

	if (gmtime_r(&since, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &utc);
	json_object_foreach((json_t *)runs, key, n)
		all += json_integer_value(n);
	printf("Since %s, UTC: %lld run%s, %lld failed; %lld verdict%s changed; %lld step%s in "
	       "histories.\n",
	       when, all, all == 1 ? "" : "s", number_of(runs, "failed"),
	       number_of(said, "changed"), number_of(said, "changed") == 1 ? "" : "s",
	       number_of(said, "stepped"), number_of(said, "stepped") == 1 ? "" : "s");
	print_list(said, "steps", "Steps in histories", number_of(said, "stepped"), print_step);
	print_list(said, "changes", "Verdicts that changed", number_of(said, "changed"),
		   print_change);
	print_list(said, "failed", "Runs that failed", number_of(runs, "failed"), print_failed);
	print_list(said, "suites", "Suites of which something did not pass", 0, print_suite);
	print_list(said, "pinned", "Pinned", 0, print_pinned);
}

int cmd_digest(int argc, char **argv, const struct registry *registry)
{
	struct digest_flags f = { .db = "breakeven.db" };
	const struct flag table[] = { { "--days", .value = &f.days },
				      { "--project", .value = &f.project },
				      { "--json", .on = &f.json },
				      { "--db", .value = &f.db } };
	struct flags flags = { .command = "digest",
			       .table = table,
			       .n = sizeof(table) / sizeof(table[0]) };
	int status = flags_read(&flags, argc, argv);
	struct app app = { 0 };
	struct err err = { 0 };
	long long days = DAYS;
	json_t *said;

	(void)registry;
	if (status >= 0)
		return status;
	if (!flags_integer("digest", "--days", f.days, 1, SINCE_HOURS_MOST / 24, &days))
		return EXIT_USAGE;
	app.db = db_open_reading(f.db, &err);
	said = app.db ? since_answer(&app, f.project, days * 24, &err) : NULL;
	db_close(app.db);
	if (!said) {
		fprintf(stderr, "breakeven digest: %s\n", err.message);
		return EXIT_FAILED;
	}
	if (f.json)
		return json_flag_print("digest", said);
	print_digest(said);
	json_decref(said);
	return EXIT_DONE;
}
