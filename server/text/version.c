/* server/text/version.c -- says which version this is: the one file that is rebuilt when that
 * changes. */
#include "server/text/text.h"

const char *breakeven_version(void)
{
	return BREAKEVEN_VERSION;
}
