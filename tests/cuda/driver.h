/* tests/cuda/driver.h -- what tests may ask of the stand-in driver (driver.c). */
#ifndef TESTS_CUDA_DRIVER_H
#define TESTS_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

/* What was launched since the last clear: "k0 GRID BLOCK PARAMETERS" a line. */
const char *stand_in_log(void);
int stand_in_graphs(void); /* of these launches so many were graphs */
int stand_in_graph_at(
    size_t place);         /* the how manieth what is there in the log is of; 0: of none */
int stand_in_waits(void);  /* of the host for the stream, since the last clear */
int stand_in_strays(void); /* of what was asked for since then so many were not for that stream */
void stand_in_clear(void);
int stand_in_compiles(void); /* nvrtc.c: since it was loaded */

/* NULL: no fault from now on. */
void stand_in_fault(const char *order);

/* The machine code of nvrtc.c is its source. */
#define STAND_IN_ELF                                                                               \
	"\x7f"                                                                                     \
	"ELF"
#define STAND_IN_CUBIN STAND_IN_ELF " source "

#endif
