/* profiler/cupti/absent/collector.c -- the collector of a build without CUPTI's headers. */
#include <stdio.h>
#include <stdlib.h>

#include "profiler/cupti/collector.h"

struct collector *collector_start(const struct collector_sink *sink,
				  const struct collector_options *options, char *why,
				  size_t why_bytes)
{
	(void)sink, (void)options;
	snprintf(
	    why, why_bytes,
	    "this program was built without cupti.h of the CUDA Toolkit: install it, and build "
	    "again with CUDA_HOME set to its folder");
	return NULL;
}

/* Nobody has a collector to call these with. */
void collector_push(struct collector *c, uint32_t id)
{
	(void)c, (void)id;
	abort();
}

void collector_pop(struct collector *c)
{
	(void)c;
	abort();
}

void collector_flush(struct collector *c, bool all)
{
	(void)c, (void)all;
	abort();
}

void collector_stop(struct collector *c, bool detach)
{
	(void)c, (void)detach;
	abort();
}

void collector_counts(struct collector *c, struct wire_counts *out)
{
	(void)c, (void)out;
	abort();
}
