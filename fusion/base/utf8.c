/* fusion/base/utf8.c -- see utf8.h. */
#include "fusion/base/utf8.h"

int utf8_decode(const char *text, size_t len, uint32_t *point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	uint32_t value;
	int n;

	if (!len)
		return 0;
	if (s[0] < 0x80) {
		*point = s[0];
		return 1;
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || (size_t)n > len)
		return 0;
	value = s[0] & (0x7fu >> n);
	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	if (value < smallest[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	*point = value;
	return n;
}

bool utf8_valid(const char *text, size_t len)
{
	uint32_t point;

	while (len > 0) {
		int n = utf8_decode(text, len, &point);

		if (n == 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

int utf8_encode(uint32_t point, char out[4])
{
	int n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

	if (n == 1) {
		out[0] = (char)point;
		return 1;
	}
	for (int i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (point & 0x3f));
		point >>= 6;
	}
	out[0] = (char)((0xf00u >> n & 0xf0) | point);
	return n;
}

int utf8_count(const char *from, const char *to)
{
	int n = 0;

	for (; from < to; from++)
		n += ((unsigned char)*from & 0xc0) != 0x80;
	return n;
}

/* Code points from first to last are letters. */
static const struct {
	uint32_t first, last;
} letters[] = {
	{ 0xaa, 0xaa },     { 0xba, 0xba },     { 0xc0, 0xd6 },     { 0xd8, 0xf6 },
	{ 0xf8, 0x2c1 },    { 0x370, 0x373 },   { 0x376, 0x377 },   { 0x37b, 0x37d },
	{ 0x386, 0x386 },   { 0x388, 0x3ff },   { 0x400, 0x481 },   { 0x48a, 0x52f },
	{ 0x531, 0x556 },   { 0x561, 0x587 },   { 0x5d0, 0x5ea },   { 0x620, 0x64a },
	{ 0x904, 0x939 },   { 0xe01, 0xe30 },   { 0x10d0, 0x10fa }, { 0x1e00, 0x1f15 },
	{ 0x3041, 0x3096 }, { 0x30a1, 0x30fa }, { 0x3400, 0x4dbf }, { 0x4e00, 0x9fff },
	{ 0xac00, 0xd7a3 },
};

bool utf8_is_letter(uint32_t point)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (point >= letters[i].first && point <= letters[i].last)
			return true;
	return false;
}
