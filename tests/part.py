"""tests/part.py -- the part of its cases that a suite is asked for: --every N [--first K], of N parts the K-th."""
import argparse
import sys


def part(cases, words=sys.argv):
    """Those of the list that the flags of a command choose; all of them without.  The flags are taken out of `words`."""
    flags = argparse.ArgumentParser(add_help=False)
    flags.add_argument("--every", type=int, default=1)
    flags.add_argument("--first", type=int, default=0)
    asked, words[1:] = flags.parse_known_args(words[1:])
    return cases[asked.first :: asked.every]
