/* tests/plugins/bad_name.c -- takes the name of a pass of ours, after one of its own. */
#include "fusion/plugin.h"

static int visit(const struct be_host *host, struct be_rewrite *rw, const struct be_graph *g,
		 void *self)
{
	(void)host, (void)rw, (void)g, (void)self;
	return BE_KEEP;
}

static const struct be_pass first = {
	.name = "mine", .purpose = "nothing", .place = "cse", .visit = visit
};
static const struct be_pass second = {
	.name = "dce", .purpose = "nothing", .place = "cse", .visit = visit
};

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_pass(registry, &first) && host->add_pass(registry, &second);
}
BE_PLUGIN(load)
