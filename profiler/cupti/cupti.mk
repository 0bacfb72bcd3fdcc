# profiler/cupti/cupti.mk -- what `breakeven trace` has the CUDA driver load into other programs.
#
# A library for itself alone, built where the headers of the CUDA Toolkit are; CUPTI is
# loaded when it runs.  The fake CUPTI and driver of tests/cupti need no GPU.

CUPTI_FLAGS := -std=gnu11 -O2 -g -pthread -D_GNU_SOURCE -I. -isystem $(CUDA_HOME)/include -isystem $(CUDA_HOME)/extras/CUPTI/include
INJECT := $(if $(CUPTI_HEADERS),$B/libbreakeven_inject.so)

.PHONY: without-cupti
all: $(or $(INJECT),without-cupti)
tests: $(if $(INJECT),$B/tests/cupti/libcupti_fake.so $B/tests/cupti/driver $B/tests/cupti/launch_cost)

without-cupti:
	@echo "  --    no libbreakeven_inject.so for \`breakeven trace\`: cupti.h of the CUDA Toolkit is missing (CUDA_HOME names its folder)"

$B/libbreakeven_inject.so: $(wildcard profiler/cupti/inject/*.c profiler/cupti/*.c profiler/cupti/*.h) profiler/timeline/timeline.h
$B/tests/cupti/libcupti_fake.so: tests/cupti/fake.c
$B/libbreakeven_inject.so $B/tests/cupti/libcupti_fake.so:
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(CC) $(CUPTI_FLAGS) $(WARN) -fPIC -shared -fvisibility=hidden $(filter %.c,$^) -o $@ -ldl
$B/tests/cupti/driver: tests/cupti/driver.c
$B/tests/cupti/launch_cost: tests/cupti/launch_cost.c $(wildcard profiler/cupti/*.c profiler/cupti/*.h)
$B/tests/cupti/driver $B/tests/cupti/launch_cost:
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(CC) $(CUPTI_FLAGS) $(WARN) $(filter %.c,$^) -o $@ -ldl
