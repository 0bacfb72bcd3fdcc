/* server/queue/slurm.c -- hands jobs to Slurm: sbatch begins them, squeue and scontrol say how they
 * are, scancel ends them.
 *
 * A job that Slurm requeues keeps its number: its script starts again, and takes its run once more.
 * squeue forgets jobs some minutes after their end (MinJobAge), scontrol likewise; sacct, where
 * accounting is on, remembers.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "server/queue/executor.h"

enum { MOST_WORDS = 64, LOOK_AT = 256 };

/* The words of a command, ended by NULL. */
struct slurm_words {
	const char *at[MOST_WORDS + 1];
	int n;
	bool failed; /* no memory, or too many */
};

static void add(struct slurm_words *w, const char *word)
{
	if (!word || w->n == MOST_WORDS)
		w->failed = true;
	else
		w->at[w->n++] = word;
}

static void add_option(struct slurm_words *w, struct arena *arena, const char *name,
		       const char *value)
{
	if (value && *value)
		add(w, arena_printf(arena, "--%s=%s", name, value));
}

static bool call(struct slurm_words *w, struct arena *arena, const char **output, struct err *err)
{
	if (w->failed)
		return err_set(err, ERR_MEMORY,
			       "out of memory for a command, or it has over %d words", MOST_WORDS);
	w->at[w->n] = NULL;
	return executor_call(w->at, arena, output, err);
}

static bool check(const struct host *h, struct err *err)
{
	const struct report_host *s = h->settings;

	if (s->submit.n || s->state.n || s->cancel.n)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "host %.64s: submit, state and cancel are of executor command, not of "
		    "slurm",
		    h->name);
	if (s->options.n > 32)
		return err_set(err, ERR_BAD_REQUEST, "host %.64s: options has over 32 entries",
			       h->name);
	for (size_t i = 0; i < s->options.n; i++)
		if (strncmp(s->options.at[i], "--", 2) != 0)
			return err_set(err, ERR_BAD_REQUEST,
				       "host %.64s: options[%zu] is no option of sbatch: it must "
				       "begin with --",
				       h->name, i);
	return true;
}

static bool submit(const struct host *h, const struct handed_script *script, struct arena *arena,
		   const char **job, struct err *err)
{
	const struct report_host *s = h->settings;
	struct slurm_words w = { 0 };
	const char *output;

	add(&w, "sbatch");
	add(&w, "--parsable");
	add(&w, "--requeue");
	add_option(&w, arena, "job-name", script->name);
	add_option(&w, arena, "partition", s->partition);
	add_option(&w, arena, "account", s->account);
	add_option(&w, arena, "gres", s->gres);
	add_option(&w, arena, "time", s->time);
	if (s->cpus > 0)
		add(&w, arena_printf(arena, "--cpus-per-task=%lld", (long long)s->cpus));
	if (script->n > 1)
		add(&w, arena_printf(arena, "--array=0-%d", script->n - 1));
	add_option(&w, arena, "chdir", "/");
	add_option(&w, arena, "output",
		   !s->output      ? "/dev/null"
		   : script->n > 1 ? arena_printf(arena, "%s/%%A_%%a.out", s->output)
				   : arena_printf(arena, "%s/%%j.out", s->output));
	for (size_t i = 0; i < s->options.n; i++)
		add(&w, s->options.at[i]);
	add(&w, script->path);
	if (!call(&w, arena, &output, err))
		return false;
	/* "123", or "123;cluster" */
	if (!isdigit((unsigned char)*output))
		return err_set(err, ERR_IO, "sbatch printed no number of a job: %.200s", output);
	*job = arena_strndup(arena, output, strspn(output, "0123456789"));
	if (*job && script->n > 1)
		*job = arena_printf(arena, "%s_", *job);
	return *job || err_set(err, ERR_MEMORY, "out of memory for the number of a job");
}

/* ---- how they are ---- */

struct slurm_state {
	const char *name;
	enum job_standing standing;
};

/* Those that are not here have ended without being asked to: they are tried again. */
static enum job_standing standing_of(const char *state, size_t len)
{
	static const struct slurm_state states[] = {
		{ "PENDING", JOB_WAITS },         { "REQUEUED", JOB_WAITS },
		{ "REQUEUE_HOLD", JOB_WAITS },    { "SPECIAL_EXIT", JOB_WAITS },
		{ "RESV_DEL_HOLD", JOB_WAITS },   { "CONFIGURING", JOB_WAITS },
		{ "RUNNING", JOB_RUNS },          { "COMPLETING", JOB_RUNS },
		{ "SUSPENDED", JOB_RUNS },        { "SIGNALING", JOB_RUNS },
		{ "STAGE_OUT", JOB_RUNS },        { "STOPPED", JOB_RUNS },
		{ "CANCELLED", JOB_STOPPED },     { "TIMEOUT", JOB_LIMITED },
		{ "OUT_OF_MEMORY", JOB_LIMITED }, { "DEADLINE", JOB_LIMITED },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strlen(states[i].name) == len && strncmp(states[i].name, state, len) == 0)
			return states[i].standing;
	return JOB_OVER;
}

/* "JOB STATE (REASON)"; "JOB|STATE" of sacct.  An array that waits may be one line, "12_[3-9]". */
static bool is_line_of(const char *line, size_t len, const char *job)
{
	size_t n = strlen(job), base = strcspn(job, "_");
	long task = job[base] ? strtol(job + base + 1, NULL, 10) : -1, from, to;
	const char *at;
	char *end;

	if (len > n && strncmp(line, job, n) == 0 && (line[n] == ' ' || line[n] == '|'))
		return true;
	if (task < 0 || len <= base + 2 || strncmp(line, job, base + 1) != 0 ||
	    line[base + 1] != '[')
		return false;
	for (at = line + base + 2; isdigit((unsigned char)*at); at = end + (*end == ',')) {
		from = to = strtol(at, &end, 10);
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (task >= from && task <= to)
			return true;
		if (*end != ',')
			return false;
	}
	return false;
}

/* Fills what a listing has of the jobs; those that it has not stay as they are. */
static void read_listing(const char *text, struct followed_job *jobs, int n, struct arena *arena)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		const char *state;
		size_t word;

		len = strcspn(text, "\n");
		state = text + strcspn(text, " |\n");
		if (*state != ' ' && *state != '|')
			continue;
		state++;
		/* "CANCELLED by 1000", "CANCELLED+" */
		word = strspn(state, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		for (int i = 0; i < n; i++)
			if (is_line_of(text, len, jobs[i].job)) {
				jobs[i].standing = standing_of(state, word);
				jobs[i].said = arena_strndup(arena, state,
							     len - (size_t)(state - text));
			}
	}
}

static const char *joined(const struct followed_job *jobs, int n, struct arena *arena)
{
	const char *list = "";

	for (int i = 0; i < n && list; i++)
		list = arena_printf(arena, "%s%s%s", list, i ? "," : "", jobs[i].job);
	return list;
}

/* What squeue has no more; where there is no accounting, nothing is known of it but that. */
static void ask_sacct(struct followed_job *jobs, int n, struct arena *arena)
{
	struct slurm_words w = { 0 };
	struct err err = { 0 };
	const char *output;

	add(&w, "sacct");
	add(&w, "--noheader");
	add(&w, "--parsable2");
	add(&w, "--allocations");
	add(&w, "--format=JobID,State");
	add(&w, "--jobs");
	add(&w, joined(jobs, n, arena));
	if (call(&w, arena, &output, &err))
		read_listing(output, jobs, n, arena);
}

static bool look_at(struct followed_job *jobs, int n, struct arena *arena, struct err *err)
{
	struct followed_job *gone = ARENA_ARRAY(arena, struct followed_job, (size_t)n + 1);
	int *from = ARENA_ARRAY(arena, int, (size_t)n + 1), n_gone = 0;
	struct slurm_words w = { 0 };
	const char *output;

	/* One that it does not know is an error where it is asked for alone: all of this user's
	 * are asked for. */
	add(&w, "squeue");
	add(&w, "--noheader");
	add(&w, "--me");
	add(&w, "--states=all");
	add(&w, "--format=%i %T (%r)");
	if (!gone || !from)
		return err_set(err, ERR_MEMORY, "out of memory for the states of jobs");
	if (!call(&w, arena, &output, err))
		return false;
	read_listing(output, jobs, n, arena);
	for (int i = 0; i < n; i++)
		if (!jobs[i].said) {
			gone[n_gone] = jobs[i];
			from[n_gone++] = i;
		}
	if (n_gone)
		ask_sacct(gone, n_gone, arena);
	for (int i = 0; i < n_gone; i++)
		jobs[from[i]] = gone[i];
	return true;
}

static bool look(const struct host *h, struct followed_job *jobs, int n, struct arena *arena,
		 struct err *err)
{
	(void)h;
	for (int i = 0; i < n; i++) {
		jobs[i].standing = JOB_OVER;
		jobs[i].said = NULL;
	}
	for (int i = 0; i < n; i += LOOK_AT)
		if (!look_at(jobs + i, n - i < LOOK_AT ? n - i : LOOK_AT, arena, err))
			return false;
	for (int i = 0; i < n; i++)
		if (!jobs[i].said)
			jobs[i].said = "Slurm knows no such job any more";
	return true;
}

static bool cancel(const struct host *h, const char *const *jobs, int n, struct err *err)
{
	struct arena arena = { 0 };
	bool ok = true;

	(void)h;
	for (int i = 0; ok && i < n;) {
		struct slurm_words w = { 0 };
		const char *output;

		add(&w, "scancel");
		add(&w, "--quiet");
		while (i < n && w.n < MOST_WORDS)
			add(&w, jobs[i++]);
		ok = call(&w, &arena, &output, err);
	}
	arena_finish(&arena);
	return ok;
}

const struct executor executor_slurm = {
	.name = "slurm",
	.title = "Slurm: sbatch, squeue, scancel",
	.several = true,
	.check = check,
	.submit = submit,
	.look = look,
	.cancel = cancel,
};
