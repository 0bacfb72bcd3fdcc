/* server/cli/serve_settings.c -- see serve_settings.h; `breakeven config`. */
#include "server/cli/serve_settings.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/cli.h"
#include "server/http/listen.h"

static const char usual_file[] = "/etc/breakeven.conf";

enum { FILE_BYTES = 64 << 10 };

struct settings_reader {
	struct flags *flags; /* those of the command; the first SETTINGS_MOST are settings */
	struct serve_settings *out;
	struct arena *arena;
	const char *kept[SETTINGS_MOST]; /* defaults, while it is looked for what is given */
};

/* "BREAKEVEN_FILES_GIB" of "--files-gib". */
static const char *variable_of(const char *flag, struct arena *arena)
{
	char *name = (char *)arena_printf(arena, "BREAKEVEN_%s", flag + strspn(flag, "-"));

	for (char *c = name; c && *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return name;
}

static bool refuse(const struct settings_reader *r, const char *where, const char *what,
		   const char *detail)
{
	fprintf(stderr, "breakeven %s: %s: %s%s\n", r->flags->command, where, what, detail);
	return false;
}

static bool is_given(const struct flag *row)
{
	return row->on ? *row->on : row->many ? row->many->n > 0 : *row->value != NULL;
}

static void empty(struct settings_reader *r)
{
	for (int i = 0; i < SETTINGS_MOST; i++) {
		const struct flag *row = &r->flags->table[i];

		r->out->from[i] = NULL;
		if (row->value) {
			r->kept[i] = *row->value;
			*row->value = NULL;
		}
	}
}

/* What nobody gave is as it was. */
static void fill(struct settings_reader *r)
{
	for (int i = 0; i < SETTINGS_MOST; i++) {
		const struct flag *row = &r->flags->table[i];

		if (row->value && !*row->value)
			*row->value = r->kept[i];
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
static bool set(struct settings_reader *r, int i, const char *text, const char *where)
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

static bool read_variable(struct settings_reader *r, int i)
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
static const char *read_file(struct settings_reader *r, const char *named)
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
	for (int i = 0; i < SETTINGS_MOST; i++)
		if (strcmp(f->table[i].name + 2, name) == 0 && strcmp(name, "config") != 0)
			return i;
	return -1;
}

/* `before` has the line of the file that gave each row, 0: none. */
static bool read_line(struct settings_reader *r, const char *line, const char *end, int number,
		      int before[SETTINGS_MOST])
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

static bool read_lines(struct settings_reader *r, const char *text)
{
	int before[SETTINGS_MOST] = { 0 }, number = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), said = strcspn(text, "#\n");

		if (!read_line(r, text, text + said, ++number, before))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static bool read_rest(struct settings_reader *r)
{
	const char *named = NULL, *text;

	for (int i = 0; i < SETTINGS_MOST; i++) {
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

/* As flags_read(), with the defaults in the table's places before. */
static int read_all(struct settings_reader *r, int argc, char **argv)
{
	int status;

	r->out->file = NULL;
	empty(r);
	status = flags_read(r->flags, argc, argv);
	if (status < 0 && !read_rest(r))
		status = EXIT_USAGE;
	fill(r);
	return status;
}

/* ---- the table, and what is in it ---- */

/* What a number among the bounds may be. */
static const struct bound {
	const char *flag;
	int64_t value, least, most;
	size_t at; /* in struct serve_bounds */
} bound_rows[] = {
#define BOUND(name, flag, value, least, most, unit, answer, meaning)                               \
	{ flag, value, least, most, offsetof(struct serve_bounds, name) },
#define FIXED(value, unit, answer, meaning)
#include "server/queue/bounds.def"
#undef BOUND
#undef FIXED
};

static int64_t *bound_at(const struct serve_settings *o, int i)
{
	return (int64_t *)((char *)&o->bounds + bound_rows[i].at);
}

static void fill_table(struct serve_settings *o)
{
	const struct flag named[SETTINGS_NAMED] = {
		{ "--config", .value = &o->config },
		{ "--listen", .value = &o->listen },
		{ "--db", .value = &o->db },
		{ "--files", .value = &o->files },
		{ "--cache", .value = &o->cache },
		{ "--torch-python", .value = &o->torch_python },
		{ "--first-run", .on = &o->first_run },
		{ "--base-path", .value = &o->base_path },
		{ "--allow-host", .many = &o->allow_hosts },
		{ "--trust-proxy", .many = &o->proxies },
		{ "--user-header", .value = &o->user_header },
		{ "--admin-user", .many = &o->admin_users },
		{ "--hook-host", .many = &o->hook_hosts },
		{ "--hosts", .value = &o->hosts },
		{ "--log-format", .value = &o->log_format },
		{ "--log-requests", .on = &o->log_requests },
		{ "--insecure", .on = &o->insecure },
	};

	memcpy(o->table, named, sizeof(named));
	for (int i = 0; i < SETTINGS_BOUNDS; i++) {
		snprintf(o->numbers[i], SETTING_NUMBER_CHARS, "%lld",
			 (long long)bound_rows[i].value);
		o->bound_texts[i] = o->numbers[i];
		o->table[SETTINGS_NAMED + i] = (struct flag){ bound_rows[i].flag,
							      .value = &o->bound_texts[i] };
	}
	o->table[SETTINGS_MOST] = (struct flag){ "--json", .on = &o->json };
}

static void set_defaults(struct serve_settings *o)
{
	o->listen = "127.0.0.1:8080";
	o->db = "breakeven.db";
	o->log_format = "text";
	o->allow_hosts = (struct flag_texts){ .at = o->allow_host_texts,
					      .most = SETTING_NAMES_MOST };
	o->proxies = (struct flag_texts){ .at = o->proxy_texts, .most = SETTING_NAMES_MOST };
	o->admin_users = (struct flag_texts){ .at = o->admin_user_texts,
					      .most = SETTING_NAMES_MOST };
	o->hook_hosts = (struct flag_texts){ .at = o->hook_host_texts, .most = SETTING_NAMES_MOST };
	if (default_cache_dir(o->usual_cache, sizeof(o->usual_cache)))
		o->cache = o->usual_cache;
	fill_table(o);
}

/* It goes into HTML, headers and cookies as it is. */
static bool base_path_check(const char *path, struct err *err)
{
	static const char taken[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~./";
	size_t len = strlen(path);

	return (*path == '/' && len > 1 && len <= BASE_PATH_CHARS && path[len - 1] != '/' &&
		strspn(path, taken) == len && !strstr(path, "//") && !strstr(path, "/.")) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "--base-path takes a path of letters, digits and - _ ~ . that begins with / "
		       "and does not end with it, as /breakeven; '%.120s' is none",
		       path);
}

/* A value that is wrong: where it stands, unless it is a flag of the command.  False. */
static bool tell_place(const struct serve_settings *o, const char *command, const char *flag)
{
	int i = 0;

	while (strcmp(o->table[i].name, flag) != 0)
		i++;
	if (strcmp(o->from[i], "flag") != 0)
		fprintf(stderr, "breakeven %s: %s is from %s\n", command, flag, o->from[i]);
	return false;
}

static bool check_options(struct serve_settings *o, const char *command)
{
	static const char *const forms[] = { "text", "json", NULL };
	struct err err = { 0 };
	long long number = 0;

	if (!flags_one_of(command, "--log-format", o->log_format, forms))
		return tell_place(o, command, "--log-format");
	for (int i = 0; i < SETTINGS_BOUNDS; i++) {
		const struct bound *row = &bound_rows[i];

		if (!flags_integer(command, row->flag, o->bound_texts[i], row->least, row->most,
				   &number))
			return tell_place(o, command, row->flag);
		*bound_at(o, i) = number;
	}
	if (o->user_header && o->proxies.n == 0)
		return flags_refuse(
		    command, "--user-header counts from a --trust-proxy alone; name one", "");
	if (o->admin_users.n > 0 && !o->user_header)
		return flags_refuse(command,
				    "--admin-user names users of a --user-header; name one", "");
	if (!listen_check(o->listen, &err)) {
		flags_refuse(command, err.message, "");
		return tell_place(o, command, "--listen");
	}
	if (o->base_path && !base_path_check(o->base_path, &err)) {
		flags_refuse(command, err.message, "");
		return tell_place(o, command, "--base-path");
	}
	return true;
}

/* Compilers of workers run in folders of their own. */
static bool make_absolute(const char **path, const char *command, struct arena *arena)
{
	char here[4096];

	if (!*path || **path == '/')
		return true;
	if (!getcwd(here, sizeof(here)))
		return flags_refuse(command, "--cache: this folder has no path; name one from / on",
				    "");
	*path = arena_printf(arena, "%s/%s", here, *path);
	return *path || flags_refuse(command, "out of memory", "");
}

int serve_settings_read(const char *command, bool shows, int argc, char **argv,
			struct serve_settings *o, struct arena *arena)
{
	struct flags flags = { .command = command, .n = SETTINGS_MOST + shows };
	struct settings_reader r = { .flags = &flags, .out = o, .arena = arena };
	int status;

	if (!o) {
		fprintf(stderr, "breakeven %s: out of memory\n", command);
		return EXIT_FAILED;
	}
	set_defaults(o);
	flags.table = o->table;
	status = read_all(&r, argc, argv);
	if (status < 0 && !(check_options(o, command) && make_absolute(&o->cache, command, arena)))
		status = EXIT_USAGE;
	return status;
}

/* ---- shown ---- */

static void print_setting(const struct flag *row, const char *from)
{
	const char *name = row->name + 2;

	if (row->on)
		printf("%s = %s  # %s\n", name, *row->on ? "yes" : "no", from);
	else if (row->value && *row->value)
		printf("%s = %s  # %s\n", name, *row->value, from);
	else if (row->value)
		printf("# %s: none\n", name);
	for (int i = 0; row->many && i < row->many->n; i++)
		printf("%s = %s  # %s\n", name, row->many->at[i], from);
	if (row->many && row->many->n == 0)
		printf("# %s: none\n", name);
}

static json_t *value_json(const struct serve_settings *o, int i)
{
	const struct flag *row = &o->table[i];
	json_t *texts;

	if (row->on)
		return json_boolean(*row->on);
	if (row->value && i >= SETTINGS_NAMED)
		return json_integer(*bound_at(o, i - SETTINGS_NAMED));
	if (row->value)
		return *row->value ? json_string(*row->value) : json_null();
	texts = json_array();
	for (int n = 0; n < row->many->n; n++)
		json_array_append_new(texts, json_string(row->many->at[n]));
	return texts;
}

/* As a file of settings, with where each value is from; with --json {"file", "settings": [{"name",
 * "value", "from"}]}: texts, truths, numbers, lists of texts; null where there is none. */
static json_t *all_json(const struct serve_settings *o)
{
	json_t *rows = json_array();

	for (int i = 1; i < SETTINGS_MOST; i++)
		json_array_append_new(rows,
				      json_pack("{s:s, s:o, s:s}", "name", o->table[i].name + 2,
						"value", value_json(o, i), "from", o->from[i]));
	return json_pack("{s:o, s:o}", "file", o->file ? json_string(o->file) : json_null(),
			 "settings", rows);
}

static int show(const struct serve_settings *o)
{
	if (o->json)
		return json_flag_print("config", all_json(o));
	printf("# %s%s\n", o->file ? "settings of " : "no file of settings",
	       o->file ? o->file : "");
	for (int i = 1; i < SETTINGS_MOST; i++)
		print_setting(&o->table[i], o->from[i]);
	return EXIT_DONE;
}

int cmd_config(int argc, char **argv, const struct registry *registry)
{
	struct serve_settings *s = calloc(1, sizeof(*s));
	struct arena arena = { 0 };
	int status = serve_settings_read("config", true, argc, argv, s, &arena);

	(void)registry;
	if (status < 0)
		status = show(s);
	arena_finish(&arena);
	free(s);
	return status;
}
