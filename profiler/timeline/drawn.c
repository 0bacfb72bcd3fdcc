/* profiler/timeline/drawn.c -- what an event is drawn and grouped as. */
#include <string.h>
#include <strings.h>

#include "profiler/timeline/timeline.h"

static bool fits(const char *name, const char *text)
{
	return *text == '^' ? strncmp(name, text + 1, strlen(text + 1)) == 0
			    : strcasestr(name, text) != NULL;
}

static const char *of_kernel(const char *name)
{
#define KERNEL(text, as)                                                                           \
	if (fits(name, text))                                                                      \
		return as;
#include "profiler/timeline/drawn.def"
#undef KERNEL
	return NULL;
}

static const char *of_host(const char *name)
{
#define HOST(text, as)                                                                             \
	if (fits(name, text))                                                                      \
		return as;
#include "profiler/timeline/drawn.def"
#undef HOST
	if (strcmp(name, "dynamo") == 0) /* an op since PyTorch 2.9 */
		return "compile";
	return NULL;
}

static const char *of_lane(const char *name)
{
#define LANE(text, as)                                                                             \
	if (strncmp(name, text, strlen(text)) == 0)                                                \
		return as;
#include "profiler/timeline/drawn.def"
#undef LANE
	return NULL;
}

const char *timeline_drawn_as(enum timeline_kind kind, const char *name, const char *lane)
{
	const char *as = NULL;

	if (kind == TIMELINE_KERNEL || kind == TIMELINE_LIBRARY)
		as = of_kernel(name ? name : "");
	else if (kind == TIMELINE_OP || kind == TIMELINE_RANGE || kind == TIMELINE_API)
		as = of_host(name ? name : "");
	if (!as && lane && kind == TIMELINE_RANGE)
		as = of_lane(lane);
	return as ? as : timeline_kind_name(kind);
}
