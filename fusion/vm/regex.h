/* fusion/vm/regex.h -- the patterns of Python's module re, which PCRE2 matches. */
#ifndef FUSION_VM_REGEX_H
#define FUSION_VM_REGEX_H

#include "fusion/vm/frame.h"

/* Frees what the VM has compiled. */
void regexes_release(struct vm *vm);

#endif
