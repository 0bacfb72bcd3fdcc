// tests/api/export.test.mjs -- runs for other tools: every format, imported again, redacted.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { binary, getJson, postLongTrace, postRun, startServer, stoppedExport, sweep, until, waitFor, workersOf, workload } from './harness.mjs';
import { traceFaults } from './trace_format.mjs';
import { decodeTimeline } from '../../web/js/model/timeline.js';

const secret = `import torch

def zebrascale(quagga_input, okapi):
    # a gnuish remark
    lemurian = quagga_input * okapi
    print("tapirsaid", lemurian.shape)
    return torch.relu(lemurian)

def model(weasel):
    ibexsum = zebrascale(weasel, 2.0)
    if ibexsum.sum() > 1e9:
        raise ValueError("kudu /home/marten/wombat.py")
    return {"dikdik": ibexsum, "axolotl": 7}
`;
const words = ['zebrascale', 'quagga', 'okapi', 'gnuish', 'lemurian', 'tapir', 'weasel', 'ibex', 'kudu', 'marten', 'wombat',
    'dikdik', 'axolotl', 'platypus', 'numbat', 'quokka', 'remark'];

let server, broken, swept, failed, imported, counted, hidden;
before(async () => {
    server = await startServer();
    broken = (await postRun(server, workload('    y = torch.relu(x) * 2\n    print("between")\n    return y.sum()', { backend: 'interp' }))).body.id;
    swept = (await postRun(server, { ...sweep([1, 3]), backend: 'interp' })).body.id;
    failed = (await postRun(server, workload('    return x.reshape(3, 7)', { backend: 'interp' }))).body.id;
    hidden = (await postRun(server, { ...workload(''), source: secret, backend: 'interp', name: 'platypus', project: 'numbat', tags: ['quokka'] })).body.id;
    for (const id of [broken, swept, failed, hidden]) await waitFor(server, id);
    const logs = ['torch_trace_2.14.log', 'kineto.json'].map((f) => `tests/import/${f}`);
    assert.equal(spawnSync(binary, ['import', '--post', server.url, ...logs]).status, 0);
    imported = hidden + 1;
    await waitFor(server, imported);
    counted = await importAgain(readFileSync('tests/import/counters.json', 'utf8'));
});
after(() => server?.stop());

const exported = (id, format, query = '') => fetch(`${server.url}/api/v1/runs/${id}/export?format=${format}${query}`);
const textOf = async (id, format, query) => {
    const response = await exported(id, format, query);
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.equal(response.status, 200, bytes.toString());
    return (format === 'chrome_gz' ? gunzipSync(bytes) : bytes).toString();
};
const formats = async () => (await getJson(`${server.url}/api/v1/formats`)).body.formats;

async function viewOf(id) {
    return decodeTimeline(await (await fetch(`${server.url}/api/v1/runs/${id}/timeline?px=8000`)).arrayBuffer());
}

async function importAgain(text) {
    const { status, body } = await getJson(`${server.url}/api/v1/imports`, {
        method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: text,
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
}

test('a table of formats says what there is; what is asked wrongly is refused by name', async () => {
    const list = await formats();
    assert.deepEqual(list.map((f) => f.name), ['html', 'chrome', 'chrome_gz', 'speedscope', 'json', 'dot', 'svg', 'csv']);
    for (const f of list) {
        const response = await exported(broken, f.name);
        assert.equal(response.status, 200, f.name);
        assert.equal(response.headers.get('content-type'), f.type);
        assert.equal(response.headers.get('content-disposition'), `attachment; filename="breakeven-run-${broken}.${f.extension}"`);
        assert.ok((await response.arrayBuffer()).byteLength > 0);
    }
    for (const [query, message] of [['', /a format is missing/], ['format=docx', /format=docx: one of html, chrome, /], ['format=csv&table=rows', /table=rows/],
        ['format=csv&redact=yes', /redact=yes: 1 or 0/], ['format=chrome&n=one', /n=one/]]) {
        const { status, body } = await getJson(`${server.url}/api/v1/runs/${broken}/export?${query}`);
        assert.equal(status, 400, query);
        assert.match(body.error.message, message);
    }
    assert.equal((await exported(999, 'json')).status, 404);
    for (const [id, query, message] of [[broken, '&mode=fast', /run \d+ has no mode=fast; it has the modes eager, static, .* and no sweep/],
        [broken, '&n=3', / has no n=3; it has the modes .* and no sweep/], [swept, '&mode=static&n=2', /has no mode=static n=2; it has the modes .* and the points 1, 3$/],
        [imported, '&mode=static', /has no mode=static; it has no modes of a workload/]]) {
        for (const format of ['chrome', 'speedscope', 'csv', 'html']) {
            const response = await exported(id, format, query);
            assert.equal(response.status, 404, format + query);
            assert.match((await response.json()).error.message, message);
        }
    }
    assert.equal((await exported(swept, 'chrome', '&mode=static&n=3')).status, 200);
    const script = await getJson(`${server.url}/api/v1/runs/${imported}/script.py`);
    assert.equal(script.status, 404);
    assert.match(script.body.error.message, /was imported or recorded: it has no source/);
    assert.match((await getJson(`${server.url}/api/v1/runs/999/report.json`)).body.error.message, /there is no run 999/);
    assert.match((await getJson(`${server.url}/api/v1/suites/x`)).body.error.message, /'x' is no id: runs and suites/);
});

test('the Chrome trace is as the format wants it', async () => {
    for (const id of [broken, swept, failed, imported, counted]) {
        const trace = JSON.parse(await textOf(id, 'chrome'));
        assert.deepEqual(traceFaults(trace), [], `run ${id}`);
        assert.equal(await textOf(id, 'chrome_gz'), await textOf(id, 'chrome'));
    }
    const events = JSON.parse(await textOf(broken, 'chrome', '&mode=static')).traceEvents;
    const view = decodeTimeline(await (await fetch(`${server.url}/api/v1/runs/${broken}/timeline?mode=static`)).arrayBuffer());
    assert.equal(events.filter((e) => e.ph === 'X' || e.ph === 'C').length, view.events);
    assert.ok(events.some((e) => e.ph === 'C' && e.name === 'memory'), 'memory over time');
    const marks = events.filter((e) => e.ph === 'i');
    assert.equal(marks.length, view.slices.filter((s) => s.kind === 'break').length);
    assert.equal(marks[0].args.kind, 'host-call');
    assert.equal(marks[0].args.line, 5);
    assert.equal(events.filter((e) => e.ph === 's').length, view.slices.filter((s) => s.kind === 'kernel').length);
    const kernel = events.find((e) => e.cat === 'kernel');
    assert.deepEqual([kernel.args.ops, kernel.args.lines, kernel.args.graph], [['relu', 'mul'], [4], 0]);
});

test('counters, async spans and arrows of a log are in the timeline, and exported', async () => {
    const view = await viewOf(counted);
    const lanes = view.lanes.map((l) => `${l.role} ${l.name}`);
    for (const lane of ['counter queue: waiting', 'counter queue: share', 'counter memory allocated, GPU 0', 'counter memory reserved, GPU 0', 'async http', 'async http, 2'])
        assert.ok(lanes.includes(lane), `${lane} of ${lanes}`);
    const series = (name) => view.slices.filter((s) => view.lanes.find((l) => l.id === s.lane).name === name)
        .map((s) => [s.start, s.duration, s.bytes / (view.names[s.name].scale ?? 1)]);
    assert.deepEqual(series('queue: waiting'), [[6000, 29000, 4], [35000, 50000, 9], [85000, 50000, -2]]);
    assert.deepEqual(series('queue: share').map((s) => s[2]), [0.5, 0.25, 1]);
    assert.ok(view.totals.every((t) => t.kind !== 'counter' && t.kind !== 'flow'), 'what holds takes no time');
    const { traceEvents } = JSON.parse(await textOf(counted, 'chrome'));
    assert.deepEqual(traceEvents.filter((e) => e.cat === 'flow').map((e) => [e.ph, e.id]), [['s', 7], ['t', 7], ['f', 7]]);
    assert.deepEqual(traceEvents.filter((e) => e.ph === 'C' && e.name === 'queue: share').map((e) => Object.values(e.args)[0]), [0.5, 0.25, 1]);
    const redacted = await textOf(counted, 'chrome', '&redact=1');
    for (const word of ['queue', 'waiting', 'http', 'request']) assert.ok(!redacted.includes(word), word);
    assert.ok(redacted.includes('memory allocated, GPU 0'));
});

test('the check of the format finds what is wrong', async () => {
    const broke = async (change) => {
        const trace = JSON.parse(await textOf(broken, 'chrome', '&mode=static'));
        change(trace.traceEvents);
        return traceFaults(trace).join('\n');
    };
    const spans = (events) => events.filter((e) => e.ph === 'X');
    assert.match(await broke((e) => { spans(e)[3].dur = -1; }), /dur/);
    assert.match(await broke((e) => { delete spans(e)[3].ts; }), /ts/);
    assert.match(await broke((e) => { spans(e)[3].ph = 'Q'; }), /phase/);
    assert.match(await broke((e) => { const [a, b] = spans(e).filter((x) => x.cat === 'kernel'); a.dur = b.ts - a.ts + b.dur / 2; }), /not nested/);
    assert.match(await broke((e) => { e.splice(e.findIndex((x) => x.ph === 'f'), 1); }), /s without f/);
    assert.match(await broke((e) => { e.find((x) => x.ph === 's').ts += 1e7; }), /f before s/);
    assert.match(await broke((e) => { e.splice(e.findIndex((x) => x.name === 'thread_name'), 1); }), /has no name/);
});

test('what is exported and imported again is the same run', async () => {
    for (const id of [broken, swept, imported, counted]) {
        const text = await textOf(id, 'chrome');
        const again = await importAgain(text);
        const [was, is] = [await viewOf(id), await viewOf(again)];
        assert.equal(is.span, was.span);
        assert.deepEqual(is.lanes, was.lanes);
        // Numbers in tables are those of the first use: what they stand for is the same.
        const named = (v) => (s) => ({ ...s, name: v.names[s.name], shape: v.shapes[s.shape] });
        const sorted = (v) => v.totals.map(named(v)).map((t) => JSON.stringify(t)).sort();
        assert.deepEqual(sorted(is), sorted(was));
        // Of what begins together neither is first.
        const inOrder = (list) => list.map((x) => JSON.stringify(x)).sort();
        assert.deepEqual(inOrder(is.slices.map(named(is))), inOrder(was.slices.map(named(was))));
        const events = (t) => JSON.parse(t).traceEvents.filter((e) => e.ph !== 'i').map(({ args, ...e }) => {
            const { name_id, shape_id, ...rest } = args ?? {};
            return { ...e, args: rest };
        });
        assert.deepEqual(inOrder(events(await textOf(again, 'chrome'))), inOrder(events(text)));
    }
});

test('an import keeps its breaks, kernels and ledger', async () => {
    const first = (await getJson(`${server.url}/api/v1/runs/${imported}`)).body.report;
    const again = await importAgain(await textOf(imported, 'chrome'));
    const second = (await getJson(`${server.url}/api/v1/runs/${again}`)).body.report;
    const { files, heads, exported: of, ...rest } = second.import;
    delete first.import.files;
    delete first.import.heads;
    assert.deepEqual(rest, first.import);
    assert.equal(of.id, imported);
    assert.deepEqual([second.trace.dropped, second.trace.doubtful], [first.trace.dropped, first.trace.doubtful]);
});

test('a run that was measured is that run again: workload, report, summary, and a mark', async () => {
    for (const id of [broken, swept]) {
        const was = (await getJson(`${server.url}/api/v1/runs/${id}`)).body;
        const again = await importAgain(await textOf(id, 'chrome'));
        const is = (await getJson(`${server.url}/api/v1/runs/${again}`)).body;
        const { imported: mark, ...report } = is.report;
        assert.deepEqual(report, was.report);
        for (const key of ['name', 'project', 'tags', 'device', 'modes', 'status', 'summary', 'workload']) assert.deepEqual(is[key], was[key], key);
        assert.deepEqual([mark.run.id, mark.run.name, mark.file], [id, was.name, 'import']);
        assert.deepEqual(await (await exported(again, 'csv', '&table=modes')).text(), await (await exported(id, 'csv', '&table=modes')).text());
        // And once more: the mark is the last way's.
        const third = (await getJson(`${server.url}/api/v1/runs/${await importAgain(await textOf(again, 'chrome'))}`)).body;
        assert.equal(third.report.imported.run.id, again);
    }
    // The command reads it as the server does.
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-export-'));
    const file = join(folder, 'again.json');
    writeFileSync(file, await textOf(broken, 'chrome'));
    const posted = spawnSync(binary, ['import', '--post', server.url, file]);
    assert.equal(posted.status, 0, posted.stderr.toString());
    const id = Number(/run (\d+)/.exec(posted.stderr.toString())[1]);
    assert.equal((await getJson(`${server.url}/api/v1/runs/${id}`)).body.report.imported.file, file);
    rmSync(folder, { recursive: true });
});

test('what is no run that could have been measured stays an import', async () => {
    const text = await textOf(broken, 'chrome');
    const head = JSON.parse(text);
    const changed = (change) => {
        const copy = structuredClone(head);
        change(copy.breakeven);
        return JSON.stringify(copy);
    };
    const modes = (own) => own.report.modes;
    for (const [what, change] of Object.entries({
        'no source': (own) => { delete own.workload.source; },
        'a source outside of the language': (own) => { own.workload.source = 'import os'; },
        'no workload': (own) => { own.workload = null; },
        'a trace': (own) => { own.workload.trace = true; },
        'no modes': (own) => { own.report.modes = [1]; },
        'a mode that is none': (own) => { modes(own).static = 7; },
        'a latency that is none': (own) => { modes(own).static.latency = { median_us: 'x' }; },
        'an interval of three': (own) => { modes(own).static.latency = { median_us: 1, ci_us: [1, 2, 3] }; },
        'a break that is none': (own) => { modes(own).static.breaks = [null]; },
        'a graph without ops': (own) => { modes(own).static.graphs = [{ ops: [1] }]; },
        'points that are none': (own) => { own.report.points = [{ n: 'x', modes: {} }]; },
        'a version of tomorrow': (own) => { own.report.breakeven = 2; },
        'an engine that is none': (own) => { own.report.engines = { torch: 3 }; },
    })) {
        const id = await importAgain(changed(change));
        const { body } = await getJson(`${server.url}/api/v1/runs/${id}`);
        assert.ok(body.report.import && !body.report.imported && !body.report.import.original, what);
    }
});

test('a trace of ours that is damaged is kept, mended or counted', async () => {
    const text = await textOf(broken, 'chrome', '&mode=static');
    for (const [change, fate, row] of [
        [(t) => t.slice(0, t.length * 0.6), 'dropped', 'cut_off'],
        [(t) => t.replace('"ph":"X"', '"ph":"O"'), 'dropped', 'other_phase'],
        [(t) => t.replace('"dur":', '"dur":-'), 'repaired', 'negative_duration'],
        [(t) => t.replace('"cat":"kernel"', '"cat":"colonel"'), 'kept', 'unknown_category'],
        [(t) => t.replace('"ts":', '"tt":'), 'dropped', 'without_time'],
    ]) {
        const id = await importAgain(change(text));
        const { ledger } = (await getJson(`${server.url}/api/v1/runs/${id}`)).body.report.imported;
        assert.equal(ledger[fate][row], 1, row);
    }
    for (const bad of ['"name_id":-1', '"name_id":4000000000', '"name_id":"x"', '"name_id":1e300'])
        await importAgain(text.replaceAll(/"name_id":\d+/g, bad));
});

test('speedscope: frames open and close in order, and within each other', async () => {
    for (const id of [broken, swept, failed, imported]) {
        const file = JSON.parse(await textOf(id, 'speedscope'));
        assert.equal(file.$schema, 'https://www.speedscope.app/file-format-schema.json');
        for (const p of file.profiles) {
            const open = [];
            let now = p.startValue;
            for (const e of p.events) {
                assert.ok(e.at >= now && e.at <= p.endValue && e.frame < file.shared.frames.length);
                now = e.at;
                if (e.type === 'O') open.push(e.frame);
                else assert.equal(open.pop(), e.frame);
            }
            assert.deepEqual(open, []);
        }
    }
    const file = JSON.parse(await textOf(broken, 'speedscope', '&mode=static'));
    const kernels = file.profiles[file.activeProfileIndex];
    assert.equal(kernels.name, 'static: kernels');
    assert.ok(kernels.events.some((e) => file.shared.frames[e.frame].name === 'fused_relu_mul'));
});

test('tables have a row for each kernel, mode and break', async () => {
    const rows = async (id, table) => (await textOf(id, 'csv', `&table=${table}`)).trimEnd().split('\r\n').map((r) => r.split(','));
    const kernels = await rows(broken, 'kernels');
    assert.deepEqual(kernels[0].slice(0, 6), ['mode', 'n', 'lane', 'kind', 'kernel', 'count']);
    assert.ok(kernels.some((r) => r[0] === 'static' && r[4] === 'fused_relu_mul' && Number(r[5]) >= 3));
    const modes = await rows(swept, 'modes');
    assert.deepEqual(modes.slice(1).map((r) => `${r[0]} ${r[1]}`).sort(), ['dynamic 1', 'dynamic 3', 'eager 1', 'eager 3', 'static 1', 'static 3']);
    assert.ok(modes.every((r) => r.length >= modes[0].length));
    assert.deepEqual((await rows(broken, 'breaks')).slice(1).map((r) => [r[0], r[3], r[5]]), [['static', '5', 'host-call'], ['dynamic', '5', 'host-call']]);
    assert.deepEqual((await rows(imported, 'breaks')).slice(1).map((r) => `${r[2]}:${r[3]}`), ['/w/m.py:10', '/w/m.py:5', '/w/m.py:22', '/w/m.py:33']);
    assert.equal((await rows(failed, 'kernels')).length, 1);
});

test('a graph is drawn: DOT and SVG have each node and edge', async () => {
    const nodes = (await getJson(`${server.url}/api/v1/runs/${broken}`)).body.report.modes.static.graphs[0].nodes;
    const edges = nodes.flatMap((n) => n.args.filter((a) => a?.node !== undefined));
    const dot = await textOf(broken, 'dot', '&mode=static');
    assert.equal([...dot.matchAll(/^ +n\d+ \[label=/gm)].length, nodes.length);
    assert.equal([...dot.matchAll(/ -> /g)].length, edges.length);
    assert.match(dot, /n1 \[label="relu\\nfloat32 \[8, 16\]\\nline 4"\]/);
    const svg = await textOf(broken, 'svg', '&mode=static&graph=1');
    assert.match(svg, /<title>static: graph 1 of torch_dynamo_resume_in_model_at_5<\/title>/);
    for (const [id, query] of [[imported, ''], [failed, ''], [broken, '&mode=eager'], [broken, '&graph=7']]) {
        const response = await exported(id, 'svg', query);
        assert.equal(response.status, 404, query);
        assert.match((await response.json()).error.message, /has no graph \d to draw/);
    }
});

test('DOT and SVG hold modules, loops and kernels in each other; graphviz reads the DOT', async (t) => {
    const source = 'import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def forward(self, x):\n        n = torch.tensor(0)\n        while n < 3:\n            x = torch.cos(x) * 2\n            n = n + 1\n        return torch.exp(x)\n\nnet = Net()\n\ndef model(x):\n    return net(x) + 1\n';
    const { id } = (await postRun(server, { ...workload('', { backend: 'interp', modes: ['static'], policy: 'native' }), source })).body;
    await waitFor(server, id);
    const dot = await textOf(id, 'dot');
    // The cluster that each line is in.
    const within = {};
    const open = [];
    for (const line of dot.split('\n')) {
        const label = /^ *graph \[label="([^"]*)"/.exec(line)?.[1];
        const node = /^ *n\d+ \[label="([\w.]+)/.exec(line)?.[1];
        if (/\{$/.test(line)) open.push('');
        else if (label !== undefined) open[open.length - 1] = label;
        else if (/^ *\}$/.test(line)) open.pop();
        else if (node) within[node] = open.slice(1).join(' > ');
    }
    assert.equal(open.length, 0);
    assert.match(within.cos, /^Net > while loop, line 7 > k\d+ fused_cos_mul$/);
    assert.equal(within.while_loop, 'Net > while loop, line 7');
    assert.match(within.exp, /^k\d+ fused_exp_add > Net$/, 'a kernel over the end of a module holds what it has of it');
    const svg = await textOf(id, 'svg');
    for (const kind of ['module', 'loop', 'kernel']) assert.ok(svg.includes(`<g class="${kind}"><title>`), kind);
    assert.ok((await textOf(id, 'html')).includes('<g class="loop"><title>while loop, line 7</title>'));
    const drawn = spawnSync('dot', ['-Tsvg'], { input: dot, encoding: 'utf8' });
    if (drawn.error) return t.diagnostic('graphviz is not installed: the DOT was read by this test alone');
    assert.deepEqual([drawn.status, drawn.stderr], [0, '']);
    assert.equal([...drawn.stdout.matchAll(/class="(?:module|loop|kernel)"|class="cluster[^"]*"/g)].length, [...dot.matchAll(/subgraph cluster/g)].length);
});

test('the page in one file needs nothing else, and takes no markup from users', async () => {
    const evil = (await postRun(server, { ...workload('    return x # </script><img src=x onerror=alert(1)>', { backend: 'interp' }), name: '<b onload="x">&' })).body.id;
    await waitFor(server, evil);
    for (const id of [broken, swept, failed, imported, evil]) {
        const html = await textOf(id, 'html');
        assert.match(html, /Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'/);
        assert.ok(!/<script|<link|<img|<b |src=["h]|url\(h|onerror=a(?!lert\(1\)&gt;)/.test(html), `run ${id}`);
    }
    assert.match(await textOf(swept, 'html'), /<p class="verdict">static (is|may or may not be) .*\beager\b/);
    assert.match(await textOf(swept, 'html'), /<figcaption>Speedup over eager<\/figcaption><svg/);
    assert.match(await textOf(broken, 'html'), /host-call: print\(\) is a side effect\. The graph ends here/);
    // Each graph of the mode is drawn as the svg export draws it.
    const graphs = (await getJson(`${server.url}/api/v1/runs/${broken}`)).body.report.modes.static.graphs;
    const page = await textOf(broken, 'html');
    const drawn = [...page.matchAll(/<svg class="gr"[^>]*>[^]*?<\/svg>/g)].map(([text]) => text);
    assert.equal(drawn.length, graphs.length);
    for (const [i, g] of graphs.entries()) {
        const boxes = (text) => [...text.matchAll(/<g class="(input|op)">[^]*?<\/g>/g)].map(([box]) => box);
        assert.equal(boxes(drawn[i]).length, g.nodes.length);
        assert.deepEqual(boxes(drawn[i]), boxes(await textOf(broken, 'svg', `&mode=static&graph=${g.id}`)));
        assert.ok(page.includes(`id="tip${i + 1}"`));
    }
    assert.match(await textOf(swept, 'html'), /<summary>static, n = 3: graph 0 of model, \d+ nodes<\/summary>/);
    assert.ok(!(await textOf(imported, 'html')).includes('class="gr"'));
    assert.match(await textOf(failed, 'html'), /The run failed<\/p>\n<div class="well fault">reshape: sizes/);
    assert.match(await textOf(imported, 'html'), /6 graphs, 7 compilations, 4 breaks, 2 recompiles, 4 kernels of 12 µs/);
});

test('the report in JSON is the report, and says of which run', async () => {
    const { body } = await getJson(`${server.url}/api/v1/runs/${broken}`);
    const { run, ...report } = JSON.parse(await textOf(broken, 'json'));
    for (const [key, value] of Object.entries(body.report)) assert.deepEqual(report[key], value, key);
    assert.deepEqual([run.id, run.status], [broken, 'done']);
    assert.match(JSON.parse(await textOf(failed, 'json')).run.error, /reshape/);
});

test('redacted, no format holds a word of the source, a path or a name of a person or project', async () => {
    assert.equal((await getJson(`${server.url}/api/v1/runs/${hidden}`)).body.status, 'done');
    for (const f of await formats()) {
        for (const table of f.name === 'csv' ? ['kernels', 'modes', 'breaks'] : ['']) {
            const plain = await textOf(hidden, f.name, `&table=${table}&mode=static`);
            const text = await textOf(hidden, f.name, `&table=${table}&mode=static&redact=1`);
            for (const word of words) assert.ok(!text.toLowerCase().includes(word), `${f.name} ${table}: ${word}: ${text.slice(Math.max(0, text.toLowerCase().indexOf(word) - 200)).slice(0, 300)}`);
            if (f.name === 'chrome') assert.ok(plain.includes('zebrascale') && plain.includes('platypus'));
            if (['dot', 'svg'].includes(f.name)) continue;
            const of = await textOf(imported, f.name, `&table=${table}&redact=1`);
            assert.ok(!/\/w\/m|m\.py|kineto\.json|torch_trace_2/.test(of), `${f.name} ${table}`);
        }
    }
    const events = JSON.parse(await textOf(hidden, 'chrome', '&mode=static&redact=1')).traceEvents;
    assert.deepEqual(traceFaults({ traceEvents: events }), []);
    assert.ok(events.some((e) => e.cat === 'kernel' && e.name === 'fused_mul_relu' || e.name.includes('fused_mul')), 'kernels keep their names');
    assert.ok(events.some((e) => e.ph === 'i' && e.args.line === 6 && e.args.kind === 'host-call'), 'lines and kinds stay');
    const csv = (await textOf(imported, 'csv', '&table=breaks&redact=1')).split('\r\n')[1];
    assert.match(csv, /^,,path\d+,10,.*data-dependent-branch/);
});

/** Data of a program: each text and number below is a marker that nothing redacted may hold. */
const planted = {
    source: `import torch

def model(x, mode, table, how, *, scale, label='dflt'):
    y = torch.relu(x) * scale
    if mode == 'mk' + 'string':
        y = y + 1
    for k in table:
        if k != 'a':
            y = y + table[k]
    n = x.sum().item()
    z = torch.relu(y + n)
    if how:
        w = int(x[0].item())
        z = z + w
        z = z.view(-1) if w == 0 else z * w
    if label == 'mkfails':
        raise ValueError('bad ' + mode + ' mk' + 'raised ' + str(x[0].item()))
    return {'o' + mode: z, 'n': n}
`,
    backend: 'interp', modes: ['eager', 'static', 'dynamic'],
};
const holding = (...data) => ({ tensor: { shape: [data.length], dtype: 'float64', data } });
const callOf = (first, mode, key, label, scale) => ({
    args: [holding(first, 2), { value: mode }, { dict: { [key]: { value: 7354062123.5 }, a: { value: 3 } } }, { value: true }],
    kwargs: { scale, label: { value: label } },
});

test('redacted, nothing holds a text or a key of an argument, what a tensor held, or what an error says', async () => {
    const calls = [callOf(7351062123.5, 'mkstring', 'mkkey', 'mklabel zwei', holding(7352062123.5, 1)),
        callOf(7353062123.5, 'mkother', 'mk/keyb', 'mklabel drei', { python: 'torch.full((2,), 7355062123.5)' })];
    const failing = callOf(7351062123.5, 'mkstring', 'mkkey', 'mkfails', holding(7352062123.5, 1));
    for (const [status, given] of [['done', calls], ['failed', [failing]]]) {
        const { id } = (await postRun(server, { ...planted, calls: given })).body;
        assert.equal((await waitFor(server, id)).status, status);
        for (const f of await formats()) {
            if (status === 'failed' && ['dot', 'svg'].includes(f.name)) continue;
            const text = await textOf(id, f.name, `&redact=1${f.name === 'csv' ? '&table=breaks' : ''}${status === 'done' ? '&mode=static' : ''}`);
            assert.deepEqual([...text.matchAll(/.{0,60}(mk[/a-z]+|735[1-5]062123|zwei|drei).{0,20}/gi)].map(([found]) => found), [], f.name);
        }
        // It comes back as a run, with arguments of the same form and none of their data.
        const back = (await getJson(`${server.url}/api/v1/runs/${await importAgain(await textOf(id, 'chrome', '&redact=1'))}`)).body;
        assert.deepEqual([back.status, back.report?.import], [status, undefined]);
        assert.ok(!/mk[/a-z]|735[1-5]062123|zwei|drei/i.test(JSON.stringify(back)));
        assert.deepEqual(back.workload.calls[0].args[0], { random: { kind: 'zeros', shape: [2], dtype: 'float64' } });
        assert.deepEqual(back.workload.calls[0].args.slice(1), [{ value: 'hidden' }, { dict: { key1: { value: null }, key2: { value: null } } }, { value: true }]);
    }
});

test('breakeven export writes what the server does, beside it', async () => {
    const run = (...args) => spawnSync(binary, ['export', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const db = server.store, out = join(server.home, 'out.csv');
    assert.equal(run(String(broken), '--format', 'chrome', '--db', db, '--mode', 'static').stdout, await textOf(broken, 'chrome', '&mode=static'));
    assert.equal(run(String(hidden), '--format', 'csv', '--table', 'breaks', '--redact', '--db', db, '-o', out).status, 0);
    assert.equal(readFileSync(out, 'utf8'), await textOf(hidden, 'csv', '&table=breaks&redact=1'));
    // What lay there stays where there is nothing to write, and a device is no file to remove.
    assert.equal(run('999', '--format', 'csv', '--db', db, '-o', out).status, 1);
    assert.match(readFileSync(out, 'utf8'), /^mode,n,file/);
    const full = join(server.home, 'full');
    symlinkSync('/dev/full', full);
    assert.match(run(String(broken), '--format', 'csv', '--db', db, '-o', full).stderr, /could not be written: No space left/);
    assert.ok(lstatSync(full).isSymbolicLink());
    assert.match(run(String(broken), '--format', 'csv', '--db', db, '-o', server.home).stderr, /Is a directory/);
    assert.deepEqual(readdirSync(server.home).filter((f) => f.startsWith('out.csv')), ['out.csv']);
    rmSync(out);
    assert.equal(run().status, 2);
    assert.equal(run('1').status, 2);
    assert.match(run('1', '--format', 'docx').stderr, /format=docx: one of html, chrome/);
    assert.equal(run('1', '--format', 'csv', '--db').status, 2);
    const missing = run('999', '--format', 'csv', '--db', db, '-o', out);
    assert.equal(missing.status, 1);
    assert.throws(() => readFileSync(out), /ENOENT/, 'nothing is left of a file that was not written');
    assert.match(run('1', '--format', 'csv', '--db', join(server.home, 'none.db')).stderr, /cannot open the database/);
    assert.match(run('1', '--format', 'csv', '--db', 'tests/import/kineto.json').stderr, /kineto.json is no database; name another with --db/);
    assert.match(run('--help').stdout, /--format speedscope/);
});

test('an export is written by a confined process of its own, which ends when nobody waits for it', async () => {
    const long = await postLongTrace(server, 100000);
    const caught = () => stoppedExport(server, long);
    const one = await caught();
    if (!/asan|tsan/.test(binary)) // their shadow memory needs more
        assert.match(readFileSync(`/proc/${one.pid}/limits`, 'utf8'), /^Max address space +12884901888 /m);
    process.kill(one.pid, 'SIGKILL');
    const failed = await one.answer;
    assert.equal(failed.status, 500);
    assert.match((await failed.json()).error.message, /the worker was killed/);
    const other = await caught();
    other.given.abort();
    await until(() => workersOf(server).length === 0, 'the end of the worker whose client has gone');
    const whole = await fetch(`${server.url}/api/v1/runs/${long}/export?format=chrome`);
    assert.deepEqual([whole.status, JSON.parse(await whole.text()).traceEvents.length > 200000], [200, true]);
});

test('an export says how far it is, and can be cancelled', async () => {
    const long = await postLongTrace(server, 200000);
    const of = (run) => `${server.url}/api/v1/runs/${run}/exports`;
    const { pid, answer } = await stoppedExport(server, long);
    const { exports } = (await getJson(of(long))).body;
    assert.equal(exports.length, 1);
    const [{ id, format, author, started_ns, bytes, share, cancelled }] = exports;
    assert.deepEqual([format, author, cancelled, bytes >= 0, share >= 0 && share < 1], ['chrome', '', false, true, true]);
    assert.ok(Math.abs(started_ns / 1e6 - Date.now()) < 600000);
    assert.deepEqual((await getJson(of(broken))).body, { exports: [] });
    assert.equal((await getJson(of(999))).status, 404);
    for (const url of [`${of(long)}/${id + 1}`, `${of(broken)}/${id}`]) {
        const { status, body } = await getJson(url, { method: 'DELETE' });
        assert.deepEqual([status, /no export \d+ of run \d+ is under way/.test(body.error.message)], [404, true]);
    }
    assert.deepEqual((await getJson(`${of(long)}/${id}`, { method: 'DELETE' })).body, { id, cancelled: true });
    const response = await answer;
    assert.deepEqual([response.status, (await response.json()).error], [409, { code: 'cancelled', message: 'the export was cancelled', line: null, column: null }]);
    await until(() => workersOf(server).length === 0, 'the end of the worker');
    assert.throws(() => process.kill(pid, 0));
    assert.deepEqual((await getJson(of(long))).body, { exports: [] });

    let [written, read] = [[], []]; // one that goes on
    const whole = fetch(`${server.url}/api/v1/runs/${long}/export?format=chrome`).then((r) => r.arrayBuffer());
    let ended = false;
    whole.then(() => { ended = true; });
    while (!ended)
        for (const e of (await getJson(of(long))).body.exports) {
            written.push(e.bytes);
            read.push(e.share);
        }
    const grows = (list) => list.every((v, i) => !i || v >= list[i - 1]);
    assert.ok(grows(written) && grows(read), JSON.stringify({ written, read }));
    assert.ok(new Set(written).size > 2 && new Set(read).size > 2, JSON.stringify({ written, read }));
    assert.ok(written.at(-1) <= (await whole).byteLength);
});
