/* tests/bench/chain.h -- the sweep's chain (tests/workloads/1_chain_sweep.json), for benchmarks in
 * C. */
#ifndef TESTS_BENCH_CHAIN_H
#define TESTS_BENCH_CHAIN_H

#include <stddef.h>
#include <stdio.h>

/* The program of n statements and a sum, cut short at `bytes`. */
static inline void chain(char *source, size_t bytes, int n)
{
	static const char *const pool[] = {
		"x = x + 0.1", "x = torch.sin(x)",       "x = x * 1.1", "x = torch.cos(x)",
		"x = x + 0.2", "x = torch.relu(x)",      "x = x - 0.1", "x = torch.exp(x * 0.5)",
		"x = x + 0.3", "x = torch.sigmoid(x)",   "x = x * 1.2", "x = torch.sin(x)",
		"x = x + 0.4", "x = torch.cos(x)",       "x = x - 0.2", "x = torch.relu(x)",
		"x = x + 0.5", "x = torch.exp(x * 0.4)", "x = x * 1.3", "x = torch.sigmoid(x)",
	};
	size_t len = (size_t)snprintf(source, bytes, "import torch\ndef model(x):\n");

	for (int i = 0; i < n && len < bytes; i++)
		len += (size_t)snprintf(source + len, bytes - len, "    %s\n",
					pool[i % (int)(sizeof(pool) / sizeof(pool[0]))]);
	if (len < bytes)
		snprintf(source + len, bytes - len, "    return x.sum()\n");
}

#endif
