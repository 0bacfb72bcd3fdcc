import time, pytest
def fib(n): return n if n < 2 else fib(n-1)+fib(n-2)
@pytest.mark.parametrize("n", [5, 10])
def test_fib(benchmark, n):
    assert benchmark(fib, n) == {5: 5, 10: 55}[n]
@pytest.mark.benchmark(group="sleep", min_rounds=8)
def test_sleep(benchmark):
    benchmark.extra_info["note"] = "a sleep"
    benchmark(time.sleep, 0.001)
def test_pedantic(benchmark):
    benchmark.pedantic(fib, args=(12,), rounds=7, iterations=2)
