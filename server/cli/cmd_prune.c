/* server/cli/cmd_prune.c -- `breakeven prune`: what old runs of a store lose, and how much that
 * frees. */
#include <stdio.h>

#include "db/archive.h"
#include "fusion/base/clock.h"
#include "profiler/numbers/numbers.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/queue.h"

enum { DAYS_MOST = 36500, AT_ONCE = 100 };

struct prune_flags {
	const char *days, *project, *db;
	bool dry_run, json;
};

static int read_flags(int argc, char **argv, struct prune_flags *f, long long *days)
{
	const struct flag table[] = { { "--days", .value = &f->days },
				      { "--project", .value = &f->project },
				      { "--db", .value = &f->db },
				      { "--dry-run", .on = &f->dry_run },
				      { "--json", .on = &f->json } };
	struct flags flags = { .command = "prune",
			       .table = table,
			       .n = sizeof(table) / sizeof(table[0]) };
	int status = flags_read(&flags, argc, argv);

	*days = KEEP_DAYS;
	f->db = f->db ? f->db : "breakeven.db";
	if (status < 0 && !flags_integer("prune", "--days", f->days, 0, DAYS_MOST, days))
		return EXIT_USAGE;
	return status;
}

/* Adds a run of a dry run, or prints it. */
static void say_run(const struct prune_flags *f, const struct retain_row *row, int64_t frees,
		    json_t *list)
{
	char bytes[NUMBER_BYTES], name[64];

	if (f->json) {
		json_array_append_new(
		    list, json_pack("{s:I, s:s, s:s, s:I, s:I}", "id", (json_int_t)row->id, "name",
				    row->name, "project", row->project, "created_ns",
				    (json_int_t)row->created_ns, "frees_bytes", (json_int_t)frees));
		return;
	}
	number_bytes(bytes, (double)frees);
	snprintf(name, sizeof(name), "#%lld", (long long)row->id);
	printf("%8s  %10s  %s\n", name, bytes, row->name);
}

/* What would be done: nothing is. */
static bool look(struct db *db, const struct prune_flags *f, struct retain_query *query,
		 struct retained *out, json_t *list, struct err *err)
{
	struct retain_list page = { .n = AT_ONCE };
	int64_t frees;
	bool ok = true;

	while (ok && page.n == AT_ONCE) {
		struct arena arena = { 0 };

		ok = db_retain_list(db, query, &arena, &page, err);
		for (int i = 0; ok && i < page.n; i++) {
			ok = retain_frees(db, page.at[i].id, &frees, err);
			if (!ok)
				break;
			say_run(f, &page.at[i], frees, list);
			out->runs++;
			out->bytes += frees;
			query->after = page.at[i].id;
		}
		arena_finish(&arena);
	}
	return ok;
}

static bool prune(struct db *db, const struct retain_query *query, struct retained *out,
		  struct err *err)
{
	bool more = true, ok = true;

	while (ok && more)
		ok = retain_some(db, query, out, &more, err);
	for (more = ok; ok && more;)
		ok = db_give_back(db, true, &more, err);
	return ok;
}

static void say_all(const struct prune_flags *f, const struct retained *all, json_t *list,
		    long long days)
{
	char bytes[NUMBER_BYTES];

	if (f->json) {
		json_t *said = json_pack("{s:I, s:b, s:I, s:I, s:o*}", "days", (json_int_t)days,
					 "dry_run", f->dry_run, "runs", (json_int_t)all->runs,
					 "bytes", (json_int_t)all->bytes, "list",
					 f->dry_run ? json_incref(list) : NULL);

		json_dumpf(said, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(said);
		return;
	}
	number_bytes(bytes, (double)all->bytes);
	printf("%s%lld run%s older than %lld days: %s %s\n", f->dry_run ? "would thin out " : "",
	       (long long)all->runs, all->runs == 1 ? "" : "s", days, bytes,
	       f->dry_run ? "would be freed; nothing is changed" : "are freed");
}

int cmd_prune(int argc, char **argv, const struct registry *registry)
{
	struct prune_flags f = { 0 };
	struct retained all = { 0 };
	struct retain_query query;
	struct err err = { 0 };
	json_t *list;
	struct db *db;
	long long days;
	int status = read_flags(argc, argv, &f, &days);
	bool ok;

	(void)registry;
	if (status >= 0)
		return status;
	list = json_array();
	query = (struct retain_query){ .before_ns = retain_before(days),
				       .project = f.project,
				       .limit = AT_ONCE };
	db = f.dry_run ? db_open_reading(f.db, &err) : db_open_beside(f.db, &err);
	ok = db &&
	     (f.dry_run ? look(db, &f, &query, &all, list, &err) : prune(db, &query, &all, &err));
	db_close(db);
	if (ok)
		say_all(&f, &all, list, days);
	else
		fprintf(stderr, "breakeven prune: %s\n", err.message);
	json_decref(list);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
