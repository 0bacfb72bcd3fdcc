/* fusion/source.h -- the text of a program: where it is wrong, and how it could be written.
 *
 * Any thread may call these; nothing is kept but by a rewriter, which belongs to one.
 */
#ifndef FUSION_SOURCE_H
#define FUSION_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct buf; /* fusion/base/buf.h */
struct err; /* fusion/base/err.h */

/* ---- a place of the source, for people ---- */

/* The message with its source line and a caret below the column:
 *
 *	model.py:4:9: the op torch.sinn is unknown; did you mean torch.sin?
 *	    4 |     x = torch.sinn(x)
 *	      |         ^
 *
 * `source` is NUL terminated, and may be anything: control characters and
 * bytes that are not UTF-8 show as ?, a long line is cut around the column.
 * Without a line or column in *err, or past the end, only the message.
 */
void lang_caret(struct buf *out, const char *file, const char *source, const struct err *err);

/* The line, and below it ^~~~ from `column` up to, not including, `end_column`
 * (0: the caret alone), as lang_caret() shows it.  Nothing where `source`, NUL
 * terminated, has no such line. */
void lang_underline(struct buf *out, const char *source, int line, int column, int end_column);

/* ---- what a source says of its functions ----
 *
 * Read from the text; nothing of it runs.  Strings are the outline's.
 */

enum lang_parameter_kind {
	PARAMETER_BY_PLACE, /* before a / */
	PARAMETER_EITHER,
	PARAMETER_BY_NAME, /* after a * */
	PARAMETER_ARGS,    /* *args */
	PARAMETER_KEYWORDS /* **kwargs */
};
struct lang_parameter {
	const char *name;
	enum lang_parameter_kind kind;
	const char *annotation, *otherwise; /* as written, `otherwise` the default; NULL: none */
};
struct lang_signature { /* of a function or class at the level of the module, or a method; the
			 * parameters of a class are its annotated fields */
	const char *name;
	const char *owner; /* the class whose method it is; NULL */
	const char *doc;   /* its docstring; NULL */
	const struct lang_parameter *parameters;
	int n, line;
	bool is_class, decorated;
};

/* NULL where the source, NUL terminated, does not parse, or out of memory.  The source is
 * borrowed. */
struct lang_outline *lang_outline_create(const char *source);
void lang_outline_destroy(struct lang_outline *o); /* NULL is fine */

/* The last one of that name, of a class where `owner` is one (NULL: of the module).  NULL: there is
 * none, or `o` is NULL. */
const struct lang_signature *lang_outline_function(const struct lang_outline *o, const char *owner,
						   const char *name);

/* A call as the source makes it, written so that it can be evaluated in the module's scope: names
 * of the function that it is in are written out. */
struct lang_construction;
struct lang_argument {
	const char *name; /* NULL: by place; "": more of them, *args or **kwargs */
	const char *text; /* NULL: what it is depends on more than the text tells */
	const struct lang_construction *made; /* the call that made it; NULL */
};
struct lang_construction {
	const char *of;   /* what is called: "nn.Conv2d" */
	const char *text; /* all of it, "nn.Conv2d(3, 64)"; NULL: not known */
	const struct lang_argument *arguments;
	int n, line;
	const struct lang_construction *first; /* of a container of modules: its first with sizes */
};
struct lang_use {
	const char *callee; /* "model", "net", "Net(10)"; NULL: nothing calls it */
	const char *of;     /* the function, or the class of the module that is called */
	const struct lang_construction *made; /* of a module; NULL: a function, or not known */
	const struct lang_argument *arguments;
	int n, line; /* line 0: it is made, and not called */
};

/* Where the source calls a function or a module of a class: in its `if __name__ == "__main__"`, at
 * the level of the module, or in a function that these call.  `name`: that of the function, of the
 * class or of a variable; NULL: what the source seems to be for, be it called or not.  False where
 * there is none. */
bool lang_outline_use(struct lang_outline *o, const char *name, struct lang_use *out);

/* The layer that takes a parameter of a method first, of a module that `self` made (NULL: not
 * known): nn.Conv2d(3, 64) where forward(x) has self.conv(x).  False where none is found. */
bool lang_outline_layer(struct lang_outline *o, const struct lang_signature *method,
			const char *parameter, const struct lang_construction *self,
			struct lang_construction *out);

/* The names that a function gives the sizes of a parameter: "B, T, C" of `B, T, C = x.shape`, or
 * "b (h w) c" of einops.  NULL: none. */
const char *lang_outline_sizes(struct lang_outline *o, const struct lang_signature *function,
			       const char *parameter);

/* ---- changes that take a graph break away ----
 *
 * They are mechanical and careful, not proved: whoever offers one runs both
 * programs and compares what they return, print and write.
 */

enum lang_rewrite {
	REWRITE_WHERE,  /* a branch on a tensor: torch.where over both sides */
	REWRITE_TENSOR, /* .item() or float() dropped: the tensor itself computes */
	REWRITE_PRINT,  /* a print moved to after the computation of the return value */
	REWRITE_DROP,   /* graph_break(), or a print, left out: the text is missing then */
};

/* A source that is read once for all its changes; borrowed.  NULL where it does not
 * parse, or out of memory. */
struct lang_rewriter *lang_rewriter_create(const char *source, size_t len);
void lang_rewriter_destroy(struct lang_rewriter *w); /* NULL is fine */

/* Appends the whole source with the statement at `line` changed.  False, with
 * nothing appended, where it does not have the form that the change is for. */
bool lang_rewrite(const struct lang_rewriter *w, enum lang_rewrite kind, int line, struct buf *out);

#endif
