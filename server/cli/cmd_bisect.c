/* server/cli/cmd_bisect.c -- `breakeven bisect GOOD BAD`: which commit made it slower?
 *
 * GOOD, BAD and the commit that is tried have a tree each, built once, and are timed in rounds.
 * Each judged step goes into the log, from which --resume goes on.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "fusion/fusion.h"
#include "profiler/bisect/bisection.h"
#include "profiler/bisect/repository.h"
#include "profiler/export/export.h"
#include "profiler/measure/program.h"
#include "profiler/numbers/numbers.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"
#include "server/text/text.h"

enum { EXIT_NOT_ENOUGH = 3, MOST_LOG_BYTES = 64 << 20, OUTPUT_BYTES = 64 << 20 };
enum { MOST_ROUNDS = 1000, ROUNDS = 100, TIMEOUT_S = 600, MOST_TIMEOUT_S = 86400 };
/* Times as many rounds as --rounds, where those do not tell: other commits would be as noisy. */
enum { MORE = 8 };
enum tree { GOOD, CANDIDATE, BAD, TREES };

struct bisect_words {
	const char *ends[2], *repo, *workload, *mode, *metric, *build, *margin, *rounds, *timeout;
	const char *log, *html;
	char **command;
	int n_ends;
	bool clean, resume, json;
};

struct bisecting {
	struct bisect_words words;
	struct bisection found;
	struct report_bisect_request *request; /* in the draft or the log's arena */
	struct report_draft draft;
	json_t *log; /* that it goes on from; NULL: none */
	char log_path[4096];
	struct scratch folder; /* of the trees */
	char tree[TREES][300];
	struct buf output; /* of the last program */
	const volatile sig_atomic_t *stop;
};

/* ---- flags ---- */

static bool take_percent(const char *text, double *out)
{
	char *end;

	if (!text)
		return true;
	*out = strtod(text, &end) / 100;
	return (end != text && !*end && *out > 0 && *out <= 1) ||
	       flags_refuse("bisect", "--margin takes percents above 0 and up to 100, not ", text);
}

/* What only makes sense with one of the two ways to time. */
static bool check_words(const struct bisect_words *w)
{
	static const char *const of_command[] = { "wall", "cpu", "printed", NULL };
	static const char *const of_workload[] = { "latency", "speedup", NULL };

	if (w->resume) {
		const char *given = w->n_ends     ? w->ends[0]
				    : w->command  ? "-- COMMAND"
				    : w->workload ? "--workload"
				    : w->mode     ? "--mode"
				    : w->metric   ? "--metric"
				    : w->build    ? "--build"
				    : w->margin   ? "--margin"
				    : w->clean    ? "--clean"
				    : w->timeout  ? "--timeout"
						  : NULL;

		return !given ||
		       flags_refuse("bisect", "--resume goes on as the log says, without ", given);
	}
	if (w->n_ends < 2)
		return flags_refuse("bisect", "it takes two commits: GOOD, the earlier, and BAD",
				    "");
	if (!w->workload == !w->command || (w->command && !*w->command))
		return flags_refuse(
		    "bisect", "it times a COMMAND after `--`, or a --workload: one of them", "");
	if (w->mode && !w->workload)
		return flags_refuse("bisect", "--mode is of a --workload", "");
	return flags_one_of("bisect", "--metric", w->metric,
			    w->workload ? of_workload : of_command);
}

static bool make_request(struct bisecting *b)
{
	const struct bisect_words *w = &b->words;
	long long rounds = ROUNDS, timeout = TIMEOUT_S;
	double margin = 0.02;
	int n = 0;

	if (!take_percent(w->margin, &margin) ||
	    !flags_integer("bisect", "--rounds", w->rounds, BISECT_LEAST_CHANGE, MOST_ROUNDS,
			   &rounds) ||
	    !flags_integer("bisect", "--timeout", w->timeout, 1, MOST_TIMEOUT_S, &timeout))
		return false;
	b->request = report_new_bisect_request(1, &b->draft.arena);
	if (!b->request)
		return false;
	while (w->command && w->command[n])
		n++;
	REPORT_SET_IF(b->request, command, n > 0,
		      report_draft_texts(&b->draft, (const char *const *)w->command, n));
	REPORT_SET_IF(b->request, workload, w->workload != NULL, w->workload);
	REPORT_SET_IF(b->request, mode, w->workload != NULL, w->mode ? w->mode : "static");
	REPORT_SET(b->request, metric, w->metric ? w->metric : w->workload ? "latency" : "wall");
	REPORT_SET_IF(b->request, build, w->build != NULL, w->build);
	REPORT_SET(b->request, clean, w->clean);
	REPORT_SET(b->request, margin, margin);
	REPORT_SET(b->request, rounds, rounds);
	REPORT_SET(b->request, timeout_seconds, (double)timeout);
	return true;
}

static int read_flags(struct bisecting *b, int argc, char **argv)
{
	struct bisect_words *w = &b->words;
	const struct flag table[] = {
		{ "--repo", .value = &w->repo },       { "--workload", .value = &w->workload },
		{ "--mode", .value = &w->mode },       { "--metric", .value = &w->metric },
		{ "--build", .value = &w->build },     { "--clean", .on = &w->clean },
		{ "--margin", .value = &w->margin },   { "--rounds", .value = &w->rounds },
		{ "--timeout", .value = &w->timeout }, { "--log", .value = &w->log },
		{ "--html", .value = &w->html },       { "--resume", .on = &w->resume },
		{ "--json", .on = &w->json },
	};
	struct flags flags = {
		.command = "bisect",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = w->ends, .most = 2, .over = "two commits at once, not also " },
		.rest = &w->command,
	};
	int status = flags_read(&flags, argc, argv);

	w->n_ends = flags.words.n;
	if (status >= 0)
		return status;
	return check_words(w) && make_request(b) ? -1 : EXIT_USAGE;
}

/* ---- the log ---- */

static bool save(const struct bisecting *b, struct err *err)
{
	json_t *json = bisection_write(&b->found);
	char part[sizeof(b->log_path) + 8];
	bool ok;

	snprintf(part, sizeof(part), "%s.part", b->log_path);
	ok = json && json_dump_file(json, part, JSON_INDENT(1)) == 0 &&
	     rename(part, b->log_path) == 0;
	json_decref(json);
	return ok || err_set(err, ERR_IO, "the log %.300s cannot be written: %s", b->log_path,
			     strerror(errno));
}

/* Where the log lies that nobody named: in the folder that git keeps for itself. */
static bool find_log(struct bisecting *b, struct err *err)
{
	const char *const argv[] = { "git", "rev-parse", "--absolute-git-dir", NULL };
	const struct timed_program p = { .argv = argv,
					 .folder = b->found.repository.folder,
					 .timeout_s = 60 };
	struct timed_program_end end;

	if (b->words.log) {
		snprintf(b->log_path, sizeof(b->log_path), "%s", b->words.log);
		return true;
	}
	buf_clear(&b->output);
	if (!program_run(&p, &b->output, &end, err))
		return false;
	snprintf(b->log_path, sizeof(b->log_path), "%.*s/breakeven-bisect.json",
		 (int)strcspn(b->output.data ? b->output.data : "", "\n"),
		 b->output.data ? b->output.data : "");
	return true;
}

/* Of the flag, not of the log: the last commits that those were not enough for are tried again. */
static void take_rounds(struct bisecting *b, int64_t rounds)
{
	struct bisection *f = &b->found;

	REPORT_SET(b->request, rounds, rounds);
	while (f->steps.len && f->steps.at[f->steps.len - 1].verdict == STEP_NOT_ENOUGH)
		f->rounds.len = f->steps.at[--f->steps.len].first;
}

static bool resume(struct bisecting *b, struct err *err)
{
	int64_t rounds = b->request->rounds;
	json_error_t at;
	struct stat st;

	if (stat(b->log_path, &st) != 0)
		return err_set(err, ERR_IO, "there is no log %.300s to go on from", b->log_path);
	if (st.st_size > MOST_LOG_BYTES)
		return err_set(err, ERR_TOO_LARGE, "%.300s is over %d MiB", b->log_path,
			       MOST_LOG_BYTES >> 20);
	b->log = json_load_file(b->log_path, JSON_REJECT_DUPLICATES, &at);
	if (!b->log)
		return err_set(err, ERR_JSON, "%.300s is not JSON: line %d: %s", b->log_path,
			       at.line, at.text);
	if (!bisection_read(b->log, &b->draft.arena, &b->found, err))
		return false;
	b->request = (struct report_bisect_request *)b->found.request;
	if (!b->request->has.command && !b->request->has.workload)
		return err_set(err, ERR_WORKLOAD, "the log says neither a command nor a workload");
	if (b->words.rounds)
		take_rounds(b, rounds);
	return true;
}

static bool begin(struct bisecting *b, struct err *err)
{
	struct bisection *f = &b->found;
	const char *folder = b->words.repo ? b->words.repo : ".";

	f->request = b->request;
	f->share = NAN;
	if (!repository_open(&f->repository, folder, err) || !find_log(b, err))
		return false;
	if (b->words.resume)
		return resume(b, err);
	if (access(b->log_path, F_OK) == 0)
		return err_set(
		    err, ERR_CONFLICT,
		    "%.300s has a bisection already; --resume goes on with it, or remove it, "
		    "or name another --log",
		    b->log_path);
	return repository_commit(&f->repository, b->words.ends[0], &f->good, err) &&
	       repository_commit(&f->repository, b->words.ends[1], &f->bad, err) &&
	       repository_distance(&f->repository, f->good.id, f->bad.id, &f->commits, err) &&
	       (f->commits > 0 ||
		err_set(err, ERR_BAD_REQUEST, "%.12s has no commit that %.12s has not", f->bad.id,
			f->good.id));
}

/* ---- one figure ---- */

/* The end of what the last program printed, in one line. */
static void tail_of(const struct buf *out, char *text, size_t bytes)
{
	const char *data = out->data ? out->data : "", *from = data + out->len;

	while (from > data && (size_t)(data + out->len - from) < bytes - 1)
		from--;
	snprintf(text, bytes, "%s", from);
	for (char *c = text; *c; c++)
		*c = *c == '\n' || *c == '\r' || *c == '\t' ? ' ' : *c;
	for (size_t len = strlen(text); len > 0 && text[len - 1] == ' ';)
		text[--len] = '\0';
}

/* The last number that was printed: a word, or one with a unit after it ("12.5ms"). */
static bool printed(const struct buf *out, double *value)
{
	static const char between[] = " \n\t\r,:=;|()[]{}\"'";
	const char *at = out->data ? out->data : "";
	bool found = false;

	while (*(at += strspn(at, between))) {
		size_t len = strcspn(at, between);
		char *end;
		double x = strtod(at, &end);

		if (end > at && isfinite(x)) {
			*value = x;
			found = true;
		}
		at += len;
	}
	return found;
}

/* The geometric mean over the points of the mode's latency in µs, or of 1 over its speedup. */
static bool of_report(const struct bisecting *b, double *value, struct err *err)
{
	struct arena arena = { 0 };
	json_t *json = json_loadb(b->output.data ? b->output.data : "", b->output.len, 0, NULL);
	const struct report_run *run = json ? report_read_run(json, &arena, err) : NULL;
	bool speedup = strcmp(b->request->metric, "speedup") == 0;
	double sum = 0;
	int n = 0;

	for (size_t i = 0; run && i < (run->points.n ? run->points.n : 1); i++) {
		const struct report_point *p = run->points.n ? &run->points.at[i] : NULL;
		const struct report_mode *m = report_get(*(p ? &p->modes : &run->modes),
							 b->request->mode);
		const struct report_comparison *paid = report_get(
		    *(p ? &p->break_even : &run->break_even), b->request->mode);

		sum += speedup ? (paid ? -log(paid->speedup) : NAN)
			       : (m && m->latency ? log(m->latency->median_us) : NAN);
		n++;
	}
	*value = n ? exp(sum / n) : NAN;
	json_decref(json);
	arena_finish(&arena);
	return (isfinite(*value) && *value > 0) ||
	       err_set(err, ERR_WORKLOAD, "the run has no %s of mode %s", b->request->metric,
		       b->request->mode);
}

/* What the tree's program ended with, as a figure above 0. */
static bool figure_of(struct bisecting *b, const struct timed_program_end *end, double *value,
		      struct err *err)
{
	const char *metric = b->request->metric;

	if (b->request->workload)
		return of_report(b, value, err);
	*value = strcmp(metric, "cpu") == 0 ? end->cpu_s : end->wall_s - end->wait_s;
	if (strcmp(metric, "wall") == 0) {
		b->found.passed_s += end->wall_s;
		b->found.waited_s += end->wait_s;
	}
	if (strcmp(metric, "printed") == 0 && !printed(&b->output, value))
		return err_set(err, ERR_WORKLOAD, "it printed no number");
	return *value > 0 ||
	       err_set(err, ERR_WORKLOAD, "its figure is %g, and not above 0", *value);
}

/* Runs it once in a tree.  False with what went wrong, or with CANCELLED. */
static bool time_once(struct bisecting *b, enum tree tree, double *value, struct err *err)
{
	char modes[40], tail[200];
	const struct report_bisect_request *r = b->request;
	const char *run[] = {
		"/proc/self/exe", "run", r->workload, "--modes", modes, "--json", NULL
	};
	const char **command = calloc(r->command.n + 1, sizeof(*command));
	struct timed_program p = { .folder = b->tree[tree],
				   .timeout_s = r->timeout_seconds,
				   .stop = b->stop };
	struct timed_program_end end = { 0 };
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool ok = command != NULL && len > 0;

	if (!ok)
		return err_set(err, ERR_MEMORY, "out of memory for a command");
	self[len] = '\0';
	run[0] = self;
	for (size_t i = 0; i < r->command.n; i++)
		command[i] = r->command.at[i];
	if (r->workload)
		snprintf(modes, sizeof(modes), "eager,%s", r->mode);
	p.argv = r->workload ? run : command;
	buf_clear(&b->output);
	ok = program_run(&p, &b->output, &end, err);
	free(command);
	if (!ok || end.stopped)
		return ok && err_set(err, ERR_CANCELLED, "stopped");
	tail_of(&b->output, tail, sizeof(tail));
	if (end.timed_out)
		return err_set(err, ERR_WORKER, "it ran longer than %g s", r->timeout_seconds);
	if (end.status != 0)
		return err_set(err, ERR_WORKER, "it ended with status %d: %s", end.status, tail);
	return figure_of(b, &end, value, err);
}

/* ---- trees ---- */

/* Checks out, builds, and runs once what is timed then: so that files are in memory. */
static bool prepare(struct bisecting *b, enum tree tree, const struct commit *c, struct err *err)
{
	const struct report_bisect_request *r = b->request;
	const char *const shell[] = { "/bin/sh", "-c", r->build, NULL };
	const struct timed_program p = { .argv = shell,
					 .folder = b->tree[tree],
					 .timeout_s = r->timeout_seconds,
					 .stop = b->stop,
					 .errors_too = true };
	struct timed_program_end end = { 0 };
	char tail[300];
	double value;

	if (!repository_checkout(&b->found.repository, b->tree[tree], c->id, r->clean, err))
		return false;
	buf_clear(&b->output);
	if (r->build && !program_run(&p, &b->output, &end, err))
		return false;
	if (end.stopped)
		return err_set(err, ERR_CANCELLED, "stopped");
	tail_of(&b->output, tail, sizeof(tail));
	if (end.timed_out || end.status != 0)
		return err_set(err, ERR_WORKER, "its build %s: %s",
			       end.timed_out ? "took too long" : "failed", tail);
	return time_once(b, tree, &value, err);
}

/* ---- rounds ---- */

/* One more round, in which each of them is first as often as last. */
static bool add_round(struct bisecting *b, bool candidate, struct err *err)
{
	struct bisect_round round = { NAN, NAN, NAN };
	double *at[TREES] = { &round.good, &round.candidate, &round.bad };
	size_t n = b->found.rounds.len;

	for (size_t i = 0; i < TREES; i++) {
		size_t tree = (n / 2 + (n % 2 ? TREES - 1 - i : i)) % TREES;

		if ((candidate || tree != CANDIDATE) &&
		    !time_once(b, (enum tree)tree, at[tree], err))
			return false;
	}
	return VEC_PUSH(&b->found.rounds, round) ||
	       err_set(err, ERR_MEMORY, "out of memory for rounds");
}

static bool measure_change(struct bisecting *b, struct err *err)
{
	struct bisection *f = &b->found;

	return bisect_measure_change(f->rounds.at, (int)f->rounds.len, b->request->margin,
				     &f->change) ||
	       err_set(err, ERR_MEMORY, "out of memory for statistics");
}

/* Not beyond the margin as a whole, but a change. */
static bool changes_a_little(const struct bisect_change *c)
{
	return !c->differs && !c->same && (c->ratio.low > 1 || c->ratio.high < 1);
}

/* Whether they differ is clear, or more rounds would not tell either. */
static bool told(const struct bisecting *b)
{
	const struct bisect_change *c = &b->found.change;
	long long n = (long long)b->found.rounds.len, rounds = b->request->rounds;

	return c->differs || c->same || n >= MORE * rounds || (n >= rounds && changes_a_little(c));
}

/* GOOD beside BAD, until it is clear whether they differ; sets the state where they do not. */
static bool tell_change(struct bisecting *b, struct err *err)
{
	struct bisection *f = &b->found;
	char ratio[4 * NUMBER_BYTES];

	if (f->rounds.len > 0 && !measure_change(b, err))
		return false;
	while (!told(b))
		if (!add_round(b, false, err) || !measure_change(b, err))
			return false;
	f->n_change = f->n_change && f->steps.len ? f->n_change : f->rounds.len;
	number_interval(ratio, f->change.ratio.mid,
			(struct report_interval){ f->change.ratio.low, f->change.ratio.high }, "x");
	fprintf(stderr, "%.12s is at %s of %.12s after %zu rounds\n", f->bad.id, ratio, f->good.id,
		f->rounds.len);
	if (!f->change.differs && !changes_a_little(&f->change))
		f->state = f->change.same ? BISECT_SAME : BISECT_UNDECIDED;
	return save(b, err);
}

/* After --rounds of them, and each time that they have doubled. */
static bool is_time_to_look(long long n, long long rounds)
{
	for (long long at = rounds; at <= MORE * rounds; at *= 2)
		if (n == at)
			return true;
	return false;
}

/* Places the commit of a step; its rounds are the last of all. */
static bool place(struct bisecting *b, struct bisection_step *s, struct err *err)
{
	struct bisection *f = &b->found;
	struct bisect_place at = { .verdict = BISECT_OPEN };

	s->first = f->rounds.len;
	while (at.verdict == BISECT_OPEN && (long long)s->n < MORE * b->request->rounds) {
		if (!add_round(b, true, err) || !measure_change(b, err))
			return false;
		s->n++;
		if (!bisect_place(&f->change, f->rounds.at + s->first, (int)s->n, &at))
			return err_set(err, ERR_MEMORY, "out of memory for statistics");
		if (at.verdict == BISECT_OPEN && at.between &&
		    is_time_to_look((long long)s->n, b->request->rounds))
			at.verdict = BISECT_BAD;
	}
	s->ratio = at.ratio;
	s->verdict = at.verdict == BISECT_BAD    ? STEP_BAD
		     : at.verdict == BISECT_GOOD ? STEP_GOOD
						 : STEP_NOT_ENOUGH;
	return true;
}

static void tell_step(const struct bisection *f, const struct bisection_step *s)
{
	static const char *const words[] = { "good", "bad", "not enough rounds to tell",
					     "skipped" };
	char ratio[4 * NUMBER_BYTES], name[200];

	bisection_name(&s->commit, name, sizeof(name));
	number_interval(ratio, s->ratio.mid,
			(struct report_interval){ s->ratio.low, s->ratio.high }, "x");
	if (s->verdict == STEP_SKIPPED)
		fprintf(stderr, "step %zu, %d left: %s: skipped, %s\n", f->steps.len, s->left, name,
			s->why);
	else
		fprintf(stderr, "step %zu, %d left: %s: %s, %s after %zu rounds\n", f->steps.len,
			s->left, name, words[s->verdict], ratio, s->n);
}

/* One commit, tried.  What fails in its tree skips it; what stops the bisection is an error. */
static bool step(struct bisecting *b, const struct repository_left *left, struct err *err)
{
	struct bisection *f = &b->found;
	struct bisection_step s = { .left = left->n,
				    .first = f->rounds.len,
				    .verdict = STEP_SKIPPED,
				    .ratio = { NAN, NAN, NAN } };
	struct err fault = { 0 };
	bool ok = repository_commit(&f->repository, left->next, &s.commit, err) &&
		  repository_distance(&f->repository, f->good.id, s.commit.id, &s.position, err);

	if (!ok)
		return false;
	if (!prepare(b, CANDIDATE, &s.commit, &fault)) {
		if (fault.code != ERR_WORKER && fault.code != ERR_WORKLOAD)
			return err_set(err, fault.code, "%s", fault.message);
		snprintf(s.why, sizeof(s.why), "%s", fault.message);
	} else if (!place(b, &s, err)) {
		f->rounds.len = s.first;
		return false;
	}
	if (!VEC_PUSH(&f->steps, s))
		return err_set(err, ERR_MEMORY, "out of memory for steps");
	tell_step(f, &f->steps.at[f->steps.len - 1]);
	return save(b, err);
}

static bool bisect(struct bisecting *b, struct err *err)
{
	struct bisection *f = &b->found;
	struct repository_left left;

	fprintf(stderr, "%d commits from %.12s to %.12s\n", f->commits, f->good.id, f->bad.id);
	if (!prepare(b, GOOD, &f->good, err) || !prepare(b, BAD, &f->bad, err) ||
	    !tell_change(b, err))
		return false;
	while (f->state == BISECT_RUNNING) {
		if (!bisection_next(f, &left, err))
			return false;
		if (f->state == BISECT_RUNNING && !step(b, &left, err))
			return false;
	}
	return save(b, err);
}

/* ---- the command ---- */

static bool make_trees(struct bisecting *b, struct err *err)
{
	static const char *const names[TREES] = { "good", "candidate", "bad" };

	if (!scratch_create(&b->folder, "trees", err))
		return false;
	for (int i = 0; i < TREES; i++)
		snprintf(b->tree[i], sizeof(b->tree[i]), "%s/%s", b->folder.path, names[i]);
	return true;
}

static bool put_file(void *self, const void *bytes, size_t len, struct err *err)
{
	return fwrite(bytes, 1, len, self) == len ||
	       err_set(err, ERR_IO, "the page cannot be written: %s", strerror(errno));
}

static bool write_page(const struct report_bisect *log, const char *path, struct err *err)
{
	FILE *file = fopen(path, "w");
	bool ok = file && export_bisection(log, breakeven_version(), put_file, file, err);

	if (!file)
		return err_set(err, ERR_IO, "%.300s cannot be written: %s", path, strerror(errno));
	if (fclose(file) != 0 && ok)
		ok = err_set(err, ERR_IO, "%.300s cannot be written: %s", path, strerror(errno));
	return ok;
}

static bool print(const struct bisecting *b, struct err *err)
{
	struct arena arena = { 0 };
	json_t *json = bisection_write(&b->found);
	const struct report_bisect *log = report_read_bisect(json, &arena, err);
	bool ok = log && (!b->words.html || write_page(log, b->words.html, err));

	if (ok) {
		ok = b->words.json
			 ? json_dumpf(json, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF
			 : printf("%s\nlog: %s\n", report_text(log->sentence), b->log_path) > 0;
		if (!ok || fflush(stdout) != 0)
			ok = err_set(err, ERR_IO, "the result could not be written: %s",
				     strerror(errno));
	}
	arena_finish(&arena);
	json_decref(json);
	return ok;
}

static int status_of(const struct bisecting *b, bool ok, const struct err *err)
{
	if (!ok && err->code == ERR_CANCELLED) {
		fprintf(stderr, "stopped; `breakeven bisect --resume` goes on from %s\n",
			b->log_path);
		return EXIT_INTERRUPTED;
	}
	if (!ok)
		fprintf(stderr, "breakeven bisect: %s\n", err->message);
	if (!ok)
		return err->code == ERR_BAD_REQUEST || err->code == ERR_CONFLICT ? EXIT_USAGE
										 : EXIT_FAILED;
	return b->found.state == BISECT_FOUND  ? EXIT_DONE
	       : b->found.state == BISECT_SAME ? EXIT_FAILED
					       : EXIT_NOT_ENOUGH;
}

int cmd_bisect(int argc, char **argv, const struct registry *registry)
{
	struct bisecting b = { 0 };
	struct err err = { 0 };
	int status = read_flags(&b, argc, argv);
	bool ok;

	(void)registry;
	if (status >= 0) {
		report_draft_finish(&b.draft);
		return status;
	}
	buf_init(&b.output, OUTPUT_BYTES);
	b.stop = interrupt_watch();
	ok = begin(&b, &err) && make_trees(&b, &err) && bisect(&b, &err) && print(&b, &err);
	for (int i = 0; i < TREES && *b.folder.path; i++)
		repository_remove(&b.found.repository, b.tree[i]);
	scratch_destroy(&b.folder);
	status = status_of(&b, ok, &err);
	bisection_finish(&b.found);
	report_draft_finish(&b.draft);
	json_decref(b.log);
	buf_finish(&b.output);
	return status;
}
