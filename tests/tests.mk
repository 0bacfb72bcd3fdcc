# tests/tests.mk -- what `make run`, `test`, `bench`, `check`, `fuzz` and `trial-NAME` do.

TESTS := $(patsubst tests/%.c,$B/tests/%,$(wildcard tests/test_*.c))
# What links in half of the time, where it is.
LDFLAGS_TESTS := $(if $(shell command -v ld.lld),-fuse-ld=lld)
# A test's own code runs once: what is not optimised is compiled in a third of the time.
$B/tests/test_%.o: ALL_CFLAGS += -O0
# But these compute for seconds by themselves.
$(foreach t,gemm conv random,$B/tests/test_backends_$t.o): ALL_CFLAGS += -O1
DB ?= breakeven.db
LISTEN ?= 127.0.0.1:8080
FUZZ_SECONDS ?= 15
TRIAL_SECONDS ?= 3600
JOBS := -j$(shell nproc)

# Programs for test_vm_control, and what CPython prints for them.
$B/tests/control/made: tests/control/generate.py
	@mkdir -p $(@D)
	python3 $< $(@D) 0 300
	@touch $@
$B/tests/test_vm_control: | $B/tests/control/made

# Plugins for tests: examples, and bad ones.  They link against nothing of ours.
PLUGINS := $(patsubst tests/plugins/%.c,$B/tests/plugins/%.so,$(wildcard tests/plugins/*.c)) $B/tests/plugins/cxx.so
$B/tests/plugins/%.so: tests/plugins/%.c fusion/plugin.h
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(CC) -std=c11 -O2 -g -fPIC -shared -fvisibility=hidden -I. $(WARN) $< -o $@ -lm
$B/tests/plugins/cxx.so: tests/plugins/cxx.cc fusion/plugin.h
	@mkdir -p $(@D)
	@echo "  CXX   $@"
	$(CXX) -std=c++11 -O2 -g -fPIC -shared -fvisibility=hidden -I. -Wall -Wextra -Werror $< -o $@

# What lets calls of the C library fail (tests/faults).
INJECT := $B/tests/faults/inject.so
$(INJECT): tests/faults/inject.c
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC -shared -fno-builtin $(WARN) -Wno-missing-prototypes $< -o $@

# ASan as a library, which comes after that one: else no allocation of ours would pass it.
INJECT_ASAN := $(if $(filter-out thread,$(SAN)),$(if $(findstring clang,$(CC)),$B/tests/faults/breakeven))
$B/tests/faults/breakeven: $B/breakeven
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(CC) -shared-libasan -Wl,-rpath,$(dir $(shell $(CC) -print-file-name=libclang_rt.asan-x86_64.so)) $(LDFLAGS_ALL) $B/server/main.o -Wl,--start-group $(foreach f,$(FOLDERS),$B/lib/$f.a) -Wl,--end-group -o $@ $(LDLIBS_ALL)

# A driver, a cuBLAS and an NVRTC that do nothing, for backend cuda where there is no GPU.
ifneq ($(CUDA_HOME),)
STAND_INS := $B/tests/cuda/libcuda.so.1 $B/tests/cuda/libcublas.so.13 $B/tests/cuda/nvrtc/libnvrtc.so.13 $B/tests/cuda/libnvidia-ml.so.1
$B/tests/cuda/libnvidia-ml.so.1: tests/cuda/nvml.c
$B/tests/cuda/libcuda.so.1: tests/cuda/driver.c tests/cuda/driver_graph.c
$B/tests/cuda/libcublas.so.13: tests/cuda/blas.c tests/cuda/blas_handle.h $B/tests/cuda/libcuda.so.1
$B/tests/cuda/nvrtc/libnvrtc.so.13: tests/cuda/nvrtc.c
# And such that compute, on the host: what kernels are worth is tested without a GPU too.
EMULATOR := $B/tests/cuda/emulator/libcuda.so.1 $B/tests/cuda/emulator/libcublas.so.13 $B/tests/cuda/emulator/libnvrtc.so.13 $B/tests/cuda/emulator/libcublasLt.so.13
$B/tests/cuda/emulator/libcublasLt.so.13: tests/cuda/emulator/lt.c tests/cuda/emulator/work.h $B/tests/cuda/emulator/libcuda.so.1
$B/tests/cuda/emulator/libcuda.so.1: tests/cuda/emulator/driver.c tests/cuda/emulator/graph.c tests/cuda/emulator/work.h
$B/tests/cuda/emulator/libcublas.so.13: tests/cuda/emulator/blas.c tests/cuda/blas_handle.h tests/cuda/emulator/work.h $B/tests/cuda/emulator/libcuda.so.1
$B/tests/cuda/emulator/libnvrtc.so.13: tests/cuda/emulator/nvrtc.c
# What the modules of its NVRTC have in front.
EMULATOR_HEADER := $B/tests/cuda/emulator/ptx.hpp.gch
$(EMULATOR_HEADER): $(addprefix tests/cuda/emulator/,emulate.py emulate.hpp ptx.hpp)
	@mkdir -p $(@D)
	@echo "  CXX   $@"
	python3 $< --header $(@D)
STAND_INS += $(EMULATOR)
$(STAND_INS):
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -fPIC -shared -I. -isystem $(CUDA_HOME)/include $(WARN) -Wno-missing-prototypes -Wno-unused-parameter -Wl,-soname,$(@F) $(filter-out %.h,$^) -lm -ldl -o $@
endif

# The benchmarks are C programs linked as the tests of their folder are.
BENCHES := $(patsubst tests/bench/%.c,$B/tests/bench/%,$(wildcard tests/bench/bench_*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,build-asan/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
# gcc makes what people run, clang what looks for faults in it (lld links that in a third of the time).
FAULTS := CC=clang SAN=1 B=build-asan LDFLAGS=-fuse-ld=lld

.PHONY: tidy

run: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	@exec $B/breakeven serve --first-run --listen $(LISTEN) --db $(DB)

.PHONY: test-built
test-built: deps-test
	@$(MAKE) --no-print-directory $(JOBS) all tests
	@$(MAKE) --no-print-directory $(JOBS) $(FAULTS) all tests $(FUZZERS)
	@$(MAKE) --no-print-directory $(JOBS) $(WEB_MODULES)

test: test-built
	@bash tests/run.sh $B

# Random programs: every mode against eager (tests/differential).
SECONDS ?= 60
.PHONY: differential differential-coverage
differential: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	@python3 tests/differential/run.py $B/breakeven --seconds $(SECONDS) $(DIFFERENTIAL)
differential-coverage: deps
	@bash tests/differential/coverage.sh $(SECONDS)

# Long trials, before a release: each ends with one line that says what held, of which commit, and when.
TRIALS := trial-differential trial-faults trial-fuzz trial-sanitize trial-busy
.PHONY: $(TRIALS)
$(TRIALS): test-built
	@bash tests/trial.sh $(@:trial-%=%) $(TRIAL_SECONDS) $B

# The changes of web/docs/additions.md, built and tried in a copy.
.PHONY: trial-attribution trial-archive trial-postgres trial-slurm trial-package trial-image trial-walks trial-clients trial-import trial-ranks trial-proxy trial-server trial-kill trial-kill-store trial-soak trial-verdicts cuda-stand-ins
trial-attribution trial-archive trial-clients trial-import trial-ranks trial-kill trial-kill-store trial-soak trial-verdicts: deps-test
	@$(MAKE) --no-print-directory $(JOBS) all
	@bash tests/trial.sh $(@:trial-%=%) $(TRIAL_SECONDS) $B
trial-postgres: deps-test
	@$(MAKE) --no-print-directory $(JOBS) all tests
	@bash tests/trial.sh postgres 0 $B
trial-proxy: deps-test
	@sh deploy/install-deps.sh $(APT_PROXY)
	@$(MAKE) --no-print-directory $(JOBS) all
	@bash tests/trial.sh proxy 0 $B
trial-server: deps-test
	@sh deploy/install-deps.sh $(APT_SPEED_OF_SERVER)
	@$(MAKE) --no-print-directory $(JOBS) all
	@bash tests/trial.sh server 0 $B
# On a bare Debian 12 that is booted in namespaces; as root.
trial-package: deps-test
	@sh deploy/install-deps.sh $(APT_DEB) $(APT_PACKAGE)
	@$(MAKE) --no-print-directory $(JOBS) all
	@bash tests/trial.sh package 0 $B
# Slurm on this machine, as root.
trial-slurm: deps-test
	@sh deploy/install-deps.sh $(APT_SLURM)
	@$(MAKE) --no-print-directory $(JOBS) all
	@bash tests/trial.sh slurm 0 $B
trial-image: deps-test
	@sh deploy/install-deps.sh $(APT_DEB) $(APT_IMAGE)
	@$(MAKE) --no-print-directory $(JOBS) all cuda-stand-ins
	@bash tests/trial.sh image 0 $B
trial-walks: deps-test
	@$(MAKE) --no-print-directory $(JOBS) all cuda-stand-ins $(WEB_MODULES)
	@bash tests/trial.sh walks 0 $B
cuda-stand-ins: $(STAND_INS) $(EMULATOR_HEADER)

fuzz: deps-test
	@$(MAKE) --no-print-directory $(JOBS) $(FAULTS) $(FUZZERS)
	@for f in $(FUZZERS); do sh tests/fuzz/run.sh $$f $(FUZZ_SECONDS) || exit 1; done

# fuzz_<folder>: the archives of its folder and those below, as clang sanitizes
# them (B=build-asan).  import is a room of profiler.
archives_import := $B/lib/profiler.a $B/lib/base.a
libs_import := $(libs_profiler)
# Two readers of the folder weights.
archives_safetensors := $(archives_weights)
archives_pickle := $(archives_weights)
libs_safetensors := $(libs_weights)
libs_pickle := $(libs_weights)
# gather, a file of profiler: the programs in archives; results, a room of it: what other tools measured.
archives_results := $(archives_profiler)
libs_results := $(libs_profiler)
archives_gather := $(archives_profiler)
libs_gather := $(libs_profiler)
# The whole server.
archives_http := $(archives_server)
libs_http := $(libs_server)
ENGINE := $(foreach f,$(call below,session,$(FOLDERS)),$B/lib/$f.a)
define fuzz_rule
$B/fuzz/fuzz_$1: $B/tests/fuzz/fuzz_$1.o $(archives_$1)
	@mkdir -p $$(@D)
	@echo "  LD    $$@"
	$$(CC) -fsanitize=fuzzer $$(LDFLAGS_ALL) $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group -o $$@ $(libs_$1) -lcmocka
endef
$(foreach f,vm import gather results lang profiler fusion safetensors pickle db http,$(eval $(call fuzz_rule,$f)))

$B/tests/bench/%: $B/tests/bench/%.o $(ENGINE)
	$(CC) $(LDFLAGS_ALL) $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -o $@ $(LDLIBS_ENGINE)
# What compute-sanitizer runs (tests/cuda/sanitize.py), on a machine with a GPU.
$B/tests/cuda/programs: $B/tests/cuda/programs.o $(archives_profiler)
	$(CC) $(LDFLAGS_ALL) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -o $@ $(LDLIBS_ALL)
# These two of the commands, and one of the profiler's.
$B/tests/bench/bench_launch $B/tests/bench/bench_nvrtc: $B/server/cli/heap.o
$B/tests/bench/bench_import: $B/tests/bench/bench_import.o $B/lib/profiler.a $B/lib/base.a
	$(CC) $(LDFLAGS_ALL) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -o $@ $(LDLIBS_ALL)
bench: deps
	@$(MAKE) --no-print-directory $(JOBS) all $(BENCHES)
	@for b in $(BENCHES); do echo "== $${b##*/}"; $$b || exit 1; done
	@echo "== acceptance.py"; python3 tests/bench/acceptance.py $B/breakeven
	@echo "== explain.py"; python3 tests/bench/explain.py $B/breakeven

check: deps-test
	@sh tests/check.sh

# What this build gives of the examples, for tests/gate/examples.sh: values that agree, graphs, breaks, launches.
baseline: all
	@$B/breakeven gate web/examples --baseline tests/gate/examples.json --no-timing --fail-on values,graphs,breaks,launches --save-baseline tests/gate/examples.json || [ $$? -ne 2 ]
	@git --no-pager diff --stat -- tests/gate/examples.json
.PHONY: baseline

# Slow (minutes), so not part of `test`.
tidy: deps-test all
	@git ls-files '*.c' | grep -v -e '^tests/' -e backends/simd $(if $(CUDA_HOME),-e absent/,-e backends/cuda/ -e cupti/) | xargs -n 4 -P $(shell nproc) \
	  sh -c 'clang-tidy-14 --quiet "$$@" -- -include tests/analyzer.h -std=gnu11 -D_GNU_SOURCE -DBREAKEVEN_VERSION=\"x\" -DBREAKEVEN_RELEASE=\"x\" -I. -I$B/gen $(CUDA_INCLUDES) 2>/dev/null' tidy
