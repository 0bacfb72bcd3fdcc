/* server/cli/config.c -- see config.h: a flag, else the environment, else a file. */
#include "server/cli/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/cli.h"

static const char usual_file[] = "/etc/breakeven.conf";

enum { FILE_BYTES = 64 << 10 };

/* Places of a row while its flag is looked for: empty, and then as they were. */
struct row_before {
	const char *value;
	bool on;
};

struct config_reader {
	struct flags *flags;
	struct config *out;
	struct arena *arena;
	struct row_before kept[CONFIG_MOST];
};

/* "BREAKEVEN_FILES_GIB" of "--files-gib". */
static const char *variable_of(const char *flag, struct arena *arena)
{
	char *name = (char *)arena_printf(arena, "BREAKEVEN_%s", flag + strspn(flag, "-"));

	for (char *c = name; c && *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static bool refuse(const struct config_reader *r, const char *where, const char *what,
		   const char *detail)
{
	fprintf(stderr, "breakeven %s: %s: %s%s\n", r->flags->command, where, what, detail);
	return false;
}

static bool is_given(const struct flag *row)
{
	return row->on ? *row->on : row->many ? row->many->n > 0 : *row->value != NULL;
}

static void empty(struct config_reader *r)
{
	for (int i = 0; i < r->flags->n; i++) {
		const struct flag *row = &r->flags->table[i];

		r->out->from[i] = NULL;
		if (row->value) {
			r->kept[i].value = *row->value;
			*row->value = NULL;
		}
	}
}

/* What nobody gave is as it was. */
static void fill(struct config_reader *r)
{
	for (int i = 0; i < r->flags->n; i++) {
		const struct flag *row = &r->flags->table[i];

		if (row->value && !*row->value)
			*row->value = r->kept[i].value;
		if (!r->out->from[i])
			r->out->from[i] = "default";
	}
}

static bool read_switch(const char *text, bool *on)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (int i = 0; i < 8; i++) {
		if (strcmp(text, words[i]) == 0) {
			*on = i % 2 == 1;
			return true;
		}
	}
	return false;
}

/* Gives row i a value from `where`. */
static bool set(struct config_reader *r, int i, const char *text, const char *where)
{
	const struct flag *row = &r->flags->table[i];

	r->out->from[i] = where;
	if (row->on)
		return read_switch(text, row->on) ||
		       refuse(r, where, row->name + 2, " is yes or no");
	if (!*text)
		return refuse(r, where, row->name + 2, " has no value");
	if (!row->many) {
		*row->value = text;
		return true;
	}
	if (row->many->n == row->many->most)
		return refuse(r, where, "too many of ", row->name + 2);
	row->many->at[row->many->n++] = text;
	return true;
}

static bool read_variable(struct config_reader *r, int i)
{
	const struct flag *row = &r->flags->table[i];
	const char *name = variable_of(row->name, r->arena);
	const char *text = name ? getenv(name) : NULL;

	if (r->out->from[i] || !text || !*text)
		return true;
	if (!row->many)
		return set(r, i, text, name);
	for (size_t len; *(text += strspn(text, " ")); text += len) {
		len = strcspn(text, " ");
		if (!set(r, i, arena_strndup(r->arena, text, len), name))
			return false;
	}
	return true;
}

/* ---- the file ---- */

/* Its text; "" where there is none that was asked for; NULL after a message. */
static const char *read_file(struct config_reader *r, const char *named)
{
	const char *path = named ? named : usual_file;
	char *text = arena_alloc(r->arena, FILE_BYTES + 1);
	FILE *f = fopen(path, "re");
	size_t len;

	if (!f && !named && errno == ENOENT)
		return "";
	if (!f || !text) {
		refuse(r, path, f ? "out of memory" : strerror(errno), "");
		if (f)
			fclose(f);
		return NULL;
	}
	len = fread(text, 1, FILE_BYTES + 1, f);
	fclose(f);
	if (len > FILE_BYTES || memchr(text, 0, len)) {
		refuse(r, path, "no file of settings: it is longer than 64 KiB, or no text", "");
		return NULL;
	}
	text[len] = '\0';
	r->out->file = path;
	return text;
}

/* Without blanks around it; a copy. */
static const char *trimmed(struct arena *arena, const char *begin, const char *end)
{
	while (begin < end && isspace((unsigned char)*begin))
		begin++;
	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	return arena_strndup(arena, begin, (size_t)(end - begin));
}

static int row_of(const struct flags *f, const char *name)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->table[i].name + 2, name) == 0 && strcmp(name, "config") != 0)
			return i;
	return -1;
}

/* `before` has the line of the file that gave each row, 0: none. */
static bool read_line(struct config_reader *r, const char *line, const char *end, int number,
		      int before[CONFIG_MOST])
{
	const char *where = arena_printf(r->arena, "%s:%d", r->out->file, number);
	const char *equals = memchr(line, '=', (size_t)(end - line)), *name, *text;
	int i;

	name = trimmed(r->arena, line, equals ? equals : end);
	if (!where || !name)
		return refuse(r, r->out->file, "out of memory", "");
	if (!*name && !equals)
		return true;
	if (!equals)
		return refuse(r, where, "a line is `name = value`, not ", name);
	text = trimmed(r->arena, equals + 1, end);
	i = row_of(r->flags, name);
	if (i < 0)
		return refuse(r, where, "there is no such setting: ", name);
	if (before[i] && !r->flags->table[i].many)
		return refuse(r, where, "it stands twice: ", name);
	before[i] = number;
	/* A flag and the environment count before it. */
	if (r->out->from[i] && strncmp(r->out->from[i], r->out->file, strlen(r->out->file)) != 0)
		return true;
	return text ? set(r, i, text, where) : refuse(r, where, "out of memory", "");
}

static bool read_lines(struct config_reader *r, const char *text)
{
	int before[CONFIG_MOST] = { 0 }, number = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), said = strcspn(text, "#\n");

		if (!read_line(r, text, text + said, ++number, before))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static bool read_rest(struct config_reader *r)
{
	const char *named = NULL, *text;

	for (int i = 0; i < r->flags->n; i++) {
		if (is_given(&r->flags->table[i]))
			r->out->from[i] = "flag";
		if (!read_variable(r, i))
			return false;
		if (strcmp(r->flags->table[i].name, "--config") == 0)
			named = *r->flags->table[i].value;
	}
	text = read_file(r, named);
	return text && read_lines(r, text);
}

int config_read(struct flags *f, int argc, char **argv, struct config *out, struct arena *arena)
{
	struct config_reader r = { .flags = f, .out = out, .arena = arena };
	int status;

	out->file = NULL;
	empty(&r);
	status = flags_read(f, argc, argv);
	if (status < 0 && !read_rest(&r))
		status = EXIT_USAGE;
	fill(&r);
	return status;
}
