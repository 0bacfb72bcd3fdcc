// tests/api/trace_format.mjs -- checks a trace against Chrome's "Trace Event Format".
//
// The public document (Google, "Trace Event Format", 2016): which phases there are, which
// fields each needs, that slices of a thread nest, that B and E, b and e, s and f belong
// together.  It knows nothing of what wrote the trace.
const isNumber = (x) => typeof x === 'number' && Number.isFinite(x);
const isId = (x) => Number.isInteger(x) || (typeof x === 'string' && x !== '');
const metadata = {
    process_name: ['name', 'string'], thread_name: ['name', 'string'], process_labels: ['labels', 'string'],
    process_sort_index: ['sort_index', 'number'], thread_sort_index: ['sort_index', 'number'],
};
const timed = 'BEXiICbnestfPNODvRcV';
const known = `${timed}M(),`;

/** The ways in which one event is not as the document wants it. */
function faultsOf(e) {
    const faults = [];
    const want = (ok, what) => ok || faults.push(`${what}: ${JSON.stringify(e).slice(0, 200)}`);
    want(typeof e.ph === 'string' && e.ph.length === 1 && known.includes(e.ph), 'phase');
    want(typeof e.name === 'string' || e.ph === 'E', 'name');
    want(Number.isInteger(e.pid), 'pid');
    if (e.ph !== 'C') want(Number.isInteger(e.tid), 'tid');
    if (e.cat !== undefined) want(typeof e.cat === 'string', 'cat');
    if (e.args !== undefined) want(typeof e.args === 'object' && e.args !== null && !Array.isArray(e.args), 'args');
    if (timed.includes(e.ph)) want(isNumber(e.ts), 'ts');
    if (e.ph === 'X') want(isNumber(e.dur) && e.dur >= 0, 'dur');
    if ('iI'.includes(e.ph)) want(['g', 'p', 't', undefined].includes(e.s), 'scope of an instant');
    if (e.ph === 'C') want(Object.values(e.args ?? {}).length > 0 && Object.values(e.args).every(isNumber), 'series of a counter');
    if ('stf'.includes(e.ph)) want(isId(e.id) && typeof e.cat === 'string', 'id and cat of a flow');
    if ('bne'.includes(e.ph)) want((isId(e.id) || e.id2) && typeof e.cat === 'string', 'id and cat of an async event');
    if (e.bp !== undefined) want(e.bp === 'e', 'binding point');
    if (e.ph === 'M' && metadata[e.name]) {
        const [key, type] = metadata[e.name];
        want(typeof e.args?.[key] === type, 'metadata');
    }
    return faults;
}

/** Slices of a thread that overlap without one lying in the other; times are compared in ns. */
function notNested(events) {
    const threads = Map.groupBy?.(events, (e) => `${e.pid} ${e.tid}`) ?? new Map();
    if (!Map.groupBy)
        for (const e of events) {
            const key = `${e.pid} ${e.tid}`;
            threads.set(key, [...(threads.get(key) ?? []), e]);
        }
    const faults = [];
    const ns = (us) => Math.round(us * 1000);
    for (const [thread, slices] of threads) {
        const open = [];
        slices.sort((a, b) => ns(a.ts) - ns(b.ts) || ns(b.dur) - ns(a.dur));
        for (const e of slices) {
            while (open.length && open.at(-1) <= ns(e.ts)) open.pop();
            const end = ns(e.ts) + ns(e.dur);
            if (open.length && end > open.at(-1)) faults.push(`slice of thread ${thread} is not nested: ${e.name} at ${e.ts}`);
            open.push(end);
        }
    }
    return faults;
}

/** Flows and async events that begin and never end, end and never began, or end before they begin. */
function unmatched(events, begin, end) {
    const faults = [];
    const key = (e) => `${e.cat} ${e.id ?? JSON.stringify(e.id2)} ${'be'.includes(e.ph) ? e.pid : ''}`;
    const began = new Map();
    for (const e of events.filter((x) => x.ph === begin)) {
        if (began.has(key(e))) faults.push(`${begin} twice: ${key(e)}`);
        began.set(key(e), e);
    }
    for (const e of events.filter((x) => x.ph === end)) {
        const from = began.get(key(e));
        if (!from) faults.push(`${end} without ${begin}: ${key(e)}`);
        else if (from.ts > e.ts) faults.push(`${end} before ${begin}: ${key(e)}`);
        began.delete(key(e));
    }
    for (const k of began.keys()) faults.push(`${begin} without ${end}: ${k}`);
    return faults;
}

/** A flow's ends lie in slices of their thread, or it is drawn nowhere. */
function unbound(events) {
    const at = new Map();
    for (const e of events.filter((x) => x.ph === 'X')) {
        const key = `${e.pid} ${e.tid}`;
        if (!at.has(key)) at.set(key, []);
        at.get(key).push(e);
    }
    return events.filter((e) => 'sf'.includes(e.ph)).filter((f) =>
        !(at.get(`${f.pid} ${f.tid}`) ?? []).some((x) => x.ts <= f.ts + 1e-6 && f.ts <= x.ts + x.dur + 1e-6))
        .map((f) => `flow ${f.ph} ${f.id} at ${f.ts} lies in no slice`);
}

/**
 * What is wrong with a trace (its object form); none: it is as the document wants it.
 * @param {any} trace @param {{nested?: boolean}} [how] nested: slices are, in what it was made from
 */
export function traceFaults(trace, { nested = true } = {}) {
    if (!Array.isArray(trace?.traceEvents)) return ['traceEvents is no list'];
    const faults = [];
    if (!['ms', 'ns', undefined].includes(trace.displayTimeUnit)) faults.push('displayTimeUnit');
    const events = trace.traceEvents;
    faults.push(...events.flatMap(faultsOf));
    const processes = new Set(events.filter((e) => e.name === 'process_name').map((e) => e.pid));
    const threads = new Set(events.filter((e) => e.name === 'thread_name').map((e) => `${e.pid} ${e.tid}`));
    for (const e of events.filter((x) => x.ph === 'X')) {
        if (!processes.has(e.pid)) faults.push(`process ${e.pid} has no name`);
        if (!threads.has(`${e.pid} ${e.tid}`)) faults.push(`thread ${e.tid} of ${e.pid} has no name`);
    }
    if (nested) faults.push(...notNested(events.filter((e) => e.ph === 'X')));
    return [...faults, ...unmatched(events, 's', 'f'), ...unmatched(events, 'b', 'e'), ...unbound(events)];
}
