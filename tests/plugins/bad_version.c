/* tests/plugins/bad_version.c -- built for an interface that is to come. */
#include "fusion/plugin.h"

BE_SYMBOL const uint32_t breakeven_plugin_version;
const uint32_t breakeven_plugin_version = BE_PLUGIN_VERSION + 1;

BE_SYMBOL bool breakeven_plugin_load(const struct be_host *host, struct be_registry *registry);
bool breakeven_plugin_load(const struct be_host *host, struct be_registry *registry)
{
	(void)host, (void)registry;
	__builtin_trap(); /* its version is to be looked at first */
}
