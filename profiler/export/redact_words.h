/* profiler/export/redact_words.h -- private: what is hidden, and the stand-in of each. */
#ifndef PROFILER_EXPORT_REDACT_WORDS_H
#define PROFILER_EXPORT_REDACT_WORDS_H

#include <jansson.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/vec.h"

struct secret {
	const char *word; /* in the arena */
	size_t len;
	int number; /* of its stand-in: name7 */
};

struct words {
	struct arena arena;
	json_t *known;  /* {word: its place among the secrets} */
	json_t *open;   /* {word: true}: of the language, and of ops */
	json_t *wholes; /* {text: stand-in}, of texts that are hidden whole */
	VEC(struct secret) secrets;
};

bool words_init(struct words *w);
void words_finish(struct words *w);

/* A name that something of the user's has; nothing where it is one of the language. */
void words_add(struct words *w, const char *name, size_t len);

/* All names of a Python source, and the words of its string constants. */
void words_add_source(struct words *w, const char *source);

/* The text with names as their stand-ins, parts of longer ones too.  New. */
json_t *words_redact(const struct words *w, const char *text);

/* The stand-in of a whole text: "path1", "path2", ...  New. */
json_t *words_whole(struct words *w, const char *text, const char *kind);

#endif
