#include "fusion/base/words.h"

#include <string.h>

bool words_have(const char *words, const char *word)
{
	size_t len = strlen(word);

	if (len == 0)
		return false;
	for (const char *at = words; (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}
