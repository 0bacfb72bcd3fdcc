/* profiler/workload/weights.c -- the files of weights that a workload's program reads.
 *
 *	"weights": {"weights.pt": "sha256:9f86d081..."}
 *
 * A workload names them by what is in them; where they lie is the business of whoever runs it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/workload/workload.h"

enum { BLOCK_BYTES = 1 << 20 };
static const char scheme[] = "sha256:";

bool weights_id_check(const char *id)
{
	size_t n = strlen(scheme);

	if (!id || strlen(id) != WEIGHTS_ID_BYTES - 1 || strncmp(id, scheme, n) != 0)
		return false;
	for (const char *c = id + n; *c; c++)
		if (!isdigit((unsigned char)*c) && (*c < 'a' || *c > 'f'))
			return false;
	return true;
}

static bool hash(int fd, struct sha256_ctx *sum)
{
	uint8_t *block = malloc(BLOCK_BYTES);
	ssize_t n = block ? 1 : -1;

	while (n > 0) {
		n = read(fd, block, BLOCK_BYTES);
		if (n > 0)
			sha256_update(sum, (size_t)n, block);
		if (n < 0 && errno == EINTR)
			n = 1;
	}
	free(block);
	return n == 0;
}

bool weights_id(const char *path, char out[WEIGHTS_ID_BYTES], struct err *err)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct sha256_ctx sum;
	struct stat at;
	bool ok = false;

	sha256_init(&sum);
	if (fd < 0 || fstat(fd, &at) != 0)
		err_set(err, ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
	else if (!S_ISREG(at.st_mode))
		err_set(err, ERR_IO, "%s is no file", path);
	else
		ok = hash(fd, &sum) ||
		     err_set(err, ERR_IO, "%s cannot be read: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	sha256_digest(&sum, sizeof(digest), digest);
	strcpy(out, scheme);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + strlen(scheme) + 2 * i, 3, "%02x", digest[i]);
	return ok;
}

bool weights_read(struct workload *w, struct err *err)
{
	const json_t *weights = json_object_get(w->json, "weights");
	size_t n = json_object_size(weights);
	const char *name;
	json_t *id;

	if (!field_given(weights))
		return true;
	if (!json_is_object(weights))
		return err_set(err, ERR_WORKLOAD,
			       "weights must be an object of files by name, as {\"weights.pt\": "
			       "\"sha256:...\"}");
	if (n > WORKLOAD_MAX_WEIGHTS)
		return err_set(err, ERR_BOUND, "weights has %zu files; the limit is %d", n,
			       WORKLOAD_MAX_WEIGHTS);
	w->weights = calloc(n ? n : 1, sizeof(*w->weights));
	if (!w->weights)
		return err_set(err, ERR_MEMORY, "out of memory for the workload");
	json_object_foreach((json_t *)weights, name, id)
	{
		struct fusion_data *file = &w->weights[w->n_weights];

		if (!path_check(name, err))
			return false;
		if (!weights_id_check(json_string_value(id)))
			return err_set(err, ERR_WORKLOAD,
				       "weights['%s'] must be the id that POST /api/v1/files gave "
				       "the file: sha256: and 64 digits of 0-9 and a-f",
				       name);
		*file = (struct fusion_data){ .name = name };
		w->n_weights++;
	}
	return true;
}

void weights_forget(struct workload *w)
{
	for (int i = 0; i < w->n_weights; i++)
		free((char *)w->weights[i].path);
	free(w->weights);
	w->weights = NULL;
	w->n_weights = 0;
}

static bool put(struct fusion_data *file, const char *path, struct err *err)
{
	free((char *)file->path);
	file->path = strdup(path);
	return file->path || err_set(err, ERR_MEMORY, "out of memory for the workload");
}

static const char *id_of(const struct workload *w, const char *name)
{
	return json_string_value(json_object_get(json_object_get(w->json, "weights"), name));
}

bool workload_weights_at(struct workload *w, const char *name, const char *path, struct err *err)
{
	for (int i = 0; i < w->n_weights; i++)
		if (strcmp(w->weights[i].name, name) == 0)
			return put(&w->weights[i], path, err);
	return err_set(err, ERR_WORKLOAD, "weights of the workload has no %s", name);
}

bool workload_weights_in(struct workload *w, const char *folder, struct err *err)
{
	char path[4096];

	for (int i = 0; i < w->n_weights; i++) {
		const char *id = id_of(w, w->weights[i].name);

		snprintf(path, sizeof(path), "%s/%s", folder, id + strlen(scheme));
		if (access(path, R_OK) != 0)
			return err_set(err, ERR_NOT_FOUND,
				       "the weights %s are not here: the file %s was deleted or "
				       "never posted; post it to /api/v1/files",
				       w->weights[i].name, id);
		if (!put(&w->weights[i], path, err))
			return false;
	}
	return true;
}

bool workload_weights_there(const struct workload *w, struct err *err)
{
	for (int i = 0; i < w->n_weights; i++)
		if (!w->weights[i].path)
			return err_set(err, ERR_WORKLOAD,
				       "the file of the weights %s is not known; name it with "
				       "--weights %s=PATH",
				       w->weights[i].name, w->weights[i].name);
	return true;
}

int64_t workload_weights_bytes(const struct workload *w)
{
	int64_t bytes = 0;
	struct stat at;

	for (int i = 0; i < w->n_weights; i++)
		if (w->weights[i].path && stat(w->weights[i].path, &at) == 0)
			bytes += at.st_size;
	return bytes;
}
