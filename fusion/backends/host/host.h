/* fusion/backends/host/host.h -- the backends that run on this machine's processor.
 *
 * interp compiles nothing: a part of a kernel is a list of built-in loops (interp.c).  cpu
 * writes C (emit.c, emit_schedule.c), runs the system compiler (toolchain.c) and keeps what
 * it made on disk (cpu.c).  What both share is in executable.c.
 */
#ifndef FUSION_BACKENDS_HOST_HOST_H
#define FUSION_BACKENDS_HOST_HOST_H

#include "fusion/backends/backends.h"

extern const struct backend backend_interp;
extern const struct backend backend_cpu;

#endif
