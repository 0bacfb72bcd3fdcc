/* server/cmd_explain.c -- `breakeven explain FILE`: capture, shown as text.
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
#include "server/commands.h"
#include "server/explain_text.h"
#include "server/heap.h"
#include "server/pass_flag.h"
#include "server/passes_text.h"
#include "server/workload_file.h"

/* Other sizes, and changes of the source that would take breaks away, are tried
 * until so much processor time is used, where the flags do not ask for all. */
static const double tries_ms = 14;

struct explain_flags {
	struct workload_file source;
	const char *mode, *policy, *without;
	bool json, graph, passes, sizes, rewrites;
	const struct registry *registry;
};

static void print_help(void)
{
	printf("usage: breakeven explain FILE [flags]\n\n"
	       "Shows what capture makes of a program: graphs, breaks with their lines and what\n"
	       "to write instead, guards, and what other sizes would lead to.  Nothing is timed.\n"
	       "FILE is a workload or a report (JSON), a .py file, or - for JSON on stdin.\n\n"
	       "  --mode NAME      auto, static, dynamic, lazy or graphs (auto)\n"
	       "  --policy NAME    dynamo: break as TorchDynamo does; native: break as little as\n"
	       "                   possible (the workload's, or dynamo)\n"
	       "  --graph          each graph as a table\n"
	       "  --passes         what each pass did to each graph, and which rules fired where\n"
	       "  --without a,b    passes that are left out: `breakeven passes` lists them\n"
	       "  --sizes          try every other size, however long it takes\n"
	       "  --rewrites       try every change that may take a break away, likewise\n"
	       "  --input NAME=V   of a .py file, one for each argument: 'x=float32[8,16]',\n"
	       "                   'i=int64[4]', 'scale=3.5'\n"
	       "  --entry NAME     of a .py file: the function to call (model)\n"
	       "  --json           print all of it as JSON\n\n"
	       "Exit status: 0 done, 1 the program or the file failed, 2 wrong flags.\n");
}

static bool usage(const char *what, const char *detail)
{
	fprintf(stderr, "breakeven explain: %s%s; `breakeven explain --help` says more\n", what,
		detail);
	return false;
}

/* "--mode", or "--mode=auto", whose value goes to *inside. */
static bool names_flag(const char *word, const char *flag, const char **inside)
{
	size_t len = strlen(flag);

	if (strncmp(word, flag, len) != 0 || (word[len] != '=' && word[len] != '\0'))
		return false;
	*inside = word[len] == '=' ? word + len + 1 : NULL;
	return true;
}

/* Where the value of the flag goes; NULL: it takes none. */
static const char **place_of(struct explain_flags *f, const char *word, const char **inside)
{
	if (names_flag(word, "--mode", inside))
		return &f->mode;
	if (names_flag(word, "--policy", inside))
		return &f->policy;
	if (names_flag(word, "--without", inside))
		return &f->without;
	if (names_flag(word, "--entry", inside))
		return &f->source.entry;
	if (names_flag(word, "--input", inside) && f->source.n_inputs < WORKLOAD_FILE_MAX_INPUTS)
		return &f->source.inputs[f->source.n_inputs++];
	return NULL;
}

static bool parse_flags(int argc, char **argv, struct explain_flags *f)
{
	for (int i = 1; i < argc; i++) {
		const char *inside = NULL, **value = place_of(f, argv[i], &inside);

		if (value) {
			if (!inside && i + 1 == argc)
				return usage("a value is missing after ", argv[i]);
			*value = inside ? inside : argv[++i];
		} else if (strcmp(argv[i], "--json") == 0) {
			f->json = true;
		} else if (strcmp(argv[i], "--graph") == 0) {
			f->graph = true;
		} else if (strcmp(argv[i], "--passes") == 0) {
			f->passes = true;
		} else if (strcmp(argv[i], "--sizes") == 0) {
			f->sizes = true;
		} else if (strcmp(argv[i], "--rewrites") == 0) {
			f->rewrites = true;
		} else if (argv[i][0] == '-' && argv[i][1]) {
			return usage("unknown flag ", argv[i]);
		} else if (f->source.file) {
			return usage("more than one FILE: ", argv[i]);
		} else {
			f->source.file = argv[i];
		}
	}
	if (!f->source.file)
		return usage("FILE is missing", "");
	if (f->source.n_inputs && !workload_file_is_python(&f->source))
		return usage("--input is for .py files; a workload has its own calls", "");
	return true;
}

static bool read_mode(const struct explain_flags *f, enum fusion_mode *mode)
{
	enum fusion_policy policy;
	struct err err = { 0 };

	*mode = FUSION_AUTO;
	if (f->mode && (!fusion_mode_from_name(f->mode, mode) || *mode == FUSION_EAGER))
		return usage("--mode is one of auto, static, dynamic, lazy and graphs, not ",
			     f->mode);
	if (f->policy && !fusion_policy_from_name(f->policy, &policy))
		return usage("--policy is dynamo or native, not ", f->policy);
	if (f->without && !pass_flag_check(f->registry, f->without, &err))
		return usage("--without: ", err.message);
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
	int status = EXIT_FAILED;

	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help();
			return EXIT_DONE;
		}
	if (!parse_flags(argc, argv, &f) || !read_mode(&f, &mode))
		return EXIT_USAGE;
	heap_take();
	json = workload_file_load(&f.source, &err);
	if (json && f.policy)
		json_object_set_new(json, "policy", json_string(f.policy));
	if (json && f.source.entry)
		json_object_set_new(json, "entry", json_string(f.source.entry));
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
