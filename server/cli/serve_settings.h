/* server/cli/serve_settings.h -- what a server is started with: flags that may stand in the
 * environment and in a file too.
 *
 * A flag counts before BREAKEVEN_NAME of the environment, and that before the file, which
 * --config names: /etc/breakeven.conf, where it is there.  Its lines are `name = value`, the name
 * that of the flag without its dashes; a flag without a value is yes or no; what may be given often
 * has a line for each, and blanks between in the environment.  `#` begins a comment.  `breakeven
 * config` prints them.
 */
#ifndef SERVER_CLI_SERVE_SETTINGS_H
#define SERVER_CLI_SERVE_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "server/cli/flags.h"
#include "server/queue/bounds.h"

enum {
	SETTINGS_NAMED = 17, /* with a name of their own, before the bounds */
	SETTINGS_BOUNDS = sizeof(struct serve_bounds) / sizeof(int64_t),
	SETTINGS_MOST = SETTINGS_NAMED + SETTINGS_BOUNDS,
	SETTING_NAMES_MOST = 64, /* of one that may be given often */
	SETTING_NUMBER_CHARS = 24,
};

/* Large: not for the stack.  Texts live in the arena of serve_settings_read(), or in argv. */
struct serve_settings {
	const char *listen, *db, *files, *cache, *torch_python, *user_header, *base_path, *config,
	    *log_format, *hosts;
	struct flag_texts allow_hosts, proxies, admin_users, hook_hosts;
	bool first_run, insecure, log_requests;
	struct serve_bounds bounds;
	bool json; /* --json: of the commands that print them, and no setting */

	/* Where they are from. */
	const char *file;                /* NULL: no file was read */
	const char *from[SETTINGS_MOST]; /* "flag", "BREAKEVEN_DB", "FILE:3" or "default" */
	struct flag table[SETTINGS_MOST + 1];

	/* What the above point to. */
	const char *allow_host_texts[SETTING_NAMES_MOST], *proxy_texts[SETTING_NAMES_MOST],
	    *admin_user_texts[SETTING_NAMES_MOST], *hook_host_texts[SETTING_NAMES_MOST];
	const char *bound_texts[SETTINGS_BOUNDS];
	char numbers[SETTINGS_BOUNDS][SETTING_NUMBER_CHARS]; /* the defaults among them */
	char usual_cache[4096];
};

/* Fills zeroed settings (NULL: out of memory).  `shows`: the command takes --json.
 * -1 to go on, else the exit status, after the help or a message. */
int serve_settings_read(const char *command, bool shows, int argc, char **argv,
			struct serve_settings *s, struct arena *arena);

#endif
