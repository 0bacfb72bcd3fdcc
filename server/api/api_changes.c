/* server/api/api_changes.c -- /api/v1/history/changes: where figures of workloads stepped to
 * another level, and what people say of it. */
#define HANDLER_changes(name) name
#include <math.h>
#include <string.h>

#include "profiler/findings/sentence.h"
#include "profiler/numbers/numbers.h"
#include "server/api/routes.h"
#include "server/queue/queue.h"

enum {
	LIST_DEFAULT = 50,
	LIST_MOST = 500,
	CATCH_UP = 20,
	HASH_SHOWN = 12,
	MOST_HOW = 6,
	NOTE_MOST = 4000
};

/* ---- one change in words ---- */

static struct interval interval_of(const struct change_span *s)
{
	return (struct interval){ s->low, s->mid, s->high };
}

static const struct metric_info *metric_of(const struct change_step_row *s)
{
	enum figure_metric metric;
	struct err none = { 0 };

	return metric_from_name(s->metric, &metric, &none) ? metric_info(metric) : NULL;
}

/* "1.20x", "+1" */
static struct report_figure *times_of(struct wording *w, const struct change_step_row *s,
				      bool count)
{
	struct interval ratio = interval_of(&s->ratio);
	struct report_figure *f;
	char text[NUMBER_BYTES];

	if (!count)
		return wording_figure(w, &ratio, "x");
	number_short(text, fabs(ratio.mid));
	f = report_new_figure(1, w->arena);
	w->failed |= !f;
	if (f)
		REPORT_SET(f, text, wording_text(w, "%s%s", ratio.mid < 0 ? "−" : "+", text));
	return f;
}

static struct report_change_level *level_of(struct wording *w, const struct change_span *s,
					    const struct metric_info *m, double most)
{
	struct report_change_level *to = report_new_change_level(1, w->arena);
	struct interval x = interval_of(s);

	w->failed |= !to;
	if (!to)
		return NULL;
	REPORT_SET(to, value, x.mid);
	REPORT_SET(to, ci, (struct report_interval){ x.low, x.high });
	if (m->kind == FIGURE_COUNTED && !*m->unit)
		x.low = x.high = NAN;
	REPORT_SET(to, shown, wording_figure_in(w, &x, m->unit, most));
	return to;
}

static void fill_step(struct wording *w, const struct change_step_row *s,
		      const struct metric_info *m, struct report_change_step *to)
{
	double most = fmax(s->old.mid, s->new.mid);

	REPORT_SET(to, metric, m->name);
	REPORT_SET(to, title, m->title);
	REPORT_SET(to, unit, m->unit);
	REPORT_SET(to, mode, s->mode);
	REPORT_SET_OR_NULL(to, n, isfinite(s->n), s->n);
	REPORT_SET(to, verdict, s->verdict);
	REPORT_SET(to, from_run, s->from_run);
	REPORT_SET(to, before_run, s->before_run);
	REPORT_SET(to, run, s->run);
	REPORT_SET(to, to_run, s->to_run);
	REPORT_SET(to, earliest, s->earliest);
	REPORT_SET(to, latest, s->latest);
	REPORT_SET(to, runs_before, s->runs_before);
	REPORT_SET(to, runs_after, s->runs_after);
	REPORT_SET(to, ended, s->ended != 0);
	REPORT_SET(to, old, level_of(w, &s->old, m, most));
	REPORT_SET(to, new, level_of(w, &s->new, m, most));
	REPORT_SET(to, ratio, s->ratio.mid);
	REPORT_SET(to, ci, (struct report_interval){ s->ratio.low, s->ratio.high });
	REPORT_SET(to, times, times_of(w, s, m->kind == FIGURE_COUNTED && !*m->unit));
}

/* The first step is what the verdict speaks of. */
static struct report_sentence_part_list say(struct wording *w, const struct change_row *c,
					    const struct report_change_step_list *steps)
{
	struct report_sentence_part_list parts;
	struct sentence s = sentence_begin(w, &parts);
	const struct report_change_step *head = steps->n ? &steps->at[0] : NULL;

	if (!head || w->failed)
		return parts;
	sentence_add(&s, PART_CLAIM, "%s %s%s went from %s to %s: %s", head->mode, head->title,
		     wording_at(w, head->n), head->old->shown->text, head->new->shown->text,
		     head->times->text);
	sentence_interval(&s, head->times);
	sentence_add(&s, PART_PLAIN, ", since run #%lld, in %s", (long long)c->run,
		     wording_plural(w, head->runs_after, "run", "runs"));
	if (steps->n > 1)
		sentence_add(
		    &s, PART_PLAIN, "; %s stepped with it",
		    wording_plural(w, (int64_t)steps->n - 1, "more figure", "more figures"));
	sentence_add(&s, PART_PLAIN, ".");
	return parts;
}

static struct report_texts how(struct wording *w, const struct change_row *c,
			       const struct report_history_change *to)
{
	const char **at = ARENA_ARRAY(w->arena, const char *, MOST_HOW);
	const struct change_step_row *head = c->n_steps ? &c->steps[0] : NULL;
	const char *a = to->before ? to->before->commit : NULL,
		   *b = to->after ? to->after->commit : NULL;
	size_t n = 0;

	w->failed |= !at;
	if (!at || !head)
		return (struct report_texts){ 0 };
	at[n++] = head->earliest == head->latest
		      ? wording_text(w, "It begins with run #%lld; no other place is likely.",
				     (long long)head->run)
		      : wording_text(w, "It begins between runs #%lld and #%lld (95 %%).",
				     (long long)head->earliest, (long long)head->latest);
	if (a && b && strcmp(a, b) != 0 && to->has.suspects_total)
		at[n++] = wording_text(
		    w, "%s between the two.",
		    wording_plural(w, to->suspects_total, "commit lies", "commits lie"));
	else if (a && b && strcmp(a, b) != 0)
		at[n++] = wording_text(w, "Suspects: git log %.12s..%.12s.", a, b);
	else if (a && b)
		at[n++] = wording_text(w,
				       "Both runs are of commit %.12s: the program's settings, the "
				       "machine or this program changed.",
				       a);
	if (strcmp(c->verdict, "MACHINE") == 0)
		at[n++] =
		    "Eager, which runs no compiled code, stepped too, and no speedup did: the "
		    "machine moved, or the library.";
	if (head->ended)
		at[n++] = "A later step ended it.";
	if (c->gone)
		at[n++] = "With the runs since then it is no step any more.";
	return (struct report_texts){ at, n };
}

/* ---- as it is answered ---- */

static struct report_change_end *end_of(struct db *db, int64_t id, struct arena *arena)
{
	struct report_change_end *to = report_new_change_end(1, arena);
	struct run_row run = { 0 };
	struct err gone = { 0 };
	bool is = to && db_run_get(db, id, arena, &run, &gone);

	if (!to)
		return NULL;
	REPORT_SET(to, run, id);
	REPORT_SET_OR_NULL(to, commit, is && *run.commit, run.commit);
	REPORT_SET_OR_NULL(to, created_ns, is, run.created_ns);
	return to;
}

/* Changes that are not committed have the commit that they were made on. */
static const char *clean_commit(const struct report_change_end *end, struct arena *arena)
{
	const char *commit = end && end->commit ? end->commit : "";

	return arena_printf(arena, "%.*s", (int)strcspn(commit, "-"), commit);
}

static bool fill_suspects(struct db *db, const struct change_row *c, struct arena *arena,
			  struct report_history_change *to)
{
	const struct commit_range range = { c->project, clean_commit(to->before, arena),
					    clean_commit(to->after, arena) };
	struct commits_between between = { 0 };
	struct err none = { 0 };
	struct report_suspect *at;
	bool known = range.from && range.to && *range.from && *range.to &&
		     db_commits_between(db, &range, arena, &between, &none);

	at = report_new_suspect((size_t)between.n, arena);
	for (int i = 0; at && i < between.n; i++) {
		REPORT_SET(&at[i], id, between.at[i].id);
		REPORT_SET(&at[i], subject, between.at[i].subject);
		REPORT_SET(&at[i], author, between.at[i].author);
		REPORT_SET(&at[i], committed_ns, between.at[i].committed_ns);
	}
	REPORT_SET(to, suspects, ((struct report_suspect_list){ at, (size_t)between.n }));
	REPORT_SET_OR_NULL(to, suspects_total, known && between.whole && between.total > 0,
			   between.total);
	return at != NULL;
}

static struct report_change_step_list steps_of(struct wording *w, const struct change_row *c)
{
	struct report_change_step_list list = {
		report_new_change_step((size_t)c->n_steps, w->arena), 0
	};

	for (int i = 0; list.at && i < c->n_steps; i++) {
		const struct metric_info *m = metric_of(&c->steps[i]);

		if (m)
			fill_step(w, &c->steps[i], m, &list.at[list.n++]);
	}
	return list;
}

static bool change_fill(struct db *db, const struct change_row *c, struct arena *arena,
			struct report_history_change *to)
{
	struct wording w = { .arena = arena };

	REPORT_SET(to, id, c->id);
	REPORT_SET(to, workload, c->name);
	REPORT_SET(to, project, c->project);
	REPORT_SET(to, branch, c->branch);
	REPORT_SET(to, settings, arena_printf(arena, "%.*s", HASH_SHOWN, c->settings_hash));
	REPORT_SET(to, verdict, c->verdict);
	REPORT_SET(to, state, c->gone ? "gone" : c->acknowledged ? "acknowledged" : "open");
	REPORT_SET(to, before, end_of(db, c->before, arena));
	REPORT_SET(to, after, end_of(db, c->run, arena));
	REPORT_SET(to, found_ns, c->found_ns);
	REPORT_SET(to, note, c->note);
	REPORT_SET(to, note_by, c->note_by);
	REPORT_SET_OR_NULL(to, said_ns, c->said_ns > 0, c->said_ns);
	REPORT_SET(to, steps, steps_of(&w, c));
	REPORT_SET(to, sentence, say(&w, c, &to->steps));
	if (!fill_suspects(db, c, arena, to))
		return false;
	REPORT_SET(to, how, how(&w, c, to));
	return !w.failed;
}

bool changes_fill(struct db *db, const struct change_list *from, struct arena *arena,
		  struct report_history_change_list *to)
{
	*to = (struct report_history_change_list){
		report_new_history_change((size_t)from->n, arena), (size_t)from->n
	};
	for (int i = 0; to->at && i < from->n; i++)
		if (!change_fill(db, &from->at[i], arena, &to->at[i]))
			return false;
	return to->at != NULL;
}

/* ---- the routes ---- */

static bool read_query(struct req *req, struct change_query *q, struct err *err)
{
	const char *state = req_query(req, "state");
	int64_t limit;

	*q = (struct change_query){ .name = req_query(req, "workload"),
				    .project = req_query(req, "project") };
	if (!req_query_int(req, "limit", (struct req_range){ 1, LIST_MOST, LIST_DEFAULT }, &limit,
			   err) ||
	    !req_query_int(req, "run", (struct req_range){ 0, INT64_MAX, 0 }, &q->run, err))
		return false;
	q->limit = (int)limit;
	q->open = state && strcmp(state, "open") == 0;
	return !state || !*state || q->open || strcmp(state, "all") == 0 ||
	       err_set(err, ERR_BAD_REQUEST, "state=%.40s: open or all is needed", state);
}

static bool api_changes(struct req *req, struct reply *reply, struct err *err)
{
	struct report_draft draft = { 0 };
	struct report_changes *to = report_new_changes(1, &draft.arena);
	struct change_query query;
	struct change_list found;
	bool left, ok = read_query(req, &query, err);

	ok = ok &&
	     (!query.name || !*query.name ||
	      changes_catch_up(req->app->db, query.name, CATCH_UP, &left, err)) &&
	     db_changes_list(req->app->db, &query, &draft.arena, &found, err);
	if (ok && to && changes_fill(req->app->db, &found, &draft.arena, &to->changes)) {
		to->has.changes = true;
		REPORT_SET(to, total, found.total);
		reply->json = report_write_changes(to);
		reply->keep = KEEP_STORE;
	}
	report_draft_finish(&draft);
	return reply->json || (ok ? err_set(err, ERR_MEMORY, "out of memory for changes") : false);
}

/* The one change, of a project that who asks may see. */
static bool find_one(struct req *req, struct change_row *out, struct err *err)
{
	struct change_query query = { .project = req->caller.project, .limit = 1 };
	struct change_list found;

	if (!req_id(req, 0, &query.id, err) ||
	    !db_changes_list(req->app->db, &query, req->arena, &found, err))
		return false;
	if (found.n == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no change %lld", (long long)query.id);
	*out = found.at[0];
	return true;
}

/* The runs before and after it, side by side; NULL where one of them is gone. */
static json_t *compare_ends(struct db *db, const struct change_row *c)
{
	struct loaded_runs runs = { 0 };
	struct err none = { 0 };
	json_t *json = NULL;

	if (loaded_add_run(&runs, db, c->before, &none) && loaded_add_run(&runs, db, c->run, &none))
		json = compare_runs(runs.at, runs.n, &(struct compare_options){ 0 }, &none);
	loaded_finish(&runs);
	return json;
}

static bool answer_one(struct req *req, const struct change_row *c, struct reply *reply,
		       struct err *err)
{
	struct report_draft draft = { 0 };
	struct report_history_change *to = report_new_history_change(1, &draft.arena);
	json_t *compared = NULL;

	if (to && change_fill(req->app->db, c, &draft.arena, to))
		reply->json = report_write_history_change(to);
	compared = reply->json ? compare_ends(req->app->db, c) : NULL;
	if (compared)
		json_object_set_new(reply->json, "comparison", compared);
	report_draft_finish(&draft);
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for a change");
}

static bool api_change_get(struct req *req, struct reply *reply, struct err *err)
{
	struct change_row change;

	return find_one(req, &change, err) && answer_one(req, &change, reply, err);
}

static bool read_said(const json_t *json, struct change_said *said, struct err *err)
{
	const json_t *acknowledged = json_object_get(json, "acknowledged");
	const json_t *note = json_object_get(json, "note");
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return err_set(err, ERR_BAD_REQUEST,
			       "an object with acknowledged or note is needed");
	json_object_foreach((json_t *)json, key, value)
		if (strcmp(key, "acknowledged") != 0 && strcmp(key, "note") != 0)
			return err_set(err, ERR_BAD_REQUEST,
				       "%.40s cannot be set; acknowledged and note can", key);
	if ((acknowledged && !json_is_boolean(acknowledged)) ||
	    (note && (!json_is_string(note) || json_string_length(note) > NOTE_MOST)))
		return err_set(err, ERR_BAD_REQUEST,
			       "acknowledged is true or false, note a text of up to %d bytes",
			       NOTE_MOST);
	if (!acknowledged && !note)
		return err_set(err, ERR_BAD_REQUEST, "acknowledged or note is needed");
	said->sets_acknowledged = acknowledged != NULL;
	said->acknowledged = json_is_true(acknowledged);
	said->note = json_string_value(note);
	return true;
}

static bool api_change_patch(struct req *req, struct reply *reply, struct err *err)
{
	struct change_said said = { .by = req->caller.name };
	struct change_row change;
	json_t *json = find_one(req, &change, err) ? req_json(req, err) : NULL;
	bool ok = json && read_said(json, &said, err) &&
		  db_change_say(req->app->db, change.id, &said, err) && find_one(req, &change, err);

	json_decref(json);
	return ok && answer_one(req, &change, reply, err);
}

handler_fn *const changes_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
