/* profiler/bisect/repository.h -- commits of a git repository, and trees of them.
 *
 * Git itself does the work: which commit halves what is left is what `git rev-list --bisect-all`
 * says, trees are those of `git worktree`.  For one thread.
 */
#ifndef PROFILER_BISECT_REPOSITORY_H
#define PROFILER_BISECT_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

enum { REPOSITORY_MOST_COMMITS = 100000 };

struct repository {
	char folder[4096]; /* the top of the user's tree */
};

struct commit {
	char id[65], parent[65]; /* parent: the first; "" of the first commit */
	char date[11];           /* YYYY-MM-DD, of the committer */
	char author[100], subject[200];
};

/* The repository that a folder lies in.  IO: there is none, or no git. */
bool repository_open(struct repository *r, const char *folder, struct err *err);

/* The commit that a name, tag or id stands for.  BAD_REQUEST where there is none. */
bool repository_commit(const struct repository *r, const char *name, struct commit *out,
		       struct err *err);

/* The newest commits that HEAD has, at most `most`, each to `each`, which ends it by false.
 * *parents are ids with a blank between them.  IO. */
typedef bool repository_each_fn(void *self, const struct commit *commit, const char *parents,
				int64_t committed_s);
bool repository_log(const struct repository *r, int most, repository_each_fn *each, void *self,
		    struct err *err);

/* How many commits BAD has that GOOD has not.  BAD_REQUEST where GOOD is no ancestor of BAD, or
 * there are more than REPOSITORY_MOST_COMMITS. */
bool repository_distance(const struct repository *r, const char *good, const char *bad, int *n,
			 struct err *err);

/* What is left between the commits known to be good and one known to be bad. */
struct repository_range {
	const char *bad, *const *goods, *const *skipped; /* ids; skipped: could not be judged */
	int n_goods, n_skipped;
};
struct repository_left {
	int n;         /* commits that BAD has and none of `goods`; BAD is one */
	char next[65]; /* the one to try; "": there is none but BAD and those that were skipped */
};

/* `is_left` says of each skipped one whether it is among those left. */
bool repository_left(const struct repository *r, const struct repository_range *range,
		     struct repository_left *out, bool *is_left, struct err *err);

/* Checks a commit out into a tree of its own, which is made where it is not there; what the tree
 * holds beside the commit's files stays (objects of a build), unless `clean`.  IO. */
bool repository_checkout(const struct repository *r, const char *tree, const char *id, bool clean,
			 struct err *err);

/* Removes a tree, if it is there. */
void repository_remove(const struct repository *r, const char *tree);

#endif
