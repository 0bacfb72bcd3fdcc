/* tests/plugins/bad_crash.c -- a pass that crashes where a program has a tangent. */
#include <string.h>

#include "fusion/plugin.h"

static int visit(const struct be_host *host, struct be_rewrite *rw, const struct be_graph *g,
		 void *self)
{
	(void)rw, (void)self;
	if (strcmp(host->node_op(g, BE_THIS), "tan") == 0)
		__builtin_trap();
	return BE_KEEP;
}

static const struct be_pass pass = {
	.name = "fragile", .purpose = "crashes at a tangent", .place = "cse", .visit = visit
};

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_pass(registry, &pass);
}
BE_PLUGIN(load)
