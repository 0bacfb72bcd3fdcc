/* server/cli/workload_file.h -- the FILE of `breakeven run` and `explain`. */
#ifndef SERVER_CLI_WORKLOAD_FILE_H
#define SERVER_CLI_WORKLOAD_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"
#include "server/cli/flags.h"

enum { WORKLOAD_FILE_MAX_INPUTS = 64, WORKLOAD_FILE_MAX_WEIGHTS = 64 };

struct workload_file {
	const char
	    *file; /* a workload or a report (JSON), a .py, a folder, or - for JSON on stdin */
	const char *entry; /* of a .py: NULL is model; of a folder "train.py:model" */
	const char *inputs[WORKLOAD_FILE_MAX_INPUTS]; /* of a .py: "x=float32[8,16]" */
	int n_inputs;
	const char *weights[WORKLOAD_FILE_MAX_WEIGHTS]; /* "PATH", or "NAME=PATH" */
	int n_weights;
	bool no_sandbox;
	json_t *listed;  /* where inputs are wrong: the program with the others, for
			  * workload_file_error(); the caller's */
	char place[256]; /* what a place in its source is called: "model.py", "chain.json, source";
			  * workload_file_load() sets it */
};

/* The rows of --input, --weights and --entry for a command's table; the texts are those of
 * workload_file_inputs() and workload_file_weights(), whose `n` go to n_inputs and n_weights
 * afterwards. */
#define WORKLOAD_FILE_FLAGS(f, texts, weight_texts)                                                \
	{ "--input", .many = (texts) }, { "--weights", .many = (weight_texts) },                   \
	    { "--no-sandbox", .on = &(f)->no_sandbox },                                            \
	{                                                                                          \
		"--entry", .value = &(f)->entry                                                    \
	}
struct flag_texts workload_file_inputs(struct workload_file *f);
struct flag_texts workload_file_weights(struct workload_file *f);

/* Whether there is a FILE, and no --input where it takes none; refused otherwise. */
bool workload_file_check_flags(const struct workload_file *f, const char *command);

/* Its workload as JSON; NULL with *err. */
json_t *workload_file_load(struct workload_file *f, struct err *err);

/* That, checked: the inputs' names too.  NULL with *err. */
struct registry;
struct workload *workload_file_parse(const struct workload_file *f, const json_t *json,
				     const struct registry *registry, struct err *err);

/* Confines this process before the program of `w` runs: its files are a stranger's
 * (server/queue/sandbox.h).  With --no-sandbox says loudly that it does not.  `cache_dir` NULL:
 * nothing is compiled to be kept; `posts`: what it measured goes to a server.  WORKER. */
struct workload_file_rights {
	const char *command, *cache_dir;
	const struct registry *registry;
	bool posts;
};
bool workload_file_confine(const struct workload_file *f, const struct workload *w,
			   const struct workload_file_rights *rights, struct err *err);

/* Sets "commit" and "branch", where the folder is in git and neither is given. */
void workload_file_commit(json_t *workload);

/* The path of "NAME=PATH" or "PATH", whose last part is the name then. */
const char *workload_weights_path(const char *text, char name[256]);

/* Each file of weights that the flags name, once workload_file_load() has named them. */
typedef bool workload_weights_fn(void *self, const char *path, const char *id, struct err *err);
bool workload_file_each_weights(const struct workload_file *f, const json_t *json,
				workload_weights_fn *each, void *self, struct err *err);

/* Where a program came without the inputs that its entry needs, and its text tells some: prints
 * them to stderr as the command that has them, and returns true. */
bool workload_file_proposed(const struct workload_file *f, const char *command, const json_t *json,
			    const struct registry *registry);

/* Writes the error to stderr, with its line and a caret where it has a place in
 * the source of `json` (may be NULL); after it all else that the source is refused for. */
void workload_file_error(const struct workload_file *f, const char *command, const json_t *json,
			 const struct registry *registry, const struct err *err);

#endif
