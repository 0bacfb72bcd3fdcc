/* server/cli/cmd_completion.c -- `breakeven completion SHELL`: what a shell completes, made from
 * the tables of commands and flags.
 */
#include <stdio.h>
#include <string.h>

#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/text/text.h"

/* Those that serve starts are for nobody to type. */
static bool is_shown(const struct help_line *line)
{
	return !strstr(line->line, "(started by serve)");
}

static void print_name(const struct help_row *flag, void *data)
{
	(void)data;
	printf(" %s", flag->name);
}

/* A text within '...'. */
static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[2]){ *text, '\0' }, stdout);
	putchar('\'');
}

static void print_bash(void)
{
	puts("_breakeven() {\n"
	     "  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
	     "  if [ \"$COMP_CWORD\" = 1 ]; then");
	printf("    words='");
	for (int i = 0; i < n_help_lines; i++)
		if (is_shown(&help_lines[i]))
			printf(" %s", help_lines[i].name);
	puts("'\n  else\n    case ${COMP_WORDS[1]} in");
	for (int i = 0; i < n_help_lines; i++) {
		if (!is_shown(&help_lines[i]))
			continue;
		printf("      %s) words='", help_lines[i].name);
		help_each_flag(help_lines[i].name, print_name, NULL);
		puts(" --help' ;;");
	}
	puts("    esac\n  fi\n"
	     "  if [ \"$COMP_CWORD\" = 1 ] || [ \"${word#-}\" != \"$word\" ]; then\n"
	     "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	     "  else\n"
	     "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
	     "  fi\n"
	     "}\n"
	     "complete -o filenames -F _breakeven breakeven");
}

/* 'name:what it is' of zsh's lists: a colon in the text would end it. */
static void print_zsh_flag(const struct help_row *flag, void *data)
{
	(void)data;
	printf(" '*%s[", flag->name);
	for (const char *c = flag->text; *c && *c != '\n'; c++)
		if (*c == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr("[]:\\", *c) ? "\\" : "", *c);
	printf("]%s'", *flag->argument ? ":value:_files" : "");
}

static void print_zsh(void)
{
	puts("#compdef breakeven\n"
	     "_breakeven() {\n"
	     "  local -a commands\n"
	     "  if (( CURRENT == 2 )); then\n"
	     "    commands=(");
	for (int i = 0; i < n_help_lines; i++) {
		if (!is_shown(&help_lines[i]))
			continue;
		printf("      %s:", help_lines[i].name);
		print_quoted(help_lines[i].line);
		putchar('\n');
	}
	puts("    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in");
	for (int i = 0; i < n_help_lines; i++) {
		if (!is_shown(&help_lines[i]))
			continue;
		printf("    %s) _arguments", help_lines[i].name);
		help_each_flag(help_lines[i].name, print_zsh_flag, NULL);
		puts(" '*:file:_files' ;;");
	}
	puts("  esac\n}\n"
	     "compdef _breakeven breakeven");
}

/* `data` is the command's name. */
static void print_fish_flag(const struct help_row *flag, void *data)
{
	bool is_long = flag->name[1] == '-';

	printf("complete -c breakeven -n '__fish_seen_subcommand_from %s' %s %s%s -d ",
	       (const char *)data, is_long ? "-l" : "-s", flag->name + (is_long ? 2 : 1),
	       *flag->argument ? " -r" : "");
	print_quoted(flag->text);
	putchar('\n');
}

static void print_fish(void)
{
	for (int i = 0; i < n_help_lines; i++) {
		const struct help_line *line = &help_lines[i];

		if (!is_shown(line))
			continue;
		printf("complete -c breakeven -n __fish_use_subcommand -f -a %s -d ", line->name);
		print_quoted(line->line);
		putchar('\n');
		help_each_flag(line->name, print_fish_flag, (void *)line->name);
	}
}

int cmd_completion(int argc, char **argv, const struct registry *registry)
{
	static const char *const shells[] = { "bash", "zsh", "fish", NULL };
	const char *shell = NULL;
	struct flags flags = {
		.command = "completion",
		.words = { .at = &shell, .most = 1, .over = "one shell at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	(void)registry;
	if (status >= 0)
		return status;
	if (!shell && !flags_refuse("completion", "a shell is missing: bash, zsh or fish", ""))
		return EXIT_USAGE;
	if (!flags_one_of("completion", "SHELL", shell, shells))
		return EXIT_USAGE;
	(strcmp(shell, "bash") == 0  ? print_bash
	 : strcmp(shell, "zsh") == 0 ? print_zsh
				     : print_fish)();
	return EXIT_DONE;
}
