/* server/queue/command.c -- hands jobs to whatever else a site has, by commands of the file of
 * hosts: ssh, kubectl, another scheduler. */
#include <string.h>

#include "server/queue/executor.h"

enum { MOST_WORDS = 64, NAME_CHARS = 120 };

/* Once a word stands for itself: it is no shell's. */
static const char *filled(const char *word, const char *place, const char *with,
			  struct arena *arena)
{
	const char *out = "", *next;

	for (; out && (next = strstr(word, place)); word = next + strlen(place))
		out = arena_printf(arena, "%s%.*s%s", out, (int)(next - word), word, with);
	return out ? arena_printf(arena, "%s%s", out, word) : NULL;
}

static bool call(struct report_texts words, const char *place, const char *with,
		 struct arena *arena, const char **output, struct err *err)
{
	const char *argv[MOST_WORDS + 1] = { NULL };

	for (size_t i = 0; i < words.n; i++)
		if (!(argv[i] = filled(words.at[i], place, with, arena)))
			return err_set(err, ERR_MEMORY, "out of memory for a command");
	return executor_call(argv, arena, output, err);
}

static bool says(struct report_texts words, const char *place)
{
	for (size_t i = 0; i < words.n; i++)
		if (strstr(words.at[i], place))
			return true;
	return false;
}

static bool check_words(const struct host *h, const char *field, struct report_texts words,
			const char *place, struct err *err)
{
	if (words.n < 1 || words.n > MOST_WORDS)
		return err_set(err, ERR_BAD_REQUEST,
			       "host %.64s: executor command needs %s, a list of 1 to %d words",
			       h->name, field, MOST_WORDS);
	return says(words, place) ||
	       err_set(err, ERR_BAD_REQUEST, "host %.64s: %s must have %s in one of its words",
		       h->name, field, place);
}

static bool check(const struct host *h, struct err *err)
{
	const struct report_host *s = h->settings;

	if (s->partition || s->account || s->gres || s->time || s->output || s->cpus ||
	    s->options.n)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "host %.64s: partition, account, gres, cpus, time, output and options "
		    "are of executor slurm, not of command",
		    h->name);
	return check_words(h, "submit", s->submit, "{script}", err) &&
	       check_words(h, "state", s->state, "{job}", err) &&
	       check_words(h, "cancel", s->cancel, "{job}", err);
}

static bool submit(const struct host *h, const struct handed_script *script, struct arena *arena,
		   const char **job, struct err *err)
{
	const char *output;
	size_t len;

	if (!call(h->settings->submit, "{script}", script->path, arena, &output, err))
		return false;
	output += strspn(output, " \t\r\n");
	len = strcspn(output, " \t\r\n");
	if (len == 0 || len > NAME_CHARS)
		return err_set(err, ERR_IO,
			       "submit of host %.64s must print what the job is called, a word of "
			       "at most %d bytes; it prints '%.120s'",
			       h->name, NAME_CHARS, output);
	*job = arena_strndup(arena, output, len);
	return *job || err_set(err, ERR_MEMORY, "out of memory for the name of a job");
}

static bool look_at(const struct host *h, struct followed_job *job, struct arena *arena,
		    struct err *err)
{
	static const struct {
		const char *word;
		enum job_standing standing;
	} words[] = { { "waiting", JOB_WAITS }, { "running", JOB_RUNS }, { "ended", JOB_OVER } };
	const char *output;
	size_t len;

	if (!call(h->settings->state, "{job}", job->job, arena, &output, err))
		return false;
	output += strspn(output, " \t\r\n");
	len = strcspn(output, " \t\r\n");
	for (size_t i = 0; i < 3; i++)
		if (strlen(words[i].word) == len && strncmp(words[i].word, output, len) == 0) {
			job->standing = words[i].standing;
			job->said = words[i].word;
			return true;
		}
	return err_set(
	    err, ERR_IO,
	    "state of host %.64s must print waiting, running or ended; it prints '%.120s'", h->name,
	    output);
}

static bool look(const struct host *h, struct followed_job *jobs, int n, struct arena *arena,
		 struct err *err)
{
	for (int i = 0; i < n; i++)
		if (!look_at(h, &jobs[i], arena, err))
			return false;
	return true;
}

static bool cancel(const struct host *h, const char *const *jobs, int n, struct err *err)
{
	struct arena arena = { 0 };
	const char *output;
	bool ok = true;

	for (int i = 0; ok && i < n; i++)
		ok = call(h->settings->cancel, "{job}", jobs[i], &arena, &output, err);
	arena_finish(&arena);
	return ok;
}

const struct executor executor_command = {
	.name = "command",
	.title = "commands of the file of hosts",
	.check = check,
	.submit = submit,
	.look = look,
	.cancel = cancel,
};
