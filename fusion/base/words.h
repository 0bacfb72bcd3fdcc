/* fusion/base/words.h -- texts that are lists of words, apart by blanks. */
#ifndef FUSION_BASE_WORDS_H
#define FUSION_BASE_WORDS_H

#include <stdbool.h>

/* Whether the word is one of the list's.  An empty one is not. */
bool words_have(const char *words, const char *word);

#endif
