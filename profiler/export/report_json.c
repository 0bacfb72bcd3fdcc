/* profiler/export/report_json.c -- the whole report, with what it is the report of. */
#include <string.h>

#include "profiler/export/job.h"

bool export_json(struct export_job *job, struct err *err)
{
	const char *key;
	json_t *value;

	(void)err;
	out_puts(&job->out, "{\"breakeven\":1,\"run\":");
	out_json(&job->out, job->head);
	out_puts(&job->out, ",\"environment\":");
	out_json(&job->out, job->environment);
	/* A report names its workload; a run that has none was posted with one. */
	if (!json_object_get(job->report, "workload")) {
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
