# SPDX-License-Identifier: BSD-2-Clause
# The Valgrind tool cftrace and its decoder. Included from the top-level Makefile, or alone:
#     make -f capture/trace/build.mk [B=DIR] [CC=...] [CFLAGS=...]
#
# targets    cftrace        the tool, its preload library, links to Valgrind's own parts
# variables  B              build directory [build]
#            VG_ARCH        Valgrind's name of the architecture [from the compiler]
#            VG_LIB         its libraries; VG_LIBEXEC its programs; VG_INCLUDE its headers

B ?= build
CC ?= cc
CFLAGS ?= -O2 -g
V ?=
CFT_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
CFT_Q := $(if $(V),,@)

# The tool is free-standing code of its own rules: gcc, and flags that Valgrind's libraries need.
VG_CC ?= gcc
VG_MACHINE := $(shell $(VG_CC) -dumpmachine)
VG_ARCH ?= $(if $(filter x86_64%,$(VG_MACHINE)),amd64,$(if $(filter aarch64%,$(VG_MACHINE)),arm64))
VG_LIB ?= $(patsubst %/,%,$(dir $(firstword $(wildcard \
    /usr/lib/$(VG_MACHINE)/valgrind/libcoregrind-$(VG_ARCH)-linux.a \
    /usr/lib/valgrind/libcoregrind-$(VG_ARCH)-linux.a))))
VG_LIBEXEC ?= $(firstword $(wildcard /usr/libexec/valgrind) /usr/lib/valgrind)
VG_INCLUDE ?= /usr/include/valgrind
VG_CFLAGS_amd64 := -m64 -fcf-protection=none
VG_CFLAGS := $(VG_CFLAGS_$(VG_ARCH)) -O2 -g -std=gnu11 -Wall -Wextra $(if $(filter-out 0,$(WERROR)),-Werror) \
    -fno-strict-aliasing -fno-builtin \
    -fomit-frame-pointer -fno-stack-protector -fno-pic -fno-pie -Wno-unused-parameter \
    -Werror=incompatible-pointer-types \
    -DVGA_$(VG_ARCH)=1 -DVGO_linux=1 -DVGP_$(VG_ARCH)_linux=1 -DVGPV_$(VG_ARCH)_linux_vanilla=1 \
    -isystem $(VG_INCLUDE) -I$(CFT_DIR)/../..
VG_OUT := $(B)/libexec/cacheflow/valgrind
VG_SUFFIX := $(VG_ARCH)-linux

CFT_TOOL_OBJS := $(patsubst %,$(B)/obj/trace/tool_%.o,main plan instrument events exec heap own allocators calls transport ring numbers)
CFT_OUT := $(VG_OUT)/cftrace-$(VG_SUFFIX) $(VG_OUT)/vgpreload_cftrace-$(VG_SUFFIX).so \
    $(VG_OUT)/cftraceown-$(VG_SUFFIX) \
    $(VG_OUT)/default.supp $(VG_OUT)/vgpreload_core-$(VG_SUFFIX).so

.PHONY: cftrace
ifneq ($(and $(VG_ARCH),$(VG_LIB)),)
EXTRA += $(CFT_OUT)
cftrace: $(CFT_OUT)
else
cftrace:
	@echo "cftrace: not built: needs the package valgrind on amd64 or arm64" >&2
endif

$(B)/obj/trace/tool_%.o: $(CFT_DIR)/tool_%.c $(wildcard $(CFT_DIR)/tool*.h) $(CFT_DIR)/protocol.h \
    $(CFT_DIR)/../record/protocol.h $(CFT_DIR)/build.mk $(if $(OWN_FLAGS),$(B)/flags)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(CFT_Q)$(VG_CC) $(VG_CFLAGS) $(PREFIX_MAP) -c $< -o $@

# The address is where Valgrind's own tools live: clear of programs, and below 2 GiB.
CFT_LIBS := $(patsubst %,$(VG_LIB)/lib%-$(VG_SUFFIX).a,coregrind vex)
$(VG_OUT)/cftrace-$(VG_SUFFIX): $(CFT_TOOL_OBJS) $(CFT_LIBS)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(CFT_Q)$(VG_CC) $(VG_CFLAGS) -static -no-pie -nodefaultlibs -nostartfiles -u _start \
	    -Wl,-Ttext-segment=0x58000000 -Wl,--build-id=none -Wl,-z,noexecstack \
	    -Wl,--wrap=vgModuleLocal_read_debuginfo_dwarf3 \
	    -Wl,--wrap=vgSysWrap_generic_sys_execve_before \
	    -Wl,--wrap=vgSysWrap_linux_sys_execveat_before \
	    -Wl,--wrap=vgPlain_mkstemp -Wl,--wrap=vgPlain_mkstemp_fullname_bufsz \
	    -Wl,--wrap=vgPlain_should_we_trace_this_child -o $@ $^ -lgcc \
	    $(wildcard $(VG_LIB)/libgcc-sup-$(VG_SUFFIX).a)

$(B)/obj/trace/shim_%.o: $(CFT_DIR)/shim_%.c $(CFT_DIR)/build.mk $(if $(OWN_FLAGS),$(B)/flags)
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(CFT_Q)$(VG_CC) $(VG_CFLAGS) -fpic $(PREFIX_MAP) -c $< -o $@

$(VG_OUT)/vgpreload_cftrace-$(VG_SUFFIX).so: $(B)/obj/trace/shim_pvalloc.o \
    $(VG_LIB)/libreplacemalloc_toolpreload-$(VG_SUFFIX).a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(CFT_Q)$(VG_CC) $(VG_CFLAGS_$(VG_ARCH)) -shared -nodefaultlibs -Wl,-z,interpose,-z,initfirst \
	    -Wl,-z,noexecstack -Wl,-z,muldefs -o $@ $< -Wl,--whole-archive $(lastword $^) -Wl,--no-whole-archive

# The tool by a name that no preload library has: no replacement of malloc gets into the program.
$(VG_OUT)/cftraceown-$(VG_SUFFIX):
	@mkdir -p $(@D)
	$(CFT_Q)ln -sf cftrace-$(VG_SUFFIX) $@

$(VG_OUT)/default.supp $(VG_OUT)/vgpreload_core-$(VG_SUFFIX).so:
	@mkdir -p $(@D)
	$(CFT_Q)ln -sf $(VG_LIBEXEC)/$(@F) $@
