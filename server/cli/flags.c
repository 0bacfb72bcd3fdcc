/* server/cli/flags.c -- reads the flags of a command by its table, and what flags of several
 * commands mean. */
#include "server/cli/flags.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fusion/base/nearest.h"
#include "server/cli/cli.h"
#include "server/text/text.h"

bool flags_refuse(const char *command, const char *what, const char *detail)
{
	fprintf(stderr, "breakeven %s: %s%s; `breakeven %s --help` says more\n", command, what,
		detail, command);
	return false;
}

static bool wants_help(const struct flags *f, int argc, char **argv)
{
	for (int i = 1; i < argc && !(f->rest && strcmp(argv[i], "--") == 0); i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* The row for a word; what follows its "=" goes to *inside. */
static const struct flag *find(const struct flags *f, const char *word, const char **inside)
{
	*inside = NULL;
	for (int i = 0; i < f->n; i++) {
		size_t len = strlen(f->table[i].name);

		if (strncmp(word, f->table[i].name, len) != 0)
			continue;
		if (word[len] == '=' && !f->table[i].on)
			*inside = word + len + 1;
		else if (word[len])
			continue;
		return &f->table[i];
	}
	return NULL;
}

static bool add(const struct flags *f, struct flag_texts *texts, const char *text)
{
	if (texts->n == texts->most)
		return flags_refuse(f->command, texts->over ? texts->over : "unexpected argument ",
				    text);
	texts->at[texts->n++] = text;
	return true;
}

/* Names the flag that it may have meant.  False. */
static bool refuse_unknown(const struct flags *f, const char *word)
{
	char name[64], detail[256];
	struct nearest n;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	n = nearest_to(name);
	for (int i = 0; i < f->n; i++)
		nearest_offer(&n, f->table[i].name);
	if (!n.best)
		return flags_refuse(f->command, "unknown flag ", word);
	snprintf(detail, sizeof(detail), "%.100s (did you mean %s?)", word, n.best);
	return flags_refuse(f->command, "unknown flag ", detail);
}

static bool read_one(struct flags *f, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *inside;
	const struct flag *flag = find(f, word, &inside);

	if (!flag && word[0] == '-' && word[1])
		return refuse_unknown(f, word);
	if (!flag)
		return add(f, &f->words, word);
	if (flag->on) {
		*flag->on = true;
		return true;
	}
	if (!inside && *i + 1 == argc)
		return flags_refuse(f->command, "a value is missing after ", word);
	inside = inside ? inside : argv[++*i];
	if (flag->many)
		return add(f, flag->many, inside);
	*flag->value = inside;
	return true;
}

int flags_read(struct flags *f, int argc, char **argv)
{
	if (wants_help(f, argc, argv)) {
		help_print(stdout, f->command);
		return EXIT_DONE;
	}
	for (int i = 1; i < argc; i++) {
		if (f->rest && strcmp(argv[i], "--") == 0) {
			*f->rest = argv + i + 1;
			break;
		}
		if (!read_one(f, argc, argv, &i))
			return EXIT_USAGE;
	}
	return -1;
}

bool flags_one_of(const char *command, const char *name, const char *text,
		  const char *const *allowed)
{
	for (int i = 0; text && allowed[i]; i++)
		if (strcmp(text, allowed[i]) == 0)
			return true;
	if (!text)
		return true;
	fprintf(stderr, "breakeven %s: %s%s%s: one of", command, name, *name ? " " : "", text);
	for (int i = 0; allowed[i]; i++)
		fprintf(stderr, "%s %s", i ? "," : "", allowed[i]);
	fprintf(stderr, " is needed\n");
	return false;
}

bool flags_integer(const char *command, const char *name, const char *text, long long low,
		   long long high, long long *out)
{
	long long n;
	char *end;

	if (!text)
		return true;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || *end || errno || n < low || n > high) {
		fprintf(stderr, "breakeven %s: %s needs a whole number from %lld ", command, name,
			low);
		fprintf(stderr, high == LLONG_MAX ? "on" : "to %lld", high);
		fprintf(stderr, ", not '%s'\n", text);
		return false;
	}
	*out = n;
	return true;
}

bool default_cache_dir(char *out, size_t out_bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len;

	if (cache && *cache == '/') {
		mkdir(cache, 0700); /* an error shows when the cache is used */
		len = snprintf(out, out_bytes, "%s/breakeven", cache);
	} else if (home && *home == '/') {
		char parent[4096];

		snprintf(parent, sizeof(parent), "%s/.cache", home);
		mkdir(parent, 0700);
		len = snprintf(out, out_bytes, "%s/.cache/breakeven", home);
	} else {
		return false;
	}
	return len > 0 && (size_t)len < out_bytes;
}

int json_flag_print(const char *command, json_t *said)
{
	if (!said) {
		fprintf(stderr, "breakeven %s: out of memory for what it says\n", command);
		return EXIT_FAILED;
	}
	json_dumpf(said, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(said);
	return EXIT_DONE;
}

/* ---- --device cuda:N ---- */

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

/* ---- --without ---- */

bool pass_flag_check(const struct registry *registry, const char *names, struct err *err)
{
	char *copy = strdup(names), *rest = copy;
	uint64_t disabled = 0;
	bool ok = copy != NULL;

	for (char *name; ok && (name = strsep(&rest, ","));)
		ok = fusion_pass_disable(registry, name, &disabled, err);
	free(copy);
	return ok && fusion_passes_check(registry, disabled, err);
}

void pass_flag_apply(json_t *workload, const char *names)
{
	json_t *passes = json_object_get(workload, "passes");
	char *copy = strdup(names), *rest = copy;

	passes = json_is_object(passes) ? json_deep_copy(passes) : json_object();
	for (char *name; copy && (name = strsep(&rest, ","));)
		json_object_set_new(passes, name, json_false());
	json_object_set_new(workload, "passes", passes);
	free(copy);
}
