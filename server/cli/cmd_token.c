/* server/cli/cmd_token.c -- `breakeven token`: who may ask a server.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/db.h"
#include "fusion/base/clock.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/http/access.h"

enum {
	NAME_CHARS = 64,
	PROJECT_CHARS = 100,
	WHEN_CHARS = 32,
	DAYS_MOST = 3650,
};

struct token_flags {
	const char *words[2];
	const char *scope, *project, *expires, *db;
	bool json;
};

static void write_when(int64_t ns, char out[WHEN_CHARS])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(out, WHEN_CHARS, "%Y-%m-%d %H:%M", &utc);
}

/* Names and projects are shown on a line: letters, digits and marks, no blanks at all. */
static bool is_plain(const char *text, size_t most)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return false;
	return n > 0 && n <= most;
}

/* "30" or "30d": days from now; "2027-01-31": the begin of that day, in UTC. */
static bool read_expires(const char *text, int64_t *ns)
{
	struct tm day = { 0 };
	const char *end;
	long long days;

	if (!text)
		return true;
	end = strptime(text, "%Y-%m-%d", &day);
	if (end && !*end) {
		*ns = (int64_t)timegm(&day) * 1000000000;
		return *ns > clock_wall_ns() ||
		       flags_refuse("token", "--expires lies in the past: ", text);
	}
	if (strlen(text) > 1 && text[strlen(text) - 1] == 'd')
		text = strndupa(text, strlen(text) - 1);
	if (!flags_integer("token", "--expires", text, 1, DAYS_MOST, &days))
		return false;
	*ns = clock_wall_ns() + days * INT64_C(86400) * 1000000000;
	return true;
}

static int failed(const char *command, const struct err *err)
{
	fprintf(stderr, "breakeven %s: %s\n", command, err->message);
	return EXIT_FAILED;
}

static json_t *row_json(const struct token_row *t, const char *state)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:s}", "name", t->name, "scope",
			 scope_name(t->scope), "project",
			 *t->project ? json_string(t->project) : json_null(), "expires_ns",
			 t->expires_ns ? json_integer(t->expires_ns) : json_null(), "state", state);
}

/* The line or document that shows it, whole. */
static bool show_token(const struct token_flags *f, const struct token_row *row, const char *token)
{
	json_t *said;

	errno = 0;
	if (!f->json)
		return printf("%s\n", token) >= 0 && fflush(stdout) == 0;
	said = row_json(row, "counts");
	if (said)
		json_object_set_new(said, "token", json_string(token));
	return json_flag_print("token", said) == EXIT_DONE && fflush(stdout) == 0 &&
	       !ferror(stdout);
}

static int add(struct db *db, const struct token_flags *f)
{
	struct token_row row = { .name = f->words[1], .project = f->project ? f->project : "" };
	char token[SECRET_CHARS + 1];
	uint8_t hash[SECRET_HASH_BYTES];
	struct err err = { 0 };

	scope_from_name(f->scope, &row.scope);
	if (!read_expires(f->expires, &row.expires_ns))
		return EXIT_USAGE;
	if (!secret_make(token, &err))
		return failed("token", &err);
	secret_hash(token, hash);
	if (!db_token_add(db, &row, hash, &err))
		return failed("token", &err);
	if (!show_token(f, &row, token)) {
		fprintf(stderr,
			"breakeven token: the result could not be written: %s; the token is %s\n",
			strerror(errno ? errno : EIO),
			db_token_revoke(db, row.name, &err) ? "revoked" : "there, unseen");
		return EXIT_FAILED;
	}
	fprintf(stderr, "This token is shown only once: the store keeps only its hash.\n");
	return EXIT_DONE;
}

static const char *state_of(const struct token_row *t, char when[WHEN_CHARS])
{
	if (t->revoked_ns)
		return "revoked";
	if (!t->expires_ns)
		return "counts";
	write_when(t->expires_ns, when);
	return t->expires_ns <= clock_wall_ns() ? "expired" : when;
}

static json_t *rows_json(const struct token_row *rows, int n)
{
	json_t *list = json_array(), *row;

	for (int i = 0; i < n; i++) {
		const struct token_row *t = &rows[i];

		row = row_json(t, t->revoked_ns                                       ? "revoked"
				  : t->expires_ns && t->expires_ns <= clock_wall_ns() ? "expired"
										      : "counts");
		if (row)
			json_object_set_new(row, "created_ns", json_integer(t->created_ns));
		json_array_append_new(list, row);
	}
	return json_pack("{s:o}", "tokens", list);
}

static int list(struct db *db, bool as_json)
{
	struct arena arena = { 0 };
	struct token_row *rows;
	struct err err = { 0 };
	char made[WHEN_CHARS], when[WHEN_CHARS];
	int n, status = EXIT_DONE;
	bool ok = db_token_list(db, &arena, &rows, &n, &err);

	if (ok && !as_json)
		printf("%-24s %-8s %-16s %-18s %s\n", "name", "scope", "project", "made (UTC)",
		       "until (UTC)");
	for (int i = 0; ok && !as_json && i < n; i++) {
		write_when(rows[i].created_ns, made);
		printf("%-24s %-8s %-16s %-18s %s\n", rows[i].name, scope_name(rows[i].scope),
		       *rows[i].project ? rows[i].project : "all", made, state_of(&rows[i], when));
	}
	if (ok && as_json)
		status = json_flag_print("token", rows_json(rows, n));
	arena_finish(&arena);
	return ok ? status : failed("token", &err);
}

static int revoke_one(struct db *db, const struct token_flags *f)
{
	struct err err = { 0 };

	if (!db_token_revoke(db, f->words[1], &err))
		return failed("token", &err);
	return f->json ? json_flag_print(
			     "token", json_pack("{s:s, s:b}", "name", f->words[1], "revoked", true))
		       : EXIT_DONE;
}

/* What is wrong in the words and flags; -1: nothing. */
static int check(const struct token_flags *f, int n_words)
{
	static const char *const actions[] = { "add", "list", "revoke", NULL }, *const scopes[] = {
		"read", "submit", "admin", NULL
	};
	bool adds = n_words > 0 && strcmp(f->words[0], "add") == 0;
	bool lists = n_words > 0 && strcmp(f->words[0], "list") == 0;

	if (n_words == 0)
		return flags_refuse("token", "add NAME, list or revoke NAME is needed", ""),
		       EXIT_USAGE;
	if (!flags_one_of("token", "", f->words[0], actions) ||
	    !flags_one_of("token", "--scope", f->scope, scopes))
		return EXIT_USAGE;
	if (n_words != (lists ? 1 : 2))
		return flags_refuse("token", lists ? "list takes no " : "a name is needed after ",
				    lists ? "name" : f->words[0]),
		       EXIT_USAGE;
	if (adds && !f->scope)
		return flags_refuse("token", "--scope is missing: read, submit or admin", ""),
		       EXIT_USAGE;
	if (!adds && (f->scope || f->project || f->expires))
		return flags_refuse("token", "--scope, --project and --expires are for add", ""),
		       EXIT_USAGE;
	if (!lists && !is_plain(f->words[1], NAME_CHARS))
		return flags_refuse("token", "a name has up to 64 bytes and no blanks, not ",
				    f->words[1]),
		       EXIT_USAGE;
	if (f->project && !is_plain(f->project, PROJECT_CHARS))
		return flags_refuse("token", "a project has up to 100 bytes and no blanks, not ",
				    f->project),
		       EXIT_USAGE;
	return -1;
}

int cmd_token(int argc, char **argv, const struct registry *registry)
{
	struct token_flags f = { .db = "breakeven.db" };
	const struct flag table[] = {
		{ "--scope", .value = &f.scope },     { "--project", .value = &f.project },
		{ "--expires", .value = &f.expires }, { "--db", .value = &f.db },
		{ "--json", .on = &f.json },
	};
	struct flags flags = {
		.command = "token",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f.words, .most = 2 },
	};
	int status = flags_read(&flags, argc, argv);
	struct err err = { 0 };
	struct db *db;

	(void)registry;
	if (status < 0)
		status = check(&f, flags.words.n);
	if (status >= 0)
		return status;
	db = db_open_beside(f.db, &err);
	if (!db)
		return failed("token", &err);
	status = strcmp(f.words[0], "add") == 0    ? add(db, &f)
		 : strcmp(f.words[0], "list") == 0 ? list(db, f.json)
						   : revoke_one(db, &f);
	db_close(db);
	return status;
}
