/* tests/plugins/bad_graph.c -- a pass that breaks the graph: the sum of a product is the
 * product.  Eager's graphs of one op have none. */
#include <string.h>

#include "fusion/plugin.h"

static int visit(const struct be_host *host, struct be_rewrite *rw, const struct be_graph *g,
		 void *self)
{
	(void)rw, (void)self;
	if (strcmp(host->node_op(g, BE_THIS), "sum") == 0 &&
	    strcmp(host->node_op(g, host->arg(g, BE_THIS, 0).node), "mul") == 0)
		return host->arg(g, BE_THIS, 0).node;
	return BE_KEEP;
}

static const struct be_pass pass = { .name = "no_sums",
				     .purpose = "takes sums away, which is wrong",
				     .breaks = "live strided apart",
				     .place = "cse",
				     .visit = visit };

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_pass(registry, &pass);
}
BE_PLUGIN(load)
