// tests/api/made_history.mjs -- a workload's history as a test wants it: one run is measured, exported,
// and comes back as often as wanted with other figures.
import assert from 'node:assert/strict';
import { getJson, postRun, waitFor } from './harness.mjs';

/** A number in -1..1 that looks random and is the same each time. */
const jitter = (seed) => 2 * (Math.abs(Math.sin(seed * 12.9898) * 43758.5453) % 1) - 1;

const scaled = (m, by) => {
    m.latency.median_us *= by;
    m.latency.ci_us = m.latency.ci_us.map((x) => x * by);
};

/** Posts `w`, then one run for each of `runs`: {static, eager: what latencies are multiplied by, commit, edit(report)}.
 * Returns their ids; the measured run itself is removed. */
export async function madeHistory(server, w, runs) {
    const { body: { id } } = await postRun(server, w);
    await waitFor(server, id);
    const file = await (await fetch(`${server.url}/api/v1/runs/${id}/export?format=chrome`)).text();
    await fetch(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    const ids = [];
    for (const [i, run] of runs.entries()) {
        const made = JSON.parse(file);
        const report = made.breakeven.report;
        Object.assign(report.control, { median_us: 20, ci_us: [19.9, 20.1] }); // nor its drift
        const by = { eager: (run.eager ?? 1) * (1 + 0.004 * jitter(i + 1)), static: (run.static ?? 1) * (1 + 0.004 * jitter(i + 77)) };
        // The measured run's own noise is not wanted.
        for (const [name, at] of [['eager', 20], ['static', 10]]) {
            const m = report.modes[name];
            m.latency.median_us = at;
            m.latency.ci_us = [at * 0.995, at * 1.005];
            for (const key of ['samples_ns', 'of_process']) delete m.latency[key];
            scaled(m, by[name]);
        }
        for (const [k, key] of ['compile_ms', 'peak_bytes'].entries()) report.modes.static[key] = Math.round(1000 * (1 + 0.01 * jitter(i + 30 * k)));
        delete report.modes.static.split_us;
        const paid = report.break_even.static;
        paid.speedup = report.modes.eager.latency.median_us / report.modes.static.latency.median_us;
        paid.speedup_ci = [paid.speedup * 0.995, paid.speedup * 1.005];
        for (const key of ['commit', 'branch'])
            if (run[key]) made.breakeven.run[key] = made.breakeven.workload[key] = report.workload[key] = run[key];
        run.edit?.(report, made.breakeven);
        const answer = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: JSON.stringify(made) });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
        ids.push(answer.body.id);
    }
    return ids;
}
