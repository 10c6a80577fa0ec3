# SPDX-License-Identifier: BSD-2-Clause
# libcf-alloc.so, which is preloaded into programs. Included from the top-level Makefile.
#
# targets    cfalloc        the library
#
# It runs inside the program: no sanitizers, nothing visible but what it interposes, all symbols bound
# when it is loaded, thread variables without a call. Its functions keep frame pointers, by which they
# find their caller's, and are real frames, which a walk recognizes. What it calls of itself is bound to
# itself (not by -Bsymbolic: then what it looks up for the program would be, too).

CFA_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CFA_OUT := $(B)/libexec/cacheflow/libcf-alloc.so
CFA_OBJS := $(patsubst $(CFA_DIR)/%.c,$(B)/obj/alloc/%.o,$(wildcard $(CFA_DIR)/shim_*.c))
CFA_CFLAGS := -std=gnu11 -Wall -Wextra $(if $(filter-out 0,$(WERROR)),-Werror) -D_GNU_SOURCE -I. -O2 -g \
    -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-builtin-malloc -fno-builtin-calloc \
    -fno-omit-frame-pointer -fno-optimize-sibling-calls -fexceptions -fno-stack-protector -fno-plt

ifneq ($(filter x86_64 aarch64,$(ARCH)),)
EXTRA += $(CFA_OUT)
endif

.PHONY: cfalloc
cfalloc: $(CFA_OUT)

$(B)/obj/alloc/%.o: $(CFA_DIR)/%.c $(CFA_DIR)/shim.h $(CFA_DIR)/shim_next.h $(CFA_DIR)/shared.h \
    $(CFA_DIR)/build.mk $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFA_CFLAGS) $(PREFIX_MAP) -c $< -o $@

$(CFA_OUT): $(CFA_OBJS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-Bsymbolic-functions,-z,start-stop-visibility=hidden,-z,now,-z,relro,-z,noexecstack -o $@.new $^ && mv $@.new $@
