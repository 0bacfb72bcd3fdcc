# The module argparse with a list of words, as programs and notebooks call it.
import argparse


def model():
    p = argparse.ArgumentParser(description="x", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for words in (["--nope"], ["--lr", "x"], ["--model", "c"], ["--lr"], ["--p", "1", "--q", "2"]):
        try:
            p.parse_args(words)
        except SystemExit:
            print("exit", words)
    q = argparse.ArgumentParser(parents=[base_parser()])
    q.add_argument("files", nargs="*")
    q.add_argument("last")
    q.add_argument("--pair", nargs=2, type=float)
    q.add_argument("--add", action="append")
    q.add_argument("--kv", type=lambda s: s.split("="))
    print(q.parse_args(["a", "b", "c", "--pair", "1", "-2.5", "--add", "x", "--add=y", "--kv", "k=v", "--seed=3"]))
    print(q.parse_args(["only"]))

    class Upper(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            setattr(namespace, self.dest, values.upper())

    r = argparse.ArgumentParser(allow_abbrev=True)
    r.add_argument("--name", action=Upper)
    r.add_argument("-n", type=int)
    r.add_argument("-q", action="store_true")
    r.add_argument("--rest", nargs=argparse.REMAINDER)
    print(r.parse_args(["--na", "bob", "-n5", "-q", "--rest", "--x", "1"]))
    print(r.parse_known_args(["-n", "-1", "stray", "--unknown", "3"]))


def base_parser():
    base = argparse.ArgumentParser(add_help=False)
    base.add_argument("--seed", type=int, default=1)
    return base
