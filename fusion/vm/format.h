/* fusion/vm/format.h -- format specifications, for f-strings, str.format
 * and the % operator. */
#ifndef FUSION_VM_FORMAT_H
#define FUSION_VM_FORMAT_H

#include "fusion/vm/frame.h"

struct format_spec {
	const char *fill; /* one character */
	size_t fill_bytes;
	char align; /* < > = ^, 0: what the type wants */
	bool zeros; /* without an align: numbers are filled after their sign */
	char sign;  /* + - or blank, 0: as - */
	bool no_negative_zero;
	char alternate, grouping, type;
	int width, precision; /* precision -1: none */
};

/* Appends v, whose kind must fit the type; TYPE, VALUE. */
bool format_value(struct vm *vm, const struct format_spec *s, struct value v, struct buf *out,
		  struct err *err);

/* The same of any number or text: one that is there when the graph has run is a gap. */
bool format_any(struct vm *vm, const struct format_spec *s, struct value v, struct buf *out,
		struct err *err);

/* Appends prefix and text in a field of s->width; `usual`: without an align. */
void format_pad(struct buf *out, const struct format_spec *s, char usual, const char *prefix,
		const char *text, size_t len);

/* "template" % args; the template.format(args). */
bool format_percent(struct vm *vm, const struct str *template, struct value args, struct value *out,
		    struct err *err);

/* The character of a code point; VALUE. */
bool chr_of(struct vm *vm, int64_t point, struct value *out, struct err *err);

#endif
