"""tests/cuda/emulator/emulate.py SOURCE OBJECT [FOLDER] -- a module of CUDA C as a shared object for the host.
tests/cuda/emulator/emulate.py --header FOLDER -- precompiles there what every module has in front (make does).

Kernels become functions that take their parameters as cuLaunchKernel has them, an array
of addresses; driver.c runs them.  Used by the stand-in NVRTC (nvrtc.c), which lies in FOLDER.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = re.compile(r'extern "C" __global__ void(?: __launch_bounds__\((\d+)(?:, \d+)?\))? (\w+)\(([^)]*)\)\s*\{')

BLOCK = re.compile(r'asm\(((?:\s*"[^"]*")+)\s*:((?:\s*"=\w"\(\w+\),?)+)\s*:((?:\s*"\w"\(\w+\),?)*)\s*\);')
TYPES = {"f32": "float", "f64": "double", "b32": "unsigned", "b64": "unsigned long long", "pred": "bool"}
AS = {"f": "(float)", "r": "(unsigned)", "l": "(unsigned long long)"}


def steps(block):
    """A block of PTX, "{.reg ...; op to, from, ...; ...}", as calls of ptx.hpp; other asm as it is."""
    text = "".join(re.findall(r'"([^"]*)"', block[1]))
    if not text.startswith("{"):
        return block[0]
    outputs = re.findall(r'"=\w"\((\w+)\)', block[2])
    inputs = re.findall(r'"(\w)"\((\w+)\)', block[3])
    lines = [f"auto &operand{i} = {name};" for i, name in enumerate(outputs)]
    lines += [f"const auto operand{i} = {AS[kind]}{name};" for i, (kind, name) in enumerate(inputs, len(outputs))]
    lines.append("{") # its registers may have the names of operands
    for step in filter(None, map(str.strip, text[1:-1].split(";"))):
        op, rest = step.split(None, 1)
        if op == ".reg":
            kind, names = rest.split(None, 1)
            lines.append(f"{TYPES[kind[1:]]} {names};")
            continue
        rest = re.sub(r"\b0f([0-9A-F]{8})", r"__uint_as_float(0x\1u)", rest)
        rest = re.sub(r"\b0d([0-9A-F]{16})", r"__longlong_as_double(0x\1ll)", rest)
        rest = re.sub(r"%(\d)", r"operand\1", rest)
        rest = re.sub(r"\{(\w+), (\w+)\}", r"ptx_pair(\1, \2)", rest)
        lines.append(f"ptx_{op.replace('.', '_')}({rest.replace('[', '').replace(']', '')});")
    return "{ " + " ".join(lines) + " } }"


# Threads of a block that a kernel may be started with where it names no bound: one that takes
# as many registers as there are, 255 of 65,536.
FULL_REGISTERS = 256


def expanded(text):
    """Without macros, for PTX is put together by some."""
    command = [os.environ.get("CXX", "g++"), "-E", "-P", "-w", "-DEMULATED", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def translate(text):
    text = BLOCK.sub(steps, expanded(text))
    text = re.sub(r'asm\("cvt.f32.f16.*?;"[^;]*;', "x = emulated_half_to_f32(half);", text)
    text = re.sub(r'asm\("cvt.rn.f16.f32.*?;"[^;]*;', "half = emulated_f32_to_half(x);", text)
    text = re.sub(r'asm\("rcp.approx.*?;"[^;]*;', "r = 1.0f / y;", text)
    text = re.sub(r'asm\("div.full.*?;"[^;]*;', "y = a / b;", text)
    text = re.sub(r'asm\("sqrt.approx.*?;"[^;]*;', "y = sqrtf(x);", text)
    text = re.sub(r'asm\("rsqrt.approx.*?;"[^;]*;', "y = 1 / sqrtf(x);", text)
    text = re.sub(r'asm\("ex2.approx.*?;"[^;]*;', "rest = exp2f(q);", text)
    text = text.replace("const __grid_constant__ ", "const ")
    text = re.sub(r"extern __shared__ __align__\(16\) char (\w+)\[\];", r"char *const \1 = emulated_shared;", text)
    callers = []
    for bound, name, parameters in KERNEL.findall(text):
        types = [p.strip().rsplit(" ", 1) for p in parameters.split(",") if p.strip()]
        values, sizes = [], []
        for i, (kind, named) in enumerate(types):
            kind += "*" * named.count("*")
            sizes.append(f"sizeof({kind})")
            values.append(f"*({kind.replace('const ', '', 1) if '*' not in kind else kind} *)p[{i}]")
        callers.append(f'extern "C" const int most_{name} = {bound or FULL_REGISTERS};\n')
        callers.append(f'extern "C" const unsigned long sizes_{name}[] = {{ {", ".join(sizes + ["0"])} }};\n')
        callers.append(f'extern "C" void call_{name}(void **p)\n{{\n\t{name}({", ".join(values)});\n}}\n')
    return '#include "ptx.hpp"\n' + text + "".join(callers)


def main():
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-O0", "-pedantic-errors", "-ffp-contract=off", "-fPIC"]
    if sys.argv[1] == "--header":
        done = subprocess.run([*compiler, "-x", "c++-header", f"{HERE}/ptx.hpp", "-o", f"{sys.argv[2]}/ptx.hpp.gch"])
        sys.exit(done.returncode)
    source, target, *folders = sys.argv[1:]
    with open(source) as f:
        text = translate(f.read())
    with open(source + ".cc", "w") as f:
        f.write(text)
    command = [*compiler, *(f"-I{folder}" for folder in [*folders, HERE]), "-shared", "-o", target, source + ".cc"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode: # errors that CUDA's compiler has, too: an array of no elements
        sys.stderr.write(done.stderr[:4000])
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
