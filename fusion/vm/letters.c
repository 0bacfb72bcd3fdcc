/* fusion/vm/letters.c -- what Python knows of characters: letters, case, digits, blanks. */
#include "fusion/vm/letters.h"

#include "fusion/base/utf8.h"

static const struct {
	uint32_t first, last;
	unsigned kind;
} ranges[] = {
	{ 0x00, 0x08, 0 },
	{ 0x09, 0x0d, CHAR_BLANK },
	{ 0x0e, 0x1b, 0 },
	{ 0x1c, 0x1f, CHAR_BLANK },
	{ ' ', ' ', CHAR_BLANK | CHAR_PRINTABLE },
	{ '!', '/', CHAR_PRINTABLE },
	{ '0', '9', CHAR_DECIMAL | CHAR_DIGIT | CHAR_NUMERIC | CHAR_PRINTABLE },
	{ ':', '@', CHAR_PRINTABLE },
	{ 'A', 'Z', CHAR_ALPHA | CHAR_UPPER | CHAR_PRINTABLE },
	{ '[', '`', CHAR_PRINTABLE },
	{ 'a', 'z', CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ '{', '~', CHAR_PRINTABLE },
	{ 0x7f, 0x84, 0 },
	{ 0x85, 0x85, CHAR_BLANK },
	{ 0x86, 0x9f, 0 },
	{ 0xa0, 0xa0, CHAR_BLANK },
	{ 0xa1, 0xa9, CHAR_PRINTABLE },
	{ 0xaa, 0xaa, CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ 0xab, 0xac, CHAR_PRINTABLE },
	{ 0xad, 0xad, 0 },
	{ 0xae, 0xb1, CHAR_PRINTABLE },
	{ 0xb2, 0xb3, CHAR_DIGIT | CHAR_NUMERIC | CHAR_PRINTABLE },
	{ 0xb4, 0xb4, CHAR_PRINTABLE },
	{ 0xb5, 0xb5, CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ 0xb6, 0xb8, CHAR_PRINTABLE },
	{ 0xb9, 0xb9, CHAR_DIGIT | CHAR_NUMERIC | CHAR_PRINTABLE },
	{ 0xba, 0xba, CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ 0xbb, 0xbb, CHAR_PRINTABLE },
	{ 0xbc, 0xbe, CHAR_NUMERIC | CHAR_PRINTABLE },
	{ 0xbf, 0xbf, CHAR_PRINTABLE },
	{ 0xc0, 0xd6, CHAR_ALPHA | CHAR_UPPER | CHAR_PRINTABLE },
	{ 0xd7, 0xd7, CHAR_PRINTABLE },
	{ 0xd8, 0xde, CHAR_ALPHA | CHAR_UPPER | CHAR_PRINTABLE },
	{ 0xdf, 0xf6, CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ 0xf7, 0xf7, CHAR_PRINTABLE },
	{ 0xf8, 0xff, CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ 0x400, 0x42f, CHAR_ALPHA | CHAR_UPPER | CHAR_PRINTABLE },
	{ 0x430, 0x45f, CHAR_ALPHA | CHAR_LOWER | CHAR_PRINTABLE },
	{ 0x2010, 0x2027, CHAR_PRINTABLE },
	{ 0x2030, 0x205e, CHAR_PRINTABLE },
	{ 0x20a0, 0x20bf, CHAR_PRINTABLE },
	{ 0x2190, 0x23ff, CHAR_PRINTABLE },
	{ 0x2500, 0x2767, CHAR_PRINTABLE },
	{ 0x3041, 0x3096, CHAR_ALPHA | CHAR_PRINTABLE },
	{ 0x30a1, 0x30fa, CHAR_ALPHA | CHAR_PRINTABLE },
	{ 0x4e00, 0x9fff, CHAR_ALPHA | CHAR_PRINTABLE },
	{ 0xac00, 0xd7a3, CHAR_ALPHA | CHAR_PRINTABLE },
	{ 0x1f300, 0x1f64f, CHAR_PRINTABLE },
	{ 0x1f680, 0x1f6c5, CHAR_PRINTABLE },
	{ 0x1f900, 0x1f9ff, CHAR_PRINTABLE },
};

unsigned char_kind(uint32_t c)
{
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && c >= ranges[i].first; i++)
		if (c <= ranges[i].last)
			return ranges[i].kind;
	return CHAR_UNKNOWN;
}

uint32_t char_at(const char *at, const char *end, size_t *bytes)
{
	uint32_t c = (unsigned char)*at;
	int n = utf8_decode(at, (size_t)(end - at), &c);

	*bytes = n > 0 ? (size_t)n : 1;
	return c;
}
