/* server/queue/likeness.c -- whether a run of a suite would give what an earlier one gave: hashes
 * of all that figures depend on. */
#include "server/queue/likeness.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/buf.h"
#include "fusion/base/hash.h"
#include "fusion/base/refused.h"
#include "profiler/profiler.h"
#include "server/text/text.h"

/* ---- the engine and the machine ---- */

static bool put_file_hash(struct buf *out, const char *path)
{
	char hex[HASH_HEX_BYTES];
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
		bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return false;
	hash_hex(bytes, (size_t)info.st_size, hex);
	munmap(bytes, (size_t)info.st_size);
	buf_printf(out, "%s\n", hex);
	return true;
}

/* The first lines of a file of /proc; nothing where there is none. */
static void put_lines(struct buf *out, const char *path, int most)
{
	FILE *f = fopen(path, "re");
	char line[256];

	while (f && most-- > 0 && fgets(line, sizeof(line), f))
		buf_puts(out, line);
	if (f)
		fclose(f);
}

/* The driver's version, and the model of each GPU. */
static void put_gpus(struct buf *out)
{
	static const char folder[] = "/proc/driver/nvidia/gpus";
	struct dirent **gpus;
	char path[sizeof(folder) + 300];
	int n = scandir(folder, &gpus, NULL, alphasort);

	put_lines(out, "/proc/driver/nvidia/version", 1);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/information", folder, gpus[i]->d_name);
		if (gpus[i]->d_name[0] != '.')
			put_lines(out, path, 1);
		free(gpus[i]);
	}
	if (n >= 0)
		free(gpus);
}

static bool put_machine(struct buf *out)
{
	json_t *environment = profiler_environment(breakeven_version());
	char *text = environment ? json_dumps(environment, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	bool ok = text != NULL;

	if (ok)
		buf_printf(out, "%s\n%s\n", text, visible ? visible : "");
	put_gpus(out);
	free(text);
	json_decref(environment);
	return ok;
}

/* NULL where a file cannot be read. */
static char *machine_text(const struct registry *registry, bool here)
{
	const char *path;
	struct buf out;
	char *text;
	bool ok;

	buf_init(&out, 0);
	ok = (!here || put_machine(&out)) && put_file_hash(&out, "/proc/self/exe");
	for (int i = 0; ok && registry && (path = registry_plugin_path(registry, i)); i++)
		ok = put_file_hash(&out, path);
	text = ok && !out.failed ? buf_steal(&out) : NULL;
	buf_finish(&out);
	return text;
}

/* ---- a job ---- */

static bool has_torch(const json_t *job)
{
	const json_t *engines = json_object_get(job, "engines"), *name;
	size_t i;

	json_array_foreach((json_t *)engines, i, name)
		if (json_string_value(name) && strcmp(json_string_value(name), "torch") == 0)
			return true;
	return false;
}

static const char *likeness_of(const json_t *job, const char *machine, struct arena *arena)
{
	static const char *const beside[] = { "commit", "branch", "tags", "project" };
	char hex[HASH_HEX_BYTES], *text;
	struct buf all;
	json_t *own;

	if (!machine || has_torch(job))
		return "";
	own = json_copy((json_t *)job);
	for (size_t i = 0; own && i < sizeof(beside) / sizeof(beside[0]); i++)
		json_object_del(own, beside[i]);
	text = own ? json_dumps(own, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(own);
	buf_init(&all, 0);
	if (text)
		buf_printf(&all, "%s\n%s", machine, text);
	else
		memory_note_refused();
	free(text);
	hash_hex(all.data ? all.data : "", all.len, hex);
	text = all.len && !all.failed ? arena_strdup(arena, hex) : NULL;
	buf_finish(&all);
	return text;
}

bool likeness_fill(const struct suite_plan *plan, struct suite_member *members, struct arena *arena)
{
	char *machines[2] = { NULL, NULL }; /* elsewhere, here */
	bool ok = true;

	for (int i = 0; ok && i < plan->n_jobs; i++) {
		bool here = !*members[i].run.host;

		if (plan->jobs[i].wrong.code != ERR_NONE)
			continue;
		if (!machines[here])
			machines[here] = machine_text(plan->registry, here);
		members[i].likeness = likeness_of(plan->jobs[i].json, machines[here], arena);
		ok = members[i].likeness != NULL;
	}
	free(machines[0]);
	free(machines[1]);
	return ok;
}
