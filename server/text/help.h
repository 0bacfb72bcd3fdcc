/* server/text/help.h -- what the commands say of themselves (help.def, commands.def). */
#ifndef SERVER_HELP_H
#define SERVER_HELP_H

#include <stdio.h>

enum help_kind { HELP_COMMAND, HELP_FLAG, HELP_SHARED };

/* A row of help.def. */
struct help_row {
	enum help_kind kind;
	const char *command;                /* or the group that a flag belongs to */
	const char *usage, *about, *after;  /* of a command */
	const char *name, *argument, *text; /* of a flag; name: the group that is shared */
};
extern const struct help_row help_rows[];
extern const int n_help_rows;

/* A row of commands.def. */
struct help_line {
	const char *name, *args, *line;
};
extern const struct help_line help_lines[];
extern const int n_help_lines;

/* `breakeven --help` and `breakeven COMMAND --help`. */
void help_print_all(FILE *out);
void help_print(FILE *out, const char *command);

/* The row of a command; NULL where it has none. */
const struct help_row *help_of(const char *command);

/* Calls back for each flag of a command, those of its groups at their place. */
void help_each_flag(const char *command, void (*each)(const struct help_row *flag, void *data),
		    void *data);

#endif
