# profiler/cupti/cupti.mk -- what `breakeven trace` has the CUDA driver load into other programs.
#
# A library for itself alone, built where the headers of the CUDA Toolkit are; CUPTI is
# loaded when it runs.  The fake CUPTI and driver of tests/cupti need no GPU.

CUDA_HOME ?= $(patsubst %/include/cuda.h,%,$(firstword $(wildcard /usr/local/cuda/include/cuda.h)))
CUPTI_FLAGS := -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -I. -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include
INJECT := $(if $(CUDA_HOME),$(if $(wildcard $(CUDA_HOME)/include/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h),$B/libbreakeven_inject.so))

all: $(INJECT)
tests: $(if $(INJECT),$B/tests/cupti/libcupti_fake.so $B/tests/cupti/driver)

$B/libbreakeven_inject.so: $(wildcard profiler/cupti/*.c profiler/cupti/*.h) profiler/timeline.h
$B/tests/cupti/libcupti_fake.so: tests/cupti/fake.c
$B/libbreakeven_inject.so $B/tests/cupti/libcupti_fake.so:
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(CC) $(CUPTI_FLAGS) $(WARN) -fPIC -shared -fvisibility=hidden $(filter %.c,$^) -o $@ -ldl
$B/tests/cupti/driver: tests/cupti/driver.c
	@mkdir -p $(@D)
	$(CC) $(CUPTI_FLAGS) $(WARN) $< -o $@ -ldl
