/* profiler/ranks/match.h -- private: the ranks that were read, and their collectives, matched.
 *
 * The n-th collective of a process group on one rank is that of the others: by the number that
 * the profiler says, else by the order of their starts.
 */
#ifndef PROFILER_RANKS_MATCH_H
#define PROFILER_RANKS_MATCH_H

#include "profiler/ranks/events.h"

enum { RANK_TOP = 16, RANK_LATE_NS = 10000 };

/* A rank, once its file is read. */
struct rank_row {
	struct report_rank *report;
	int file;                            /* its number in the import */
	struct rank_collective *collectives; /* by start */
	size_t n;
	struct path_segment last; /* to its last moment */
	int64_t begin_ns;         /* its first event on a device */

	bool is_torn; /* its file is cut off: which of its collectives is which is not certain */
	bool is_cut;  /* past a bound events of it were left out: its last collectives may be */
	int64_t in_last_step; /* so many collectives were left out with the last step */
	bool has_offset;
	int64_t offset_ns; /* its clock is ahead by so much */
	int64_t error_ns;

	int64_t met, last_n, wait_ns, late_ns, caused_ns;
	double excess_ns[PATH_KINDS]; /* of its work before collectives where it was last */
	struct path_top late[RANK_TOP];
};

/* One rank's part in a collective. */
struct rank_meet {
	const char *group;
	int64_t index; /* of the group */
	int32_t again; /* so many of that index before on the rank */
	uint32_t row, collective;
};

struct divergences {
	struct report_divergence *rows;
	size_t n;
	int64_t left_out;
};
enum { MOST_DIVERGENCES = 200, DIVERGENCE_WHO = 200 };

struct rank_match {
	struct rank_row *rows; /* by rank */
	size_t n_rows;
	VEC(struct rank_meet) meets; /* by group, index, again, rank */
	int64_t *came;               /* room for those that meet at one place */
	struct divergences divergences;
	struct report_draft *draft;
	int64_t matched, unmatched, wait_ns;
	int64_t begin_ns; /* the first event of a device of any rank, on the first rank's clock */
	int64_t n_cut, first_cut; /* ranks of which compilations were left out, and the first */
	struct report_collective_wait_list waits; /* the longest */
	struct report_rank_estimate_list estimates;
	struct report_rank_calls_list calls;
};

/* Fills all but rows and draft; of the rows their offsets and what they waited.  False: out of
 * memory. */
bool rank_match(struct rank_match *m);
void rank_match_finish(struct rank_match *m);

/* Times of a collective on the first rank's clock. */
static inline int64_t rank_aligned(const struct rank_row *row, int64_t ns)
{
	return ns - row->offset_ns;
}

/* A new row of a kind: what the ranks that differ have, and what most have.  `who` takes "rank 3",
 * "ranks 0, 1 and 2".  NULL: there are too many. */
struct divergence_of {
	const char *kind, *theirs, *most;
	const int64_t *ranks;
	int n;
};
struct report_divergence *divergence_add(struct rank_match *m, const struct divergence_of *of,
					 char who[DIVERGENCE_WHO]);

#endif
