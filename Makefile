# Lazuli's one Makefile. `make help` lists the targets; `make deps` installs what is missing to build (tools/setup.sh).
#
# Each layer is an archive lib<layer>.a; a unit test links its own layer and those below it, so a layer can be built and
# tested while the ones above are broken. Objects of one BUILD folder share one set of flags: changing MODE in the same
# folder rebuilds them.

MODE ?= release
# CROSS=aarch64-linux-gnu: for another machine, with headers and libraries in SYSROOT (tools/aarch64.sh root makes one)
CROSS ?=
SYSROOT ?=
BUILD ?= build/$(if $(CROSS),$(firstword $(subst -, ,$(CROSS)))-)$(MODE)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/lazuli
# where the shells look for completions
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DESTDIR ?=
LAYERS := base fft linalg ir shard cache lower codegen backends runtime ops autodiff data nn
# MAJOR.MINOR.PATCH, as the public header defines it
VERSION := $(shell sed -n 's/^\#define LZ_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/lazuli/types.h | paste -sd.)
SOVERSION := 0
ifeq ($(origin CC),default)
CC := $(if $(CROSS),$(CROSS)-)gcc$(if $(SYSROOT), --sysroot=$(abspath $(SYSROOT)))
endif
OBJCOPY ?= $(if $(CROSS),$(CROSS)-)objcopy
ifneq ($(CROSS),)
LD := $(CROSS)-ld
AR := $(CROSS)-ar
endif

ifeq ($(filter $(MODE),release debug asan tsan coverage),)
$(error MODE=$(MODE): choose release, debug, asan, tsan or coverage)
endif
ifneq ($(words $(BUILD)),1)
$(error BUILD must be one path without spaces)
endif

# ---- what the machine has: tools/setup.sh writes it down, and is run again when a header it found has gone ----
# Installing is asked for: by `make deps`, and by goals that are there to try Lazuli. Others print the command and stop;
# -n, -q, -t and goals that build nothing do not even look.
GOALS := $(or $(MAKECMDGOALS),all)
INSTALLING := deps demo tests unit check check-quick check-locale check-whole check-cuda check-levels check-aarch64
DRY := $(strip $(foreach f,n q t,$(findstring $(f),$(filter-out --%,$(firstword -$(MAKEFLAGS))))))
ifneq ($(filter-out clean help hooks uninstall format,$(GOALS)),)
ifneq ($(DRY),)
-include $(wildcard build/config.mk)
else
include build/config.mk
build/config.mk: tools/setup.sh
	@CC='$(CC)' tools/setup.sh $(if $(filter $(INSTALLING),$(GOALS)),--install,--ask) $@
ifneq ($(words $(wildcard $(FOUND_HEADERS))),$(words $(FOUND_HEADERS)))
build/config.mk: FORCE
endif
endif
endif

# Those goals use all cores, unless the caller says -j, which comes later and counts.
ifneq ($(filter $(INSTALLING),$(GOALS)),)
ifeq ($(or $(MAKELEVEL),0),0)
MAKEFLAGS += -j$(shell nproc)
endif
endif

# ---- flags ----
WARN := -Wall -Wextra -Wshadow -Werror
CFLAGS_release := -O2 -g -DNDEBUG
CFLAGS_debug := -O0 -g3 -DLZ_DEBUG
CFLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DLZ_DEBUG
CFLAGS_tsan := -O1 -g -fsanitize=thread -DLZ_DEBUG
CFLAGS_coverage := -O0 -g --coverage -fprofile-update=atomic -DLZ_DEBUG
CFLAGS_COMMON := -std=gnu11 $(WARN) -fvisibility=hidden -fPIC -pthread -D_GNU_SOURCE
FLAGS := $(CFLAGS_COMMON) $(CFLAGS_$(MODE)) $(CFLAGS)
INTERNAL := -I. -Iinclude -I$(BUILD)/gen
DEPFLAGS = -MMD -MP -MF $@.d -MT $@
LINKFLAGS := -Wl,--as-needed $(LDFLAGS)
LDLIBS := -lzstd -lz -ldl -lm -lpthread
LLVM_CFLAGS := $(addprefix -isystem ,$(LLVM_INCLUDEDIR))
CHECK_LIBS := $(or $(CHECK_LIBS),-lcheck -lsubunit -lrt -lm) -ljansson

# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
FORCE:

# Rewrites a file only when its text changes, so that what depends on it is rebuilt exactly then.
define keep
@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef
$(BUILD)/flags: FORCE
	$(call keep,$(CC) $(FLAGS) $(LINKFLAGS) $(LLVM_CFLAGS))

# ---- the layers ----
srcs = $(sort $(shell find $(1) -name '$(2)' 2>/dev/null))
objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
# What the tests of a layer link beside it: those of the runtime record operations.
test_layer_runtime := ops
test_layer = $(or $(test_layer_$(1)),$(1))
comma := ,
layer_lib = $(BUILD)/lib$(1).a
# The archives a layer's tests link: its own and all below, in link order.
upto = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
libs_for = $(foreach l,$(call reverse,$(call upto,$(1),$(LAYERS))),$(call layer_lib,$(l)))
ALL_LIBS := $(call libs_for,$(lastword $(LAYERS)))
# What tests share: test/support. Only layers that include ir can link it.
SUPPORT_OBJS := $(call objs,$(call srcs,test/support,*.c))
SUPPORT_LIB := $(BUILD)/libtestsupport.a
support_for = $(if $(filter-out base fft linalg,$(1)),$(if $(SUPPORT_OBJS),$(SUPPORT_LIB)))
# Tests above the backends can be run under random marks: test/marks.
MARKS_OBJ := $(BUILD)/obj/test/marks/random_marks.o
marks_for = $(if $(filter runtime ops autodiff data nn,$(1)),$(MARKS_OBJ))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) $(INTERNAL) $(EXTRA) $(DEPFLAGS) -c $< -o $@

$(BUILD)/obj/codegen/%.o: EXTRA += $(LLVM_CFLAGS)
# Each instance of the routines is for a set of instructions, which base/host_isa.c asks the processor for.
$(BUILD)/obj/fft/%.o $(BUILD)/obj/linalg/%.o: EXTRA += $(if $(filter release,$(MODE)),-O3)
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
$(BUILD)/obj/fft/avx2/%.o $(BUILD)/obj/linalg/avx2/%.o: EXTRA += -mavx2 -mfma
$(BUILD)/obj/fft/avx512/%.o $(BUILD)/obj/linalg/avx512/%.o: EXTRA += -mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma -mprefer-vector-width=512
endif

define LAYER
SRC_$(1) := $(call srcs,$(1),*.c)
OBJ_$(1) := $$(call objs,$$(SRC_$(1)))
$(BUILD)/$(1).list: FORCE
	$$(call keep,$$(SRC_$(1)))
$(call layer_lib,$(1)): $$(OBJ_$(1)) $(BUILD)/$(1).list
	$$(call say,AR,$$@)
	@rm -f $$@
	$(Q)$(AR) rcs $$@ $$(OBJ_$(1))
$(BUILD)/test/unit/$(1)/%: test/unit/$(1)/%.c $(call marks_for,$(1)) $(call support_for,$(1)) $(call libs_for,$(call test_layer,$(1))) $(BUILD)/flags
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$(Q)$$(CC) $$(FLAGS) $(INTERNAL) -Itest $$(DEPFLAGS) $$< $$(support_more) $(if $(call marks_for,$(1)),-Wl$(comma)--wrap=lz_partition $(call marks_for,$(1))) $(call support_for,$(1)) $(call libs_for,$(call test_layer,$(1))) $$(LINKFLAGS) $(CHECK_LIBS) $$(LDLIBS) -o $$@
endef
$(foreach l,$(LAYERS),$(eval $(call LAYER,$(l))))
LIB_OBJS := $(foreach l,$(LAYERS),$(OBJ_$(l)))

# libLLVM is not linked: codegen calls it through a table of pointers filled by dlopen. This header turns the
# LLVM-C names of the table into its members.
$(BUILD)/gen/llvm_api_names.h: codegen/llvm/llvm_api.def
	@mkdir -p $(@D)
	$(Q)sed -n 's/^[[:space:]]*LLVM_FN(\([A-Za-z0-9_]*\).*/#define \1 lz_llvm.\1/p' $< >$@
ifneq ($(wildcard codegen/llvm/llvm_api.def),)
$(OBJ_codegen): | $(BUILD)/gen/llvm_api_names.h
endif

# Texts that become strings of the command: the line "a" of page/x.js is "a\n" in gen/page/x.js.inc.
PAGE_TEXTS := $(patsubst tools/lazuli/page/%,$(BUILD)/gen/page/%.inc,$(wildcard tools/lazuli/page/*))
$(BUILD)/gen/page/%.inc: tools/lazuli/page/%
	@mkdir -p $(@D)
	$(Q)sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $< >$@
$(BUILD)/obj/tools/lazuli/graph_page.o: $(PAGE_TEXTS)

# What stored code depends on: entries of the persistent cache that another version of these sources made are not used.
SOURCE_ID := $(shell find base fft linalg ir shard cache lower codegen backends runtime ops include -name '*.[ch]' -o -name '*.def' | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-32)
$(BUILD)/gen/source_id.h: FORCE
	$(call keep,#define LZ_SOURCE_ID "$(SOURCE_ID)")
$(BUILD)/obj/backends/common/program_store.o: | $(BUILD)/gen/source_id.h

# ---- the libraries: one object with the internal names made local, so a static program sees lz_* public names only ----
SONAME := liblazuli.so.$(SOVERSION)
SHARED := $(BUILD)/liblazuli.so.$(VERSION)
STATIC := $(BUILD)/liblazuli.a

$(SHARED): $(ALL_LIBS) abi/lazuli.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=abi/lazuli.map -Wl,-z,nodelete $(if $(filter asan tsan,$(MODE)),,-Wl,-z,defs) \
	    $(LIB_OBJS) $(LINKFLAGS) $(LDLIBS) -o $@
	@ln -sf $(notdir $@) $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $(BUILD)/liblazuli.so
$(STATIC): $(ALL_LIBS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(LD) -r -o $(BUILD)/lazuli.o $(LIB_OBJS)
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/lazuli.o
	$(Q)$(AR) rcs $@ $(BUILD)/lazuli.o

# ---- Lazuli as a PJRT plugin: the backends and what is below them, without the tracer ----
PJRT_OBJS := $(call objs,$(call srcs,pjrt,*.c))
PJRT_PLUGIN := $(if $(PJRT_OBJS),$(BUILD)/libpjrt_lazuli.so)
PJRT_LIBS := $(call libs_for,backends)
ifneq ($(PJRT_OBJS),)
$(PJRT_PLUGIN): $(PJRT_OBJS) $(PJRT_LIBS) abi/pjrt_lazuli.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -shared -Wl,-soname,$(notdir $@) -Wl,--version-script=abi/pjrt_lazuli.map -Wl,-z,nodelete $(if $(filter asan tsan,$(MODE)),,-Wl,-z,defs) \
	    $(PJRT_OBJS) $(PJRT_LIBS) $(LINKFLAGS) $(LDLIBS) -o $@
endif
# The Python packages that JAX and torch_xla find, with the plugin, stripped, in them.
wheel: $(PJRT_PLUGIN)
	@mkdir -p $(BUILD)/wheel && $(OBJCOPY) --strip-unneeded $< $(BUILD)/wheel/$(notdir $<)
	@python3 tools/wheel.py jax $(VERSION) $(BUILD)/wheel/$(notdir $(PJRT_PLUGIN)) build/dist
	@python3 tools/wheel.py torch $(VERSION) $(BUILD)/wheel/$(notdir $(PJRT_PLUGIN)) build/dist

# ---- the command, examples, benches ----
TOOL := $(BUILD)/lazuli
TOOL_OBJS := $(call objs,$(call srcs,tools/lazuli,*.c))
$(TOOL): $(TOOL_OBJS) $(ALL_LIBS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(TOOL_OBJS) $(ALL_LIBS) $(LINKFLAGS) $(LDLIBS) -o $@

# The package of the library, headers and command. Not every system has zstd: it is linked in. libLLVM, thirty times as large, is a
# package of its own, looked for there first, then on the system.
WHEEL_TREE := $(BUILD)/wheel/tree
WHEEL_LINK = -Wl,-rpath,'$$ORIGIN/../../lazuli_llvm/lib' $(LINKFLAGS) $(patsubst -lzstd,-Wl$(comma)-Bstatic -lzstd -Wl$(comma)-Bdynamic,$(LDLIBS)) -s
wheel-lazuli: $(ALL_LIBS) $(TOOL_OBJS) abi/lazuli.map
	@rm -rf $(WHEEL_TREE) && mkdir -p $(WHEEL_TREE)/lib $(WHEEL_TREE)/bin $(WHEEL_TREE)/include
	$(call say,LINK,$(WHEEL_TREE))
	$(Q)$(CC) $(FLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=abi/lazuli.map -Wl,-z,nodelete -Wl,-z,defs \
	    $(LIB_OBJS) $(WHEEL_LINK) -o $(WHEEL_TREE)/lib/$(notdir $(SHARED))
	$(Q)$(CC) $(FLAGS) $(TOOL_OBJS) $(ALL_LIBS) $(WHEEL_LINK) -o $(WHEEL_TREE)/bin/lazuli
	@cp -R include/lazuli $(WHEEL_TREE)/include/
	@LDLIBS= SOVERSION=$(SOVERSION) tools/package/configs.sh /lazuli /lazuli/lib $(VERSION) $(WHEEL_TREE)/lib
	@python3 tools/wheel.py lazuli $(VERSION) $(WHEEL_TREE) build/dist
# LLVM: the library to pack (needs patchelf)
wheel-llvm:
	@python3 tools/wheel.py llvm '$(or $(LLVM),$(shell ldconfig -p | sed -n 's/.*libLLVM\.so\.19\.1 .*=> //p' | head -1))' build/dist

EXAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
$(BUILD)/examples/%: examples/%.c $(SHARED) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -Iinclude $(DEPFLAGS) $< -L$(BUILD) -llazuli -Wl,-rpath,'$$ORIGIN/..',-rpath,$(abspath $(BUILD)) $(LINKFLAGS) -lm -o $@

BENCH := $(BUILD)/bench/lz-bench
BENCH_OBJS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard bench/*.c))
$(BENCH_OBJS): INTERNAL := -Iinclude
$(BENCH): $(BENCH_OBJS) $(STATIC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(BENCH_OBJS) $(STATIC) $(LINKFLAGS) $(LDLIBS) -o $@

PROGRAMS := $(if $(TOOL_OBJS),$(TOOL)) $(EXAMPLES)
all: $(SHARED) $(STATIC) $(PJRT_PLUGIN) $(PROGRAMS)
.PHONY: deps
deps:
	@:
layers: $(ALL_LIBS)
tool: $(TOOL)
examples: $(EXAMPLES)
lz-bench: $(if $(BENCH_OBJS),$(BENCH))
ifeq ($(BUILD),build/release)
	@$(if $(BENCH_OBJS),mkdir -p build/bench && ln -f $(BENCH) build/bench/lz-bench)
endif
	@echo "built $(if $(filter build/release,$(BUILD)),build/bench/lz-bench,$(BENCH))"
# BENCH_ARGS: options of bench/report.py, such as --workloads gemm_256,train_mlp --threads 2
bench: lz-bench
	@python3 bench/report.py run --keep $(BENCH_ARGS)
# All kept results as a page: a chart per workload over the commits.
bench-page:
	@python3 bench/page.py && echo 'wrote bench/results/index.html'
# The peers live in an environment of their own; torch, large, only where PEER_TORCH names an interpreter that has it.
PEER_ENV := build/peers
$(PEER_ENV)/ready: bench/peers/requirements.txt
	python3 -m venv $(PEER_ENV)
	$(PEER_ENV)/bin/pip install --quiet -r $<
	@touch $@
# What is written by hand, where the compiler knows its instructions.
HAND := $(if $(filter x86_64,$(shell uname -m)),build/bench/hand_peer)
build/bench/hand_peer: bench/peers/hand_peer.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -std=gnu11 -O3 -mavx512f -mfma -mprefer-vector-width=512 -Wall -Wextra -pthread $< -lm -o $@
bench-peers: lz-bench $(PEER_ENV)/ready $(HAND)
	@python3 bench/report.py run --keep $(if $(HAND),--peer hand=$(abspath $(HAND))) --peer jax=$(abspath $(PEER_ENV)/bin/python) --peer numpy=$(abspath $(PEER_ENV)/bin/python) \
	    $(if $(PEER_TORCH),--peer torch=$(PEER_TORCH) --peer torch-compile=$(PEER_TORCH)) $(BENCH_ARGS)

DEMO ?= digits
demo: $(BUILD)/examples/$(DEMO)
	@$(BUILD)/examples/$(DEMO)

# ---- tests: see tools/runtests.sh for how they run ----
UNIT := $(patsubst %.c,$(BUILD)/%,$(call srcs,test/unit,t_*.c))
WHOLE := $(patsubst %.c,$(BUILD)/%,$(foreach k,diff fault,$(wildcard test/$(k)/*.c)))
FUZZ := $(patsubst %.c,$(BUILD)/%,$(wildcard test/fuzz/*.c))
API := $(patsubst %.c,$(BUILD)/%,$(wildcard test/api/*.c))
$(SUPPORT_OBJS) $(MARKS_OBJ): INTERNAL += -Itest
$(SUPPORT_LIB): $(SUPPORT_OBJS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(SUPPORT_OBJS)

# test/unit/pjrt: the plugin's objects and the layers below it
$(BUILD)/test/unit/pjrt/%: test/unit/pjrt/%.c $(PJRT_OBJS) $(SUPPORT_LIB) $(PJRT_LIBS) $(BUILD)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(INTERNAL) -Itest $(DEPFLAGS) $< $(PJRT_OBJS) $(SUPPORT_LIB) $(PJRT_LIBS) $(LINKFLAGS) $(CHECK_LIBS) $(LDLIBS) -o $@

# test/diff, test/fault: the whole library with its internals, and test/support
WHOLE_LINK = $(SUPPORT_OBJS) -Wl,--start-group $(ALL_LIBS) -Wl,--end-group $(LINKFLAGS) $(CHECK_LIBS) $(LDLIBS)
$(WHOLE): $(BUILD)/%: %.c $(SUPPORT_OBJS) $(ALL_LIBS) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(INTERNAL) -Itest $(DEPFLAGS) $< $(WHOLE_LINK) -o $@
# A library that stands in for the CUDA driver: kernels of the GPU schedules run on this processor. Its threads are fibers, so it is not
# instrumented by the sanitizers.
MOCK := $(BUILD)/test/libcudamock.so
MOCK_SRCS := $(filter-out test/mock/cublaslt_mock.c test/mock/nccl_mock%.c test/mock/pjrt_mock.c,$(wildcard test/mock/*.c)) codegen/code_image.c
MOCK_OBJS := $(patsubst %.c,$(BUILD)/mock/%.o,$(MOCK_SRCS))
# Those that stand in for cuBLASLt and NCCL, on the memory and streams of the other.
LT_MOCK := $(BUILD)/test/libcublasltmock.so
LT_MOCK_OBJS := $(BUILD)/mock/test/mock/cublaslt_mock.o
NCCL_MOCK := $(BUILD)/test/libncclmock.so
NCCL_MOCK_OBJS := $(patsubst %.c,$(BUILD)/mock/%.o,test/mock/nccl_mock.c test/mock/nccl_mock_math.c)
$(MOCK_OBJS) $(LT_MOCK_OBJS) $(NCCL_MOCK_OBJS): $(BUILD)/mock/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(FLAGS) -fno-sanitize=all $(INTERNAL) $(DEPFLAGS) -c $< -o $@
$(MOCK): $(MOCK_OBJS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -fno-sanitize=all -shared $(MOCK_OBJS) $(LINKFLAGS) -lm -lpthread -o $@
$(LT_MOCK): $(LT_MOCK_OBJS) $(MOCK)
$(NCCL_MOCK): $(NCCL_MOCK_OBJS) $(MOCK)
$(LT_MOCK) $(NCCL_MOCK):
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -fno-sanitize=all -shared $(filter %.o,$^) -L$(BUILD)/test -lcudamock -Wl,-rpath,'$$ORIGIN' $(LINKFLAGS) -lm -o $@
$(BUILD)/test/unit/backends/t_cuda_libs $(BUILD)/test/unit/runtime/t_lib_counter: | $(LT_MOCK)
$(BUILD)/test/unit/backends/t_nccl $(BUILD)/test/unit/backends/t_nccl_abi: | $(NCCL_MOCK)
# PJRT plugins that are wrong, each in a way of its own; and Lazuli's own as one.
PLUGIN_KINDS := $(shell seq 0 $(shell sed -n 's/^enum { KINDS = \([0-9]*\) };.*/\1/p' test/mock/pjrt_mock.h))
PLUGIN_MOCKS := $(PLUGIN_KINDS:%=$(BUILD)/test/plugin/kind%.so)
$(PLUGIN_MOCKS): $(BUILD)/test/plugin/kind%.so: test/mock/pjrt_mock.c test/mock/pjrt_mock.h backends/pjrt/abi.h backends/pjrt/abi.def $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -fno-sanitize=all $(INTERNAL) -DKIND=$* -shared $< -o $@
$(BUILD)/test/unit/backends/t_plugin_kinds: | $(PLUGIN_MOCKS)
$(BUILD)/test/diff/d_plugin $(BUILD)/test/unit/nn/t_plugin: | $(PJRT_PLUGIN)
EMULATOR := $(BUILD)/mock/test/mock/simt_emu.o $(BUILD)/mock/test/mock/simt_warp.o $(BUILD)/mock/test/mock/simt_group.o $(BUILD)/mock/test/mock/simt_boxes.o
$(BUILD)/test/unit/codegen/t_math_f64: support_more := $(EMULATOR)
$(BUILD)/test/unit/codegen/t_math_f64: $(EMULATOR)
# It makes modules of its own.
$(BUILD)/test/unit/codegen/t_jit: support_more := $(LLVM_CFLAGS)
# test/fuzz: libFuzzer targets, each linked with a driver that replays the corpus and mutates it
$(FUZZ): $(BUILD)/%: %.c $(BUILD)/obj/test/fuzz_main.o $(SUPPORT_OBJS) $(ALL_LIBS) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(INTERNAL) -Itest $(DEPFLAGS) $< $(BUILD)/obj/test/fuzz_main.o $(WHOLE_LINK) -o $@
# test/api: what a user has, the shared library and include/
$(API): $(BUILD)/%: %.c $(SHARED) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) -Iinclude -Itest $(DEPFLAGS) $< -L$(BUILD) -llazuli -Wl,-rpath,'$$ORIGIN/../..',-rpath,$(abspath $(BUILD)) $(LINKFLAGS) $(CHECK_LIBS) -lm -o $@

GENERATORS := $(patsubst %.c,$(BUILD)/%,$(wildcard tools/opgen/*.c))
APIDOC := $(BUILD)/tools/apidoc/apidoc
TESTS := $(UNIT) $(WHOLE) $(API) $(FUZZ)
tests: $(TESTS) $(MOCK) $(LT_MOCK) $(NCCL_MOCK) $(PLUGIN_MOCKS) $(PJRT_PLUGIN) $(SHARED) $(STATIC) $(PROGRAMS) $(if $(BENCH_OBJS),$(BENCH))
unit: $(UNIT)
	@BUILD=$(BUILD) tools/runtests.sh $(UNIT)
check: tests $(GENERATORS) $(APIDOC)
	@BUILD=$(BUILD) CC='$(CC)' MAKE_VARS='$(MAKEOVERRIDES)' tools/runtests.sh --all tools/lint.sh $(TESTS)
check-quick: tests
	@BUILD=$(BUILD) CC='$(CC)' MAKE_VARS='$(MAKEOVERRIDES)' LZ_TEST_QUICK=1 tools/runtests.sh --all $(TESTS)
# Every test program under a locale with a decimal comma; then one with a Turkish i.
check-locale: tests
	@for l in de_DE.UTF-8 tr_TR.UTF-8; do BUILD=$(BUILD) LZ_TEST_LOCALE=$$l LZ_TEST_QUICK=1 tools/runtests.sh $(TESTS) || exit 1; done
# MACHINES=: not on those that this one only stands in for.
MACHINES ?= check-levels check-aarch64
check-whole: tests $(GENERATORS) $(APIDOC)
	@BUILD=$(BUILD) CC='$(CC)' MAKE_VARS='$(MAKEOVERRIDES)' LZ_TEST_WHOLE=1 tools/runtests.sh --all tools/lint.sh $(TESTS)
	@for t in $(MACHINES); do $(MAKE) --no-print-directory $$t || exit 1; done
# The quick suite for AArch64, under qemu-user where this machine is none. A program takes ten to twenty times as long there.
AARCH64_ROOT ?= build/aarch64-root
EMULATED := TEST_CPU=18000 TEST_HANG=1800 TEST_TIMEOUT=86400 CK_TIMEOUT_MULTIPLIER=200
check-aarch64:
	@tools/setup.sh --aarch64 --install
	@tools/aarch64.sh root $(AARCH64_ROOT)
	@$(MAKE) --no-print-directory CROSS=aarch64-linux-gnu SYSROOT=$(AARCH64_ROOT) MODE=$(MODE) BUILD=build/aarch64-$(MODE) \
	    CC='$(filter ccache,$(CC)) aarch64-linux-gnu-gcc --sysroot=$(abspath $(AARCH64_ROOT))' check-emulated
check-emulated: tests
	@BUILD=$(BUILD) CC='$(CC)' MAKE_VARS='CROSS=$(CROSS) SYSROOT=$(abspath $(SYSROOT))' LZ_TEST_QUICK=1 $(EMULATED) \
	    tools/aarch64.sh run $(SYSROOT) tools/runtests.sh $(if $(ONLY),$(filter $(addprefix %/,$(ONLY)),$(TESTS)),$(TESTS) test/golden.sh test/api/hlo.sh test/api/examples.sh)
# Smaller instruction sets of x86-64 than this machine's, as far as it has them: compiled for and run by every test program.
LEVELS := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),x86-64-v2 x86-64-v3 x86-64-v4)
check-levels: tests
	@for l in $(LEVELS); do \
	    if LAZULI_CPU=$$l $(TOOL) devices | grep -q '^CPU:0'; then echo "LAZULI_CPU=$$l"; else echo "LAZULI_CPU=$$l: left out, not of this machine" && continue; fi; \
	    BUILD=$(BUILD) CC='$(CC)' LZ_TEST_TARGET=$$l LZ_TEST_QUICK=1 tools/runtests.sh $(UNIT) $(WHOLE) test/api/hlo.sh test/api/examples.sh || exit 1; done
# The CUDA backend without a GPU: its tests on the library that stands in for the driver, and the assembler's opinion where it is installed.
CUDA_TESTS := $(filter %/t_cuda %/t_cuda_peers %/t_cuda_team %/t_cuda_libs %/t_cuda_loops %/t_nccl %/t_nccl_abi %/t_lib_counter %/t_to_device %/t_profiler_rows %/t_two_devices %/t_assemble %/t_math_f64 %/d_cuda %/d_products %/d_products_code %/d_ptx,$(TESTS))
CUDA_ABOVE := $(filter %/t_grad %/t_nn %/t_api_ops %/t_aten_math %/t_aten_reduce %/t_handles %/t_many_threads %/t_step_invariants %/t_profiler %/t_spmd %/t_callbacks,$(TESTS))
check-cuda: $(CUDA_TESTS) $(CUDA_ABOVE) $(MOCK) $(LT_MOCK) $(NCCL_MOCK) $(SHARED) $(PROGRAMS)
	@BUILD=$(BUILD) CC='$(CC)' MAKE_VARS='$(MAKEOVERRIDES)' tools/runtests.sh $(CUDA_TESTS) test/api/cuda.sh
# Branches of the sources that read what others have written, by the tests that are about them: tools/coverage.sh has the list.
COVERED := $(patsubst %.c,$(BUILD)/%,$(wildcard $(shell tools/coverage.sh tests)))
coverage:
	@$(MAKE) --no-print-directory MODE=coverage BUILD=build/coverage coverage-report
coverage-report: $(COVERED)
	@find $(BUILD) -name '*.gcda' -delete
	@BUILD=$(BUILD) LZ_TEST_QUICK=1 tools/runtests.sh $(COVERED)
	@BUILD=$(BUILD) tools/coverage.sh report
FUZZ_SECONDS ?= 60
fuzz: $(FUZZ)
	@for f in $(FUZZ); do echo "$$f"; $$f -max_total_time=$(FUZZ_SECONDS) test/fuzz/corpus/$${f##*/} || exit 1; done

# ---- generated files that are committed: `make regen` rewrites them, lint fails when they are stale ----
$(GENERATORS): $(BUILD)/%: %.c $(call layer_lib,base) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(FLAGS) $(INTERNAL) $(DEPFLAGS) $< $(call layer_lib,base) $(LINKFLAGS) $(LDLIBS) -o $@
# The worst errors of elementwise operations, measured: ir/measured.def, then make regen.
ulps: $(BUILD)/test/unit/codegen/t_emit
	@EMIT_REPORT=1 $< 2>&1 >/dev/null | tools/ulps.sh >$(BUILD)/measured.def && cp $(BUILD)/measured.def ir/measured.def
regen: $(GENERATORS)
	@tools/regen.sh $(BUILD) write
# ---- the API reference, from the public headers: one page and man pages ----
APIDOC_OBJS := $(call objs,$(call srcs,tools/apidoc,*.c))
$(APIDOC): $(APIDOC_OBJS) $(call layer_lib,base)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(APIDOC_OBJS) $(call layer_lib,base) $(LINKFLAGS) $(LDLIBS) -o $@
PUBLIC := $(wildcard include/lazuli/*)
build/apidoc/index.html: $(APIDOC) $(PUBLIC) tools/apidoc.sh
	@BUILD=$(BUILD) CC='$(CC)' tools/apidoc.sh html $(VERSION) $@
build/man/man1/lazuli.1: $(APIDOC) $(TOOL) $(PUBLIC) tools/apidoc.sh
	@$(TOOL) --help >$(BUILD)/help.txt && BUILD=$(BUILD) CC='$(CC)' HELP=$(BUILD)/help.txt tools/apidoc.sh man $(VERSION) build/man
apidoc: build/apidoc/index.html build/man/man1/lazuli.1
	@echo 'wrote build/apidoc/index.html and build/man'
# What the commands of README.md and docs/ print, written into them.
docs: $(SHARED) $(PROGRAMS)
	@BUILD=$(BUILD) CC='$(CC)' test/api/docs.sh --update
lint: $(GENERATORS) $(APIDOC) $(SHARED)
	@BUILD=$(BUILD) CC='$(CC)' tools/lint.sh
format:
	@tools/lint.sh --format
# clang-tidy over the sources that differ from main; TIDY=all, or files: over those.
tidy: $(BUILD)/gen/llvm_api_names.h $(BUILD)/gen/source_id.h $(PAGE_TEXTS)
	@BUILD=$(BUILD) LLVM_INCLUDEDIR='$(LLVM_INCLUDEDIR)' tools/tidy.sh $(TIDY)
# Have git check the messages of commits made here.
hooks:
	git config core.hooksPath tools/hooks

# ---- for clangd and clang-tidy: how each source is compiled ----
json = $(subst ",\",$(subst \,\\,$(1)))
# $(1) source, $(2) flags of its own, $(3) object or program
entry = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(call json,$(filter-out ccache,$(CC)) $(FLAGS) $(2) -c $(1) -o $(3))"}
with_llvm = $(if $(filter codegen/% backends/cpu/%,$(1)),$(LLVM_CFLAGS))
entries = $(foreach s,$(1),$(call entry,$(s),$(2) $(call with_llvm,$(s)),$(BUILD)/obj/$(s:.c=.o))$(newline))
define newline


endef
INSIDE := $(call srcs,$(LAYERS) tools test/support test/marks test/mock,*.c)
TESTED := $(call srcs,test/unit test/diff test/fault test/fuzz,*.c) test/fuzz_main.c
OUTSIDE := $(wildcard examples/*.c bench/*.c) $(wildcard test/api/*.c)
# Headers that are made must be there to be read.
compile_commands.json: FORCE $(BUILD)/gen/llvm_api_names.h $(BUILD)/gen/source_id.h $(PAGE_TEXTS)
	$(file >$@.new,$(call entries,$(INSIDE) $(TESTED),$(INTERNAL) -Itest)$(call entries,$(OUTSIDE),-Iinclude -Itest))
	@{ echo '['; sed -n '/{/p' $@.new | sed '$$!s/$$/,/'; echo ']'; } >$@ && rm $@.new
	@echo 'wrote $@'

# ---- install ----
# What the files for build systems say is the same everywhere: tools/package/configs.sh. Pages and completions are made by programs
# of this build, and left out when they do not run here.
GUIDES := README.md CHANGELOG.md SECURITY.md LICENSE
install: $(SHARED) $(STATIC) $(PJRT_PLUGIN) $(if $(TOOL_OBJS),$(TOOL))
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/lazuli $(DESTDIR)$(LIBDIR) $(DESTDIR)$(PREFIX)/share/lazuli $(DESTDIR)$(DOCDIR)
	install -m 644 include/lazuli/* $(DESTDIR)$(PREFIX)/include/lazuli/
	install -m 644 $(STATIC) $(DESTDIR)$(LIBDIR)/
	install -m 755 $(SHARED) $(DESTDIR)$(LIBDIR)/
	$(if $(PJRT_PLUGIN),install -m 755 $(PJRT_PLUGIN) $(DESTDIR)$(LIBDIR)/)
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/liblazuli.so
	LDLIBS='$(LDLIBS)' SOVERSION=$(SOVERSION) tools/package/configs.sh '$(PREFIX)' '$(LIBDIR)' $(VERSION) '$(DESTDIR)$(LIBDIR)'
	$(if $(TOOL_OBJS),install -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin/)
	install -m 644 tools/package/valgrind.supp $(DESTDIR)$(PREFIX)/share/lazuli/
	install -m 644 $(wildcard $(GUIDES)) $(DESTDIR)$(DOCDIR)/
	cp -R --no-preserve=ownership docs examples $(DESTDIR)$(DOCDIR)/ && chmod -R u+rwX,go=rX $(DESTDIR)$(DOCDIR)
	@$(MAKE) --no-print-directory -s apidoc build/completions/lazuli.fish || echo 'without man pages and completions: what is built here does not run here'
	@if [ -e build/man/man7/lazuli.7 ]; then for n in 1 3 7; do \
	    install -d $(DESTDIR)$(MANDIR)/man$$n && install -m 644 build/man/man$$n/* $(DESTDIR)$(MANDIR)/man$$n/ || exit 1; done && \
	    install -m 644 build/apidoc/index.html $(DESTDIR)$(DOCDIR)/api.html; fi
	@if [ -e build/completions/lazuli.fish ]; then install -d $(addprefix $(DESTDIR),$(BASHDIR) $(ZSHDIR) $(FISHDIR)) && \
	    install -m 644 build/completions/lazuli $(DESTDIR)$(BASHDIR)/ && install -m 644 build/completions/_lazuli $(DESTDIR)$(ZSHDIR)/ && \
	    install -m 644 build/completions/lazuli.fish $(DESTDIR)$(FISHDIR)/; fi
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig 2>/dev/null || true; fi
# (fish's is the last one)
build/completions/lazuli.fish: $(TOOL)
	@mkdir -p $(@D)
	@$(TOOL) completions bash >$(@D)/lazuli && $(TOOL) completions zsh >$(@D)/_lazuli && $(TOOL) completions fish >$@
uninstall:
	rm -rf $(addprefix $(DESTDIR),$(PREFIX)/include/lazuli $(LIBDIR)/cmake/Lazuli $(PREFIX)/share/lazuli $(DOCDIR)/docs $(DOCDIR)/examples)
	rm -f $(DESTDIR)$(PREFIX)/bin/lazuli $(DESTDIR)$(LIBDIR)/pkgconfig/lazuli.pc \
	    $(addprefix $(DESTDIR)$(LIBDIR)/,liblazuli.a liblazuli.so libpjrt_lazuli.so $(SONAME) $(notdir $(SHARED))) \
	    $(addprefix $(DESTDIR),$(BASHDIR)/lazuli $(ZSHDIR)/_lazuli $(FISHDIR)/lazuli.fish) \
	    $(addprefix $(DESTDIR)$(DOCDIR)/,api.html $(GUIDES)) \
	    $(DESTDIR)$(MANDIR)/man[17]/lazuli.[17] $(DESTDIR)$(MANDIR)/man3/lz_*.3 $(DESTDIR)$(MANDIR)/man3/lazuli_*.3

clean:
	rm -rf $(if $(filter command line environment,$(origin BUILD) $(origin MODE)),$(BUILD),build)

help:
	@echo 'make [all]         libraries, the lazuli command and the examples, in build/$$MODE'
	@echo 'make deps          install what is missing to build, with the command printed; demo, tests and check* do so too, others only say'
	@echo 'make wheel-lazuli  the Python package with library, headers and command, in build/dist; wheel-llvm: one with libLLVM (docs/installing.md)'
	@echo 'make wheel         the Python packages that JAX and torch_xla find, in build/dist (docs/pjrt.md)'
	@echo 'make demo          build and run examples/$(DEMO).c'
	@echo 'make check         every test and lint: about 12 minutes on two cores, the build included; all cores are used'
	@echo 'make check-quick   smaller random loads; check-whole: all of them (a night)'
	@echo 'make check-levels  check-quick for x86-64-v2, v3 and v4; check-aarch64: for AArch64, under qemu-user (docs/ports.md), ONLY=t_name: one'
	@echo 'make check-locale  check-quick under locales with a decimal comma and with a Turkish i'
	@echo 'make check-cuda    the tests of the CUDA backend that need no GPU; tools/gpu-check.sh DIR needs one'
	@echo 'make lz-bench      build build/bench/lz-bench; bench: run all of it, results in bench/results'
	@echo 'make bench-page    bench/results/index.html: charts of all kept results, over commits, by machine, with peers'
	@echo 'make bench-peers   the same with JAX and NumPy (PEER_TORCH=python: torch) in turn, and the table of ratios'
	@echo 'make coverage      branches of the readers of the cache, of files and of text that tests take, by file, and those they do not'
	@echo 'make fuzz          mutate the corpora for FUZZ_SECONDS=60 each'
	@echo 'make lint          layers, sizes, exported names, stale generated files, format'
	@echo 'make format        clang-format 14 over the tree'
	@echo 'make tidy          clang-tidy over the sources that differ from main; TIDY=all: over all'
	@echo 'make hooks         have git check commit messages (tools/hooks/commit-msg)'
	@echo 'make compile_commands.json   for clangd and clang-tidy'
	@echo 'make regen         rewrite the generated files that are committed'
	@echo 'make docs          run the commands of the documentation and rewrite what they print'
	@echo 'make apidoc        the API reference from the headers: build/apidoc/index.html, man pages in build/man'
	@echo 'make install       PREFIX=/usr/local DESTDIR= LIBDIR=$$PREFIX/lib; uninstall takes it back'
	@echo 'make clean         remove build/'
	@echo 'MODE=release|debug|asan|tsan|coverage  BUILD=build/$$MODE  CC=gcc  CFLAGS=...  CROSS=aarch64-linux-gnu SYSROOT=DIR: for another machine'

-include $(shell find $(BUILD)/obj $(BUILD)/mock $(BUILD)/test $(BUILD)/examples $(BUILD)/tools -name '*.d' 2>/dev/null)
.PHONY: wheel wheel-lazuli wheel-llvm all layers tool examples lz-bench bench bench-page bench-peers demo tests unit check check-quick check-locale check-whole check-levels check-aarch64 check-emulated check-cuda fuzz coverage coverage-report regen docs apidoc lint tidy format hooks install uninstall clean help FORCE
