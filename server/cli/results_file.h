/* server/cli/results_file.h -- results of other tools in files, and where they go. */
#ifndef SERVER_CLI_RESULTS_FILE_H
#define SERVER_CLI_RESULTS_FILE_H

#include "profiler/results/results.h"

/* Whether a tool that is known wrote it; of what is no file, or too long for one, false. */
bool results_file_is(const char *path);

/* A `results` of profiler/fields/report.def, new.  `benchmarks`: the path of asv's
 * benchmarks.json; NULL: it is looked for where asv keeps it, beside the machine's folder.  NULL
 * with IO, or as results_read(); errors name the file. */
json_t *results_file_read(const char *path, const char *benchmarks,
			  const struct results_request *request, struct err *err);

/* Stores and prints them. */
struct results_to {
	const char *command;   /* whose messages they are */
	const char *post, *db; /* a server's URL, a store's file; NULL: neither */
	bool json;             /* printed as such; else as a table */
};
bool results_deliver(const json_t *results, const struct results_to *to, struct err *err);

#endif
