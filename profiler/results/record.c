/* profiler/results/record.c -- what `breakeven record` measured of a command: seconds of each run,
 * with its exit status.
 *
 * wait_s of a sample are those of its wall_s that the command waited for a core that others had:
 * the figure is without them, and the report keeps them, so that nothing is lost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/results/reading.h"

static bool is_record(const struct results_file *file)
{
	return json_integer_value(json_object_get(file->json, "breakeven_record")) == 1;
}

/* The words of a command, with blanks between; of a long one the first. */
static void put_command(json_t *report, const json_t *words)
{
	char text[1000] = "", word[300];
	size_t i, len = 0;
	const json_t *item;

	json_array_foreach((json_t *)words, i, item)
	{
		reading_text(word, sizeof(word), item);
		if (len + strlen(word) + sizeof(" ...") >= sizeof(text)) {
			snprintf(text + len, sizeof(text) - len, " ...");
			break;
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", word);
	}
	json_object_set_new(json_object_get(report, "workload"), "command", json_string(text));
}

/* A key of each sample, new; NULL: memory. */
static json_t *column(const json_t *samples, const char *key)
{
	json_t *list = json_array();
	const json_t *sample;
	size_t i;

	json_array_foreach((json_t *)samples, i, sample)
	{
		json_t *value = json_object_get(sample, key);

		if (value)
			json_array_append(list, value);
	}
	return list;
}

/* wall_s of each sample without its wait_s, new; NULL with BAD_REQUEST where they do not fit. */
static json_t *without_wait(const json_t *samples, struct err *err)
{
	json_t *list = json_array();
	const json_t *sample;
	size_t i;

	json_array_foreach((json_t *)samples, i, sample)
	{
		json_t *wall = json_object_get(sample, "wall_s");
		const json_t *wait = json_object_get(sample, "wait_s");
		double wait_s = json_number_value(wait);

		if (wait && !(json_is_number(wait) && json_is_number(wall) && wait_s >= 0 &&
			      wait_s <= json_number_value(wall))) {
			err_set(err, ERR_BAD_REQUEST,
				"samples[%zu]: wait_s is a number from 0 to wall_s, which it is "
				"a part of",
				i);
			json_decref(list);
			return NULL;
		}
		if (wall && wait_s > 0)
			json_array_append_new(list, json_real(json_number_value(wall) - wait_s));
		else if (wall)
			json_array_append(list, wall);
	}
	return list;
}

/* Microseconds that each sample waited for a core; of samples that tell it. */
static void put_waits(json_t *result, const json_t *samples)
{
	json_t *waits = column(samples, "wait_s");
	size_t n = json_array_size(waits);

	for (size_t i = 0; i < n; i++)
		json_array_set_new(waits, i,
				   json_real(1e6 * json_number_value(json_array_get(waits, i))));
	if (n > 0)
		json_object_set(result, "waited_us", waits);
	json_decref(waits);
}

static bool add(struct results_reading *r, json_t *report, const char *mode, json_t *samples,
		struct err *err)
{
	struct reading_figure f = { mode, "time", "us", NULL, 1e6, samples, READING_NONE };
	bool ok = json_array_size(samples) == 0 || reading_add(r, report, &f, err);

	json_decref(samples);
	return ok;
}

static void common(struct results_reading *r, const json_t *file)
{
	reading_text(r->version, sizeof(r->version), json_object_get(file, "version"));
	reading_text(r->machine, sizeof(r->machine), json_object_get(file, "machine"));
	reading_text(r->cpu, sizeof(r->cpu), json_object_get(file, "cpu"));
	reading_text(r->measured, sizeof(r->measured), json_object_get(file, "measured"));
	reading_text(r->commit, sizeof(r->commit), json_object_get(file, "commit"));
	reading_text(r->branch, sizeof(r->branch), json_object_get(file, "branch"));
	reading_left(r, "the file", file,
		     "breakeven_record version machine cpu measured commit branch name command "
		     "samples warm_ups stopped");
}

static bool read_record(struct results_reading *r, const struct results_file *file, struct err *err)
{
	const json_t *samples = json_object_get(file->json, "samples");
	const json_t *name = json_object_get(file->json, "name");
	json_t *report, *result, *wall;

	common(r, file->json);
	if (!json_is_string(name) || !*json_string_value(name))
		return err_set(err, ERR_WORKLOAD, "the record has no name");
	report = reading_begin(r, json_string_value(name), err);
	if (!report)
		return false;
	result = json_object_get(report, "result");
	put_command(report, json_object_get(file->json, "command"));
	json_object_set_new(result, "exit_codes", column(samples, "status"));
	if (json_is_integer(json_object_get(file->json, "warm_ups")))
		json_object_set(result, "warm_ups", json_object_get(file->json, "warm_ups"));
	if (json_is_string(json_object_get(file->json, "stopped")))
		json_object_set(result, "stopped", json_object_get(file->json, "stopped"));
	put_waits(result, samples);
	wall = without_wait(samples, err);
	return wall && add(r, report, "wall", wall, err) &&
	       add(r, report, "cpu", column(samples, "cpu_s"), err);
}

const struct results_format results_record = { is_record, read_record };
