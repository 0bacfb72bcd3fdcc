/* server/cli/commits.c -- tells a server of the commits that the current folder is of. */
#include "server/cli/commits.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/bisect/repository.h"

enum { TOLD = 500 };

static json_t *parents_of(const char *ids)
{
	json_t *list = json_array();

	while (*ids) {
		size_t len = strcspn(ids, " ");

		json_array_append_new(list, json_stringn(ids, len));
		ids += len + (ids[len] == ' ');
	}
	return list;
}

static bool add_commit(void *self, const struct commit *c, const char *parents, int64_t committed_s)
{
	return json_array_append_new(
		   self, json_pack("{s:s, s:o, s:s, s:s, s:I}", "id", c->id, "parents",
				   parents_of(parents), "subject", c->subject, "author", c->author,
				   "committed_ns", (json_int_t)committed_s * 1000000000)) == 0;
}

json_t *commits_here(void)
{
	json_t *list = json_array();
	struct repository here;
	struct err none = { 0 };

	if (list && repository_open(&here, ".", &none))
		repository_log(&here, TOLD, add_commit, list, &none);
	return list;
}

bool commits_post(struct post *p, const char *project, json_t *commits, struct err *err)
{
	json_t *request = json_pack("{s:s, s:O}", "project", project, "commits", commits);
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	bool ok = text ? post_send(p, "/commits",
				   (struct post_body){ "application/json", text, strlen(text) },
				   NULL, err)
		       : err_set(err, ERR_MEMORY, "out of memory for commits");

	json_decref(request);
	free(text);
	return ok;
}
