/* profiler/measure/environment.c -- what a figure depends on beside the program.
 *
 * Two runs whose environments differ are not comparable; the names here are
 * those that the comparison shows.  What cannot be found out is "unknown".
 */
#include <gnu/libc-version.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "fusion/base/ask.h"
#include "fusion/fusion.h"
#include "profiler/measure/measure.h"
#include "profiler/profiler.h"

/* The first line of a file, without its end; false where there is none. */
static bool first_line(const char *path, char *line, size_t bytes)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, (int)bytes, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\r\n")] = '\0';
	return ok;
}

static void cpu_model(char *model, size_t bytes)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(model, bytes, "unknown");
	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		snprintf(model, bytes, "%s", colon + 1 + strspn(colon + 1, " \t"));
		model[strcspn(model, "\r\n")] = '\0';
		break;
	}
	if (f)
		fclose(f);
}

/* What `name --version` says first; false where it cannot be run. */
static bool version_of(const char *name, char *line, size_t bytes)
{
	return ask_command((const char *const[]){ name, "--version", NULL }, line, bytes);
}

/* Asked once a process: it stays, and may be out of reach later. */
static struct {
	pthread_once_t once;
	char line[160];
} compiler_of = { .once = PTHREAD_ONCE_INIT };

static void ask_compiler(void)
{
	if (!version_of("gcc", compiler_of.line, sizeof(compiler_of.line)) &&
	    !version_of("cc", compiler_of.line, sizeof(compiler_of.line)))
		snprintf(compiler_of.line, sizeof(compiler_of.line), "none");
}

void profiler_environment_prepare(void)
{
	pthread_once(&compiler_of.once, ask_compiler);
}

static int cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set);
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

struct report_environment *environment_find(const char *version, struct report_draft *draft)
{
	struct report_environment *to = report_new_environment(1, &draft->arena);
	char model[160], governor[64], kernel[160];
	struct utsname uts;

	cpu_model(model, sizeof(model));
	if (!first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor,
			sizeof(governor)))
		snprintf(governor, sizeof(governor), "unknown");
	profiler_environment_prepare();
	snprintf(kernel, sizeof(kernel), "unknown");
	if (uname(&uts) == 0)
		snprintf(kernel, sizeof(kernel), "%s %s", uts.sysname, uts.release);
	if (!to)
		return NULL;
	REPORT_SET(to, cpu, report_draft_text(draft, model));
	REPORT_SET(to, cores, cores());
	REPORT_SET(to, governor, report_draft_text(draft, governor));
	REPORT_SET(to, vector_unit, fusion_vector_unit());
	REPORT_SET(to, compiler, report_draft_text(draft, compiler_of.line));
	REPORT_SET(to, kernel, report_draft_text(draft, kernel));
	REPORT_SET(to, libc, gnu_get_libc_version());
	REPORT_SET(to, breakeven, version ? version : "unknown");
	return to;
}

json_t *profiler_environment(const char *version)
{
	struct report_draft draft = { 0 };
	json_t *json = report_write_environment(environment_find(version, &draft));

	report_draft_finish(&draft);
	return json;
}
