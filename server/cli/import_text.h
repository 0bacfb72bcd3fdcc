/* server/cli/import_text.h -- an import as text (`breakeven import` without --json). */
#ifndef SERVER_IMPORT_TEXT_H
#define SERVER_IMPORT_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* `report` as of import_finish(). */
void import_text(const json_t *report, FILE *out);

#endif
