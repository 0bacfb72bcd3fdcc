/* profiler/export/export.c -- a run, written for the tools that people have. */
#include "profiler/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "profiler/export/job.h"
#include "profiler/export/redact.h"

/* ---- the whole report, with what it is the report of. ---- */

bool export_json(struct export_job *job, struct err *err)
{
	const char *key;
	json_t *value;

	(void)err;
	out_puts(&job->out, "{\"breakeven\":1,\"run\":");
	out_json(&job->out, job->head_json);
	out_puts(&job->out, ",\"environment\":");
	out_json(&job->out, job->environment);
	/* A report names its workload; a run that has none was posted with one. */
	if (!job->found || !job->found->workload) {
		out_puts(&job->out, ",\"workload\":");
		out_json(&job->out, job->workload);
	}
	json_object_foreach(job->report, key, value)
	{
		if (strcmp(key, "breakeven") == 0 || strcmp(key, "environment") == 0)
			continue; /* written above */
		out_puts(&job->out, ",");
		out_text(&job->out, key);
		out_puts(&job->out, ":");
		out_json(&job->out, value);
	}
	out_puts(&job->out, "}\n");
	return true;
}

static const struct export_format formats[] = {
#define FORMAT(name, extension, type, title) { #name, extension, type, title, export_##name },
#include "profiler/export/formats.def"
#undef FORMAT
};

int export_format_count(void)
{
	return sizeof(formats) / sizeof(formats[0]);
}

const struct export_format *export_format_at(int index)
{
	return &formats[index];
}

const struct export_format *export_format_find(const char *name, struct err *err)
{
	char all[256] = "";

	for (int i = 0; i < export_format_count(); i++) {
		if (name && strcmp(name, formats[i].name) == 0)
			return &formats[i];
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 formats[i].name);
	}
	if (name)
		err_set(err, ERR_BAD_REQUEST, "format=%.40s: one of %s is needed", name, all);
	else
		err_set(err, ERR_BAD_REQUEST, "a format is missing: format= is one of %s", all);
	return NULL;
}

static bool add_tables(void *self, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	return timeline_block_read(block, len, &b, err) && timeline_tables_read(self, &b, err);
}

static json_t *head_json(const struct export_run *run, struct arena *arena)
{
	struct report_exported_run *head = report_new_exported_run(1, arena);

	if (!head)
		return NULL;
	REPORT_SET(head, id, run->id);
	REPORT_SET_OR_NULL(head, name, run->name, run->name);
	REPORT_SET_OR_NULL(head, project, run->project, run->project);
	REPORT_SET_OR_NULL(head, status, run->status, run->status);
	REPORT_SET_OR_NULL(head, device, run->device, run->device);
	REPORT_SET_OR_NULL(head, commit, run->commit, run->commit);
	REPORT_SET_OR_NULL(head, branch, run->branch, run->branch);
	REPORT_SET(head, created_ns, run->created_ns);
	REPORT_SET_OR_NULL(head, error, run->error, run->error);
	REPORT_SET_OR_NULL(head, breakeven, run->version, run->version);
	if (run->redacted)
		REPORT_SET(head, redacted, true);
	if (run->error_code) {
		REPORT_SET(head, error_code, run->error_code);
		REPORT_SET(head, error_line, run->error_line);
		REPORT_SET(head, error_column, run->error_column);
	}
	return report_write_exported_run(head);
}

/* What writers see: what the job has by now, redacted or not. */
static bool read(struct export_job *job, struct err *err)
{
	job->head = report_read_exported_run(job->head_json, &job->arena, err);
	if (job->workload)
		job->posted = report_read_workload(job->workload, &job->arena, err);
	if (job->report)
		job->found = report_read_run(job->report, &job->arena, err);
	return job->head && (job->posted || !job->workload) && (job->found || !job->report);
}

struct parts {
	struct buf modes, points; /* what there is, once each */
	bool has_mode;            /* the query's, at its point */
};

static void add_once(struct buf *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list->data; at && len && (at = strstr(at, name)); at += len)
		if ((at == list->data || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return;
	buf_printf(list, "%s%s", list->len ? ", " : "", name);
}

static bool note_part(void *self, const struct job_mode *at)
{
	struct parts *p = self;
	char n[24];

	add_once(&p->modes, at->mode);
	if (at->has_n) {
		snprintf(n, sizeof(n), "%lld", (long long)at->n);
		add_once(&p->points, n);
	}
	return true;
}

static bool note_wanted(void *self, const struct job_mode *at)
{
	(void)at;
	((struct parts *)self)->has_mode = true;
	return false;
}

/* What is asked of a run must be of it: its modes are those of its report and of its lanes. */
static bool has_part(struct export_job *job, struct err *err)
{
	const struct export_query *q = job->query, all = { 0 };
	struct parts p = { .has_mode = !q->mode && !q->has_n };
	char n[48] = "";

	for (size_t i = 0; i < job->n_lanes; i++)
		p.has_mode = p.has_mode || job->wanted[i];
	if (!p.has_mode)
		job_modes(job, note_wanted, &p);
	if (p.has_mode)
		return true;
	buf_init(&p.modes, 0);
	buf_init(&p.points, 0);
	job->query = &all;
	job_modes(job, note_part, &p);
	job->query = q;
	if (q->has_n)
		snprintf(n, sizeof(n), " n=%lld", (long long)q->n);
	err_set(err, ERR_NOT_FOUND, "run %lld has no%s%.40s%s; it has %s%.300s%s%.300s",
		(long long)job->run->id, q->mode ? " mode=" : "", q->mode ? q->mode : "", n,
		p.modes.len ? "the modes " : "no modes of a workload",
		p.modes.len ? p.modes.data : "",
		p.points.len  ? " and the points "
		: p.modes.len ? " and no sweep"
			      : "",
		p.points.len ? p.points.data : "");
	buf_finish(&p.modes);
	buf_finish(&p.points);
	return false;
}

static bool load(struct export_job *job, struct err *err)
{
	const struct export_run *run = job->run;

	if (!run->blocks(run->store, TIMELINE_TABLES, add_tables, &job->tables, err))
		return false;
	job->head_json = head_json(run, &job->arena);
	job->workload = json_incref((json_t *)run->workload);
	job->report = json_incref((json_t *)run->report);
	job->environment = json_incref((json_t *)run->environment);
	job->n_lanes = json_array_size(job->tables.lanes);
	job->n_names = json_array_size(job->tables.names);
	job->n_shapes = json_array_size(job->tables.shapes);
	job->wanted = calloc(job->n_lanes + 1, sizeof(*job->wanted));
	if (!job->head_json || !job->wanted)
		return err_set(err, ERR_MEMORY, "out of memory for an export");
	for (size_t i = 0; i < job->n_lanes; i++) {
		struct timeline_lane lane = job_lane(job, i);

		job->wanted[i] = timeline_lane_is_of(&lane, job->query->mode,
						     job->query->has_n ? &job->query->n : NULL);
	}
	if (!read(job, err) || !has_part(job, err))
		return false;
	if (!job->query->redact)
		return true;
	return redact_job(job) ? read(job, err)
			       : err_set(err, ERR_MEMORY, "out of memory for an export");
}

bool export_write(const struct export_format *f, const struct export_run *run,
		  const struct export_query *q, export_put_fn *put, void *self, struct err *err)
{
	struct export_job job = { .run = run, .query = q };
	bool gzip = strcmp(f->type, "application/gzip") == 0, ok = false;

	if (out_init(&job.out, put, self, gzip, err))
		ok = out_finish(&job.out, load(&job, err) && f->write(&job, err), err);
	json_decref(job.head_json);
	json_decref(job.workload);
	json_decref(job.report);
	json_decref(job.environment);
	timeline_tables_finish(&job.tables);
	arena_finish(&job.arena);
	free(job.wanted);
	return ok;
}
