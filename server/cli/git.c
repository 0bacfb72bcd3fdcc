/* server/cli/git.c -- see git.h. */
#include "server/cli/git.h"

#include <stdbool.h>

#include "fusion/base/ask.h"

enum { LINE_BYTES = 201 };

static bool says(const json_t *workload, const char *key)
{
	return json_string_length(json_object_get(workload, key)) > 0;
}

void git_describe(json_t *workload)
{
	/* A tag that points there would hide the id: none is looked at. */
	const char *const commit[] = { "git",         "describe",    "--always", "--dirty",
				       "--abbrev=40", "--exclude=*", NULL };
	const char *const branch[] = { "git", "symbolic-ref", "--short", "-q", "HEAD", NULL };
	char line[LINE_BYTES];

	if (says(workload, "commit") || says(workload, "branch") ||
	    !ask_command(commit, line, sizeof(line)))
		return;
	json_object_set_new(workload, "commit", json_string(line));
	if (ask_command(branch, line, sizeof(line)))
		json_object_set_new(workload, "branch", json_string(line));
}
