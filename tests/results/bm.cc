#include <benchmark/benchmark.h>
#include <vector>
#include <numeric>
static void BM_Sum(benchmark::State &s) { std::vector<int> v(s.range(0), 1); for (auto _ : s) benchmark::DoNotOptimize(std::accumulate(v.begin(), v.end(), 0)); s.SetBytesProcessed(s.iterations()*s.range(0)*4); s.SetItemsProcessed(s.iterations()*s.range(0)); s.counters["FoomRate"]=benchmark::Counter(s.iterations(), benchmark::Counter::kIsRate); s.counters["Size"]=s.range(0);}
BENCHMARK(BM_Sum)->Arg(64)->Arg(1024)->MinTime(0.005);
static void BM_Empty(benchmark::State &s) { for (auto _ : s); }
BENCHMARK(BM_Empty)->MinTime(0.002);
static void BM_Ms(benchmark::State &s) { std::vector<int> v(1<<16, 1); for (auto _ : s) benchmark::DoNotOptimize(std::accumulate(v.begin(), v.end(), 0)); s.SetLabel("64k ints");}
BENCHMARK(BM_Ms)->Unit(benchmark::kMillisecond)->MinTime(0.01)->UseRealTime();
static void BM_Err(benchmark::State &s) { s.SkipWithError("no such device"); for (auto _ : s); }
BENCHMARK(BM_Err);
static void BM_O(benchmark::State &s) { std::vector<int> v(s.range(0), 1); for (auto _ : s) benchmark::DoNotOptimize(std::accumulate(v.begin(), v.end(), 0)); s.SetComplexityN(s.range(0)); }
BENCHMARK(BM_O)->Range(64, 512)->Complexity()->MinTime(0.002);
BENCHMARK_MAIN();
