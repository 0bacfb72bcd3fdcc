/* server/cli/device_flag.c -- see device_flag.h. */
#include "server/cli/device_flag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/flags.h"

enum { MOST_GPUS = 64, GPU_CHARS = 96 };

/* Entry `n` of "0,2" or of a list of UUIDs; without a list, its own number. */
static bool entry_of(const char *list, long long n, char out[GPU_CHARS])
{
	size_t len;

	if (!list || !*list) {
		snprintf(out, GPU_CHARS, "%lld", n);
		return true;
	}
	for (; n > 0 && list; n--) {
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	len = list ? strcspn(list, ",") : 0;
	if (len == 0 || len >= GPU_CHARS)
		return false;
	snprintf(out, GPU_CHARS, "%.*s", (int)len, list);
	return true;
}

bool device_flag_take(const char *command, const char **device)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	char gpu[GPU_CHARS];
	long long n = 0;

	if (!*device || strncmp(*device, "cuda:", 5) != 0)
		return true;
	if (!flags_integer(command, "--device cuda:", *device + 5, 0, MOST_GPUS - 1, &n))
		return false;
	if (!entry_of(list, n, gpu))
		return flags_refuse(command, "CUDA_VISIBLE_DEVICES has no entry for --device ",
				    *device);
	setenv("CUDA_VISIBLE_DEVICES", gpu, 1);
	*device = "cuda";
	return true;
}
