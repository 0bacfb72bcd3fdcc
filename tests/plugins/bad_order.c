/* tests/plugins/bad_order.c -- is where what it needs is not made yet. */
#include "fusion/plugin.h"

static int visit(const struct be_host *host, struct be_rewrite *rw, const struct be_graph *g,
		 void *self)
{
	(void)host, (void)rw, (void)g, (void)self;
	return BE_KEEP;
}

static const struct be_pass pass = {
	.name = "early", .purpose = "nothing", .needs = "strided", .place = "cse", .visit = visit
};

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_pass(registry, &pass);
}
BE_PLUGIN(load)
