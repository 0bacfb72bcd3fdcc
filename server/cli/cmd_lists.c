/* server/cli/cmd_lists.c -- `breakeven ops`, `backends`, `passes` and `version`: what there is. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fusion/fusion.h"
#include "profiler/fields/fields.h"
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
static void print_words(const struct report_texts *list, const char *none)
{
	if (list->n == 0)
		fputs(none, stdout);
	for (size_t i = 0; i < list->n; i++)
		printf("%s%s", i ? ", " : "", list->at[i]);
}

static int finish(json_t *all, const char *command, const struct err *err,
		  const struct list_flags *f, bool (*print)(const json_t *all, struct err *err))
{
	struct err unread = { 0 };
	bool ok = true;

	if (!all) {
		fprintf(stderr, "breakeven %s: %s\n", command, err->message);
		return EXIT_FAILED;
	}
	if (f->json) {
		json_dumpf(all, stdout, JSON_COMPACT);
		putchar('\n');
	} else {
		ok = print(all, &unread);
	}
	json_decref(all);
	if (!ok)
		fprintf(stderr, "breakeven %s: %s\n", command, unread.message);
	return ok ? EXIT_DONE : EXIT_FAILED;
}

/* ---- ops */

/* "interp, cpu", "cpu but float16": which dtypes are lowered, in words. */
static void print_backends(const struct report_op *op)
{
	const char *separator = "";

	for (size_t i = 0; i < op->backends.n; i++) {
		const char *name = op->backends.keys[i];
		size_t n_dtypes = op->backends.at[i].n;

		printf("%s%s", separator, name);
		if (report_get(op->on_host, name))
			printf(n_dtypes ? " (some dtypes on the host)"
					: " (on the host, between copies)");
		else if (n_dtypes == 0)
			printf(" (not lowered: a call between two pieces)");
		separator = ", ";
	}
}

static void print_one_op(const struct report_op *op)
{
	printf("%s  %s\n", op->name, op->doc);
	printf("  kind       %s\n  signature  (%s)\n  spellings  ", op->kind, op->signature);
	print_words(&op->spellings, "");
	if (op->operators.n) {
		printf("%soperator ", op->spellings.n ? ", " : "");
		print_words(&op->operators, "");
	}
	printf("\n  result     %s\n  gradient   %s\n", op->dtypes, op->gradient);
	if (op->autocast)
		printf("  autocast   %s on the cpu, %s on cuda\n", op->autocast->cpu,
		       op->autocast->cuda);
	for (size_t i = 0; i < op->backends.n; i++) {
		const struct report_texts *host = report_get(op->on_host, op->backends.keys[i]);

		printf("  %-9s  ", op->backends.keys[i]);
		print_words(&op->backends.at[i],
			    host ? "no kernel" : "not lowered: a call between two pieces");
		if (host) {
			printf("; on the host, between copies: ");
			print_words(host, "");
		}
		putchar('\n');
	}
	if (op->plugin)
		printf("  plugin     %s\n", op->plugin);
}

static void print_op_rows(const struct report_op_list *ops)
{
	for (size_t i = 0; i < ops->n; i++) {
		const struct report_op *op = &ops->at[i];

		printf("%-24s %-10s gradient %-5s ", op->name, op->kind, op->gradient);
		print_backends(op);
		printf("  %s\n", op->doc);
	}
	printf("%zu ops; breakeven ops NAME says more of one\n", ops->n);
}

static bool print_ops(const json_t *all, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_listed_ops *listed = report_read_listed_ops(all, &arena, err);

	if (listed && listed->ops.n == 1)
		print_one_op(&listed->ops.at[0]);
	else if (listed)
		print_op_rows(&listed->ops);
	arena_finish(&arena);
	return listed != NULL;
}

int cmd_ops(int argc, char **argv, const struct registry *registry)
{
	struct list_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, 1, (struct flag){ 0 }, &f);

	return status >= 0 ? status
			   : finish(lists_ops(registry, f.name, &err), "ops", &err, &f, print_ops);
}

/* ---- backends */

static void print_engine(const struct report_engine *e)
{
	printf("%-10s %s\n", e->name, e->purpose);
	if (!e->available) {
		printf("           does not work here: %s\n", report_text(e->why_not));
		return;
	}
	printf("           available: torch %s, Python %s, %s\n", report_text(e->version),
	       report_text(e->python), report_text(e->executable));
	if (e->device_name)
		printf("           device      %s\n", e->device_name);
}

static void print_backend(const struct report_backend *b)
{
	printf("%-10s %s\n", b->name, b->purpose);
	if (b->available)
		printf("           available%s\n", b->_default ? ", the default" : "");
	else
		printf("           does not work here: %s\n", report_text(b->why_not));
	for (size_t i = 0; i < b->lacks.n; i++)
		printf("           %s\n", b->lacks.at[i]);
	if (b->vector_unit)
		printf("           vector unit %s\n", b->vector_unit);
	if (b->compiler)
		printf("           compiler    %s\n", b->compiler);
	if (b->plugin)
		printf("           plugin      %s\n", b->plugin);
}

static bool print_backends_and_engines(const json_t *all, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_listed_backends *listed = report_read_listed_backends(all, &arena, err);

	for (size_t i = 0; listed && i < listed->backends.n; i++)
		print_backend(&listed->backends.at[i]);
	for (size_t i = 0; listed && i < listed->engines.n; i++)
		print_engine(&listed->engines.at[i]);
	arena_finish(&arena);
	return listed != NULL;
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
		json_object_set_new(all, "engines",
				    json_pack("[o]", lists_torch(f.torch_python, true)));
	return finish(all, "backends", &err, &f, print_backends_and_engines);
}

/* ---- passes */

static void print_pass(const struct report_pass *p)
{
	printf("%-13s %s\n              needs ", p->name, p->purpose);
	print_words(&p->needs, "nothing");
	printf("; makes ");
	print_words(&p->makes, "nothing");
	printf("; breaks ");
	print_words(&p->breaks, "nothing");
	if (p->after.n) {
		printf("; after ");
		print_words(&p->after, "");
	}
	putchar('\n');
	if (p->required)
		printf("              cannot be switched off\n");
	if (p->plugin)
		printf("              plugin %s\n", p->plugin);
}

static bool print_passes(const json_t *all, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_listed_passes *listed = report_read_listed_passes(all, &arena, err);

	for (size_t i = 0; listed && i < listed->passes.n; i++)
		print_pass(&listed->passes.at[i]);
	arena_finish(&arena);
	return listed != NULL;
}

int cmd_passes(int argc, char **argv, const struct registry *registry)
{
	struct list_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, 0, (struct flag){ 0 }, &f);

	return status >= 0 ? status
			   : finish(lists_passes(registry, &err), "passes", &err, &f, print_passes);
}

int cmd_version(int argc, char **argv, const struct registry *registry)
{
	struct list_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, 0, (struct flag){ 0 }, &f);
	struct fusion *engine;
	const char *products;

	(void)registry;
	if (status >= 0)
		return status;
	engine = fusion_create(&(struct fusion_options){ .threads = 1 }, &err);
	products = engine ? fusion_blas_note(engine) : NULL;
	if (f.json) {
		status = json_flag_print(
		    "version",
		    json_pack("{s:s, s:s?}", "version", breakeven_version(), "products", products));
	} else {
		printf("breakeven %s\n", breakeven_version());
		if (products)
			printf("products of matrices: %s\n", products);
		status = EXIT_DONE;
	}
	fusion_destroy(engine);
	return status;
}
