/* server/main.c -- loads the plugins, finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/nearest.h"
#include "fusion/base/refused.h"
#include "fusion/base/write.h"
#include "fusion/registry.h"
#include "profiler/fields/json.h"
#include "server/cli/cli.h"
#include "server/text/text.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, const struct registry *registry);
} commands[] = {
#define COMMAND(name, args, line) { #name, cmd_##name },
#include "server/cli/commands.def"
#undef COMMAND
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* Takes `--plugin FILE` and `--plugin=FILE` out of argv and loads each; the exit
 * status, or -1 to go on. */
static int load_plugins(int *argc, char **argv, struct registry *registry)
{
	int kept = 0;

	for (int i = 0; i < *argc; i++) {
		bool inside = strncmp(argv[i], "--plugin=", 9) == 0;
		struct err err = { 0 };

		if (!inside && strcmp(argv[i], "--plugin") != 0) {
			argv[kept++] = argv[i];
			continue;
		}
		if (!inside && i + 1 == *argc) {
			fprintf(stderr, "breakeven: a file is missing after --plugin\n");
			return EXIT_USAGE;
		}
		if (!registry_load(registry, inside ? argv[i] + 9 : argv[++i], &err)) {
			fprintf(stderr, "breakeven: %s\n", err.message);
			return EXIT_FAILED;
		}
	}
	argv[kept] = NULL;
	*argc = kept;
	return -1;
}

/* What a command printed is done where it lies where it was meant to: a full disk is a failure.
 * A command that failed has said why. */
static int settle(int status)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || status != EXIT_DONE)
		return status;
	/* A part of it failed earlier, when nobody looked why: one more byte fails likewise. */
	if (errno == 0 && putchar('\n') != EOF)
		fflush(stdout);
	fprintf(stderr, "breakeven: the result could not be written: %s\n",
		strerror(errno ? errno : EIO));
	return EXIT_FAILED;
}

static int run_command(int index, int argc, char **argv)
{
	struct err err = { 0 };
	struct registry *registry = registry_create(&err);
	int status;

	if (!registry) {
		fprintf(stderr, "breakeven: %s\n", err.message);
		return EXIT_FAILED;
	}
	status = load_plugins(&argc, argv, registry);
	if (status < 0)
		status = commands[index].run(argc, argv, registry);
	registry_destroy(registry);
	if (status == EXIT_DONE && memory_refused() && commands[index].run != cmd_serve) {
		memory_refused_error(&err, "the result");
		fprintf(stderr, "breakeven %s: %s\n", commands[index].name, err.message);
		return EXIT_FAILED;
	}
	return status;
}

/* A standard stream that is closed takes and gives nothing, and no file or socket that is opened
 * later has its number: what is printed would go there. */
static void keep_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* ---- what a terminal obeys. ---- */

/* What is printed may be a stranger's text, as the name of a run, and a terminal obeys its control
 * characters: they are written as "?". */
struct plain {
	int fd;
	bool terminal;
	bool progress; /* it begins a line again and clears its rest */
	unsigned char last;
};

static bool is_control(const struct plain *p, const char *bytes, size_t n, size_t at)
{
	unsigned char c = (unsigned char)bytes[at];
	unsigned char before = at > 0 ? (unsigned char)bytes[at - 1] : p->last;
	unsigned char next = at + 1 < n ? (unsigned char)bytes[at + 1] : 0;

	if (p->progress &&
	    ((c == '\r' && at == 0) || (n - at >= 3 && memcmp(bytes + at, "\033[K", 3) == 0)))
		return false;
	if (c < 0x20)
		return c != '\n' && c != '\t';
	/* What JSON may have as it is.  U+0080 to U+009F are two bytes. */
	return p->terminal && (c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0) ||
			       (before == 0xc2 && c >= 0x80 && c < 0xa0));
}

/* 0: it cannot be written. */
static ssize_t write_plain(void *self, const char *bytes, size_t n)
{
	struct plain *p = self;
	char part[4096];

	for (size_t done = 0, len; done < n; done += len) {
		len = n - done < sizeof(part) ? n - done : sizeof(part);
		for (size_t i = 0; i < len; i++)
			part[i] = is_control(p, bytes, n, done + i) ? '?' : bytes[done + i];
		if (!write_all(p->fd, part, len))
			return 0;
	}
	if (n > 0)
		p->last = (unsigned char)bytes[n - 1];
	return (ssize_t)n;
}

/* Of what commands print; exports and the log are written without these. */
static bool print_plainly(void)
{
	static struct plain out = { .fd = STDOUT_FILENO };
	static struct plain errors = { .fd = STDERR_FILENO, .progress = true };
	static const cookie_io_functions_t plain = { .write = write_plain };
	FILE *to = fopencookie(&out, "w", plain), *errors_to = fopencookie(&errors, "w", plain);

	if (!to || !errors_to)
		return false;
	out.terminal = isatty(STDOUT_FILENO);
	errors.terminal = isatty(STDERR_FILENO);
	setvbuf(to, NULL, out.terminal ? _IOLBF : _IOFBF, 0);
	setvbuf(errors_to, NULL, _IONBF, 0);
	stdout = to;
	stderr = errors_to;
	return true;
}

/* `breakeven --version` is the command of that name. */
static char **as_version(char **argv)
{
	argv[0] += strspn(argv[0], "-");
	return argv;
}

static void help_print_all(FILE *out)
{
	fputs("breakeven: see when compiling a model function pays\n\nusage: breakeven COMMAND "
	      "...\n\n",
	      out);
	for (int i = 0; i < n_help_lines; i++)
		fprintf(out, "  %-8s %-44s %s\n", help_lines[i].name, help_lines[i].args,
			help_lines[i].line);
	fputs("\nEach takes --plugin FILE.so, as often as needed: a plugin adds passes, ops and "
	      "backends\n(fusion/plugin.h).  breakeven COMMAND --help explains each.\n",
	      out);
}

static int refuse_command(const char *word)
{
	struct nearest n = nearest_to(word);

	for (int i = 0; i < N_COMMANDS; i++)
		nearest_offer(&n, commands[i].name);
	fprintf(stderr, "breakeven: '%s' is not a command", word);
	if (n.best)
		fprintf(stderr, " (did you mean %s?)", n.best);
	fprintf(stderr, "; `breakeven --help` lists them\n");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	keep_standard_streams();
	if (!print_plainly()) {
		fprintf(stderr, "breakeven: out of memory for its output\n");
		return EXIT_FAILED;
	}
	/* The engine's pool shares products out: OpenBLAS's own threads would only
	 * take memory. */
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	json_reserve();
	if (argc < 2) {
		help_print_all(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0) {
		help_print_all(stdout);
		return settle(EXIT_DONE);
	}
	if (strcmp(argv[1], "--version") == 0)
		return settle(cmd_version(argc - 1, as_version(argv + 1), NULL));
	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return settle(run_command(i, argc - 1, argv + 1));
	return refuse_command(argv[1]);
}
