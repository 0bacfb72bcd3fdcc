/* fusion/weights/weights.c -- which file a program means. */
#include "fusion/weights/weights.h"

#include <string.h>

static const char *plain(const char *path)
{
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

const struct fusion_data *weights_find(const struct fusion_data_files *files, const char *path)
{
	const struct fusion_data *found = NULL;
	size_t longest = 0, len;

	path = plain(path);
	len = strlen(path);
	for (int i = 0; files && i < files->n; i++) {
		const char *name = plain(files->at[i].name);
		size_t n = strlen(name);

		if (n > len || n <= longest || strcmp(path + len - n, name) != 0 ||
		    (n < len && path[len - n - 1] != '/'))
			continue;
		found = &files->at[i];
		longest = n;
	}
	return found;
}
