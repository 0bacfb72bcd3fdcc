// tests/api/torch.test.mjs -- engine torch through a server, by the stand-in of tests/torch_stand_in.
import test, { afterEach } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, getJson, kernelHas, postRun, startServer, until, waitFor, workload } from './harness.mjs';

const PLAIN = 'tests/torch_stand_in';
const both = (body, extra = {}) => workload(body, {
    engines: ['breakeven', 'torch'], modes: ['eager'], backend: 'interp', threads: 1, ...extra,
});
/** A folder that there is not: whatever this test starts has it in its environment. */
const MARK = `of-${process.pid}-api`;
const startWith = (folders) => {
    process.env.PYTHONPATH = `${folders}:${MARK}`;
    return startServer({ args: ['--torch-python', 'python3'] });
};
let server;
afterEach(() => delete process.env.PYTHONPATH);

/** What exp() of the failing stand-in leaves, unless its group is ended; others may be tested beside. */
const leftBehind = () => readdirSync('/proc').some((pid) => {
    try {
        const of = (file) => readFileSync(`/proc/${pid}/${file}`, 'latin1');
        return of('cmdline').startsWith('sleep\0') && of('environ').includes(MARK);
    } catch {
        return false;
    }
});
const isThere = (there) => until(() => leftBehind() === there, there ? 'a process of torch' : 'the end of what torch started');

test('it is off by default, and a run that wants it is refused with how to switch it on', async () => {
    server = await startServer();
    const { body } = await getJson(`${server.url}/api/v1/backends`);
    assert.deepEqual(body.engines.map((e) => [e.name, e.available]), [['torch', false]]);
    const answer = await postRun(server, both('    return torch.sin(x)'));
    assert.equal(answer.status, 422);
    assert.equal(answer.body.error.code, 'no-device');
    assert.match(answer.body.error.message, /switched off: --torch-python PATH/);
    await server.stop();
});

test('a torch that is too old is said at the start, and to who posts', async () => {
    server = await startWith(`${PLAIN}/old`);
    assert.match(server.log(), /engine torch does not work: .* has torch 2\.4\.1, which is too old/);
    const { body } = await postRun(server, both('    return torch.sin(x)'));
    assert.match(body.error.message, /needs torch 2\.5 or newer/);
    await server.stop();
});

const { landlock, seccomp } = kernelHas();
const can = landlock > 0 && seccomp;

test('what is posted reads no file of others, writes nothing outside of its folder and opens no socket', { skip: !can && 'this kernel has no Landlock or no seccomp' }, async () => {
    const outside = mkdtempSync(join(tmpdir(), 'breakeven-outside-'));
    const secret = join(outside, 'secret');
    writeFileSync(secret, 'a secret');
    process.env.LIBRARY_PATH = `${secret}:${outside}:${process.pid}`;
    try {
        server = await startWith(`${PLAIN}/prying:${PLAIN}`);
    } finally {
        delete process.env.LIBRARY_PATH;
    }
    const prying = both('    return torch.sin(x)');
    const octets = { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' } };
    // Two runs: the second reads what was posted when torch was at work already.
    for (const bytes of ['hello', 'weights']) {
        const file = (await getJson(`${server.url}/api/v1/files?bytes=${bytes.length}`, { ...octets, body: bytes })).body;
        const { body } = await postRun(server, { ...prying, weights: { 'net.pt': file.id } });
        const { report } = await waitFor(server, body.id);
        assert.match(JSON.stringify(report.engines.torch), /could: ; lacks: \./);
    }
    assert.deepEqual(readdirSync(outside), ['secret']);
    // The command line confines it too, but for --no-sandbox.
    const file = join(outside, 'workload.json');
    writeFileSync(file, JSON.stringify(prying));
    const env = { ...process.env, LIBRARY_PATH: `${secret}:${outside}:${process.pid}`, PYTHONPATH: `${PLAIN}/prying:${PLAIN}` };
    const run = (...flags) => spawnSync(binary, ['run', file, '--torch-python', 'python3', '--json', '--weights', `net.pt=${secret}`, ...flags], { encoding: 'utf8', env });
    assert.match(run().stdout, /could: read a file, by a program; lacks: \./, 'its weights are that file');
    // Where a GPU is it may make sockets, and name its threads; this is a driver by its name alone.
    const gpu = join(outside, 'gpu');
    mkdirSync(gpu);
    writeFileSync(join(gpu, 'libcuda.so.1'), '');
    env.LD_LIBRARY_PATH = `${gpu}:${env.LD_LIBRARY_PATH ?? ''}`;
    const own = spawnSync('unshare', [...(process.getuid() === 0 ? [] : ['-r']), '-n', '-p', '-f', '--mount-proc', 'true']).status === 0;
    const lacks = own || process.getuid() !== 0 ? '' : '(names of threads)?'; // web/docs/security.md
    assert.match(run().stdout, new RegExp(`could: read a file, a socket of the machine, by a program; lacks: ${lacks}\\.`));
    assert.match(run('--no-sandbox').stdout, /could: read a file, /);
    await server.stop();
    rmSync(outside, { recursive: true });
});

test('its report is in ours; its failure is reported and fails nothing', async () => {
    server = await startWith(`${PLAIN}/failing:${PLAIN}`);
    const { body } = await getJson(`${server.url}/api/v1/backends`);
    assert.equal(body.engines[0].version, '2.11.0+stand.in');
    assert.match(server.log(), can ? /warn engine torch: .* executes what is posted, confined by Landlock and seccomp/ : /WITH THE RIGHTS OF THIS SERVER'S USER/);
    assert.equal((await getJson(`${server.url}/healthz?full=1`)).body.sandbox.torch, can ? 'confined' : 'not confined');
    const good = (await postRun(server, both('    return torch.sin(x)', { seconds: 1 }))).body.id;
    const crashing = (await postRun(server, both('    return torch.log1p(x)'))).body.id;
    const { engines, modes, one_process } = (await waitFor(server, good)).report;
    assert.ok(modes.eager.latency.of_process.length > 1, one_process ?? 'other processes took samples of ours too');
    assert.equal(engines.torch.error, null);
    assert.ok(engines.torch.modes.eager.latency.median_us > 0);
    assert.ok(engines.torch.modes.eager.values.agree);
    assert.ok(modes.eager.latency.median_us > 0);
    const failed = await waitFor(server, crashing);
    assert.equal(failed.status, 'done');
    assert.match(failed.report.engines.torch.error.message, /signal 11/);
    assert.match(failed.report.engines.torch.error.detail, /the last words$/);
    await server.stop();
});

test('a program of several files: modes and points have modules of their own, as Python finds them', async () => {
    server = await startWith(`${PLAIN}/failing:${PLAIN}`);
    const files = {
        'app/train.py': 'import torch\nfrom net import scale\nfrom net.deep import count\nfrom shared import both\n\ndef model(x):\n    ...\n    return torch.sin(x) * scale * count() + both\n',
        'app/net/__init__.py': 'from .deep import SCALE as scale\n',
        'app/net/deep.py': 'import torch\nSCALE = 2\nmade = []\n\ndef count():\n    import net.deep\n    net.deep.made.append(1)\n    return min(len(made), 1)\n',
        'src/shared.py': 'both = 3\n',
        'json.py': 'broken = (\n',
    };
    const posted = await postRun(server, both('', {
        source: undefined, files, entry: 'app/train.py:model', modes: ['eager', 'static'],
        sweep: { statements: { pool: ['x = x + 1'], counts: [1, 3] } },
    }));
    assert.equal(posted.status, 202, JSON.stringify(posted.body));
    const run = await waitFor(server, posted.body.id);
    assert.equal(run.report.engines.torch.error, null);
    for (const point of run.report.engines.torch.points)
        for (const mode of ['eager', 'static'])
            assert.ok(point.modes[mode].values.agree, `${mode} at ${point.n}: ${JSON.stringify(point.modes[mode])}`);
    const script = await (await fetch(`${server.url}/api/v1/runs/${run.id}/script.py`)).text();
    assert.match(script, /"app\/net\/deep\.py"/);
    await server.stop();
});

test('cancelling a run, and stopping the server, ends all that torch started', async () => {
    server = await startWith(`${PLAIN}/failing:${PLAIN}`);
    for (const end of [(id) => getJson(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' }), () => server.stop()]) {
        const { body } = await postRun(server, both('    return torch.exp(x)'));
        await isThere(true);
        await end(body.id);
        await isThere(false);
    }
});

test('a server that was killed leaves temporary folders that the next one removes', async () => {
    const folders = () => readdirSync(server.home).filter((name) => name.startsWith('breakeven-scratch-'));
    server = await startWith(`${PLAIN}/failing:${PLAIN}`);
    const { body: { id } } = await postRun(server, both('    return torch.exp(x)'));
    await isThere(true);
    assert.ok(folders().length >= 2); // of torch's host and of the worker
    await server.stop({ signal: 'SIGKILL', keep: true });
    await isThere(false);
    const left = folders();
    assert.ok(left.length >= 2);
    server = await startServer({ folder: server.home });
    await waitFor(server, id); // taken up again, by a worker with a folder of its own
    assert.deepEqual(folders().filter((name) => left.includes(name)), []);
    await server.stop({ keep: true });
    assert.deepEqual(folders(), []);
    rmSync(server.home, { recursive: true });
});

/** Whether this kernel lets its user have a namespace of processes, which end together. */
const together = spawnSync('python3', ['-c', 'import ctypes, sys\nlibc = ctypes.CDLL(None)\nsys.exit(libc.unshare(0x20000000) and libc.unshare(0x30000000))']).status === 0;

test('what is posted can neither end nor stop what holds it to its limits, and what it leaves running is ended', { skip: !together && 'this kernel gives no namespace of processes' }, async () => {
    server = await startWith(`${PLAIN}/leaving:${PLAIN}`);
    for (let i = 0; i < 2; i++) {
        const { body } = await postRun(server, both('    return torch.sin(x)'));
        const run = await waitFor(server, body.id);
        assert.equal(run.report.engines.torch.error, null);
        assert.ok(run.report.engines.torch.modes.eager.values.agree);
        await isThere(false);
    }
    await server.stop();
});

test('a process of torch that hangs ends with the server that is killed, and all that it started', { skip: !together && 'this kernel gives no namespace of processes' }, async () => {
    server = await startWith(`${PLAIN}/failing:${PLAIN}`);
    await postRun(server, both('    return torch.exp(x)'));
    await isThere(true);
    const hosts = readdirSync('/proc').filter((pid) => {
        try {
            const of = (file) => readFileSync(`/proc/${pid}/${file}`, 'latin1');
            return /python/.test(of('cmdline')) && of('cmdline').includes('/host.py') && of('environ').includes(MARK);
        } catch {
            return false;
        }
    });
    assert.ok(hosts.length >= 2, 'the host and what does the job');
    for (const pid of hosts) process.kill(Number(pid), 'SIGSTOP');
    await server.stop({ signal: 'SIGKILL' });
    await isThere(false);
});

const cxx = spawnSync('g++', ['--version']).status === 0;

test('what Inductor does works there: a pool of processes, a C++ compiler, a shared object that is loaded', { skip: !cxx && 'no g++ is here' }, async () => {
    server = await startWith(`${PLAIN}/compiling:${PLAIN}`);
    const { body } = await postRun(server, both('    return torch.sin(x)'));
    const { torch } = (await waitFor(server, body.id)).report.engines;
    assert.equal(torch.error, null);
    assert.ok(torch.modes.eager.values.agree, JSON.stringify(torch.modes.eager));
    await server.stop();
});

test('a suite of both engines: a column of each, and breaks that are ours', () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-both-'));
    const name = join(folder, 'sines.json');
    writeFileSync(name, JSON.stringify({ ...both('    print(1)\n    return torch.sin(x)', { modes: ['eager', 'static'] }), name: 'sines' }));
    const { stdout } = spawnSync(binary, ['suite', name, '--policy', 'dynamo', '--modes', 'static', '--seconds', '0.2',
        '--engine', 'breakeven,torch', '--torch-python', 'python3'], { encoding: 'utf8', env: { ...process.env, PYTHONPATH: PLAIN } });
    rmSync(folder, { recursive: true });
    assert.match(stdout, /^workload +static, dynamo +static, torch +breaks dynamo/m);
    assert.match(stdout, /^sines .* 1 \+ 0 *$/m);
    assert.match(stdout, /^torch +dynamo +static +1\/1/m);
});

/** Where profiler/torch/script.py puts what a source made, each by its name in `names`, on device cuda. */
const moved = (source, names) => JSON.parse(execFileSync('python3', ['-c', `
import json, sys, types
script = open("profiler/torch/script.py").read().replace("# {{experiment}}", 'WORKLOAD = {"device": "cuda"}')
made, program = types.ModuleType("script"), types.ModuleType("program")
sys.modules["program"] = program
exec(script, made.__dict__)
source, names = json.load(sys.stdin)
exec(source, program.__dict__)
made.move(program.__dict__, {"program"}, {})
print(json.dumps([eval(name, program.__dict__).device for name in names]))
`], { input: JSON.stringify([source, names]), env: { ...process.env, PYTHONPATH: PLAIN }, encoding: 'utf8' }));

test('what a source makes before its first call is made on the CPU and moved, so that a seed gives the same numbers', () => {
    const source = `
import torch
class Net(torch.nn.Module):
    scale = torch.ones(1)
    def __init__(self, inner=None):
        self.w, self.inner = torch.ones(2), inner
class Config:
    def __init__(self):
        self.table = {"mask": torch.ones(3)}
net = Net(Net())
tied = net.w
config = Config()
pairs = [(torch.ones(1), 2)]
pairs.append(pairs)
def maker():
    bias = torch.ones(1)
    return lambda x, by=torch.ones(1): x + bias * by
model = maker()
`;
    assert.deepEqual(moved(source, ['net.w', 'net.inner.w', 'tied', 'Net.scale', 'config.table["mask"]', 'pairs[0][0]',
        'model.__closure__[0].cell_contents', 'model.__defaults__[0]']), Array(8).fill('cuda'));
});

test('files of weights are found by the names that a program says, and all is put back after it', () => {
    const printed = execFileSync('python3', ['-c', `
import sys, types
script = open("profiler/torch/script.py").read().replace("# {{experiment}}", 'WORKLOAD = {"device": "cpu"}')
made = types.ModuleType("script")
exec(script, made.__dict__)
torch, hub, st = made.torch, types.ModuleType("torch.hub"), types.ModuleType("safetensors.torch")
whole = types.ModuleType("safetensors")
torch.load = lambda f, map_location=None, **k: ("load", f, getattr(map_location, "type", None))
hub.load_state_dict_from_url = lambda url, **k: ("url", url)
whole.safe_open = st.load_file = lambda f, **k: ("tensors", f)
st.load_model = lambda m, f, **k: ("model", f)
torch.hub, whole.torch = hub, st
sys.modules.update({"safetensors": whole, "safetensors.torch": st})
was = (torch.load, hub.load_state_dict_from_url, st.load_file, st.load_model, whole.safe_open)
put_back = made.use_weights({"net.pt": "/files/1", "a/net.pt": "/files/2", "b.safetensors": "/files/3"})
print(torch.load("net.pt", map_location="meta"), torch.load("/x/a/net.pt"), torch.load("other.pt"), torch.load("my-net.pt"))
print(hub.load_state_dict_from_url("https://host/v1/net.pt"), hub.load_state_dict_from_url("https://host/none.pt"))
print(st.load_file("x/b.safetensors"), st.load_model(None, "b.safetensors"), whole.safe_open("b.safetensors", framework="pt"))
put_back()
print(was == (torch.load, hub.load_state_dict_from_url, st.load_file, st.load_model, whole.safe_open))
`], { env: { ...process.env, PYTHONPATH: PLAIN }, encoding: 'utf8' });
    assert.equal(printed, `('load', '/files/1', 'cpu') ('load', '/files/2', 'cpu') ('load', 'other.pt', None) ('load', 'my-net.pt', None)
('load', '/files/1', 'cpu') ('url', 'https://host/none.pt')
('tensors', '/files/3') ('model', '/files/3') ('tensors', '/files/3')
True
`);
});
