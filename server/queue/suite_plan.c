/* server/queue/suite_plan.c -- reads what a suite asks for, and plans the runs that answer it. */
#include "server/queue/queue.h"

#include <string.h>

#include "fusion/fusion.h"
#include "profiler/profiler.h"
#include "server/text/text.h"

static json_t *workloads_of(const struct report_suite_request *asked, struct err *err)
{
	if (asked->suite && json_is_array(asked->workloads))
		err_set(err, ERR_BAD_REQUEST, "either suite or workloads, not both");
	else if (asked->suite && strcmp(asked->suite, "blocks") == 0)
		return embedded_programs("suite", err);
	else if (asked->suite)
		err_set(err, ERR_BAD_REQUEST, "suite must be \"blocks\", the one that there is");
	else if (json_array_size(asked->workloads) == 0)
		err_set(err, ERR_BAD_REQUEST,
			"workloads must be a list of workloads, or suite be \"blocks\"");
	else
		return json_incref(asked->workloads);
	return NULL;
}

static bool is_among(const char *name, struct report_texts list)
{
	for (size_t i = 0; i < list.n; i++)
		if (strcmp(list.at[i], name) == 0)
			return true;
	return false;
}

/* The modes that each workload runs in, eager first, as those of a run: it is what all others are
 * compared with. */
static bool add_modes(struct report_suite_request *asked, struct arena *arena, struct err *err)
{
	static const char *const otherwise[] = { "eager", "static", "dynamic" };
	struct report_texts given = asked->modes, modes = { 0 };
	enum fusion_mode ignored;

	if (asked->has.modes && given.n == 0)
		return err_set(err, ERR_BAD_REQUEST, "modes must be a list of " FUSION_MODE_LIST);
	modes.at = ARENA_ARRAY(arena, const char *, given.n + 3);
	if (!modes.at)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	for (size_t i = 0; i < (asked->has.modes ? 1 : 3); i++)
		modes.at[modes.n++] = otherwise[i];
	for (size_t i = 0; i < given.n; i++) {
		if (!fusion_mode_from_name(given.at[i], &ignored))
			return err_set(err, ERR_BAD_REQUEST,
				       "modes has '%.40s'; there are " FUSION_MODE_LIST,
				       given.at[i]);
		if (!is_among(given.at[i], modes))
			modes.at[modes.n++] = given.at[i];
	}
	REPORT_SET(asked, modes, modes);
	return true;
}

/* "dynamo", "native" or both; how many, 0 with why not. */
static int policies_of(const struct report_suite_request *asked, const char *policies[2],
		       struct err *err)
{
	const char *name = asked->policy ? asked->policy : "both";

	policies[0] = name;
	policies[1] = "native";
	if (strcmp(name, "both") == 0) {
		policies[0] = "dynamo";
		return 2;
	}
	if (strcmp(name, "dynamo") == 0 || strcmp(name, "native") == 0)
		return 1;
	err_set(err, ERR_BAD_REQUEST, "policy must be dynamo, native or both");
	return 0;
}

static json_t *modes_json(struct report_texts modes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < modes.n; i++)
		json_array_append_new(list, json_string(modes.at[i]));
	return list;
}

/* The request's fields over the workload's: those that both have. */
static json_t *merged(const json_t *workload, const struct report_suite_request *asked,
		      const char *policy)
{
	static const char *const own[] = { "name", "modes", "policy" };
	const struct report_record *record = REPORT_RECORD(suite_request);
	json_t *json = json_copy((json_t *)workload);

	json_object_set_new(json, "modes", modes_json(asked->modes));
	json_object_set_new(json, "policy", json_string(policy));
	json_object_set_new(json, "keep_going", json_true());
	json_object_set_new(json, "seconds", json_real(SUITE_SECONDS));
	json_object_del(json, "title");
	json_object_del(json, "time");
	for (int i = 0; i < record->n_fields; i++) {
		const struct report_field *f = &record->fields[i];
		const json_t *value = report_found(f, record, asked);

		if (value && report_field(REPORT_RECORD(workload), f->name) &&
		    report_key(own, 3, f->name) == 3)
			json_object_set(json, f->name, (json_t *)value);
	}
	return json;
}

/* Whether it can be run; else *wrong says why not. */
static void check_job(const struct report_suite_entry *entry, const json_t *json,
		      const struct registry *registry, struct err *wrong)
{
	struct workload *w;

	if (entry && entry->error) {
		err_set(wrong, ERR_WORKLOAD, "%.400s", entry->error);
		return;
	}
	w = workload_parse_in(json, registry, wrong);
	workload_destroy(w);
}

/* The workload's name, with a number where one before it has the same. */
static const char *add_name(struct suite_plan *plan, const struct report_suite_entry *entry)
{
	const char *name = entry ? entry->name : NULL;
	int place = plan->n_workloads++;
	struct report_texts before = { plan->names, (size_t)place };

	name = name && *name ? arena_strdup(&plan->arena, name)
			     : arena_printf(&plan->arena, "workload %d", place + 1);
	if (name && is_among(name, before))
		name = arena_printf(&plan->arena, "%s (%d)", name, place + 1);
	plan->names[place] = name;
	return name;
}

struct policies {
	const char *at[2];
	int n;
};

static bool add_jobs(struct suite_plan *plan, const json_t *workload, const struct policies *under,
		     const struct registry *registry, struct err *err)
{
	int place = plan->n_workloads;
	const struct report_suite_entry *entry;

	if (!json_is_object(workload))
		return err_set(err, ERR_BAD_REQUEST, "workloads[%d] must be a workload", place);
	entry = report_read_suite_entry(workload, &plan->arena, NULL);
	if (!add_name(plan, entry))
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	for (int p = 0; p < under->n; p++) {
		struct suite_job *job = &plan->jobs[plan->n_jobs++];

		job->workload = place;
		job->policy = under->at[p];
		job->json = merged(workload, plan->asked, under->at[p]);
		if (p > 0) /* torch has but one policy */
			json_object_del(job->json, "engines");
		check_job(entry, job->json, registry, &job->wrong);
	}
	return true;
}

static bool fill(struct suite_plan *plan, json_t *list, const struct registry *registry,
		 struct err *err)
{
	struct policies under;
	size_t n = json_array_size(list), i;
	json_t *workload;

	under.n = policies_of(plan->asked, under.at, err);
	if (!under.n)
		return false;
	if (n * (size_t)under.n > SUITE_MAX_JOBS)
		return err_set(err, ERR_BOUND, "the suite makes %zu runs; the limit is %d",
			       n * (size_t)under.n, SUITE_MAX_JOBS);
	plan->names = ARENA_ARRAY(&plan->arena, const char *, n);
	plan->jobs = ARENA_ARRAY(&plan->arena, struct suite_job, n * (size_t)under.n);
	if (!plan->names || !plan->jobs)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	json_array_foreach(list, i, workload)
		if (!add_jobs(plan, workload, &under, registry, err))
			return false;
	return true;
}

/* What is asked, as a struct; NULL with why not. */
static struct report_suite_request *read_asked(const json_t *request, struct arena *arena,
					       struct err *err)
{
	struct report_suite_request *asked = NULL;

	if (!json_is_object(request))
		err_set(err, ERR_BAD_REQUEST, "a suite is a JSON object");
	else
		asked = report_read_suite_request(request, arena, err);
	if (err->code == ERR_WORKLOAD)
		err->code = ERR_BAD_REQUEST;
	return asked;
}

/* As it is kept: without the workloads, which its runs have. */
static json_t *kept_request(const struct report_suite_request *asked)
{
	json_t *json = json_copy((json_t *)asked->json);

	json_object_del(json, "workloads");
	json_object_set_new(json, "modes", modes_json(asked->modes));
	return json;
}

bool suite_plan_make(struct suite_plan *plan, const json_t *request,
		     const struct registry *registry, struct err *err)
{
	struct report_suite_request *asked;
	json_t *list;
	bool ok;

	*plan = (struct suite_plan){ .whole = json_incref((json_t *)request),
				     .registry = registry };
	plan->asked = asked = read_asked(request, &plan->arena, err);
	list = asked ? workloads_of(asked, err) : NULL;
	ok = list && add_modes(asked, &plan->arena, err);
	if (ok) {
		plan->request = kept_request(asked);
		plan->name = asked->name ? asked->name : asked->suite ? asked->suite : "suite";
		ok = fill(plan, list, registry, err);
	}
	json_decref(list);
	if (!ok)
		suite_plan_finish(plan);
	return ok;
}

void suite_plan_finish(struct suite_plan *plan)
{
	for (int i = 0; i < plan->n_jobs; i++)
		json_decref(plan->jobs[i].json);
	json_decref(plan->request);
	json_decref(plan->whole);
	arena_finish(&plan->arena);
	*plan = (struct suite_plan){ 0 };
}
