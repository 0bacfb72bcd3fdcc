// tests/web/report_of.mjs -- a report with made-up figures, for the unit tests.
// Eager takes n + 1 µs at n statements, static a fixed time.

/** @param {number[]} ns @param {number} staticUs @param {object} [more] */
export function reportOf(ns, staticUs, more = {}) {
  const mode = (us, extra = {}) => ({
    latency: { median_us: us, ci_us: [us * 0.99, us * 1.01], n: 20, noise: null },
    compile_ms: 50,
    ...extra,
  });
  const points = ns.map((n) => {
    const ratio = (n + 1) / staticUs;
    const word = ratio > 1.05 ? "FASTER" : ratio < 0.95 ? "SLOWER" : "SAME";
    return {
      n,
      modes: { eager: mode(n + 1), static: mode(staticUs, { max_abs_error: 0 }) },
      break_even: {
        static: {
          speedup: ratio,
          speedup_ci: [ratio * 0.98, ratio * 1.02],
          verdict: word,
          repay: word === "FASTER" ? "after" : "never",
          calls_to_repay: word === "FASTER" ? 4321 : null,
        },
      },
    };
  });
  return {
    breakeven: 1,
    workload: { source: "", sweep: { statements: { pool: [], counts: ns } } },
    modes: {},
    points,
    break_even: { static: { crossover_n: null, crossover_ci: null, side: "always" } },
    ...more,
  };
}
