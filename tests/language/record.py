"""tests/language/record.py -- writes programs.want: what CPython prints for model() of each
program of programs.txt, which begins with a line `# name`."""
import os
import re
import subprocess
import sys

os.chdir(os.path.dirname(os.path.abspath(__file__)))
RUN = 'import sys; s = {"__name__": "model"}; exec(compile(sys.stdin.read(), "p", "exec"), s); s["model"]()'


def programs(text):
    parts = re.split(r"^# (\w+)\n", text, flags=re.M)[1:]
    return zip(parts[::2], parts[1::2])


with open("programs.txt") as source, open("programs.want", "w") as want:
    for name, program in programs(source.read()):
        done = subprocess.run([sys.executable, "-c", RUN], input=program, capture_output=True, text=True, check=True)
        want.write(f"# {name}\n{done.stdout}")
