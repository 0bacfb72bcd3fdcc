// tests/plugins/cxx.cc -- a plugin in C++: a pass that names what it sees.
#include "fusion/plugin.h"

static int visit(const be_host *host, be_rewrite *rw, const be_graph *g, void *)
{
	if (host->node_rank(g, BE_THIS) == 0)
		host->fired(rw, "a number");
	return BE_KEEP;
}

static bool load(const be_host *host, be_registry *registry)
{
	static be_pass pass = {};

	pass.name = "note_numbers";
	pass.purpose = "notes where a tensor without dims is made";
	pass.place = "fuse";
	pass.visit = visit;
	return host->add_pass(registry, &pass);
}
BE_PLUGIN(load)
