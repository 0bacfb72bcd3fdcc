/* fusion/lang/files.c -- a program of several files: see struct lang_file. */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/lang/lang.h"

enum { PATHS_BYTES = 16 << 20 };

static struct lang_files *files_new(int n)
{
	struct lang_files *files = calloc(1, sizeof(*files));

	if (files)
		files->arena = calloc(1, sizeof(*files->arena));
	if (files && files->arena) {
		arena_init(files->arena, PATHS_BYTES);
		files->at = ARENA_ARRAY(files->arena, struct lang_file, (size_t)n);
		if (files->at)
			return files;
		arena_finish(files->arena);
	}
	if (files)
		free(files->arena);
	free(files);
	return NULL;
}

static void files_free(struct lang_files *files)
{
	for (int i = 0; i < files->n; i++)
		lang_destroy((struct lang_program *)files->at[i].program);
	arena_finish(files->arena);
	free(files->arena);
	free(files);
}

static int count_lines(const struct lang_text *text)
{
	int n = 1;

	for (size_t i = 0; i < text->len; i++)
		n += text->text[i] == '\n' ||
		     (text->text[i] == '\r' && (i + 1 == text->len || text->text[i + 1] != '\n'));
	return n;
}

/* False when out of memory, or where the first file does not compile. */
static bool add(struct lang_files *files, const struct lang_text *text, int *lines, struct err *err)
{
	struct lang_file *f = &files->at[files->n];
	struct lang_limits limits = { .lines_before = *lines };

	*f = (struct lang_file){ .path = arena_strdup(files->arena, text->path),
				 .lines_before = *lines,
				 .n_lines = count_lines(text) };
	if (!f->path)
		return err_set(err, ERR_MEMORY, "out of memory for the program's files");
	f->program = lang_compile(text->text, text->len, &limits, &f->failed);
	files->n++;
	*lines += f->n_lines;
	if (f->program || (files->n > 1 && f->failed.code != ERR_MEMORY))
		return true;
	*err = f->failed;
	return false;
}

struct lang_program *lang_compile_files(const struct lang_text *texts, int n, int entry,
					struct err *err)
{
	struct lang_files *files = files_new(n);
	struct lang_program *first;
	int lines = 0;
	bool ok;

	if (!files) {
		err_set(err, ERR_MEMORY, "out of memory for the program's files");
		return NULL;
	}
	ok = add(files, &texts[entry], &lines, err);
	for (int i = 0; ok && i < n; i++)
		ok = i == entry || add(files, &texts[i], &lines, err);
	if (!ok) {
		files_free(files);
		return NULL;
	}
	first = (struct lang_program *)files->at[0].program;
	first->files = files;
	return first;
}

void lang_files_destroy(struct lang_program *p)
{
	if (p && p->files)
		files_free((struct lang_files *)p->files);
	else
		lang_destroy(p);
}

const struct lang_file *lang_file_at(const struct lang_files *files, int line)
{
	for (int i = 0; files && i < files->n; i++)
		if (line > files->at[i].lines_before &&
		    line <= files->at[i].lines_before + files->at[i].n_lines)
			return &files->at[i];
	return NULL;
}
