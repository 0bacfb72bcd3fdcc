/* profiler/measure/pace.h -- keeps the measuring thread on a core that runs at its pace.
 *
 * Where machines share cores (two hyper-threads of one, one of them another machine's), a core runs
 * at two thirds of its pace for some 50 ms and more, then at its pace again, and so does each core
 * for itself.  What launches kernels of a few microseconds one after another is longer by as much,
 * and no number of samples on one core tells that from a slower program.
 */
#ifndef PROFILER_MEASURE_PACE_H
#define PROFILER_MEASURE_PACE_H

enum { PACE_CORES = 256 };

struct pace {
	/* Moves the calling thread to a core and times a fixed piece of work there, microseconds;
	 * NAN: the thread may not run there. */
	double (*time_on)(void *self, int core);
	void *self;
	int core[PACE_CORES], n; /* those that the thread may use */
	int at;                  /* where in `core` it is; -1: it has not been moved */
	double best_us;          /* that the work took on any of them so far; 0: it never ran */
};

/* The cores that the calling thread may use; n is 0 where nothing tells. */
void pace_begin(struct pace *p, double (*time_on)(void *self, int core), void *self);

/* For a sample: stays where the work takes at most a tenth more than it ever did, or goes on to the
 * next core that is so; where none is, to the quickest.  What the work took there, microseconds;
 * NAN: there are fewer than two cores. */
double pace_find(struct pace *p);

/* Lets the thread run on any of them again. */
void pace_end(struct pace *p);

#endif
