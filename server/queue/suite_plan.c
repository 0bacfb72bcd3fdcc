/* server/queue/suite_plan.c -- reads what a suite asks for, and plans the runs that answer it. */
#include "server/queue/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/fusion.h"
#include "profiler/profiler.h"
#include "server/text/text.h"

json_t *suite_blocks(struct err *err)
{
	return embedded_programs("suite", err);
}

static json_t *workloads_of(const json_t *request, struct err *err)
{
	const json_t *suite = json_object_get(request, "suite");
	json_t *list = json_object_get(request, "workloads");

	if (suite && list)
		err_set(err, ERR_BAD_REQUEST, "either suite or workloads, not both");
	else if (json_is_string(suite) && strcmp(json_string_value(suite), "blocks") == 0)
		return suite_blocks(err);
	else if (suite)
		err_set(err, ERR_BAD_REQUEST, "suite must be \"blocks\", the one that there is");
	else if (!json_is_array(list) || json_array_size(list) == 0)
		err_set(err, ERR_BAD_REQUEST,
			"workloads must be a list of workloads, or suite be \"blocks\"");
	else
		return json_incref(list);
	return NULL;
}

/* The modes that each workload runs in, eager first, as those of a run; NULL with why. */
static json_t *modes_of(const json_t *request, struct err *err)
{
	const json_t *asked = json_object_get(request, "modes");
	json_t *modes, *mode;
	size_t i;

	if (!asked || json_is_null(asked))
		return json_pack("[s, s, s]", "eager", "static", "dynamic");
	if (!json_is_array(asked) || json_array_size(asked) == 0) {
		err_set(err, ERR_BAD_REQUEST, "modes must be a list of " FUSION_MODE_LIST);
		return NULL;
	}
	modes = json_pack("[s]", "eager"); /* what all others are compared with */
	json_array_foreach((json_t *)asked, i, mode) {
		const char *name = json_string_value(mode);
		bool known = false, there = false;
		json_t *other;
		size_t k;

		for (int m = 0; name && m < FUSION_MODE_COUNT; m++)
			known = known || strcmp(name, fusion_mode_name((enum fusion_mode)m)) == 0;
		if (!known) {
			err_set(err, ERR_BAD_REQUEST,
				"modes has %s%.40s%s; there are " FUSION_MODE_LIST, name ? "'" : "",
				name ? name : "what is no text", name ? "'" : "");
			json_decref(modes);
			return NULL;
		}
		json_array_foreach(modes, k, other)
			there = there || json_equal(other, mode);
		if (!there)
			json_array_append(modes, mode);
	}
	return modes;
}

/* "dynamo", "native" or both; how many, 0 with why not. */
static int policies_of(const json_t *request, const char *policies[2], struct err *err)
{
	const json_t *field = json_object_get(request, "policy");
	const char *name = field ? json_string_value(field) : "both";

	policies[0] = name;
	policies[1] = "native";
	if (name && strcmp(name, "both") == 0) {
		policies[0] = "dynamo";
		return 2;
	}
	if (name && (strcmp(name, "dynamo") == 0 || strcmp(name, "native") == 0))
		return 1;
	err_set(err, ERR_BAD_REQUEST, "policy must be dynamo, native or both");
	return 0;
}

/* The request's fields over the workload's. */
static json_t *merged(const json_t *workload, const json_t *request, const char *policy)
{
	static const char *const fields[] = { "device", "backend", "threads", "project", "tags",
					      "commit", "branch",  "seconds", "engines" };
	json_t *json = json_copy((json_t *)workload);

	json_object_set(json, "modes", json_object_get(request, "modes"));
	json_object_set_new(json, "policy", json_string(policy));
	json_object_set_new(json, "keep_going", json_true());
	json_object_set_new(json, "seconds", json_real(SUITE_SECONDS));
	json_object_del(json, "title");
	json_object_del(json, "time");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (json_object_get(request, fields[i]))
			json_object_set(json, fields[i], json_object_get(request, fields[i]));
	return json;
}

/* Whether it can be run; else *wrong says why not. */
static void check_job(const json_t *workload, const json_t *json, const struct registry *registry,
		      struct err *wrong)
{
	const char *told = json_string_value(json_object_get(workload, "error"));
	struct workload *w;

	if (told) {
		err_set(wrong, ERR_WORKLOAD, "%.400s", told);
		return;
	}
	w = workload_parse_in(json, registry, wrong);
	workload_destroy(w);
}

/* The workload's name, with a number where one before it has the same; kept by the
 * request's list of names. */
static const char *add_name(json_t *names, const json_t *workload, int place)
{
	const char *name = json_string_value(json_object_get(workload, "name"));
	json_t *text = name && *name ? json_string(name) : json_sprintf("workload %d", place + 1);
	json_t *other;
	size_t i;

	json_array_foreach(names, i, other)
		if (json_equal(other, text)) {
			json_t *numbered = json_sprintf("%s (%d)", json_string_value(text),
							place + 1);

			json_decref(text);
			text = numbered;
			break;
		}
	json_array_append_new(names, text);
	return json_string_value(text);
}

static bool add_jobs(struct suite_plan *plan, const json_t *workload, const char *const *policies,
		     int n_policies, const struct registry *registry, struct err *err)
{
	int place = plan->n_workloads;
	json_t *names = json_object_get(plan->request, "names");

	if (!json_is_object(workload))
		return err_set(err, ERR_BAD_REQUEST, "workloads[%d] must be a workload", place);
	plan->names[place] = add_name(names, workload, place);
	plan->n_workloads++;
	for (int p = 0; p < n_policies; p++) {
		struct suite_job *job = &plan->jobs[plan->n_jobs++];

		job->workload = place;
		job->json = merged(workload, plan->request, policies[p]);
		if (p > 0) /* torch has but one policy */
			json_object_del(job->json, "engines");
		check_job(workload, job->json, registry, &job->wrong);
	}
	return true;
}

static bool fill(struct suite_plan *plan, json_t *list, const struct registry *registry,
		 struct err *err)
{
	const char *policies[2];
	int n_policies = policies_of(plan->request, policies, err);
	size_t n = json_array_size(list), i;
	json_t *workload;

	if (!n_policies)
		return false;
	if (n * (size_t)n_policies > SUITE_MAX_JOBS)
		return err_set(err, ERR_BOUND, "the suite makes %zu runs; the limit is %d",
			       n * (size_t)n_policies, SUITE_MAX_JOBS);
	plan->names = calloc(n, sizeof(*plan->names));
	plan->jobs = calloc(n * (size_t)n_policies, sizeof(*plan->jobs));
	if (!plan->names || !plan->jobs)
		return err_set(err, ERR_MEMORY, "out of memory for a suite");
	json_array_foreach(list, i, workload)
		if (!add_jobs(plan, workload, policies, n_policies, registry, err))
			return false;
	return true;
}

bool suite_plan_make(struct suite_plan *plan, const json_t *request,
		     const struct registry *registry, struct err *err)
{
	json_t *list, *modes;
	const char *name = json_string_value(json_object_get(request, "name"));
	const char *suite = json_string_value(json_object_get(request, "suite"));
	bool ok;

	*plan = (struct suite_plan){ 0 };
	if (!json_is_object(request))
		return err_set(err, ERR_BAD_REQUEST, "a suite is a JSON object");
	list = workloads_of(request, err);
	modes = list ? modes_of(request, err) : NULL;
	if (!modes) {
		json_decref(list);
		return false;
	}
	plan->request = json_copy((json_t *)request);
	json_object_del(plan->request, "workloads");
	json_object_set(plan->request, "modes", modes);
	json_object_set_new(plan->request, "names", json_array());
	plan->name = name ? name : suite ? suite : "suite";
	ok = fill(plan, list, registry, err);
	json_decref(modes);
	json_decref(list);
	if (!ok)
		suite_plan_finish(plan);
	return ok;
}

void suite_plan_finish(struct suite_plan *plan)
{
	for (int i = 0; i < plan->n_jobs; i++)
		json_decref(plan->jobs[i].json);
	free(plan->jobs);
	free(plan->names);
	json_decref(plan->request);
	*plan = (struct suite_plan){ 0 };
}
