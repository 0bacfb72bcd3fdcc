/* profiler/bisect/repository.c -- commits of a git repository, and trees of them. */
#include "profiler/bisect/repository.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/measure/program.h"

enum {
	GIT_TIMEOUT_S = 600,
	GIT_OUTPUT_BYTES = 32 << 20,
	MOST_WORDS = 600,
	COMMIT_PARENTS_BYTES = 16 * 65
};

/* ---- git ---- */

/* The last line that it printed, for a message. */
static const char *last_line(struct buf *out)
{
	char *text = out->data ? out->data : (char *)"", *line;

	while (out->len > 0 && strchr("\r\n", text[out->len - 1]))
		text[--out->len] = '\0';
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

/* `git` in a folder with the words, up to a NULL.  Its output, errors too, replaces what is in
 * `out`; *status is its exit status, and where `status` is NULL any but 0 is an error. */
static bool git(const char *folder, const char *const *words, struct buf *out, int *status,
		struct err *err)
{
	const char *argv[MOST_WORDS] = { "git" };
	const struct timed_program p = {
		.argv = argv, .folder = folder, .timeout_s = GIT_TIMEOUT_S, .errors_too = true
	};
	struct timed_program_end end;
	int n = 1;

	for (; *words && n < MOST_WORDS - 1; words++)
		argv[n++] = *words;
	if (*words)
		return err_set(err, ERR_BOUND, "more than %d words for git", MOST_WORDS);
	buf_clear(out);
	if (!program_run(&p, out, &end, err))
		return false;
	if (out->failed)
		return err_set(err, ERR_TOO_LARGE, "git prints over %d MiB",
			       GIT_OUTPUT_BYTES >> 20);
	if (status)
		*status = end.status;
	else if (end.status != 0)
		return err_set(err, ERR_IO, "git %s failed: %.300s", argv[1], last_line(out));
	return true;
}

bool repository_open(struct repository *r, const char *folder, struct err *err)
{
	const char *const words[] = { "rev-parse", "--show-toplevel", NULL };
	struct buf out;
	bool ok;
	int status;

	buf_init(&out, GIT_OUTPUT_BYTES);
	ok = git(folder, words, &out, &status, err);
	if (ok && status != 0)
		ok = err_set(err, ERR_IO, "%.200s is in no git repository: %.200s", folder,
			     last_line(&out));
	if (ok && (size_t)snprintf(r->folder, sizeof(r->folder), "%s", last_line(&out)) >=
		      sizeof(r->folder))
		ok = err_set(err, ERR_IO, "the path of the repository is too long");
	buf_finish(&out);
	return ok;
}

/* The next line of *text, cut to its place; *text goes on after it. */
static void take_line(const char **text, char *out, size_t bytes)
{
	size_t len = strcspn(*text, "\n");

	/* Of a character that the end would cut nothing stays. */
	snprintf(out, bytes, "%.*s", (int)len, *text);
	if (len >= bytes) {
		size_t end = bytes - 1;

		while (end > 0 && ((unsigned char)(*text)[end] & 0xc0) == 0x80)
			end--;
		out[end] = '\0';
	}
	*text += len + ((*text)[len] == '\n');
}

bool repository_commit(const struct repository *r, const char *name, struct commit *out,
		       struct err *err)
{
	char full[600];
	const char *const words[] = { "log",
				      "-1",
				      "--encoding=UTF-8",
				      "--format=%H%n%P%n%cs%n%an%n%s",
				      "--end-of-options",
				      full,
				      NULL };
	struct buf text;
	const char *at;
	bool ok;
	int status;

	if ((size_t)snprintf(full, sizeof(full), "%s^{commit}", name) >= sizeof(full))
		return err_set(err, ERR_BAD_REQUEST, "the name of a commit is too long");
	buf_init(&text, GIT_OUTPUT_BYTES);
	ok = git(r->folder, words, &text, &status, err);
	if (ok && status != 0)
		ok = err_set(err, ERR_BAD_REQUEST, "%.200s is no commit of %.200s: %.100s", name,
			     r->folder, last_line(&text));
	if (ok) {
		at = text.data;
		take_line(&at, out->id, sizeof(out->id));
		take_line(&at, out->parent, sizeof(out->parent));
		out->parent[strcspn(out->parent, " ")] = '\0';
		take_line(&at, out->date, sizeof(out->date));
		take_line(&at, out->author, sizeof(out->author));
		take_line(&at, out->subject, sizeof(out->subject));
	}
	buf_finish(&text);
	return ok;
}

bool repository_log(const struct repository *r, int most, repository_each_fn *each, void *self,
		    struct err *err)
{
	char count[16];
	const char *const words[] = {
		"log", "-n", count, "--encoding=UTF-8", "--format=%H%n%P%n%ct%n%cs%n%an%n%s", NULL
	};
	char parents[COMMIT_PARENTS_BYTES], seconds[24];
	struct commit one;
	struct buf text;
	const char *at;
	bool ok;

	snprintf(count, sizeof(count), "%d", most);
	buf_init(&text, GIT_OUTPUT_BYTES);
	ok = git(r->folder, words, &text, NULL, err);
	at = ok && text.data ? text.data : "";
	while (*at) {
		one = (struct commit){ 0 };
		take_line(&at, one.id, sizeof(one.id));
		take_line(&at, parents, sizeof(parents));
		take_line(&at, seconds, sizeof(seconds));
		take_line(&at, one.date, sizeof(one.date));
		take_line(&at, one.author, sizeof(one.author));
		take_line(&at, one.subject, sizeof(one.subject));
		if (!each(self, &one, parents, strtoll(seconds, NULL, 10)))
			break;
	}
	buf_finish(&text);
	return ok;
}

bool repository_distance(const struct repository *r, const char *good, const char *bad, int *n,
			 struct err *err)
{
	const char *const ancestor[] = { "merge-base", "--is-ancestor", good, bad, NULL };
	const char *const base[] = { "merge-base", good, bad, NULL };
	const char *const count[] = { "rev-list", "--count", bad, "--not", good, NULL };
	struct buf out;
	bool ok;
	int status;

	buf_init(&out, GIT_OUTPUT_BYTES);
	ok = git(r->folder, ancestor, &out, &status, err);
	if (ok && status != 0) {
		ok = git(r->folder, base, &out, &status, err) &&
		     err_set(err, ERR_BAD_REQUEST,
			     status == 0
				 ? "%.12s is no ancestor of %.12s; both come from %.12s, from "
				   "which a bisection can begin"
				 : "%.12s is no ancestor of %.12s, and they have none in common",
			     good, bad, last_line(&out));
	}
	ok = ok && git(r->folder, count, &out, NULL, err);
	*n = ok ? atoi(out.data) : 0;
	if (ok && *n > REPOSITORY_MOST_COMMITS)
		ok = err_set(err, ERR_BAD_REQUEST, "%d commits lie between them; at most %d", *n,
			     REPOSITORY_MOST_COMMITS);
	buf_finish(&out);
	return ok;
}

/* The place of an id, which is not ended; n where it is not there. */
static int place_of(const char *id, size_t len, const char *const *ids, int n)
{
	int i = 0;

	while (i < n && (strlen(ids[i]) != len || memcmp(ids[i], id, len) != 0))
		i++;
	return i;
}

/* A line "ID (dist=N)" of git, what halves the rest best at first. */
static void take_left(const char *line, const struct repository_range *range,
		      struct repository_left *out, bool *is_left)
{
	size_t len = strcspn(line, " \n");
	int skipped = place_of(line, len, range->skipped, range->n_skipped);

	out->n++;
	if (skipped < range->n_skipped)
		is_left[skipped] = true;
	else if (!*out->next && len < sizeof(out->next) && place_of(line, len, &range->bad, 1) == 1)
		snprintf(out->next, sizeof(out->next), "%.*s", (int)len, line);
}

bool repository_left(const struct repository *r, const struct repository_range *range,
		     struct repository_left *out, bool *is_left, struct err *err)
{
	const char *words[MOST_WORDS] = { "rev-list", "--bisect-all", range->bad, "--not" };
	struct buf text;
	bool ok = range->n_goods < MOST_WORDS - 8 ||
		  err_set(err, ERR_BOUND, "more than %d commits are good", MOST_WORDS - 8);

	for (int i = 0; ok && i < range->n_goods; i++)
		words[4 + i] = range->goods[i];
	for (int i = 0; i < range->n_skipped; i++)
		is_left[i] = false;
	*out = (struct repository_left){ 0 };
	buf_init(&text, GIT_OUTPUT_BYTES);
	ok = ok && git(r->folder, words, &text, NULL, err);
	for (const char *line = ok ? text.data : NULL; line && *line;) {
		take_left(line, range, out, is_left);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	buf_finish(&text);
	return ok;
}

bool repository_checkout(const struct repository *r, const char *tree, const char *id, bool clean,
			 struct err *err)
{
	const char *const add[] = { "worktree", "add", "--quiet", "--detach",
				    "--force",  tree,  id,        NULL };
	const char *const checkout[] = { "checkout", "--quiet", "--detach", "--force", id, NULL };
	const char *const sweep[] = { "clean", "-ffdxq", NULL };
	struct stat st;
	struct buf out;
	bool ok;

	buf_init(&out, GIT_OUTPUT_BYTES);
	if (stat(tree, &st) != 0)
		ok = git(r->folder, add, &out, NULL, err);
	else
		ok = git(tree, checkout, &out, NULL, err) &&
		     (!clean || git(tree, sweep, &out, NULL, err));
	buf_finish(&out);
	return ok;
}

void repository_remove(const struct repository *r, const char *tree)
{
	const char *const words[] = { "worktree", "remove", "--force", tree, NULL };
	struct buf out;
	struct stat st;
	int status;

	if (stat(tree, &st) != 0)
		return;
	buf_init(&out, GIT_OUTPUT_BYTES);
	git(r->folder, words, &out, &status, NULL);
	buf_finish(&out);
}
