/* server/text/text.h -- what the server prints and what is embedded in it: reports and breaks as
 * text, help, its version, the files of the page and the programs that come with it. */
#ifndef SERVER_TEXT_TEXT_H
#define SERVER_TEXT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

struct report_break_list;
struct report_run;

/* "0.1.0+1f0c2ab": VERSION, and the commit that it was built from; "0.1.0" outside of git. */
const char *breakeven_version(void);

/* ---- run_table.c: a report, the answer first, then its table ---- */

/* Appends the verdict of each compiled mode as a sentence, a table with a row
 * for each point and mode, where the time of a call goes, and how it was measured.  A report
 * without timing gives calls, graphs and kernels instead, what another tool measured a line for
 * each figure. */
void run_table_print(struct buf *out, const struct report_run *run);

/* The same on the standard output, or the report as JSON; false where that takes no more. */
bool run_table_show(const struct report_run *run, bool json);

/* Whether every mode at every point gives eager's values. */
bool run_table_agrees(const struct report_run *run);

/* Why engine torch failed, one line; NULL where it did not, or was not asked for. */
const char *torch_text_error(const struct report_run *run);

/* ---- columns.c ---- */

/* The width for which printf's %*s makes a cell of so many columns of a valid UTF-8 text: it pads
 * by bytes, and "µs" has three of them in two columns.  Below 0: flush left, as there. */
int text_width(int columns, const char *text);

/* ---- csv.c ---- */

/* A line of cells: texts, numbers, truths; null is an empty one. */
void csv_row(struct buf *out, const json_t *row);

/* ---- break_text.c: breaks of a report, with their source lines ---- */

/* Each break: its place under the name `place`, kind, outcome, the line with
 * the expression underlined, the reason, what to write instead, the stack.
 * `workload` has the source, and may be NULL. */
void break_text_print(struct buf *out, const struct report_break_list *breaks, const char *place,
		      const json_t *workload);

/* ---- help.c: what the commands say of themselves (help.def, commands.def) ---- */

enum help_kind { HELP_COMMAND, HELP_FLAG, HELP_SHARED };

/* A row of help.def. */
struct help_row {
	enum help_kind kind;
	const char *command;                /* or the group that a flag belongs to */
	const char *usage, *about, *after;  /* of a command */
	const char *name, *argument, *text; /* of a flag; name: the group that is shared */
};

/* A row of commands.def. */
struct help_line {
	const char *name, *args, *line;
};
extern const struct help_line help_lines[];
extern const int n_help_lines;

/* `breakeven --help` and `breakeven COMMAND --help`. */
void help_print(FILE *out, const char *command);

/* The row of a command; NULL where it has none. */
const struct help_row *help_of(const char *command);

/* Calls back for each flag of a command, those of its groups at their place. */
void help_each_flag(const char *command, void (*each)(const struct help_row *flag, void *data),
		    void *data);

/* ---- embedded.c ---- */

/* The Python programs of web/FOLDER/, as workloads, by their names; their inputs are in "# input:"
 * lines.  A new list; NULL with why not. */
json_t *embedded_programs(const char *folder, struct err *err);

/* ---- the page's files, embedded in the program.
 *
 * Made by web/embed.sh from web/ and the vendored npm files.  `path` is the
 * path of the URL ("/assets/css/base.css"); the page itself, which every view's
 * URL answers with, is "/index.html". ---- */

struct asset {
	const char *path;
	const char *type;    /* Content-Type, with its charset */
	const char *etag;    /* quoted, as it goes into the header */
	const char *imports; /* paths of all that a script imports, parted by a space */
	const unsigned char *gzip_data;
	size_t gzip_len;
	const unsigned char *data;
	size_t len;
};

/* Sorted by strcmp of `path`, for bsearch; constant, so free to all threads. */
extern const struct asset assets[];
extern const size_t n_assets;

/* The hash of all scripts and styles, 12 hex digits: "/assets/HASH/css/main.css" is the same as
 * "/assets/css/main.css", but never another in any other version. */
extern const char assets_version[13];

#endif
