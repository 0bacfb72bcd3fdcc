"""tests/walks.py [--apply SECTION | --try BUILD] -- the changes that web/docs/additions.md shows.

Without a flag: says which of them no longer applies to this tree, or touches more than four files.
--apply SECTION: changes this tree as the section "a-pass", or another, says.
--try BUILD: all of them in a copy of the tree and of BUILD: builds it, runs every command of the
page, and looks at the pages that have changed (tests/e2e/additions.mjs).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = "web/docs/additions.md"
MOST_FILES = 4
COPIED = ("Makefile", "LICENSE", "README.md", ".clang-format", "db", "deploy", "fusion", "profiler", "server", "tests", "web")


def sections():
    """slug -> its patch and its blocks of commands."""
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        text = file.read()
    found = {}
    for title, body in re.findall(r"^## (.*)\n((?:(?!^## ).*\n?)*)", text, re.M):
        patch = "".join(re.findall(r"^```diff\n(.*?)^```$", body, re.M | re.S))
        found[title.lower().replace(" ", "-")] = patch, re.findall(r"^```sh\n(.*?)^```$", body, re.M | re.S)
    return found


def touched(patch):
    return re.findall(r"^\+\+\+ b/(\S+)", patch, re.M)


def apply(patch, folder):
    """What git says where it fails: every line of context has to be there, though elsewhere in the file."""
    done = subprocess.run(["git", "apply", "-"], cwd=folder, input=patch, text=True, capture_output=True)
    return done.stderr.strip() if done.returncode else ""


def check():
    """The faults of all changes, one after the other."""
    faults = []
    with tempfile.TemporaryDirectory() as copy:
        for name, (patch, _) in sections().items():
            files = touched(patch)
            for path in files:
                there, to = os.path.join(ROOT, path), os.path.join(copy, path)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                if os.path.exists(there) and not os.path.exists(to):
                    shutil.copy(there, to)
            if not 0 < len(files) <= MOST_FILES:
                faults.append(f"{PAGE}, {name}: {len(files)} files, of at most {MOST_FILES}")
            wrong = apply(patch, copy)
            if wrong:
                faults.append(f"{PAGE}, {name}: does not apply: {wrong}")
    return faults


def run(command, copy):
    print(f"$ {command}", flush=True)
    environment = dict(os.environ, BREAKEVEN=os.path.join(copy, "build/breakeven"), XDG_CACHE_HOME=os.path.join(copy, "cache"))
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=copy, env=environment).returncode == 0


def try_all(build):
    """Whether everything that the page says holds in a copy."""
    cuda = os.path.exists(os.path.join(build, "tests/cuda/emulator/libcuda.so.1"))
    with tempfile.TemporaryDirectory() as copy:
        for name in COPIED:
            subprocess.run(["cp", "-a", os.path.join(ROOT, name), copy], check=True)
        subprocess.run(["cp", "-a", build, os.path.join(copy, "build")], check=True)
        failed = [name for name, (patch, _) in sections().items() if apply(patch, copy)]
        if failed or not run(f"make -j{os.cpu_count()} all", copy):
            return print(f"walks: not built: {', '.join(failed) or 'make failed'}")
        for name, (_, blocks) in sections().items():
            for commands in blocks:
                if "STAND_IN" in commands and not cuda:
                    print(f"skipped: {name}, CUDA C: its stand-ins are not built")
                elif not run(commands, copy):
                    failed.append(name)
        if not run("node --test tests/e2e/additions.mjs", copy):
            failed.append("the pages")
    print(f"walks: {len(sections())} changes; failed: {', '.join(failed) or 'none'}")
    return not failed


def main():
    if sys.argv[1:2] == ["--try"] and len(sys.argv) == 3:
        sys.exit(not try_all(sys.argv[2]))
    if sys.argv[1:2] == ["--apply"] and len(sys.argv) == 3:
        if sys.argv[2] not in sections():
            sys.exit(f"tests/walks.py: no section {sys.argv[2]}; there are {', '.join(sections())}")
        sys.exit(apply(sections()[sys.argv[2]][0], ROOT) or 0)
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    faults = check()
    print("\n".join(faults), end="\n" if faults else "")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
