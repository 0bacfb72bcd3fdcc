# Breakeven.  `make run` and `make test` do all their own set-up.
#
#   make              build/breakeven
#   make run          installs, builds, serves http://127.0.0.1:8080 with a first run
#   make test         installs, builds, runs every test; FULL=1: and every repeat of it (tests/run.sh)
#   make bench        the benchmarks of tests/bench: ratios with their spread
#   make check        formatter, layers, headers, file and function sizes
#   make tidy         the analyzer (clang-tidy), which takes minutes
#   make differential random programs, every mode against eager, for SECONDS (DIFFERENTIAL="--torch python3": eager against PyTorch)
#   make fuzz         the fuzz targets, FUZZ_SECONDS each
#   make trial-NAME   what a release goes through: differential, fuzz, sanitize, busy, soak (TRIAL_SECONDS each), walks, clients, proxy, kill
#   make install      the program, its library for other processes, headers for plugins and manual pages (PREFIX, DESTDIR)
#   make deb          a Debian package of it, in $B (deploy/debian)
#   make deps         Debian packages and npm files that the above need
#   V=1 shows the commands; CC=clang, SAN=1 (address and undefined), SAN=thread, B=other-build-folder

CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
SAN     ?=
B       ?= build$(if $(SAN),-$(if $(filter thread,$(SAN)),tsan,asan))
COMMIT  := $(shell git describe --always --dirty --exclude '*' 2>/dev/null)
RELEASE := 0.1.0
VERSION := $(RELEASE)$(if $(COMMIT),+$(COMMIT))

comma := ,
WARN := -Wall -Wextra -Werror -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wwrite-strings -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough
# What is at NULL or past an object the address sanitizer finds: looked for twice, a file compiles for a quarter longer.
SANITIZE := $(if $(filter thread,$(SAN)),-fsanitize=thread,$(if $(SAN),-fsanitize=address -fsanitize=undefined -fno-sanitize=null$(comma)object-size -fno-sanitize-recover=all))
# clang's sanitized archives serve the fuzz targets too, which ask for coverage.
SANITIZE += $(if $(filter-out thread,$(SAN)),$(if $(findstring clang,$(CC)),-fsanitize-coverage=inline-8bit-counters$(comma)pc-table))
# -ffp-contract=off: a fused kernel gives the same bits as its ops one by one.
ALL_CFLAGS := -std=gnu11 $(if $(SAN),-O1 -g1,-O2 -g) -fno-omit-frame-pointer -ffp-contract=off -fno-math-errno \
	-pthread -D_GNU_SOURCE -I. -I$B/gen -MMD -MP $(WARN) $(SANITIZE) $(CFLAGS)
# libmvec stays linked although nothing names it: generated kernels resolve
# their vector math against the process.
LDLIBS_ENGINE := -lpcre2-8 -Wl,--no-as-needed -lmvec -Wl,--as-needed -lm -ldl -pthread
LDLIBS_ALL := -lseccomp -ljansson -lyajl -lz -lsqlite3 -lmicrohttpd -lnettle -lzstd $(LDLIBS_ENGINE)
# Allocations of this program that fail are counted (fusion/base/refused.h); lld takes an object for --wrap only where another name asks for it.
LDFLAGS_ALL := $(SANITIZE) $(addprefix -Wl$(comma)--wrap=,malloc calloc realloc strdup strndup) -Wl,-u,memory_refused $(LDFLAGS)

# The headers of the CUDA Toolkit, where it is installed; its libraries are loaded
# when the program runs.
CUDA_HOME ?= /usr/local/cuda
override CUDA_HOME := $(patsubst %/include/cuda.h,%,$(wildcard $(CUDA_HOME)/include/cuda.h))
ifneq ($(CUDA_HOME),)
CUDA_INCLUDES := -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include
ALL_CFLAGS += $(CUDA_INCLUDES)
endif
CUPTI_HEADERS := $(if $(CUDA_HOME),$(firstword $(wildcard $(CUDA_HOME)/include/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h)))

# A folder is an archive; it may use those to its right (web/docs/architecture.md).
FOLDERS := server db profiler session capture lazy eager compile torch weights tensor report vm backends passes lower graph lang base

dir_server := server
dir_db := db
dir_profiler := profiler
$(foreach f,session capture lazy eager compile torch weights tensor report vm backends passes lower graph lang base,$(eval dir_$f := fusion/$f))

# Rooms: folders of a folder, in one archive with it (they call each other).
rooms_capture := sources trace guards control backward
rooms_backends := memory simd cache plan gemm library host $(if $(CUDA_HOME),cuda cuda/device cuda/kernel cuda/library,cuda/absent)
rooms_db := sql
rooms_server := cli api http queue text
rooms_profiler := fields align lists run history gate numbers findings layout workload gather measure allclose recorder roofline cost breaks timeline report suite bisect ranks import torch export compare results $(if $(CUPTI_HEADERS),cupti,cupti/absent)
sources = $(filter-out server/main.c fusion/backends/simd/kernels.c,$(wildcard $(dir_$1)/*.c) $(wildcard $(rooms_$1:%=$(dir_$1)/%/*.c)))
objects = $(patsubst %.c,$B/%.o,$(call sources,$1)) $(extra_$1)

# Kernels of the interpreter, once per vector unit (chosen at run time).
SIMD := sse avx2 avx512
simd := $(if $(SAN),-O1,-O3) -fwrapv
simd_sse := $(simd) -msse4.2
simd_avx2 := $(simd) -mavx2 -mfma
simd_avx512 := $(simd) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512
CUDA_TEXTS := intrinsics args library index scan sort window create attention random
extra_backends := $(foreach s,$(SIMD),$B/fusion/backends/simd/kernels_$s.o) $B/gen/vec_text.o $(if $(CUDA_HOME),$(CUDA_TEXTS:%=$B/gen/cuda_%_text.o))
extra_server := $B/gen/assets.o
PRELUDES := $(patsubst fusion/vm/prelude/%.py,$B/gen/prelude_%.s,$(wildcard fusion/vm/prelude/*.py))
extra_vm := $B/gen/preludes.o
extra_profiler := $B/gen/torch_script_text.o $B/gen/torch_worker_text.o $B/gen/torch_host_text.o
extra_db := $B/gen/migrations.o $B/gen/postgres.o

.PHONY: all run test bench check fuzz deps clean tests web install deb
.SECONDARY:
.DELETE_ON_ERROR:
$(V).SILENT:
all: $B/breakeven

include deploy/deps.mk

define folder
$B/lib/$1.a: $(call objects,$1)
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(AR) rcs $$@ $$^
endef

define suites
# tests/test_<folder>.c and tests/test_<folder>_<what>.c
$B/tests/test_$1: $B/tests/test_$1.o $$(archives_$1)
$B/tests/test_$1_%: $B/tests/test_$1_%.o $$(archives_$1)
	@echo "  LD    $$@"
	$$(CC) $$(LDFLAGS_ALL) $$(LDFLAGS_TESTS) $$< $$(filter-out $$<,$$(filter %.o,$$^)) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group -o $$@ $$(libs_$1) -lcmocka
$B/tests/test_$1:
	@echo "  LD    $$@"
	$$(CC) $$(LDFLAGS_ALL) $$(LDFLAGS_TESTS) $$< $$(filter-out $$<,$$(filter %.o,$$^)) -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group -o $$@ $$(libs_$1) -lcmocka
endef
below = $(if $(filter $1,$(firstword $2)),$2,$(call below,$1,$(wordlist 2,99,$2)))
$(foreach f,$(FOLDERS),$(eval archives_$f := $(foreach b,$(call below,$f,$(FOLDERS)),$B/lib/$b.a)))
archives_db := $B/lib/db.a $B/lib/base.a
$(foreach f,$(FOLDERS),$(eval libs_$f := $(if $(filter server db profiler,$f),$(LDLIBS_ALL),$(LDLIBS_ENGINE))))
$(foreach f,$(FOLDERS),$(eval $(call folder,$f))$(eval $(call suites,$f)))
# Suites of fusion.h and of the whole engine: test_fusion_<what>.
archives_fusion := $(archives_session)
libs_fusion := $(libs_session)
# It packs what it unpacks.
$B/tests/test_profiler_gather: libs_profiler := $(libs_profiler) -lzip
$(eval $(call suites,fusion))

$B/breakeven: $B/server/main.o $(foreach f,$(FOLDERS),$B/lib/$f.a)
	@echo "  LD    $@"
	$(CC) $(LDFLAGS_ALL) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -o $@ $(LDLIBS_ALL)

$B/%.o: %.c Makefile | $(CHECK_DEPS)
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(CC) $(ALL_CFLAGS) -c $< -o $@
# Rebuilt when the version changes, and only then.
$(shell mkdir -p $B/gen; [ "$$(cat $B/gen/version 2>/dev/null)" = "$(VERSION)" ] || echo "$(VERSION)" > $B/gen/version)
$B/server/text/version.o: ALL_CFLAGS += -DBREAKEVEN_VERSION='"$(VERSION)"'
$B/server/text/version.o: $B/gen/version

define simd_rule
$B/fusion/backends/simd/kernels_$1.o: fusion/backends/simd/kernels.c Makefile
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	$$(CC) $$(ALL_CFLAGS) $$(simd_$1) -DVECTOR_UNIT=$1 -c $$< -o $$@
endef
$(foreach s,$(SIMD),$(eval $(call simd_rule,$s)))

# The vector vocabulary is compiled into the interpreter and pasted in front of
# every generated kernel: one text, so the two cannot differ.
$B/gen/vec_text.o: fusion/backends/simd/vec.h
$(filter-out %args_text.o %intrinsics_text.o,$(CUDA_TEXTS:%=$B/gen/cuda_%_text.o)): $B/gen/cuda_%_text.o: fusion/backends/cuda/library/%.cu
$B/gen/cuda_args_text.o: fusion/backends/cuda/library/args.h
$B/gen/cuda_intrinsics_text.o: fusion/backends/cuda/kernel/intrinsics.cu
# The PyTorch script that a run can be downloaded as.
$B/gen/torch_script_text.o: profiler/torch/script.py
# What the torch engine has the operator's Python run.
$B/gen/torch_worker_text.o: profiler/torch/worker.py
$B/gen/torch_host_text.o: profiler/torch/host.py
# Modules that are written in the workload language.
# Beside the text of each are the names that it defines, so that none is parsed to be asked.
$(PRELUDES): $B/gen/prelude_%.s: fusion/vm/prelude/%.py Makefile
	@mkdir -p $(@D)
	{ printf 'prelude_$*_text:\n.incbin "%s"\n.byte 0\n' $<; \
	awk '/^(class|def) [A-Za-z0-9_]+[(:]/ { sub(/[(:].*/, "", $$2); print $$2, 0 } \
	  { while (match($$0, /^[A-Za-z0-9_]+(, [A-Za-z0-9_]+)* = /)) { \
	      n = split(substr($$0, 1, RLENGTH - 3), names, ", "); $$0 = substr($$0, RLENGTH + 1); \
	      for (i = 1; i <= n; i++) print names[i], $$0 == "None" } }' $< | LC_ALL=C sort -u -k1,1 | \
	awk -v of=prelude_$*_text '{ at = ".L" of NR; print at ": .asciz \"" $$1 "\"\n.byte " $$2; to = to ".long " at " - " of "_names\n" } \
	  END { printf ".balign 4\n%s_names:\n.long %d\n%s", of, NR, to }'; } > $@
# All of them in one object, as one table.
$B/gen/preludes.o: fusion/vm/preludes.S fusion/vm/preludes.def $(PRELUDES) $(wildcard fusion/vm/prelude/*.py)
	cat $(PRELUDES) > $(@:.o=.s)
	$(CC) -I. -I$B/gen -c $< -o $@
$B/gen/%_text.o: Makefile
	@mkdir -p $(@D)
	printf '.section .rodata\n.global $*_text\n$*_text:\n.incbin "%s"\n.byte 0\n.section .note.GNU-stack,"",@progbits\n' $(filter-out Makefile,$^) > $(@:.o=.S)
	$(CC) -c $(@:.o=.S) -o $@

# db/migrations/NNNN_*.sql, in order, as one table (db/db.c); db/postgres likewise (db/shared_open.h).
$B/gen/migrations.o: name := migration
$B/gen/migrations.o: $(sort $(wildcard db/migrations/*.sql))
$B/gen/postgres.o: name := postgres
$B/gen/postgres.o: $(sort $(wildcard db/postgres/*.sql))
$B/gen/migrations.o $B/gen/postgres.o: db/embed.sh
	@mkdir -p $(@D)
	sh db/embed.sh $(name) $(filter %.sql,$^) > $(@:.o=.S)
	$(CC) -c $(@:.o=.S) -o $@

-include web/web.mk
-include profiler/cupti/cupti.mk
-include tests/tests.mk

tests: $(TESTS) $(PLUGINS) $(STAND_INS) $(EMULATOR_HEADER) $(INJECT) $(INJECT_ASAN)

PREFIX ?= /usr/local
install: all
	install -D -m 755 $B/breakeven "$(DESTDIR)$(PREFIX)/bin/breakeven"
	install -d "$(DESTDIR)$(PREFIX)/include/breakeven/fusion" "$(DESTDIR)$(PREFIX)/share/man/man1"
	install -m 644 fusion/*.h "$(DESTDIR)$(PREFIX)/include/breakeven/fusion"
	install -m 644 $B/man/*.1 "$(DESTDIR)$(PREFIX)/share/man/man1"
	if [ -f $B/libbreakeven_inject.so ]; then install -D -m 755 $B/libbreakeven_inject.so "$(DESTDIR)$(PREFIX)/lib/breakeven/libbreakeven_inject.so"; fi

deb: all
	@sh deploy/install-deps.sh $(APT_DEB)
	sh deploy/package.sh $B $B

clean:
	rm -rf build build-asan build-tsan

-include $(shell find $B -name '*.d' 2>/dev/null)
