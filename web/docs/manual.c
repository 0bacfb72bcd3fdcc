/* web/docs/manual.c -- what the documentation takes from the program's own tables.
 *
 *   manual tables       the tables as Markdown, for docs.mjs: "<!-- NAME -->" begins each
 *   manual man FOLDER   a manual page for the program, and one for each command
 *   manual types        the records of reports as types of TypeScript: web/js/api/report.d.ts
 *
 * It runs while the program is built; it is no part of it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "server/text/text.h"

/* ---- Markdown */

/* A text as part of a cell. */
static void print_cell(const char *text)
{
	for (; *text; text++) {
		if (strchr("|<*_", *text))
			putchar('\\');
		putchar(*text == '\n' ? ' ' : *text);
	}
}

/* Texts of a def file in a row: "| `a` | b |". */
static void print_row(const char *code, const char *second, const char *text)
{
	printf("| `%s` | ", code);
	if (second)
		printf("%s | ", second);
	print_cell(text);
	printf(" |\n");
}

static void print_flag_row(const struct help_row *flag, void *data)
{
	int *rows = data;

	if ((*rows)++ == 0)
		printf("| Flag | Meaning |\n| --- | --- |\n");
	printf("| `%s%s%s` | ", flag->name, *flag->argument ? " " : "", flag->argument);
	print_cell(flag->text);
	printf(" |\n");
}

static void print_commands(void)
{
	printf("<!-- commands -->\n");
	for (int i = 0; i < n_help_lines; i++) {
		const struct help_row *row = help_of(help_lines[i].name);
		int rows = 0;

		if (!row)
			continue;
		printf("\n## breakeven %s\n\n```text\n%s\n```\n\n", row->command, row->usage);
		print_cell(row->about);
		printf("\n\n");
		help_each_flag(row->command, print_flag_row, &rows);
		printf("\n");
		print_cell(row->after);
		printf("\n");
	}
}

static void print_routes(void)
{
	printf("\n<!-- routes -->\n\n| Method | Path | What it does |\n| --- | --- | --- |\n");
#define ROW(method, path, scope, summary)                                                          \
	printf("| %s | `%s` | %s | ", method, path, scope);                                        \
	print_cell(summary);                                                                       \
	printf(" |\n");
#define ROUTE(file, method, path, handler, body, limit, scope, sees, query, summary)               \
	ROW(method, path, #scope, summary)
#define PAGE(path, handler, summary) ROW("GET", path, "OPEN", summary)
#include "server/api/routes_some.h"
#undef ROW
}

static void print_bounds(void)
{
	printf("\n<!-- bounds -->\n\n| Bound | Flag | Default | Beyond it |\n| --- | --- | --- | "
	       "--- |\n");
#define BOUND(name, flag, value, least, most, unit, answer, meaning)                               \
	printf("| %s | `%s` | %s %s | %s |\n", meaning, flag, #value, unit, answer);
#define FIXED(value, unit, answer, meaning)                                                        \
	printf("| %s | | %s %s | %s |\n", meaning, #value, unit, answer);
#include "server/queue/bounds.def"
#undef BOUND
#undef FIXED
}

static void print_lists(void)
{
	printf("\n<!-- errors -->\n\n| Code | HTTP status |\n| --- | --- |\n");
#define ERROR(id, status, code) print_row(code, NULL, #status);
#include "fusion/base/errors.def"
#undef ERROR
	printf("\n<!-- passes -->\n\n| Pass | What it does |\n| --- | --- |\n");
#define PROPERTY(id, meaning)
#define PASS(id, needs, makes, breaks, after, purpose) print_row(#id, NULL, purpose);
#include "fusion/passes/passes.def"
#undef PASS
#undef PROPERTY
	printf("\n<!-- formats -->\n\n| Format | File | What it is |\n| --- | --- | --- |\n");
#define FORMAT(name, extension, type, title) print_row(#name, "." extension, title);
#include "profiler/export/formats.def"
#undef FORMAT
	printf("\n<!-- idle -->\n\n| Cause | On the timeline |\n| --- | --- |\n");
#define CAUSE(id, name, label) print_row(name, NULL, label);
#include "profiler/timeline/idle.def"
#undef CAUSE
}

/* ---- the fields of reports */

/* Rows of report.def; a row without a field begins a record. */
static const struct report_row {
	const char *record, *field, *type, *presence, *unit, *meaning, *since;
} report_rows[] = {
#define RECORD(record, meaning) { #record, NULL, "", "", "", meaning, "" },
#define FIELD(record, name, type, presence, unit, meaning, since)                                  \
	{ #record, REPORT_KEY(name), #type, #presence, unit, meaning, since },
#define END(record)
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END
};
enum { N_REPORT_ROWS = sizeof(report_rows) / sizeof(report_rows[0]) };

/* "pass_part": ReportPassPart; ends at a parenthesis. */
static void print_type_name(const char *record)
{
	printf("Report");
	for (bool begins = true; *record && *record != ')'; record++) {
		if (*record != '_')
			putchar(begins ? *record & ~0x20 : *record);
		begins = *record == '_';
	}
}

/* The record in "list(pass_part)"; NULL: the type has none. */
static const char *record_in(const char *type)
{
	const char *open = strchr(type, '(');

	return open ? open + 1 : NULL;
}

static bool may_be_null(const struct report_row *row)
{
	return strcmp(row->presence, "OR_NULL") == 0 || strcmp(row->presence, "EITHER") == 0;
}

static bool may_be_absent(const struct report_row *row)
{
	return strcmp(row->presence, "OR_NONE") == 0 || strcmp(row->presence, "EITHER") == 0;
}

static const struct {
	const char *type, *script, *words;
} plain_types[] = {
	{ "integer", "number", "whole number" },
	{ "real", "number", "number" },
	{ "number", "number", "number" },
	{ "float", "number | \"nan\" | \"inf\" | \"-inf\"", "number, nan, inf or -inf" },
	{ "flag", "boolean", "true or false" },
	{ "text", "string", "text" },
	{ "value", "unknown", "JSON" },
	{ "integers", "number[]", "list of whole numbers" },
	{ "reals", "number[]", "list of numbers" },
	{ "texts", "string[]", "list of texts" },
	{ "interval", "[number, number]", "[low, high]" },
	{ "intervals", "[number, number][]", "list of [low, high]" },
	{ "pair", "[number, number]", "[before, after]" },
	{ "counts", "[number, number]", "[before, after]" },
	{ "numbers", "Record<string, number>", "numbers by name" },
	{ "names", "Record<string, string>", "texts by name" },
	{ "lists", "Record<string, string[]>", "lists of texts by name" },
};

static void print_script_type(const char *type)
{
	const char *record = record_in(type);

	for (size_t i = 0; !record && i < sizeof(plain_types) / sizeof(plain_types[0]); i++)
		if (strcmp(plain_types[i].type, type) == 0)
			printf("%s", plain_types[i].script);
	if (!record)
		return;
	printf("%s", *type == 'm' ? "Record<string, " : "");
	print_type_name(record);
	printf("%s", *type == 'm' ? ">" : *type == 'l' ? "[]" : "");
}

static void print_types(void)
{
	printf("// js/api/report.d.ts -- the records of reports: make writes this file from\n"
	       "// profiler/fields/report.def (web/docs/manual.c).\n");
	for (int i = 0; i < N_REPORT_ROWS; i++) {
		const struct report_row *row = &report_rows[i];

		if (!row->field) {
			printf("%s\n/** %s */\nexport interface ", i ? "}\n" : "", row->meaning);
			print_type_name(row->record);
			printf(" {\n");
			continue;
		}
		printf("  /** %s%s%s */\n  %s%s: ", *row->unit ? row->unit : "",
		       *row->unit ? ": " : "", row->meaning, row->field,
		       may_be_absent(row) ? "?" : "");
		print_script_type(row->type);
		printf("%s;\n",
		       may_be_null(row) && strcmp(row->type, "value") != 0 ? " | null" : "");
	}
	printf("}\n");
}

/* "list of [ReportGraph](#reportgraph)" */
static void print_type_cell(const struct report_row *row)
{
	const char *record = record_in(row->type);

	for (size_t i = 0; !record && i < sizeof(plain_types) / sizeof(plain_types[0]); i++)
		if (strcmp(plain_types[i].type, row->type) == 0)
			printf("%s", plain_types[i].words);
	if (record) {
		printf("%s[", *row->type == 'l'   ? "list of "
			      : *row->type == 'm' ? "by name: "
						  : "");
		print_type_name(record);
		printf("](#report");
		for (; *record != ')'; record++)
			if (*record != '_')
				putchar(*record);
		printf(")");
	}
	printf("%s%s", may_be_null(row) ? ", or null" : "",
	       may_be_absent(row) ? ", or absent" : "");
}

static void print_report(void)
{
	printf("\n<!-- report -->\n");
	for (int i = 0; i < N_REPORT_ROWS; i++) {
		const struct report_row *row = &report_rows[i];

		if (!row->field) {
			printf("\n## ");
			print_type_name(row->record);
			printf("\n\n");
			print_cell(row->meaning);
			printf(".\n\n| Field | Type | Unit | Meaning | Since |\n"
			       "| --- | --- | --- | --- | --- |\n");
			continue;
		}
		printf("| `%s` | ", row->field);
		print_type_cell(row);
		printf(" | %s | ", row->unit);
		print_cell(row->meaning);
		printf(" | %s |\n", row->since);
	}
}

/* ---- manual pages */

/* A text in roff: a line never begins with a request, and a dash is one that a shell takes. */
static void print_roff(FILE *out, const char *text)
{
	bool begins = true;

	for (; *text; text++) {
		if (begins && strchr(".'", *text))
			fputs("\\&", out);
		begins = *text == '\n';
		if (*text == '\n')
			fputs("\n.PP\n", out);
		else if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
	fputc('\n', out);
}

static void print_section(FILE *out, const char *name, const char *text)
{
	fprintf(out, ".SH %s\n", name);
	print_roff(out, text);
}

static void print_flag_roff(const struct help_row *flag, void *data)
{
	FILE *out = data;

	fputs(".TP\n\\fB", out);
	for (const char *c = flag->name; *c; c++)
		fprintf(out, "%s%c", *c == '-' ? "\\" : "", *c);
	fprintf(out, "\\fR%s\\fI%s\\fR\n", *flag->argument ? " " : "", flag->argument);
	print_roff(out, flag->text);
}

/* One line for each line of usage. */
static void print_usage(FILE *out, const char *usage)
{
	fprintf(out, ".SH SYNOPSIS\n.nf\n");
	while (*usage) {
		int len = (int)strcspn(usage, "\n");
		char line[512];

		snprintf(line, sizeof(line), "%.*s", len, usage);
		print_roff(out, line);
		usage += len + (usage[len] == '\n');
	}
	fprintf(out, ".fi\n");
}

static void print_command_page(FILE *out, const struct help_line *line, const struct help_row *row)
{
	fprintf(out, ".TH BREAKEVEN\\-%s 1 \"\" \"Breakeven %s\"\n", row->command,
		BREAKEVEN_RELEASE);
	fprintf(out, ".SH NAME\nbreakeven\\-%s \\- ", row->command);
	print_roff(out, line->line);
	print_usage(out, row->usage);
	print_section(out, "DESCRIPTION", row->about);
	fprintf(out, ".SH OPTIONS\n");
	help_each_flag(row->command, print_flag_roff, out);
	fprintf(out, ".TP\n\\fB\\-\\-plugin\\fR \\fIFILE.so\\fR\n");
	print_roff(out, "a plugin, which adds passes, ops and backends; as often as needed");
	if (*row->after)
		print_section(out, "EXIT STATUS", row->after);
	fprintf(out, ".SH SEE ALSO\n.BR breakeven (1)\n");
}

static void print_program_page(FILE *out)
{
	fprintf(out, ".TH BREAKEVEN 1 \"\" \"Breakeven %s\"\n", BREAKEVEN_RELEASE);
	fprintf(out,
		".SH NAME\nbreakeven \\- see when compiling a model function pays\n"
		".SH SYNOPSIS\n.B breakeven\n.I COMMAND\n[flags]\n"
		".SH DESCRIPTION\nBreakeven runs a function eager and compiled, measures both, and "
		"shows when\ncompiling pays.  The server's page /docs has all of the "
		"documentation.\n.SH COMMANDS\n");
	for (int i = 0; i < n_help_lines; i++) {
		fprintf(out, ".TP\n\\fBbreakeven\\-%s\\fR(1)\n", help_lines[i].name);
		print_roff(out, help_lines[i].line);
	}
}

/* A new file of the folder; NULL with a message. */
static FILE *open_page(const char *folder, const char *command)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/breakeven%s%s.1", folder, *command ? "-" : "", command);
	out = fopen(path, "w");
	if (!out)
		fprintf(stderr, "manual: %s: %s\n", path, strerror(errno));
	return out;
}

static int write_pages(const char *folder)
{
	FILE *out = open_page(folder, "");

	if (!out)
		return 1;
	print_program_page(out);
	if (fclose(out) != 0)
		return 1;
	for (int i = 0; i < n_help_lines; i++) {
		const struct help_row *row = help_of(help_lines[i].name);

		if (!row) {
			fprintf(stderr, "manual: help.def has no HELP for %s\n",
				help_lines[i].name);
			return 1;
		}
		out = open_page(folder, row->command);
		if (!out)
			return 1;
		print_command_page(out, &help_lines[i], row);
		if (fclose(out) != 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "man") == 0)
		return write_pages(argv[2]);
	if (argc == 2 && strcmp(argv[1], "types") == 0) {
		print_types();
		return fflush(stdout) == 0 ? 0 : 1;
	}
	if (argc != 2 || strcmp(argv[1], "tables") != 0) {
		fprintf(stderr, "usage: manual tables | manual types | manual man FOLDER\n");
		return 2;
	}
	print_commands();
	print_routes();
	print_bounds();
	print_lists();
	print_report();
	return fflush(stdout) == 0 ? 0 : 1;
}
