# Lazuli's one Makefile. `make help` lists the targets.
MODE ?= release
BUILD ?= build/$(MODE)
LAYERS := base ir cache lower backends runtime autodiff nn
CC ?= gcc
CFLAGS_COMMON := -std=gnu11 -Wall -Wextra -Wshadow -Werror -fvisibility=hidden -fPIC -pthread -I. -Iinclude -I$(BUILD)/gen -D_GNU_SOURCE -MMD -MP
CFLAGS_release := -O2 -g
CFLAGS_debug := -O0 -g3 -DLZ_DEBUG
CFLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DLZ_DEBUG
CFLAGS_tsan := -O1 -g -fsanitize=thread -DLZ_DEBUG
CFLAGS += $(CFLAGS_COMMON) $(CFLAGS_$(MODE))
LDLIBS := -lzstd -lxxhash -ldl -lm -lpthread
LLVM_CFLAGS := $(shell llvm-config-19 --cflags 2>/dev/null | tr ' ' '\n' | grep -- '^-I')

layer_src = $(shell find $(1) -name '*.c' 2>/dev/null | sort)
layer_obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(call layer_src,$(1)))
layer_lib = $(BUILD)/lib$(1).a
# the archives a layer's tests link: its own and all below, in link order
upto = $(if $(filter $(1),$(firstword $(2))),$(1),$(firstword $(2)) $(call upto,$(1),$(wordlist 2,99,$(2))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,99,$(1))) $(firstword $(1)))
libs_for = $(foreach l,$(call reverse,$(call upto,$(1),$(LAYERS))),$(call layer_lib,$(l)))

UNIT_SRC := $(shell find test/unit -name 't_*.c' 2>/dev/null | sort)
UNIT_BIN := $(patsubst %.c,$(BUILD)/%,$(UNIT_SRC))

all: $(foreach l,$(LAYERS),$(call layer_lib,$(l)))

$(BUILD)/obj/backends/llvm/%.o: CFLAGS += $(LLVM_CFLAGS)
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@

define LAYER
$(call layer_lib,$(1)): $(call layer_obj,$(1))
	@rm -f $$@
	ar rcs $$@ $$^
$(BUILD)/test/unit/$(1)/%: test/unit/$(1)/%.c $(call libs_for,$(1))
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) -Itest $$< $(call libs_for,$(1)) -lcheck -lsubunit -lrt $$(LDLIBS) -o $$@
endef
$(foreach l,$(LAYERS),$(eval $(call LAYER,$(l))))

unit: $(UNIT_BIN)
	@for t in $(UNIT_BIN); do $$t || exit 1; done

clean:
	rm -rf $(BUILD)
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.PHONY: all unit clean
