/* server/http/response.h -- the headers that answers have. */
#ifndef SERVER_HTTP_RESPONSE_H
#define SERVER_HTTP_RESPONSE_H

struct MHD_Response;

/* Adds one.  Where there is no memory for it, that is counted (fusion/base/refused.h): an answer
 * that lacks one is not sent.  r NULL: nothing. */
void response_add(struct MHD_Response *r, const char *name, const char *value);

/* Its type, and what each answer has. */
void response_dress(struct MHD_Response *r, const char *type);

/* Offers it for download under that name; NULL: it is shown. */
void response_name_file(struct MHD_Response *r, const char *filename);

#endif
