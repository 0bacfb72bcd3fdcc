/* server/cli/cmd_explain.c -- `breakeven explain FILE`: capture, shown as text.
 *
 * Counterpart of torch._dynamo.explain().  The calls run once, by the
 * interpreter tier; nothing is compiled by the system compiler, nothing timed.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fusion/fusion.h"
#include "profiler/profiler.h"
#include "server/cli/commands.h"
#include "server/cli/explain_text.h"
#include "server/cli/flags.h"
#include "server/cli/heap.h"
#include "server/cli/pass_flag.h"
#include "server/cli/passes_text.h"
#include "server/cli/workload_file.h"

/* Other sizes, and changes of the source that would take breaks away, are tried
 * until so much processor time is used, where the flags do not ask for all. */
static const double tries_ms = 14;

struct explain_flags {
	struct workload_file source;
	const char *mode, *policy, *without;
	bool json, graph, passes, sizes, rewrites, poison;
	const struct registry *registry;
};

static int read_flags(int argc, char **argv, struct explain_flags *f)
{
	struct flag_texts inputs = workload_file_inputs(&f->source);
	const struct flag table[] = {
		{ "--mode", .value = &f->mode },       { "--policy", .value = &f->policy },
		{ "--without", .value = &f->without }, WORKLOAD_FILE_FLAGS(&f->source, &inputs),
		{ "--json", .on = &f->json },          { "--graph", .on = &f->graph },
		{ "--passes", .on = &f->passes },      { "--sizes", .on = &f->sizes },
		{ "--rewrites", .on = &f->rewrites },  { "--poison", .on = &f->poison },
	};
	struct flags flags = {
		.command = "explain",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->source.file, .most = 1, .over = "more than one FILE: " },
	};
	int status = flags_read(&flags, argc, argv);

	f->source.n_inputs = inputs.n;
	return status >= 0 || workload_file_check_flags(&f->source, "explain") ? status
									       : EXIT_USAGE;
}

static bool read_mode(const struct explain_flags *f, enum fusion_mode *mode)
{
	enum fusion_policy policy;
	struct err err = { 0 };

	*mode = FUSION_AUTO;
	if (f->mode && (!fusion_mode_from_name(f->mode, mode) || *mode == FUSION_EAGER))
		return flags_refuse("explain",
				    "--mode is one of auto, static, dynamic, lazy and graphs, not ",
				    f->mode);
	if (f->policy && !fusion_policy_from_name(f->policy, &policy))
		return flags_refuse("explain", "--policy is dynamo or native, not ", f->policy);
	if (f->without && !pass_flag_check(f->registry, f->without, &err))
		return flags_refuse("explain", "--without: ", err.message);
	return true;
}

static json_t *explain(const struct explain_flags *f, const json_t *json, enum fusion_mode mode,
		       struct err *err)
{
	struct explain_options options = { .mode = mode,
					   .sizes_ms = f->sizes ? -1 : tries_ms,
					   .rewrites_ms = f->rewrites ? -1 : tries_ms,
					   .passes = f->passes,
					   .brief = !f->json && !f->graph };
	struct workload *w = workload_file_parse(&f->source, json, f->registry, err);
	json_t *out = w ? profiler_explain(w, &options, err) : NULL;

	workload_destroy(w);
	return out;
}

static bool print(const struct explain_flags *f, const json_t *json, const json_t *e)
{
	const char *source = json_string_value(json_object_get(json, "source"));
	char place[256];
	struct buf text;
	bool ok;

	if (f->json)
		return json_dumpf(e, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF &&
		       fflush(stdout) == 0;
	workload_file_place(&f->source, place, sizeof(place));
	buf_init(&text, 0);
	explain_text_print(&text, e, place, source, f->graph);
	if (f->passes)
		passes_text_print(&text, e);
	ok = text.data && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
	buf_finish(&text);
	return ok;
}

/* The program's own error, behind what was captured before it. */
static int report_error(const struct explain_flags *f, const json_t *json, const json_t *e)
{
	const json_t *error = json_object_get(e, "error");
	const char *message = json_string_value(json_object_get(error, "message"));
	struct err err;

	if (!message)
		return EXIT_DONE;
	err = (struct err){ .line = (int)json_integer_value(json_object_get(error, "line")),
			    .column = (int)json_integer_value(json_object_get(error, "column")) };
	snprintf(err.message, sizeof(err.message), "%s", message);
	workload_file_error(&f->source, "explain", json, &err);
	return EXIT_FAILED;
}

int cmd_explain(int argc, char **argv, const struct registry *registry)
{
	struct explain_flags f = { .registry = registry };
	struct err err = { 0 };
	enum fusion_mode mode;
	json_t *json, *e = NULL;
	int status;

	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	if (!read_mode(&f, &mode))
		return EXIT_USAGE;
	status = EXIT_FAILED;
	heap_take();
	json = workload_file_load(&f.source, &err);
	if (json && f.policy)
		json_object_set_new(json, "policy", json_string(f.policy));
	if (json && f.source.entry)
		json_object_set_new(json, "entry", json_string(f.source.entry));
	if (json && f.poison)
		json_object_set_new(json, "poison", json_true());
	if (json && f.without)
		pass_flag_apply(json, f.without);
	if (json)
		e = explain(&f, json, mode, &err);
	if (!e)
		workload_file_error(&f.source, "explain", json, &err);
	else if (print(&f, json, e))
		status = report_error(&f, json, e);
	else
		fprintf(stderr, "breakeven explain: the result could not be written: %s\n",
			strerror(errno));
	json_decref(e);
	json_decref(json);
	return status;
}
