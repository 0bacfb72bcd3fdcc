/* server/api/routes_some.h -- some kinds of rows of routes.def.
 *
 * Define the macros of the kinds that you want, include this: rows of all other kinds are passed
 * over, and the macros are undefined afterwards.
 */
#ifndef ROUTE
#define ROUTE(...)
#endif
#ifndef ROUTE_SLOW
#define ROUTE_SLOW ROUTE
#endif
#ifndef PAGE
#define PAGE(...)
#endif
#include "server/api/routes.def"
#undef ROUTE
#undef ROUTE_SLOW
#undef PAGE
