/* profiler/agree/texts.c -- what two runs printed, numbers apart from words. */
#include "profiler/agree/texts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number at *text: its characters; 0: there is none, or an int. */
static size_t float_length(const char *text, double *value, double *last_digit)
{
	size_t n = 0, digits = 0, behind = 0;
	bool point = false, exponent = false;
	char *end;

	*last_digit = 0;
	if (text[n] == '-')
		n++;
	for (; isdigit((unsigned char)text[n]) || (text[n] == '.' && !point); n++) {
		point = point || text[n] == '.';
		digits += text[n] != '.';
		behind += point && text[n] != '.';
	}
	if (digits == 0)
		return 0;
	*value = strtod(text, &end);
	if (text[n] == 'e' || text[n] == 'E') {
		exponent = true;
		n = (size_t)(end - text);
	}
	if (!point && !exponent)
		return 0;
	*last_digit = pow(10, -(double)behind);
	if (exponent && *value != 0)
		*last_digit *= pow(10, floor(log10(fabs(*value))));
	return n;
}

static bool in_a_word(const char *start, const char *at)
{
	return at > start && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

/* The characters of ", grad_fn=<MulBackward0>", with what is before it; 0: there is none. */
static size_t grad_fn_length(const char *text)
{
	static const char name[] = "grad_fn=<";
	size_t n = *text == ',';

	while (isspace((unsigned char)text[n]))
		n++;
	if (strncmp(text + n, name, strlen(name)) != 0)
		return 0;
	for (n += strlen(name); isalnum((unsigned char)text[n]) || text[n] == '_';)
		n++;
	return text[n] == '>' ? n + 1 : 0;
}

bool texts_judge(const char *ours, const char *theirs, struct judged *found)
{
	const char *a = ours, *b = theirs;

	*found = judge_numbers(0, 0);
	found->elements = 0;
	while (*a || *b) {
		double x = 0, y = 0, unit_a = 0, unit_b = 0;
		size_t n = in_a_word(ours, a) ? 0 : float_length(a, &x, &unit_a);
		size_t k = in_a_word(theirs, b) ? 0 : float_length(b, &y, &unit_b);
		size_t skip_a = grad_fn_length(a), skip_b = grad_fn_length(b);
		struct judged one;

		if (skip_a || skip_b) {
			a += skip_a;
			b += skip_b;
			continue;
		}
		if (n > 0 && k > 0) {
			one = judge_numbers(x, y);
			if (fabs(x - y) <= 1.01 * fmax(unit_a, unit_b))
				one.excess = fmin(one.excess, 1);
			found->elements++;
			found->differing += one.differing;
			found->error = fmax(found->error, one.error);
			if (one.differing && one.excess >= found->excess) {
				found->excess = one.excess;
				found->judge = one.judge;
				found->far = found->worst = one.worst;
			}
			a += n;
			b += k;
			continue;
		}
		/* Columns are padded by the widest number. */
		if (*a == ' ' && *b != ' ' && found->differing) {
			a++;
			continue;
		}
		if (*b == ' ' && *a != ' ' && found->differing) {
			b++;
			continue;
		}
		if (*a != *b)
			return false;
		a++;
		b++;
	}
	return true;
}
