/* fusion/session/fusion_names.c -- modes and policies by name. */
#include <string.h>

#include "fusion/fusion.h"

static const char *const mode_names[FUSION_MODE_COUNT] = {
	[FUSION_EAGER] = "eager", [FUSION_STATIC] = "static", [FUSION_DYNAMIC] = "dynamic",
	[FUSION_AUTO] = "auto",   [FUSION_LAZY] = "lazy",     [FUSION_GRAPHS] = "graphs",
};

static const char *const policy_names[FUSION_POLICY_COUNT] = {
	[FUSION_DYNAMO] = "dynamo",
	[FUSION_NATIVE] = "native",
};

const char *fusion_mode_name(enum fusion_mode mode)
{
	return mode_names[mode];
}

bool fusion_mode_from_name(const char *name, enum fusion_mode *out)
{
	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		if (strcmp(mode_names[i], name) == 0) {
			*out = (enum fusion_mode)i;
			return true;
		}
	return false;
}

const char *fusion_policy_name(enum fusion_policy policy)
{
	return policy_names[policy];
}

bool fusion_policy_from_name(const char *name, enum fusion_policy *out)
{
	for (int i = 0; i < FUSION_POLICY_COUNT; i++)
		if (strcmp(policy_names[i], name) == 0) {
			*out = (enum fusion_policy)i;
			return true;
		}
	return false;
}
