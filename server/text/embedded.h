/* server/text/embedded.h -- Python programs that come with the server, as workloads. */
#ifndef SERVER_EMBEDDED_H
#define SERVER_EMBEDDED_H

#include <jansson.h>

#include "fusion/base/err.h"

/* Those of web/FOLDER/, by their names; their inputs stand in "# input:" lines.  A new list;
 * NULL with why not. */
json_t *embedded_programs(const char *folder, struct err *err);

#endif
