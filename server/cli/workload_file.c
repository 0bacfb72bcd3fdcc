/* server/cli/workload_file.c -- reads what a command was given as FILE.
 *
 * A report is taken too: its workload is meant.
 */
#include "server/cli/workload_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/ask.h"
#include "fusion/source.h"
#include "profiler/profiler.h"
#include "profiler/gather/gather.h"
#include "server/cli/flags.h"
#include "server/queue/sandbox.h"

enum { MAX_FILE_BYTES = 64 << 20 };

struct flag_texts workload_file_inputs(struct workload_file *f)
{
	return (struct flag_texts){ .at = f->inputs,
				    .most = WORKLOAD_FILE_MAX_INPUTS,
				    .over = "there are more than 64 inputs, with " };
}

struct flag_texts workload_file_weights(struct workload_file *f)
{
	return (struct flag_texts){ .at = f->weights,
				    .most = WORKLOAD_FILE_MAX_WEIGHTS,
				    .over = "there are more than 64 files of weights, with " };
}

static bool is_python(const struct workload_file *f)
{
	return gather_is_python(f->file);
}

static bool is_zip(const struct workload_file *f)
{
	size_t len = strlen(f->file);

	return len > 4 && strcasecmp(f->file + len - 4, ".zip") == 0;
}

static bool is_folder(const struct workload_file *f)
{
	struct stat at;

	return stat(f->file, &at) == 0 && S_ISDIR(at.st_mode);
}

static bool has_files(const struct workload_file *f)
{
	return is_zip(f) || is_folder(f);
}

/* NUL terminated; owned.  NULL with IO. */
static char *read_all(const char *file, size_t *len, struct err *err)
{
	bool standard = strcmp(file, "-") == 0;
	FILE *f = standard ? stdin : fopen(file, "re");
	struct buf text;
	char block[65536];
	size_t n;

	if (!f) {
		err_set(err, ERR_IO, "%s cannot be opened: %s", file, strerror(errno));
		return NULL;
	}
	buf_init(&text, MAX_FILE_BYTES);
	buf_puts(&text, "");
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(&text, block, n);
	if (ferror(f) || text.failed) {
		err_set(err, ERR_IO, "%s cannot be read: %s", file,
			text.failed ? "it is longer than 64 MiB" : strerror(errno));
		buf_finish(&text);
	}
	if (!standard)
		fclose(f);
	*len = text.len;
	return text.data;
}

/* "dir/chain.py" to "chain". */
static void base_name(const char *file, char out[128])
{
	size_t end = strlen(file), begin;

	while (end > 1 && file[end - 1] == '/') /* of a folder */
		end--;
	for (begin = end; begin > 0 && file[begin - 1] != '/';)
		begin--;
	snprintf(out, 128, "%.*s", (int)(end - begin), file + begin);
	if (strrchr(out, '.') && strrchr(out, '.') != out)
		*strrchr(out, '.') = '\0';
}

bool workload_file_check_flags(const struct workload_file *f, const char *command)
{
	if (!f->file)
		return flags_refuse(command, "FILE is missing", "");
	if (f->n_inputs && !is_python(f) && !has_files(f))
		return flags_refuse(command,
				    "--input is for .py files; a workload has its own calls", "");
	if (has_files(f) && !f->entry)
		return flags_refuse(
		    command, "a folder or .zip needs --entry FILE.py:NAME, what is run of it", "");
	return true;
}

static const char *label_of(const struct workload_file *f)
{
	return strcmp(f->file, "-") == 0 ? "standard input" : f->file;
}

static json_t *parse_text(const struct workload_file *f, const char *text, struct err *err)
{
	size_t bom = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3
							   : 0; /* editors on Windows write it */
	json_error_t at;
	json_t *json = json_loads(text + bom, JSON_REJECT_DUPLICATES, &at), *inner;

	if (!json) {
		if (!text[bom])
			err_set(err, ERR_JSON, "%s is empty", label_of(f));
		else
			err_set(err, ERR_JSON,
				"%s is not JSON: line %d, column %d: %s; a program's name ends in "
				".py",
				label_of(f), at.line, at.column, at.text);
		return NULL;
	}
	inner = json_object_get(json, "workload");
	if (json_object_get(json, "breakeven") && json_is_object(inner)) {
		json_incref(inner);
		json_decref(json);
		json = inner;
	}
	if (json_is_object(json))
		return json;
	err_set(err, ERR_WORKLOAD, "%s is not a workload: it must hold a JSON object", label_of(f));
	json_decref(json);
	return NULL;
}

static json_t *read_zip(const char *file, struct err *err)
{
	json_t *files;
	size_t len;
	char *bytes = read_all(file, &len, err);

	if (!bytes)
		return NULL;
	files = gather_zip(bytes, len, file, err);
	free(bytes);
	return files;
}

static json_t *load_files(struct workload_file *f, struct err *err)
{
	json_t *files, *json;
	const char *text;
	char name[128];

	if (!f->entry) {
		err_set(err, ERR_WORKLOAD, "%s needs --entry FILE.py:NAME, what is run of it",
			f->file);
		return NULL;
	}
	files = is_zip(f) ? read_zip(f->file, err) : gather_folder(f->file, err);
	if (!files)
		return NULL;
	snprintf(f->place, sizeof(f->place), "%s", f->file);
	base_name(f->file, name);
	text = workload_entry_text(files, f->entry);
	json = workload_from_python(name, text ? text : "", f->entry, f->inputs, f->n_inputs, err);
	if (json)
		workload_set_files(json, files, f->entry);
	else
		json_decref(files);
	return json;
}

/* ---- weights ---- */

const char *workload_weights_path(const char *text, char name[256])
{
	const char *equals = strchr(text, '='), *slash = strrchr(text, '/');

	if (equals && equals > text)
		snprintf(name, 256, "%.*s", (int)(equals - text), text);
	else
		snprintf(name, 256, "%s", slash ? slash + 1 : text);
	return equals && equals > text ? equals + 1 : text;
}

/* The ids of the files that the flags name, into the workload; those that it names itself must be
 * the same. */
static bool name_weights(const struct workload_file *f, json_t *json, struct err *err)
{
	json_t *weights = json_object_get(json, "weights");

	if (f->n_weights && !json_is_object(weights)) {
		weights = json_object();
		json_object_set_new(json, "weights", weights);
	}
	for (int i = 0; i < f->n_weights; i++) {
		char name[256], id[WEIGHTS_ID_BYTES];
		const char *path = workload_weights_path(f->weights[i], name);
		const char *wanted = json_string_value(json_object_get(weights, name));

		if (!weights_id(path, id, err))
			return false;
		if (wanted && strcmp(wanted, id) != 0)
			return err_set(err, ERR_WORKLOAD,
				       "--weights %s: the workload asks for another file of that "
				       "name: %s, and this one is %s",
				       f->weights[i], wanted, id);
		json_object_set_new(weights, name, json_string(id));
	}
	return true;
}

static bool find_weights(const struct workload_file *f, struct workload *w, struct err *err)
{
	for (int i = 0; i < f->n_weights; i++) {
		char name[256];
		const char *path = workload_weights_path(f->weights[i], name);

		if (!workload_weights_at(w, name, path, err))
			return false;
	}
	return workload_weights_there(w, err);
}

bool workload_file_each_weights(const struct workload_file *f, const json_t *json,
				workload_weights_fn *each, void *self, struct err *err)
{
	const json_t *ids = json_object_get(json, "weights");

	for (int i = 0; i < f->n_weights; i++) {
		char name[256];
		const char *path = workload_weights_path(f->weights[i], name);

		if (!each(self, path, json_string_value(json_object_get(ids, name)), err))
			return false;
	}
	return true;
}

/* The inputs that are right by themselves, by name: their expressions may be wrong all the same. */
static json_t *right_inputs(const struct workload_file *f, const char *text)
{
	json_t *named = json_object();

	for (int i = 0; i < f->n_inputs; i++) {
		json_t *json = workload_from_python("", text, f->entry, &f->inputs[i], 1, NULL);
		json_t *call = json_array_get(json_object_get(json, "calls"), 0);
		json_t *spec = json_array_get(call, 0);

		if (spec)
			json_object_setn(named, f->inputs[i], strcspn(f->inputs[i], "="), spec);
		json_object_update(named, json_object_get(call, "kwargs"));
		json_decref(json);
	}
	return named;
}

/* The workload of a .py file.  Where inputs are wrong, the program with the others is kept: what
 * else is wrong is told with them. */
static json_t *of_python(struct workload_file *f, const char *name, const char *text,
			 struct err *err)
{
	json_t *json = workload_from_python(name, text, f->entry, f->inputs, f->n_inputs, err);

	if (json || !f->n_inputs)
		return json;
	f->listed = json_pack("{s:s, s:s, s:[{s:[], s:o}]}", "name", name, "source", text, "calls",
			      "args", "kwargs", right_inputs(f, text));
	if (f->listed && f->entry)
		json_object_set_new(f->listed, "entry", json_string(f->entry));
	return NULL;
}

static json_t *load(struct workload_file *f, struct err *err)
{
	char *text, name[128];
	json_t *json;
	size_t len;

	if (has_files(f))
		return load_files(f, err);
	text = read_all(f->file, &len, err);
	if (!text)
		return NULL;
	snprintf(f->place, sizeof(f->place), is_python(f) ? "%s" : "%s, source", label_of(f));
	base_name(f->file, name);
	if (is_python(f))
		json = of_python(f, name, text, err);
	else
		json = parse_text(f, text, err);
	free(text);
	if (json && !json_object_get(json, "name") && strcmp(f->file, "-") != 0)
		json_object_set_new(json, "name", json_string(name));
	return json;
}

json_t *workload_file_load(struct workload_file *f, struct err *err)
{
	json_t *json = load(f, err);

	if (!json || name_weights(f, json, err))
		return json;
	json_decref(json);
	return NULL;
}

struct workload *workload_file_parse(const struct workload_file *f, const json_t *json,
				     const struct registry *registry, struct err *err)
{
	struct workload *w = workload_parse_in(json, registry, err);

	if (!w || find_weights(f, w, err))
		return w;
	workload_destroy(w);
	return NULL;
}

/* "--input x" of calls[0][k], which the flags gave, and else the path itself. */
static void name_argument(const struct workload_file *f, const char *path, char *out, size_t bytes)
{
	unsigned k;

	if (strncmp(path, "calls[0].", 9) == 0 && f->n_inputs)
		snprintf(out, bytes, "--input %s", path + 9);
	else if (sscanf(path, "calls[0][%u]", &k) == 1 && k < (unsigned)f->n_inputs)
		snprintf(out, bytes, "--input %.*s", (int)strcspn(f->inputs[k], "="), f->inputs[k]);
	else
		snprintf(out, bytes, "%s", path);
}

/* Under the name of the file, of a file in the folder, or of an argument. */
static void print_place(const struct workload_file *f, const json_t *json, const struct err *err)
{
	char place[sizeof(f->place) + sizeof(err->file) + 1];
	const char *source = workload_text(json, err->file);
	struct buf text;

	if (strncmp(err->file, "calls[", 6) == 0)
		name_argument(f, err->file, place, sizeof(place));
	else if (strcmp(err->file, "entry") == 0)
		snprintf(place, sizeof(place), "--entry");
	else
		snprintf(place, sizeof(place), "%s%s%s", f->place, err->file[0] ? "/" : "",
			 err->file);
	buf_init(&text, 1 << 20);
	lang_caret(&text, place, source ? source : "", err);
	fprintf(stderr, "%s%s", text.data ? text.data : err->message,
		text.data && text.len && text.data[text.len - 1] == '\n' ? "" : "\n");
	buf_finish(&text);
}

/* ---- inputs that the program's own text tells ---- */

/* A word for a shell. */
static void print_word(const char *text)
{
	fputc('\'', stderr);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stderr);
		else
			fputc(*text, stderr);
	fputc('\'', stderr);
}

static void print_command(const struct workload_file *f, const char *command,
			  const json_t *proposal)
{
	const char *entry = json_string_value(json_object_get(proposal, "entry"));
	json_t *input;
	size_t i;

	fprintf(stderr, "\n    breakeven %s ", command);
	if (f->file[strcspn(f->file, " '\"$&;()*?<>|\\`!#~{}[]")])
		print_word(f->file);
	else
		fputs(f->file, stderr);
	if (strcmp(entry, "model") != 0) {
		fputs(" --entry ", stderr);
		print_word(entry);
	}
	json_array_foreach(json_object_get(proposal, "inputs"), i, input) {
		char *word;

		if (asprintf(&word, "%s=%s", json_string_value(json_object_get(input, "name")),
			     json_string_value(json_object_get(input, "text"))) < 0)
			continue;
		fputs(" --input ", stderr);
		print_word(word);
		free(word);
	}
	fputs("\n\n", stderr);
	json_array_foreach(json_object_get(proposal, "inputs"), i, input)
		fprintf(stderr, "    %s: %s\n", json_string_value(json_object_get(input, "name")),
			json_string_value(json_object_get(input, "because")));
}

static bool has_no_inputs(const json_t *json)
{
	const json_t *calls = json_object_get(json, "calls");

	return json_array_size(calls) == 1 && json_is_array(json_array_get(calls, 0)) &&
	       json_array_size(json_array_get(calls, 0)) == 0;
}

bool workload_file_proposed(const struct workload_file *f, const char *command, const json_t *json,
			    const struct registry *registry)
{
	json_t *list, *first;
	bool needed;

	if (f->n_inputs || (!is_python(f) && !has_files(f)) || !has_no_inputs(json))
		return false;
	list = profiler_proposals(json, NULL, registry, 4000);
	first = json_array_get(list, 0);
	needed = json_is_true(json_object_get(first, "needed"));
	if (needed) {
		json_int_t line = json_integer_value(json_object_get(first, "line"));

		fprintf(stderr, "breakeven %s: %s needs its inputs (--input); ", command,
			json_string_value(json_object_get(first, "entry")));
		if (line)
			fprintf(stderr, "line %lld calls it so:\n", (long long)line);
		else if (json_is_true(json_object_get(first, "runs")))
			fputs("with these it runs:\n", stderr);
		else
			fputs("its text tells this much:\n", stderr);
		print_command(f, command, first);
	}
	json_decref(list);
	return needed;
}

/* ---- errors ---- */

struct source_shown {
	const struct workload_file *file;
	const json_t *json;
	const char *command;
	const struct err *first;
};

static void print_other(void *self, const struct err *problem, bool certain)
{
	const struct source_shown *s = self;

	if (!certain || (problem->line == s->first->line && problem->column == s->first->column &&
			 strcmp(problem->message, s->first->message) == 0))
		return;
	if (problem->line > 0)
		print_place(s->file, s->json, problem);
	else
		fprintf(stderr, "breakeven %s: %s\n", s->command, problem->message);
}

static bool is_writable_folder(const char *path) /* NULL is none */
{
	struct stat at;

	return path && stat(path, &at) == 0 && S_ISDIR(at.st_mode) && access(path, W_OK) == 0;
}

bool workload_file_confine(const struct workload_file *f, const struct workload *w,
			   const struct workload_file_rights *rights, struct err *err)
{
	const char *temporary = getenv("TMPDIR");
	struct sandbox_needs needs = { .device = workload_on_device(w) && sandbox_has_gpu(),
				       .torch = workload_wants_torch(w),
				       .network = rights->posts || workload_wants_torch(w),
				       .cache_dir = rights->cache_dir,
				       .temporary = temporary && *temporary ? temporary : "/tmp",
				       .read = { f->file },
				       .n_read = 1 };

	if (f->no_sandbox) {
		fprintf(stderr,
			"breakeven %s: --no-sandbox: the program may do all that you may do\n",
			rights->command);
		return true;
	}
	/* Others' files lie there: what this process leaves are its kernels, where no cache takes
	 * them, and what is recorded of a GPU. */
	needs.owns_temporary = needs.device;
	if (!needs.device && is_writable_folder(needs.cache_dir))
		needs.temporary = NULL;
	for (int i = 0; i < f->n_weights; i++) {
		const char *name = strchr(f->weights[i], '=');

		needs.read[needs.n_read++] = f->weights[i];
		if (name)
			needs.read[needs.n_read++] = name + 1;
	}
	for (int i = 0; registry_plugin_path(rights->registry, i); i++)
		needs.read[needs.n_read++] = registry_plugin_path(rights->registry, i);
	profiler_environment_prepare();
	sandbox_begin(needs.network, 0);
	return registry_builder_start(rights->registry, rights->cache_dir, sandbox_builder, &needs,
				      err) &&
	       sandbox_enter(&needs, err);
}

void workload_file_error(const struct workload_file *f, const char *command, const json_t *json,
			 const struct registry *registry, const struct err *err)
{
	struct source_shown shown;

	if (err->line > 0 && workload_text(json, err->file)) {
		print_place(f, json, err);
	} else {
		bool missing = (is_python(f) || has_files(f)) &&
			       strstr(err->message, "required positional argument");

		fprintf(stderr, "breakeven %s: %s%s\n", command, err->message,
			missing ? "; give each with --input, as --input 'x=float32[8,16]', or in a "
				  "line '# input: x=float32[8,16]' above the imports"
				: "");
	}
	json = json ? json : f->listed;
	shown = (struct source_shown){ f, json, command, err };
	if (f->listed)
		workload_input_problems(&(struct workload_inputs){ workload_text(json, ""),
								   f->entry, f->inputs,
								   f->n_inputs },
					print_other, &shown);
	if (json)
		workload_problems(json, registry, print_other, &shown);
}

/* ---- the commit that the workload is of ---- */

enum { LINE_BYTES = 201 };

static bool says(const json_t *workload, const char *key)
{
	return json_string_length(json_object_get(workload, key)) > 0;
}

void workload_file_commit(json_t *workload)
{
	/* A tag that points there would hide the id: none is looked at. */
	const char *const commit[] = { "git",         "describe",    "--always", "--dirty",
				       "--abbrev=40", "--exclude=*", NULL };
	const char *const branch[] = { "git", "symbolic-ref", "--short", "-q", "HEAD", NULL };
	char line[LINE_BYTES];

	if (says(workload, "commit") || says(workload, "branch") ||
	    !ask_command(commit, line, sizeof(line)))
		return;
	json_object_set_new(workload, "commit", json_string(line));
	if (ask_command(branch, line, sizeof(line)))
		json_object_set_new(workload, "branch", json_string(line));
}
