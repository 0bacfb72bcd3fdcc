/* profiler/bisect/bisection.c -- what a bisection has found so far, and its log. */
#include "profiler/bisect/bisection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/numbers/numbers.h"

enum { VERSION = 1 };

/* A share that is all of a change, as far as one can tell. */
#define WHOLE 0.8

static const char *const states[] = { "running", "found", "among", "same", "undecided" };
static const char *const verdicts[] = { "GOOD", "BAD", "NOT ENOUGH", "SKIPPED" };

void bisection_finish(struct bisection *b)
{
	VEC_FREE(&b->rounds);
	VEC_FREE(&b->steps);
	VEC_FREE(&b->suspects);
}

/* ---- in words ---- */

void bisection_name(const struct commit *c, char *out, size_t bytes)
{
	snprintf(out, bytes, "%.12s, %s, %s: %s", c->id, c->date, c->author, c->subject);
}

/* "1.08x (1.07-1.09) of a1b2c3" */
static void ratio_text(const struct interval *r, char out[4 * NUMBER_BYTES])
{
	number_interval(out, r->mid, (struct report_interval){ r->low, r->high }, "x");
}

/* What is printed may be anything: it is larger, not slower. */
static const char *word_of(const struct bisection *b)
{
	bool more = b->change.ratio.mid > 1;

	return strcmp(b->request->metric, "printed") == 0 ? (more ? "larger" : "smaller")
							  : (more ? "slower" : "faster");
}

static void put_found(const struct bisection *b, struct buf *out)
{
	char name[500], ratio[4 * NUMBER_BYTES];

	bisection_name(&b->suspects.at[0], name, sizeof(name));
	ratio_text(&b->change.ratio, ratio);
	buf_printf(out, "The first %s commit is %s.", word_of(b), name);
	if (b->share >= WHOLE)
		buf_printf(out, " It makes the whole change of %s.", ratio);
	else if (isfinite(b->share))
		buf_printf(out,
			   " It makes %.0f %% of %s; bisect on either side of it for the rest.",
			   100 * b->share, ratio);
}

/* The rounds do not place the commits that were tried last. */
static void put_open(const struct bisection *b, struct buf *out)
{
	const struct bisection_step *last = &b->steps.at[b->steps.len - 1];

	buf_printf(out,
		   "%zu rounds do not tell on which side of the change %.12s lies: one of %d "
		   "commits made it. A quieter machine, a longer command or --rounds helps.",
		   last->n, last->commit.id, last->left);
}

/* A part of the time that is worth a sentence. */
static const double much_waiting = 0.05;

/* What it comes to: a sentence or two; nothing while it runs. */
static void sentence(const struct bisection *b, struct buf *out)
{
	char ratio[4 * NUMBER_BYTES];

	ratio_text(&b->change.ratio, ratio);
	switch (b->state) {
	case BISECT_RUNNING:
		break;
	case BISECT_FOUND:
		put_found(b, out);
		break;
	case BISECT_AMONG:
		buf_printf(out,
			   "One of %zu commits made the change: all but the last could not be "
			   "judged.",
			   b->suspects.len);
		break;
	case BISECT_SAME:
		buf_printf(out,
			   "There is nothing to find: %.12s is at %s of %.12s, within the margin "
			   "of %g %%.",
			   b->bad.id, ratio, b->good.id, 100 * b->request->margin);
		break;
	case BISECT_UNDECIDED:
		if (b->steps.len) {
			put_open(b, out);
			break;
		}
		buf_printf(
		    out,
		    "%zu rounds do not tell whether %.12s differs from %.12s by more than %g "
		    "%%: %s. A quieter machine, a longer command or --rounds helps.",
		    b->rounds.len, b->bad.id, b->good.id, 100 * b->request->margin, ratio);
		break;
	}
	if (out->len && b->waited_s > much_waiting * b->passed_s)
		buf_printf(
		    out,
		    " %.0f %% of the time the command waited for a core that others had: the "
		    "figures are without that.",
		    100 * b->waited_s / b->passed_s);
}

/* ---- the log, written ---- */

static struct report_bisect_commit commit_of(struct report_draft *d, const struct commit *c)
{
	struct report_bisect_commit *out = report_new_bisect_commit(1, &d->arena);

	if (!out)
		return (struct report_bisect_commit){ 0 };
	REPORT_SET(out, id, report_draft_text(d, c->id));
	REPORT_SET(out, subject, report_draft_text(d, c->subject));
	REPORT_SET(out, author, report_draft_text(d, c->author));
	REPORT_SET(out, date, report_draft_text(d, c->date));
	return *out;
}

static struct report_bisect_commit *new_commit(struct report_draft *d, const struct commit *c)
{
	struct report_bisect_commit *out = report_new_bisect_commit(1, &d->arena);

	if (out)
		*out = commit_of(d, c);
	return out;
}

static struct report_bisect_rounds *rounds_of(struct report_draft *d, const struct bisect_round *at,
					      size_t n, bool candidate)
{
	struct report_bisect_rounds *out = report_new_bisect_rounds(1, &d->arena);
	double *x = arena_array(&d->arena, 3 * n + 1, sizeof(*x));

	if (!out || !x)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		x[i] = at[i].good;
		x[n + i] = at[i].bad;
		x[2 * n + i] = at[i].candidate;
	}
	REPORT_SET(out, good, (struct report_reals){ x, n });
	REPORT_SET(out, bad, (struct report_reals){ x + n, n });
	REPORT_SET_IF(out, candidate, candidate, (struct report_reals){ x + 2 * n, n });
	return out;
}

static void write_step(struct report_draft *d, const struct bisection *b,
		       const struct bisection_step *s, struct report_bisect_step *out)
{
	bool judged = s->n > 0;

	REPORT_SET(out, commit, new_commit(d, &s->commit));
	REPORT_SET(out, verdict, verdicts[s->verdict]);
	REPORT_SET_IF(out, why, *s->why, report_draft_text(d, s->why));
	REPORT_SET(out, position, s->position);
	REPORT_SET(out, left, s->left);
	REPORT_SET_OR_NULL(out, ratio, judged, s->ratio.mid);
	REPORT_SET_OR_NULL(out, ratio_ci, judged,
			   (struct report_interval){ s->ratio.low, s->ratio.high });
	REPORT_SET(out, rounds, rounds_of(d, b->rounds.at + s->first, s->n, true));
}

static struct report_bisect_step_list steps_of(struct report_draft *d, const struct bisection *b)
{
	struct report_bisect_step *at = report_new_bisect_step(b->steps.len, &d->arena);

	for (size_t i = 0; at && i < b->steps.len; i++)
		write_step(d, b, &b->steps.at[i], &at[i]);
	return (struct report_bisect_step_list){ at, b->steps.len };
}

static struct report_bisect_commit_list suspects_of(struct report_draft *d,
						    const struct bisection *b)
{
	struct report_bisect_commit *at = report_new_bisect_commit(b->suspects.len, &d->arena);

	for (size_t i = 0; at && i < b->suspects.len; i++)
		at[i] = commit_of(d, &b->suspects.at[i]);
	return (struct report_bisect_commit_list){ at, b->suspects.len };
}

json_t *bisection_write(const struct bisection *b)
{
	struct report_draft d = { 0 };
	struct report_bisect *out = report_new_bisect(1, &d.arena);
	const struct interval *ratio = &b->change.ratio;
	struct buf words;
	char machine[65] = "";
	json_t *json;

	buf_init(&words, 4096);
	sentence(b, &words);
	gethostname(machine, sizeof(machine) - 1);
	if (out) {
		REPORT_SET(out, breakeven_bisect, VERSION);
		REPORT_SET(out, state, states[b->state]);
		REPORT_SET_IF(out, sentence, words.len > 0, words.data);
		REPORT_SET(out, repository, b->repository.folder);
		REPORT_SET(out, machine, machine);
		REPORT_SET(out, request, (struct report_bisect_request *)b->request);
		REPORT_SET(out, good, new_commit(&d, &b->good));
		REPORT_SET(out, bad, new_commit(&d, &b->bad));
		REPORT_SET(out, commits, b->commits);
		REPORT_SET_OR_NULL(out, ratio, ratio->mid > 0, ratio->mid);
		REPORT_SET_OR_NULL(out, ratio_ci, ratio->mid > 0,
				   (struct report_interval){ ratio->low, ratio->high });
		REPORT_SET(out, rounds, rounds_of(&d, b->rounds.at, b->n_change, false));
		REPORT_SET(out, steps, steps_of(&d, b));
		REPORT_SET(out, suspects, suspects_of(&d, b));
		REPORT_SET_OR_NULL(out, share, isfinite(b->share), b->share);
		REPORT_SET_IF(out, passed_seconds, b->passed_s > 0, b->passed_s);
		REPORT_SET_IF(out, waited_seconds, b->passed_s > 0, b->waited_s);
	}
	json = report_write_bisect(out);
	report_draft_finish(&d);
	buf_finish(&words);
	return json;
}

/* ---- the log, read ---- */

static bool read_rounds(const struct report_bisect_rounds *r, struct bisection *b, struct err *err)
{
	size_t n = r->good.n;

	if (r->bad.n != n || (r->candidate.n != n && r->candidate.n != 0))
		return err_set(err, ERR_WORKLOAD, "the rounds of the log are not of one length");
	for (size_t i = 0; i < n; i++) {
		struct bisect_round round = { .good = r->good.at[i],
					      .candidate = r->candidate.n ? r->candidate.at[i]
									  : NAN,
					      .bad = r->bad.at[i] };

		if (!(round.good > 0) || !(round.bad > 0) ||
		    (r->candidate.n && !(round.candidate > 0)))
			return err_set(err, ERR_WORKLOAD, "a figure of the log is not above 0");
		if (!VEC_PUSH(&b->rounds, round))
			return err_set(err, ERR_MEMORY, "out of memory for the log");
	}
	return true;
}

static bool read_step(const struct report_bisect_step *s, struct bisection *b, struct err *err)
{
	struct bisection_step step = { .position = (int)s->position,
				       .left = (int)s->left,
				       .first = b->rounds.len,
				       .n = s->rounds->good.n,
				       .verdict = STEP_SKIPPED + 1,
				       .ratio = { s->ratio_ci.low, s->ratio, s->ratio_ci.high } };

	for (size_t v = 0; v < sizeof(verdicts) / sizeof(*verdicts); v++)
		if (strcmp(s->verdict, verdicts[v]) == 0)
			step.verdict = (enum bisection_verdict)v;
	if (step.verdict > STEP_SKIPPED || (step.n > 0 && s->rounds->candidate.n != step.n))
		return err_set(err, ERR_WORKLOAD,
			       "a step of the log has the verdict %.40s and %zu rounds", s->verdict,
			       step.n);
	snprintf(step.why, sizeof(step.why), "%s", report_text(s->why));
	return repository_commit(&b->repository, s->commit->id, &step.commit, err) &&
	       read_rounds(s->rounds, b, err) &&
	       (VEC_PUSH(&b->steps, step) || err_set(err, ERR_MEMORY, "out of memory for the log"));
}

bool bisection_read(const json_t *log, struct arena *arena, struct bisection *b, struct err *err)
{
	const struct report_bisect *from = report_read_bisect(log, arena, err);
	bool ok = from != NULL;

	if (ok && from->breakeven_bisect != VERSION)
		ok = err_set(err, ERR_WORKLOAD,
			     "the log is of version %lld; this program writes %d",
			     (long long)from->breakeven_bisect, VERSION);
	ok = ok && repository_open(&b->repository, from->repository, err) &&
	     repository_commit(&b->repository, from->good->id, &b->good, err) &&
	     repository_commit(&b->repository, from->bad->id, &b->bad, err) &&
	     read_rounds(from->rounds, b, err);
	if (!ok)
		return false;
	b->request = from->request;
	b->commits = (int)from->commits;
	b->n_change = b->rounds.len;
	b->share = NAN;
	b->passed_s = from->passed_seconds;
	b->waited_s = from->waited_seconds;
	for (size_t i = 0; ok && i < from->steps.n; i++)
		ok = read_step(&from->steps.at[i], b, err);
	return ok;
}

/* ---- what is left ---- */

static const struct bisection_step *step_of(const struct bisection *b, const char *id)
{
	for (size_t i = 0; i < b->steps.len; i++)
		if (strcmp(b->steps.at[i].commit.id, id) == 0)
			return &b->steps.at[i];
	return NULL;
}

/* The log of a commit's figure over GOOD's; NAN where it was not judged. */
static double placed(const struct bisection *b, const char *id)
{
	const struct bisection_step *step = step_of(b, id);

	if (strcmp(id, b->good.id) == 0)
		return 0;
	if (strcmp(id, b->bad.id) == 0)
		return log(b->change.ratio.mid);
	return step && step->n > 0 ? log(step->ratio.mid) : NAN;
}

/* The commit that made the change, where it is one; else all that are left. */
static bool finish(struct bisection *b, const char *bad, const char *const *skipped,
		   const bool *is_left, int n_skipped, struct err *err)
{
	struct commit suspect;
	bool ok = repository_commit(&b->repository, bad, &suspect, err);

	b->suspects.len = 0;
	for (int i = 0; ok && i < n_skipped; i++) {
		struct commit other;

		if (is_left[i])
			ok = repository_commit(&b->repository, skipped[i], &other, err) &&
			     (VEC_PUSH(&b->suspects, other) ||
			      err_set(err, ERR_MEMORY, "out of memory for the suspects"));
	}
	if (!ok || !VEC_PUSH(&b->suspects, suspect))
		return ok && err_set(err, ERR_MEMORY, "out of memory for the suspects");
	b->state = b->suspects.len == 1 ? BISECT_FOUND : BISECT_AMONG;
	b->share = b->state == BISECT_FOUND
		       ? (placed(b, bad) - placed(b, suspect.parent)) / log(b->change.ratio.mid)
		       : NAN;
	return true;
}

bool bisection_next(struct bisection *b, struct repository_left *left, struct err *err)
{
	const char **ids = calloc(2 * b->steps.len + 1, sizeof(*ids));
	bool *is_left = calloc(b->steps.len + 1, sizeof(*is_left));
	const char **skipped = ids ? ids + b->steps.len + 1 : NULL;
	struct repository_range range = { .bad = b->bad.id, .goods = ids, .skipped = skipped };
	bool ok = ids && is_left;
	int open = 0;

	if (ok)
		ids[range.n_goods++] = b->good.id;
	for (size_t i = 0; ok && i < b->steps.len; i++) {
		const struct bisection_step *s = &b->steps.at[i];

		if (s->verdict == STEP_GOOD)
			ids[range.n_goods++] = s->commit.id;
		else if (s->verdict == STEP_BAD)
			range.bad = s->commit.id;
		else
			skipped[range.n_skipped++] = s->commit.id;
	}
	ok = ok ? repository_left(&b->repository, &range, left, is_left, err)
		: err_set(err, ERR_MEMORY, "out of memory for a bisection");
	for (size_t i = 0; i < b->steps.len; i++)
		open += b->steps.at[i].verdict == STEP_NOT_ENOUGH;
	if (ok && open >= BISECTION_MOST_OPEN)
		b->state = BISECT_UNDECIDED;
	else if (ok && !*left->next)
		ok = finish(b, range.bad, skipped, is_left, range.n_skipped, err);
	free(ids);
	free(is_left);
	return ok;
}
