# SPDX-License-Identifier: BSD-2-Clause
# The plugin that cf-capture-qemu has QEMU load. Included from the top-level Makefile.
#
# targets    cfqemu         the plugin
#
# It runs inside the emulator: no sanitizers, nothing visible but the two symbols that are asked
# for, thread variables without a call. What it calls there is not known when it is linked.

CFQ_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CFQ_OUT := $(B)/libexec/cacheflow/qemu/cacheflow.so
CFQ_OBJS := $(patsubst %,$(B)/obj/qemu/%.o,plugin plugin_blocks plugin_maps)
CFQ_CFLAGS := -std=gnu11 -Wall -Wextra $(if $(filter-out 0,$(WERROR)),-Werror) -D_GNU_SOURCE -I. -fPIC -fvisibility=hidden \
    -ftls-model=initial-exec

EXTRA += $(CFQ_OUT)

.PHONY: cfqemu
cfqemu: $(CFQ_OUT)

$(B)/obj/qemu/%.o: $(CFQ_DIR)/%.c $(CFQ_DIR)/plugin.h $(CFQ_DIR)/emulator.h $(CFQ_DIR)/protocol.h \
    capture/record/protocol.h capture/record/cf_repeat.h $(CFQ_DIR)/build.mk $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFQ_CFLAGS) $(PREFIX_MAP) -O2 -g -c $< -o $@

$(CFQ_OUT): $(CFQ_OBJS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@.new $^ -lpthread && mv $@.new $@
