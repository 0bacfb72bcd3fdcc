/* server/cli/flags.h -- the flags of a command, read by one table.
 *
 * `--name VALUE` and `--name=VALUE` mean the same; flags and words may come in any
 * order; --help and -h, wherever they are, print the help.
 */
#ifndef SERVER_CLI_FLAGS_H
#define SERVER_CLI_FLAGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"
#include "fusion/registry.h"

/* Texts in the order in which they came, borrowed from argv. */
struct flag_texts {
	const char **at;
	int n, most;
	const char *over; /* what to say of one more: "at most 64 inputs, not also " */
};

/* One of value, many and on is set. */
struct flag {
	const char *name;        /* "--json", "-o" */
	const char **value;      /* its text goes here; given twice, the last counts */
	struct flag_texts *many; /* it may be given often */
	bool *on;                /* it takes no text */
};

struct flags {
	const char *command; /* "run"; help.def says what its help is */
	const struct flag *table;
	int n;
	struct flag_texts words; /* what is no flag; most 0: there must be none */
	char ***rest;            /* what follows "--" goes here, NULL where it is not given;
				  * NULL: "--" is no flag of this command */
};

/* -1 to go on, else the exit status, after the help or a message. */
int flags_read(struct flags *f, int argc, char **argv);

/* Prints "breakeven COMMAND: WHATDETAIL; `breakeven COMMAND --help` says more".  False. */
bool flags_refuse(const char *command, const char *what, const char *detail);

/* Whether `text` (NULL: not given) is one of `allowed`, which ends with NULL; else refused. */
bool flags_one_of(const char *command, const char *name, const char *text,
		  const char *const *allowed);

/* `text` as a whole number within bounds; `out` stays as it is where it is NULL. */
bool flags_integer(const char *command, const char *name, const char *text, long long low,
		   long long high, long long *out);

/* $XDG_CACHE_HOME/breakeven, else ~/.cache/breakeven; makes its parent.
 * False where there is no home. */
bool default_cache_dir(char *out, size_t out_bytes);

/* What --json prints of a command: the document and a line's end.  Takes it over; NULL: out of
 * memory.  The exit status. */
int json_flag_print(const char *command, json_t *said);

/* --device cuda:N: which GPU a command runs on.  Where *device (NULL: not given) is "cuda:N", it
 * becomes "cuda", and GPU N, of those that CUDA_VISIBLE_DEVICES shows, the only one that this
 * process and its children see; other texts stay.  False after a message.  Before CUDA is used, and
 * before there are threads. */
bool device_flag_take(const char *command, const char **device);

/* The flag --without of `run` and `explain`.  "cse,simplify": each must be a pass that can be
 * switched off; NAME or VALUE. */
bool pass_flag_check(const struct registry *registry, const char *names, struct err *err);

/* Switches them off in a workload. */
void pass_flag_apply(json_t *workload, const char *names);

#endif
