"""tests/docs.py [PROBE] -- README.md and web/docs name nothing that is not there.

Of links: the page, its heading, the file.  Of code: files and folders of the repository, commands and
flags of `breakeven` (server/text/help.def), flags of our scripts, routes (server/api/routes.def), targets of
make.  And: README has at most 120 lines, index.md lists every page, the changelog begins with the
version of the Makefile, help.def has the flags that the commands read, workloads.md the fields of a workload, attacks in security.md
their tests, and architecture.md the rooms of folders.  Says what is wrong, one line each;
exit 1 where something is.  PROBE: a Markdown file that is looked at instead of all (a test of this).
"""
import glob
import os
import re
import shlex
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGES = sorted(glob.glob("web/docs/*.md"))
TOP = ("db", "deploy", "fusion", "profiler", "server", "tests", "web")
EVERYWHERE = {"--help", "-h", "--plugin"}
wrong = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def one(pattern):
    """The only file of that name, wherever in its folder it lies."""
    found = glob.glob(pattern, recursive=True)
    assert len(found) == 1, (pattern, found)
    return found[0]


# ---- what there is


def bound_flags():
    return set(re.findall(r'^BOUND\(\w+, "(--[\w-]+)"', read(one("server/**/bounds.def")), re.M))


def flags_by_command():
    text = read(one("server/**/help.def"))
    flags, shared = {}, re.findall(r"^SHARED\((\w+), (\w+)\)", text, re.M)
    for command in re.findall(r"^HELP\((\w+),", text, re.M):
        flags[command] = set()
    for command, name in re.findall(r'FLAG\((\w+), "(-[\w-]*)"', text):
        flags.setdefault(command, set()).add(name)
    flags["server"] |= bound_flags()
    for command, group in shared:
        flags[command] |= flags[group]
    for _, group in shared:
        flags.pop(group, None)
    return flags


def routes():
    table = re.findall(r'^(?:ROUTE(?:_SLOW)?\(\w+, "\w+",|PAGE\()\s*"([^"]+)"', read(one("server/**/routes.def")), re.M)
    return [re.compile("^" + re.sub(r"\\{\w+\\}", r"[^/]+", re.escape(path)) + "$") for path in table]


def make_targets():
    makefiles = ["Makefile"] + glob.glob("*/*.mk") + glob.glob("*/*/*.mk")
    text = "\n".join(read(f) for f in makefiles)
    named = re.findall(r"^([\w-]+(?: [\w-]+)*):(?!=)", text, re.M) + re.findall(r"^\.PHONY:(.*)$", text, re.M)
    named += re.findall(r"^TRIALS := (.*)$", text, re.M)
    return {word for line in named for word in line.split()}


FLAGS, ROUTES, TARGETS = flags_by_command(), routes(), make_targets()
ALL_FLAGS = set().union(*FLAGS.values()) | EVERYWHERE

# ---- the parts of a page


def slug(text):
    """The id of a heading, as GitHub and web/docs/docs.mjs make it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "")
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text.lower()).strip())


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def headings(path):
    ids = {slug(h) for h in re.findall(r"^#+ (.*)$", without_blocks(read(path)), re.M)}
    if "<!-- commands -->" in read(path):
        ids |= {"breakeven-" + command for command in FLAGS}
    return ids


def blocks(text):
    """Fenced blocks with their language, and those that are indented, as README has them."""
    yield from re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    for lines in re.findall(r"(?:^ {4}.*\n)+", without_blocks(text), re.M):
        yield "sh", re.sub("^ {4}", "", lines, flags=re.M)


def spans(text):
    return re.findall(r"`([^`\n]+)`", without_blocks(text))


# ---- checks of a page


def check_links(path, text, say):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(text)):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        if name.startswith("/"):
            if not any(r.match(name) for r in ROUTES):
                say(f"link to {target}: no such route")
            continue
        file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(file):
            say(f"link to {target}: no such file")
        elif anchor and anchor not in headings(file):
            say(f"link to {target}: no such heading")


def check_paths(code, say, added=()):
    for word in re.findall(r"(?<![\w./~-])(?:build/)?(?:%s)(?:/[\w.*-]+)+" % "|".join(TOP), code):
        if word.startswith("build/"):
            built = re.sub(r"^build/", "", word)
            known = built + ".c" in added or glob.glob(built + ".c") or glob.glob(built + ".py") or glob.glob(built) or built.startswith("gen/")
        else:
            known = word in added or glob.glob(word.rstrip("."))
        if not known:
            say(f"{word}: no such file")


def check_routes(code, say):
    for path in re.findall(r"(?:GET|POST|DELETE|PATCH) (/[\w/{}.-]*)|127\.0\.0\.1:8080(/[\w/{}.-]*)|(?<!\w)(/api/[\w/{}.-]*)", code):
        path = "".join(path)
        if not any(r.match(path) for r in ROUTES):
            say(f"{path}: no such route")


def flags_in(words):
    return {re.split("[=.,;:]", w)[0] for w in words if re.match(r"--[a-z]|-[a-z]$", w)}


def check_command(words, say):
    """`breakeven run FILE --json`: its words after the program."""
    command = words[0] if words else ""
    if command in ("", "COMMAND") or not command[0].isalpha():
        return  # a flag, or what the program prints of its version
    if command not in FLAGS:
        return say(f"breakeven {command}: no such command")
    before = words[: words.index("--")] if "--" in words else words
    for flag in sorted(flags_in(before[1:]) - FLAGS[command] - EVERYWHERE):
        say(f"breakeven {command} {flag}: no such flag")


def check_line(line, say):
    try:
        words = shlex.split(line)
    except ValueError:  # a part of a command that goes on in the next line
        words = line.split()
    while words and re.match(r"\w+=", words[0]):
        words.pop(0)
    if not words:
        return
    first = words[0]
    if os.path.basename(first) == "breakeven":
        check_command(words[1:], say)
    elif first == "make":
        for word in words[1:]:
            if word == "#":
                break
            if re.match(r"[\w-]+$", word) and "=" not in word and not word.startswith("-") and word not in TARGETS:
                say(f"make {word}: no such target")
    else:
        script = next((w for w in words if re.match(r"tests/.*\.(py|mjs|sh)$", w)), None)
        text = read(script) if script and os.path.exists(script) else None
        if text is not None:
            for flag in sorted(flags_in(words[words.index(script) + 1 :])):
                if flag not in text:
                    say(f"{script} {flag}: no such flag")


def check_span(code, scripts, say):
    """`scripts`: the text of those that the page names; a flag without a command may be theirs."""
    if re.match(r"(breakeven|build/breakeven|make|python3|node) ", code):
        check_line(code, say)
    flag = re.match(r"(--?[a-z][\w-]*)( \S+)*$", code)
    if flag and flag[1] not in ALL_FLAGS and flag[1] not in scripts:
        say(f"{flag[1]}: no such flag")


def check_page(path):
    text = read(path)

    def say(what):
        wrong.append(f"{path}: {what}")

    added = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)  # by the changes that the page shows
    check_links(path, text, say)
    for language, block in blocks(text):
        # The lines of a diff are of a change that is an example; those of a program are the user's.
        if language in ("sh", ""):
            check_paths(block, say, added)
            check_routes(block, say)
            for line in block.splitlines():
                check_line(line.split("#")[0] if line.startswith("make") else line, say)
        elif language == "diff":
            check_paths("\n".join(re.findall(r"^--- (\S+)", block, re.M)), say)
    scripts = " ".join(read(f) for f in set(re.findall(r"tests/[\w/]+\.(?:py|mjs)", text)) if os.path.exists(f))
    for code in spans(text):
        check_paths(code, say)
        check_routes(code, say)
        check_span(code, scripts, say)


# ---- checks of the whole


def check_help():
    for path in glob.glob("server/**/cmd_*.c", recursive=True):
        name = re.search(r"cmd_(\w+)\.c", path)[1]
        text = read(path)
        if "serve_settings.h" in text:
            text += read("server/cli/serve_settings.c")
        reads = set(re.findall(r'\{ "(-[\w-]+)"', text))
        if "bounds.def" in text:
            reads |= bound_flags()
        if "WORKLOAD_FILE_FLAGS" in text:
            reads |= {"--input", "--weights", "--entry", "--no-sandbox"}
        commands = {"lists": ["ops", "backends", "passes"], "store": ["backup", "restore", "check", "vacuum", "store"], "serve": ["serve", "config"]}.get(name, [name])
        named = set().union(*(FLAGS.get(command, set()) for command in commands))
        for flag in sorted(reads ^ named):
            wrong.append(f"{path}: {flag} is {'not in help.def' if flag in reads else 'in help.def, but not read'}")


def check_fields():
    """The table of a workload's fields has those that a workload may have."""
    known = re.search(r"known_fields\[\] = \{(.*?)\};", read(one("profiler/workload/workload.c")), re.S)[1]
    table = re.search(r"^\| Field \|.*?\n\n", read("web/docs/workloads.md"), re.M | re.S)[0]
    named = {f for row in table.strip().splitlines()[2:] for f in re.findall(r"`(\w+)`", row.split("|")[1])}
    for field in sorted(set(re.findall(r'"(\w+)"', known)) ^ named):
        wrong.append(f"web/docs/workloads.md: {field} is {'no field of a workload' if field in named else 'a field of a workload and not in the table'}")


def check_attacks():
    """Each attack of the table has tests, and they are there."""
    table = re.search(r"^\| Attack \|.*?\n\n", read("web/docs/security.md"), re.M | re.S)[0]
    for row in table.strip().splitlines()[2:]:
        attack, tests = [cell.strip() for cell in row.strip("|").split("|")]
        named = re.findall(r'`(tests/[\w/.]+)`: ((?:"[^"]+"(?:, )?)+)', tests)
        if not named:
            wrong.append(f"web/docs/security.md: no test of: {attack}")
        for path, names in named:
            for name in re.findall(r'"([^"]+)"', names):
                if os.path.exists(path) and name not in read(path):
                    wrong.append(f"web/docs/security.md: {path} has no test {name}")


def check_rooms():
    """A folder of the house whose rooms architecture.md lists has these and no others."""
    for folder, cell in re.findall(r"^\| `([\w/]+)` \| (.*Rooms.*) \|$", read("web/docs/architecture.md"), re.M):
        listed = re.sub(r"\([^()]*\)", "", re.search(r"Rooms[^:]*: (.*)", cell)[1])
        named = set(re.split(r"[,;\s]+(?:and )?", listed.strip()))
        there = {os.path.basename(os.path.dirname(path)) for path in glob.glob(f"{folder}/*/")}
        for room in sorted(named ^ there):
            wrong.append(f"web/docs/architecture.md: {folder}/{room} is {'not listed' if room in there else 'listed, but not there'}")


def check_whole():
    lines = read("README.md").count("\n")
    if lines > 120:
        wrong.append(f"README.md: {lines} lines; it has at most 120")
    listed = re.findall(r"^- \[[^]]*\]\(([\w-]+\.md)\)", read("web/docs/index.md"), re.M)
    for page in sorted(set(map(os.path.basename, PAGES)) ^ set(listed) - {"index.md"}):
        if page != "index.md":
            wrong.append(f"web/docs/index.md: {page} is {'not listed' if page not in listed else 'listed, but not there'}")
    version = re.search(r"^RELEASE := (\S+)$", read("Makefile"), re.M)[1]
    newest = re.search(r"^## (\S+)$", read("web/docs/changelog.md"), re.M)[1]
    if newest != version:
        wrong.append(f"web/docs/changelog.md: begins with {newest}; the Makefile says {version}")
    check_help()
    check_fields()
    check_attacks()
    check_rooms()


if len(sys.argv) > 1:
    check_page(sys.argv[1])
else:
    for page in ["README.md"] + PAGES:
        check_page(page)
    check_whole()
for line in wrong:
    print("  " + line)
sys.exit(1 if wrong else 0)
