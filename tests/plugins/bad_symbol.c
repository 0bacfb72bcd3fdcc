/* tests/plugins/bad_symbol.c -- a shared object that is no plugin. */
#include "fusion/plugin.h"

BE_SYMBOL const uint32_t breakeven_plugin_version;
const uint32_t breakeven_plugin_version = BE_PLUGIN_VERSION;
