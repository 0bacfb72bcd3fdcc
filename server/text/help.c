/* server/text/help.c -- prints what the commands say of themselves. */
#include "server/text/text.h"

#include <string.h>

#include "fusion/fusion.h"
#include "server/queue/queue.h"

enum { WIDTH = 88, MOST_COLUMN = 20 };

#define HELP_DIGITS(number) #number
#define HELP_NUMBER(number) HELP_DIGITS(number)

static const struct help_row help_rows[] = {
#define HELP(command, usage, about, after) { HELP_COMMAND, #command, usage, about, after, 0, 0, 0 },
#define FLAG(command, name, argument, meaning)                                                     \
	{ HELP_FLAG, #command, 0, 0, 0, name, argument, meaning },
#define SHARED(command, group) { HELP_SHARED, #command, 0, 0, 0, #group, 0, 0 },
#include "server/text/help.def"
#undef HELP
#undef FLAG
#undef SHARED
};
static const int n_help_rows = sizeof(help_rows) / sizeof(help_rows[0]);

const struct help_line help_lines[] = {
#define COMMAND(name, args, line) { #name, args, line },
#include "server/cli/commands.def"
#undef COMMAND
};
const int n_help_lines = sizeof(help_lines) / sizeof(help_lines[0]);

const struct help_row *help_of(const char *command)
{
	for (int i = 0; i < n_help_rows; i++)
		if (help_rows[i].kind == HELP_COMMAND && strcmp(help_rows[i].command, command) == 0)
			return &help_rows[i];
	return NULL;
}

void help_each_flag(const char *command, void (*each)(const struct help_row *flag, void *data),
		    void *data)
{
	for (int i = 0; i < n_help_rows; i++) {
		const struct help_row *row = &help_rows[i];

		if (strcmp(row->command, command) != 0)
			continue;
		if (row->kind == HELP_FLAG)
			each(row, data);
		else if (row->kind == HELP_SHARED)
			help_each_flag(row->name, each, data);
	}
}

/* Writes `text` from column `at` on, in lines that begin at `indent`; "\n" begins a line. */
static void print_wrapped(FILE *out, const char *text, int at, int indent)
{
	bool first = true;

	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (!first && at + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		fprintf(out, "%s%.*s", first ? "" : " ", len, text);
		at += len + !first;
		first = false;
		text += len;
		if (*text == '\n') {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}

/* "--db FILE": its width. */
static int flag_width(const struct help_row *flag)
{
	return (int)(strlen(flag->name) + strlen(flag->argument) + (*flag->argument ? 1 : 0));
}

static void widen(const struct help_row *flag, void *data)
{
	int *column = data, width = flag_width(flag);

	if (width > *column && width <= MOST_COLUMN)
		*column = width;
}

struct flag_list {
	FILE *out;
	int column;
};

static void print_flag(const struct help_row *flag, void *data)
{
	const struct flag_list *list = data;
	int indent = list->column + 4, width = flag_width(flag);

	fprintf(list->out, "  %s%s%s", flag->name, *flag->argument ? " " : "", flag->argument);
	if (width > list->column)
		fprintf(list->out, "\n%*s", indent, "");
	else
		fprintf(list->out, "%*s", indent - 2 - width, "");
	print_wrapped(list->out, flag->text, indent, indent);
}

void help_print(FILE *out, const char *command)
{
	const struct help_row *row = help_of(command);
	struct flag_list list = { .out = out };

	if (!row) {
		fprintf(out, "usage: breakeven %s\n", command);
		return;
	}
	fputs("usage: ", out);
	print_wrapped(out, row->usage, 7, 7);
	fputc('\n', out);
	print_wrapped(out, row->about, 0, 0);
	help_each_flag(command, widen, &list.column);
	if (list.column)
		fputc('\n', out);
	help_each_flag(command, print_flag, &list);
	if (*row->after) {
		fputc('\n', out);
		print_wrapped(out, row->after, 0, 0);
	}
}
