/* server/cli/cmd_lists.c -- `breakeven ops`, `backends`, `passes` and `version`: what there is. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fusion/fusion.h"
#include "profiler/fields/json.h"
#include "profiler/lists/lists.h"
#include "server/cli/cli.h"
#include "server/text/text.h"
#include "server/cli/flags.h"

struct list_flags {
	const char *name;         /* ops: NULL for all */
	const char *torch_python; /* backends: NULL where it is not given */
	bool json;
};

/* What all three take, and `flag`, where it has a name; `names`: a name too. */
static int read_flags(int argc, char **argv, int names, struct flag flag, struct list_flags *f)
{
	const struct flag table[] = { { "--json", .on = &f->json }, flag };
	struct flags flags = {
		.command = argv[0],
		.table = table,
		.n = flag.name ? 2 : 1,
		.words = { .at = &f->name, .most = names },
	};

	return flags_read(&flags, argc, argv);
}

/* "a, b" */
static void print_words(const json_t *list, const char *none)
{
	size_t i;
	json_t *word;

	if (json_array_size(list) == 0)
		fputs(none, stdout);
	json_array_foreach((json_t *)list, i, word) {
		printf("%s%s", i ? ", " : "", json_string_value(word));
	}
}

static int finish(json_t *all, const char *command, const struct err *err, const char *key,
		  const struct list_flags *f, void (*print)(const json_t *list))
{
	if (!all) {
		fprintf(stderr, "breakeven %s: %s\n", command, err->message);
		return EXIT_FAILED;
	}
	if (f->json) {
		json_dumpf(all, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		print(key ? json_object_get(all, key) : all);
	}
	json_decref(all);
	return EXIT_DONE;
}

/* ---- ops */

/* "interp, cpu", "cpu but float16": which dtypes are lowered, in words. */
static void print_backends(const json_t *op)
{
	const char *name, *separator = "";
	json_t *dtypes;

	json_object_foreach(json_object_get(op, "backends"), name, dtypes) {
		printf("%s%s", separator, name);
		if (json_object_get(json_object_get(op, "on_host"), name))
			printf(json_array_size(dtypes) ? " (some dtypes on the host)"
						       : " (on the host, between copies)");
		else if (json_array_size(dtypes) == 0)
			printf(" (not lowered: a call between two pieces)");
		separator = ", ";
	}
}

static void print_one_op(const json_t *op)
{
	const char *name;
	json_t *dtypes;

	printf("%s  %s\n", text_field(op, "name"), text_field(op, "doc"));
	printf("  kind       %s\n  signature  (%s)\n  spellings  ", text_field(op, "kind"),
	       text_field(op, "signature"));
	print_words(json_object_get(op, "spellings"), "");
	if (json_array_size(json_object_get(op, "operators"))) {
		printf("%soperator ",
		       json_array_size(json_object_get(op, "spellings")) ? ", " : "");
		print_words(json_object_get(op, "operators"), "");
	}
	printf("\n  result     %s\n  gradient   %s\n", text_field(op, "dtypes"),
	       text_field(op, "gradient"));
	if (json_object_get(op, "autocast"))
		printf("  autocast   %s on the cpu, %s on cuda\n",
		       text_field(json_object_get(op, "autocast"), "cpu"),
		       text_field(json_object_get(op, "autocast"), "cuda"));
	json_object_foreach(json_object_get(op, "backends"), name, dtypes) {
		const json_t *host = json_object_get(json_object_get(op, "on_host"), name);

		printf("  %-9s  ", name);
		print_words(dtypes, host ? "no kernel" : "not lowered: a call between two pieces");
		if (host) {
			printf("; on the host, between copies: ");
			print_words(host, "");
		}
		putchar('\n');
	}
	if (*text_field(op, "plugin"))
		printf("  plugin     %s\n", text_field(op, "plugin"));
}

static void print_ops(const json_t *ops)
{
	size_t i;
	json_t *op;

	if (json_array_size(ops) == 1) {
		print_one_op(json_array_get(ops, 0));
		return;
	}
	json_array_foreach((json_t *)ops, i, op) {
		printf("%-24s %-10s gradient %-5s ", text_field(op, "name"), text_field(op, "kind"),
		       text_field(op, "gradient"));
		print_backends(op);
		printf("  %s\n", text_field(op, "doc"));
	}
	printf("%zu ops; breakeven ops NAME says more of one\n", json_array_size(ops));
}

int cmd_ops(int argc, char **argv, const struct registry *registry)
{
	struct list_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, 1, (struct flag){ 0 }, &f);

	return status >= 0
		   ? status
		   : finish(lists_ops(registry, f.name, &err), "ops", &err, "ops", &f, print_ops);
}

/* ---- backends */

static void print_engine(const json_t *e)
{
	printf("%-10s %s\n", text_field(e, "name"), text_field(e, "purpose"));
	if (!json_is_true(json_object_get(e, "available"))) {
		printf("           does not work here: %s\n", text_field(e, "why_not"));
		return;
	}
	printf("           available: torch %s, Python %s, %s\n", text_field(e, "version"),
	       text_field(e, "python"), text_field(e, "executable"));
	if (*text_field(e, "device_name"))
		printf("           device      %s\n", text_field(e, "device_name"));
}

static void print_backend_list(const json_t *list)
{
	size_t i, k;
	json_t *b, *line;

	json_array_foreach((json_t *)list, i, b) {
		printf("%-10s %s\n", text_field(b, "name"), text_field(b, "purpose"));
		if (json_is_true(json_object_get(b, "available")))
			printf("           available%s\n",
			       json_is_true(json_object_get(b, "default")) ? ", the default" : "");
		else
			printf("           does not work here: %s\n", text_field(b, "why_not"));
		json_array_foreach(json_object_get(b, "lacks"), k, line)
			printf("           %s\n", json_string_value(line));
		if (*text_field(b, "vector_unit"))
			printf("           vector unit %s\n", text_field(b, "vector_unit"));
		if (*text_field(b, "compiler"))
			printf("           compiler    %s\n", text_field(b, "compiler"));
		if (*text_field(b, "plugin"))
			printf("           plugin      %s\n", text_field(b, "plugin"));
	}
}

static void print_backends_and_engines(const json_t *all)
{
	size_t i;
	json_t *e;

	print_backend_list(json_object_get(all, "backends"));
	json_array_foreach(json_object_get(all, "engines"), i, e) {
		print_engine(e);
	}
}

int cmd_backends(int argc, char **argv, const struct registry *registry)
{
	struct list_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, 0,
				(struct flag){ "--torch-python", .value = &f.torch_python }, &f);
	json_t *all;

	if (status >= 0)
		return status;
	all = lists_backends(registry, &err);
	if (all)
		json_object_set_new(all, "engines", json_pack("[o]", lists_torch(f.torch_python)));
	return finish(all, "backends", &err, NULL, &f, print_backends_and_engines);
}

/* ---- passes */

static void print_pass_list(const json_t *list)
{
	size_t i;
	json_t *p;

	json_array_foreach((json_t *)list, i, p) {
		printf("%-13s %s\n              needs ", text_field(p, "name"),
		       text_field(p, "purpose"));
		print_words(json_object_get(p, "needs"), "nothing");
		printf("; makes ");
		print_words(json_object_get(p, "makes"), "nothing");
		printf("; breaks ");
		print_words(json_object_get(p, "breaks"), "nothing");
		if (json_array_size(json_object_get(p, "after"))) {
			printf("; after ");
			print_words(json_object_get(p, "after"), "");
		}
		putchar('\n');
		if (json_is_true(json_object_get(p, "required")))
			printf("              cannot be switched off\n");
		if (*text_field(p, "plugin"))
			printf("              plugin %s\n", text_field(p, "plugin"));
	}
}

int cmd_passes(int argc, char **argv, const struct registry *registry)
{
	struct list_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, 0, (struct flag){ 0 }, &f);

	return status >= 0 ? status
			   : finish(lists_passes(registry, &err), "passes", &err, "passes", &f,
				    print_pass_list);
}

int cmd_version(int argc, char **argv, const struct registry *registry)
{
	struct err err = { 0 };
	struct fusion *f;
	bool help = argc == 2 && strcmp(argv[1], "--help") == 0;

	(void)registry;
	if (argc > 1) {
		help_print(help ? stdout : stderr, "version");
		return help ? EXIT_DONE : EXIT_USAGE;
	}
	printf("breakeven %s\n", breakeven_version());
	f = fusion_create(&(struct fusion_options){ .threads = 1 }, &err);
	if (f)
		printf("products of matrices: %s\n", fusion_blas_note(f));
	fusion_destroy(f);
	return EXIT_DONE;
}
