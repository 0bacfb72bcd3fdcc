/* server/cli/cmd_record.c -- `breakeven record NAME -- COMMAND`: times any command, as a run of a
 * workload of that name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "profiler/measure/program.h"
#include "profiler/measure/stats.h"
#include "profiler/profiler.h"
#include "profiler/results/results.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"
#include "server/cli/results_file.h"
#include "server/cli/workload_file.h"
#include "server/text/text.h"

enum {
	LEAST_SAMPLES = 10,
	SAMPLES = 1000,
	MOST_SAMPLES = RESULTS_MOST_SAMPLES,
	SECONDS = 10,
	WARM_UPS = 1,
	MOST_WARM_UPS = 1000,
	TIMEOUT_S = 600,
	MOST_SECONDS = 86400,
	OUTPUT_BYTES = 1 << 16,
};

struct record_flags {
	const char *name, *samples_text, *seconds_text, *warm_ups_text, *timeout_text,
	    *precision_text;
	const char *machine, *commit, *branch, *project, *db, *post;
	char **command;
	bool json, allow_failure;
	long long samples, seconds, warm_ups, timeout;
	double precision;
};

struct record_sample {
	double wall_s, cpu_s, wait_s;
	int status;
};

struct recording {
	const struct record_flags *f;
	const volatile sig_atomic_t *stop;
	struct record_sample *at;
	double *wall; /* of all samples, without their waits: for the rule */
	int n;
	char stopped[100];
};

/* ---- flags ---- */

static bool check_flags(struct record_flags *f)
{
	char *end;

	if (!f->name || !*f->name)
		return flags_refuse("record", "a NAME is needed: of the workload whose run it is",
				    "");
	if (!f->command || !*f->command)
		return flags_refuse("record", "it times a COMMAND after `--`", "");
	if (f->precision_text) {
		f->precision = strtod(f->precision_text, &end) / 100;
		if (end == f->precision_text || *end || !(f->precision > 0 && f->precision < 1))
			return flags_refuse(
			    "record", "--precision takes percents above 0 and below 100, not ",
			    f->precision_text);
	}
	return flags_integer("record", "--samples", f->samples_text, 1, MOST_SAMPLES,
			     &f->samples) &&
	       flags_integer("record", "--seconds", f->seconds_text, 1, MOST_SECONDS,
			     &f->seconds) &&
	       flags_integer("record", "--warm-up", f->warm_ups_text, 0, MOST_WARM_UPS,
			     &f->warm_ups) &&
	       flags_integer("record", "--timeout", f->timeout_text, 1, MOST_SECONDS, &f->timeout);
}

static int read_flags(int argc, char **argv, struct record_flags *f)
{
	const struct flag table[] = {
		{ "--samples", .value = &f->samples_text },
		{ "--seconds", .value = &f->seconds_text },
		{ "--precision", .value = &f->precision_text },
		{ "--warm-up", .value = &f->warm_ups_text },
		{ "--timeout", .value = &f->timeout_text },
		{ "--allow-failure", .on = &f->allow_failure },
		{ "--machine", .value = &f->machine },
		{ "--commit", .value = &f->commit },
		{ "--branch", .value = &f->branch },
		{ "--project", .value = &f->project },
		{ "--db", .value = &f->db },
		{ "--post", .value = &f->post },
		{ "--json", .on = &f->json },
	};
	struct flags flags = {
		.command = "record",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->name, .most = 1, .over = "one NAME, not also " },
		.rest = &f->command,
	};
	int status = flags_read(&flags, argc, argv);

	return status >= 0 || check_flags(f) ? status : EXIT_USAGE;
}

/* ---- the runs ---- */

/* The last line of what it printed. */
static const char *last_line(struct buf *out)
{
	char *text = out->data, *at;

	if (!text)
		return "";
	while (out->len > 0 && strchr("\n\r ", text[out->len - 1]))
		text[--out->len] = '\0';
	at = strrchr(text, '\n');
	return at ? at + 1 : text;
}

static bool run_once(const struct recording *r, struct record_sample *out, struct err *err)
{
	const struct timed_program p = { .argv = (const char *const *)r->f->command,
					 .folder = ".",
					 .timeout_s = (double)r->f->timeout,
					 .stop = r->stop,
					 .errors_too = true };
	struct timed_program_end end;
	struct buf output;
	const char *said;
	bool ok;

	buf_init(&output, OUTPUT_BYTES);
	ok = program_run(&p, &output, &end, err);
	said = last_line(&output);
	if (ok && end.stopped)
		ok = err_set(err, ERR_CANCELLED, "stopped");
	else if (ok && end.timed_out)
		ok = err_set(err, ERR_WORKER, "it ran longer than %lld s (--timeout)",
			     r->f->timeout);
	else if (ok && end.status != 0 && !r->f->allow_failure)
		ok = err_set(err, ERR_WORKER,
			     "it ended with status %d, which --allow-failure allows%s%.300s",
			     end.status, *said ? ": " : "", said);
	*out = (struct record_sample){ end.wall_s, end.cpu_s, end.wait_s, end.status };
	buf_finish(&output);
	return ok;
}

/* Whether there are enough samples, and why. */
static bool is_enough(struct recording *r, int64_t begin_ns)
{
	double half;
	struct interval v;

	if (r->n >= r->f->samples) {
		snprintf(r->stopped, sizeof(r->stopped), "%d samples were asked for", r->n);
		return true;
	}
	if (r->n < STATS_MIN_SAMPLES)
		return false;
	if ((double)(clock_ns() - begin_ns) * 1e-9 >= (double)r->f->seconds) {
		snprintf(r->stopped, sizeof(r->stopped), "%lld s were over", r->f->seconds);
		return true;
	}
	if (r->n < LEAST_SAMPLES || !stats_median(r->wall, r->n, &v) || !(v.mid > 0))
		return false;
	half = (v.high - v.mid > v.mid - v.low ? v.high - v.mid : v.mid - v.low) / v.mid;
	if (half > r->f->precision)
		return false;
	snprintf(r->stopped, sizeof(r->stopped),
		 "the interval of the median is within %.3g %% of it", 100 * r->f->precision);
	return true;
}

static bool record_all(struct recording *r, struct err *err)
{
	struct record_sample warm;
	int64_t begin_ns;
	bool ok = true;

	r->at = calloc((size_t)r->f->samples, sizeof(*r->at));
	r->wall = calloc((size_t)r->f->samples, sizeof(*r->wall));
	if (!r->at || !r->wall)
		return err_set(err, ERR_MEMORY, "out of memory for samples");
	for (long long i = 0; ok && i < r->f->warm_ups; i++)
		ok = run_once(r, &warm, err);
	begin_ns = clock_ns();
	while (ok && !is_enough(r, begin_ns)) {
		ok = run_once(r, &r->at[r->n], err);
		r->wall[r->n] = r->at[r->n].wall_s - r->at[r->n].wait_s;
		r->n += ok;
	}
	return ok;
}

/* ---- what comes of it ---- */

static json_t *samples_json(const struct recording *r)
{
	json_t *list = json_array();

	for (int i = 0; i < r->n; i++)
		json_array_append_new(list,
				      json_pack("{s:f, s:f, s:f, s:i}", "wall_s", r->at[i].wall_s,
						"wait_s", r->at[i].wait_s, "cpu_s", r->at[i].cpu_s,
						"status", r->at[i].status));
	return list;
}

static json_t *words_json(char *const *words)
{
	json_t *list = json_array();

	for (; *words; words++)
		json_array_append_new(list, json_string(*words));
	return list;
}

static void put_text(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, json_string(text));
}

/* As profiler/results/record.c reads it; new. */
static json_t *record_json(const struct recording *r)
{
	char machine[200] = "", now[40];
	time_t seconds = time(NULL);
	json_t *environment = profiler_environment(breakeven_version());
	struct tm tm;
	json_t *json = json_pack(
	    "{s:i, s:s, s:o, s:o, s:I, s:s, s:s}", "breakeven_record", 1, "version",
	    breakeven_version(), "command", words_json(r->f->command), "samples", samples_json(r),
	    "warm_ups", (json_int_t)r->f->warm_ups, "stopped", r->stopped, "name", r->f->name);

	if (json && gethostname(machine, sizeof(machine) - 1) == 0)
		put_text(json, "machine", machine);
	if (json && gmtime_r(&seconds, &tm) &&
	    strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", &tm))
		put_text(json, "measured", now);
	if (json && json_object_get(environment, "cpu"))
		json_object_set(json, "cpu", json_object_get(environment, "cpu"));
	if (json) {
		put_text(json, "commit", r->f->commit);
		put_text(json, "branch", r->f->branch);
		workload_file_commit(json);
	}
	json_decref(environment);
	return json;
}

static bool deliver(const struct recording *r, struct err *err)
{
	const struct record_flags *f = r->f;
	bool elsewhere = f->post || f->json;
	const struct results_request request = { .project = f->project, .machine = f->machine };
	const struct results_to to = { "record", f->post,
				       f->db       ? f->db
				       : elsewhere ? NULL
						   : "breakeven.db",
				       f->json };
	json_t *record = record_json(r);
	char *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
	json_t *results = NULL;
	bool ok;

	if (text)
		results = results_read(text, strlen(text), &request, err);
	else
		err_set(err, ERR_BAD_REQUEST, "the NAME and the COMMAND must be UTF-8");
	ok = results && results_deliver(results, &to, err);
	json_decref(results);
	json_decref(record);
	free(text);
	return ok;
}

int cmd_record(int argc, char **argv, const struct registry *registry)
{
	struct record_flags f = { .samples = SAMPLES,
				  .seconds = SECONDS,
				  .warm_ups = WARM_UPS,
				  .timeout = TIMEOUT_S,
				  .precision = 0.01 };
	struct recording r = { .f = &f };
	struct err err = { 0 };
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	profiler_environment_prepare();
	r.stop = interrupt_watch();
	status = record_all(&r, &err) && deliver(&r, &err) ? EXIT_DONE
		 : err.code == ERR_CANCELLED               ? EXIT_INTERRUPTED
							   : EXIT_FAILED;
	if (err.code != ERR_NONE)
		fprintf(stderr, "breakeven record: %s\n", err.message);
	free(r.at);
	free(r.wall);
	return status;
}
