/* server/queue/results.c -- what other tools measured, as runs that are done. */
#include "server/queue/queue.h"

#include <stdlib.h>
#include <string.h>

#include "server/queue/outcome.h"

/* Of each run, while all are stored. */
struct measured {
	struct suite_member *members;
	struct run_outcome *outcomes;
	struct outcome *read;
	char **reports; /* JSON texts */
	size_t n;
	struct arena *arena;
	const char *author;
};

/* What a list says that it is: the tool, the file and its first figure. */
static const char *about_of(const struct report_run *run, struct arena *arena)
{
	const struct report_mode *first = &run->modes.at[0];
	const char *shown = first->measure ? report_text(first->measure->shown) : "";

	return row_text(arena,
			json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:s}", "kind", "result", "name",
				  run->result->format, "files", 0, "kernels", 0, "length_us", 0,
				  "mode", run->modes.keys[0], "shown", shown));
}

static bool fill(struct measured *m, size_t i, const struct report_run *run, struct err *err)
{
	const struct report_workload *w = run->workload;
	struct run_outcome *o = &m->outcomes[i];
	const json_t *json = run->json;
	struct suite_member *member = &m->members[i];

	if (!w || !w->name || !run->result || !run->modes.n)
		return err_set(err, ERR_WORKLOAD,
			       "result %zu lacks a workload's name, a tool or figures", i);
	*member = (struct suite_member){ .run = enqueue_row(m->arena, w, w->name),
					 .workload = (int64_t)i,
					 .policy = "dynamo" };
	member->run.device = report_text(w->device);
	member->run.modes = "";
	member->run.author = m->author;
	member->run.workload = row_text(m->arena, json_incref(json_object_get(json, "workload")));
	m->reports[i] = json_dumps(json, JSON_COMPACT);
	if (!member->run.workload || !m->reports[i] ||
	    !outcome_read(&m->read[i], m->reports[i], strlen(m->reports[i]), err))
		return err->code != ERR_NONE
			   ? false
			   : err_set(err, ERR_MEMORY, "out of memory for a result");
	*o = m->read[i].stored;
	o->n_results = 0; /* no mode of it is one of a suite: what is listed is `about` */
	o->environment = row_text(m->arena, json_incref(json_object_get(json, "environment")));
	if (!o->environment)
		o->environment = "{}";
	o->about = about_of(run, m->arena);
	return true;
}

/* The suite that several are. */
static struct suite suite_of(const struct report_results *r, const struct measured *m)
{
	json_t *names = json_array();
	const char *name = r->name ? r->name : r->format;

	for (size_t i = 0; i < m->n; i++)
		json_array_append_new(names, json_string(m->members[i].run.name));
	return (struct suite){
		.name = name,
		.project = m->members[0].run.project,
		.workloads = row_text(m->arena, names),
		.request = row_text(m->arena,
				    json_pack("{s:s, s:s}", "name", name, "result", r->format)),
	};
}

static bool begin(struct measured *m, const struct report_results *r, struct err *err)
{
	m->n = r->results.n;
	m->members = ARENA_ARRAY(m->arena, struct suite_member, m->n + 1);
	m->outcomes = ARENA_ARRAY(m->arena, struct run_outcome, m->n + 1);
	m->read = calloc(m->n + 1, sizeof(*m->read));
	m->reports = calloc(m->n + 1, sizeof(*m->reports));
	if (!m->members || !m->outcomes || !m->read || !m->reports)
		return err_set(err, ERR_MEMORY, "out of memory for results");
	return (m->n > 0 && m->n <= SUITE_MAX_JOBS) ||
	       err_set(err, ERR_BOUND, "1 to %d results are taken at once", SUITE_MAX_JOBS);
}

static void finish(struct measured *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->read)
			outcome_finish(&m->read[i]);
		if (m->reports)
			free(m->reports[i]);
	}
	free(m->read);
	free(m->reports);
}

static bool keep_ids(const struct measured *m, struct results_stored *out, struct err *err)
{
	out->n = m->n;
	out->runs = ARENA_ARRAY(m->arena, int64_t, m->n);
	for (size_t i = 0; out->runs && i < m->n; i++)
		out->runs[i] = m->members[i].run.id;
	return out->runs || err_set(err, ERR_MEMORY, "out of memory for results");
}

bool results_store(struct db *db, const json_t *results, const char *author, struct arena *arena,
		   struct results_stored *out, struct err *err)
{
	const struct report_results *r = report_read_results(results, arena, err);
	struct measured m = { .arena = arena, .author = author };
	struct suite suite = { 0 };
	bool ok = r && begin(&m, r, err);

	*out = (struct results_stored){ 0 };
	for (size_t i = 0; ok && i < m.n; i++)
		ok = fill(&m, i, &r->results.at[i], err);
	if (ok && m.n > 1)
		suite = suite_of(r, &m);
	ok = ok && db_runs_measured(db, m.n > 1 ? &suite : NULL, m.members, m.outcomes, m.n, err) &&
	     keep_ids(&m, out, err);
	out->suite = suite.id;
	finish(&m);
	return ok;
}
