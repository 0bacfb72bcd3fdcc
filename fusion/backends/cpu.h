/* fusion/backends/cpu.h -- the backend that compiles C.  Private to backends/. */
#ifndef FUSION_BACKENDS_CPU_H
#define FUSION_BACKENDS_CPU_H

#include "fusion/backends/backend.h"

extern const struct backend backend_cpu;

#endif
