# SPDX-License-Identifier: BSD-2-Clause
#
# cacheflow: offline cache-trace analysis, from a recorded program to the answer.
#
# Targets
#   make             build every program into build/bin
#   make tests       build what the tests are made of, for tests/run
#   make demo        install what is needed, build, record a real program and show the result
#   make check       install what is needed, build, run the tests (seven minutes on two cores,
#                    nine with ALL=1; at first it fetches Debian kernels to test in, 250 MB, into
#                    ~/.cache/cacheflow)
#   make check-long  the tests that take long: fuzzing, calls that fail one by one in every program, a
#                    trace of many gigabytes of addresses, and `make mutate`; TIME=600 a fuzz target
#   make fuzz        libFuzzer makes up inputs, TIME=60 seconds a target; TARGET=rank is one of them;
#                    ENGINE=afl: AFL++ does, by the same harness
#   make mutate      200 small changes to the source, one at a time: does a suite fail for each?
#   make bench       measured speed and size, each as a ratio to a baseline of the same run
#   make lint        formatting, static analysis, headers, man pages, shell scripts
#   make golden      write the expected results under tests/golden anew and show what changed
#   make kmod        cacheflow.ko and pagectl.ko for the running kernel (needs its headers), into
#                    build/kmod
#   make dist        what the last commit holds as build/dist/cacheflow-VERSION.tar.gz, of the same
#                    bytes each time
#   make deb         Debian packages of that in build/deb: cacheflow, cacheflow-dkms, libcf-dev
#   make install     programs, man pages, machines, pipelines, library, header, completion
#                    into PREFIX
#   make uninstall   remove what install has put there
#   make deps        install the packages that the build and the tests need (Debian, Ubuntu)
#   make clean       remove build/
#   make help        show this text
#
# Variables
#   CC CFLAGS CPPFLAGS LDFLAGS LDLIBS   yours: compiler and flags   [cc, -O2 -g, the rest empty]
#   PREFIX DESTDIR   where install puts things, and a root before it          [/usr/local, empty]
#   B                build directory                           [build; build/san with SANITIZE=1]
#   V=1              show the commands
#   WERROR=1         a warning is an error
#   SANITIZE=1       build and check with the address and undefined-behaviour sanitizers of clang
#   TESTS="a b"      check: only these suites, by file name without ending, such as cf-rank
#   ALL=1            check: slow tests, too, which are left out and named else
#   JOBS=N           how many jobs at a time                                   [number of CPUs]
#   DEPS=0           never install packages
#   KDIR             kmod: build directory of another kernel   [/lib/modules/$(uname -r)/build]
#
# The end of the manual; what follows is the build.

VERSION := 0.1.0

SANITIZE ?=
# clang's sanitizer sees more, such as an offset to a null pointer.
ifeq ($(origin CC),default)
CC := $(if $(filter-out 0,$(SANITIZE)),clang,cc)
endif
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
DESTDIR ?=
export DEPS
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
B       ?= $(if $(filter-out 0,$(SANITIZE)),build/san,build)
ifneq ($(words $(B)),1)
$(error B is '$(B)': give a folder without a blank in its name)
endif

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif
ifneq ($(filter clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

.PHONY: all demo check check-long fuzz mutate bench lint golden kmod dist deb install install-files uninstall \
	deps clean help tests benches FORCE

# A program's own directory may hold a build.mk that adds to EXTRA what else `all` builds.
# It must not use SANFLAGS where its product runs outside our own processes.
EXTRA :=

# One list of programs, by pattern: filters/cf-NAME.c with what filters/parts/NAME/ holds is cf-NAME,
# capture/cf-capture-NAME.c with what capture/NAME/ holds is cf-capture-NAME. The files of
# capture/base/, record/, operands/, spe/, events/, watch/ and alloc/ are shared by the captures.
# Where a directory has a build.mk, tool*.c, plugin*.c and shim_*.c are its; test/ holds what tests compile.
FILTERS  := $(patsubst filters/%.c,%,$(wildcard filters/cf-*.c))
CAPTURES := $(patsubst capture/%.c,%,$(wildcard capture/cf-*.c))
PROGRAMS := $(FILTERS) $(CAPTURES)
parts     = $(filter-out $(if $(wildcard $(1)/build.mk),$(1)/tool% $(1)/plugin% $(1)/shim_%) $(1)/test/%,$(wildcard $(1)/*.c $(1)/*/*.c))

# What is installed as libcf, and what its own programs need beside.
LIBCF_SOURCES      := $(wildcard $(addprefix formats/,$(addsuffix /*.c,base cpu files codec stream writer)))
LIBPROGRAM_SOURCES := $(wildcard formats/machine/*.c formats/program/*.c formats/together/*.c)
LIBENGINE_SOURCES  := $(wildcard filters/engine/*/*.c)
LIBPICTURE_SOURCES := $(wildcard filters/picture/*.c)
LIBSHARED_SOURCES  := $(wildcard filters/heat/*.c filters/ranking/*.c filters/survey/*.c)
LIBCAPTURE_SOURCES := \
	$(wildcard $(addprefix capture/,$(addsuffix /*.c,base record operands spe events watch))) \
	$(filter-out capture/alloc/shim_%,$(wildcard capture/alloc/*.c))

LIBCF      := $(B)/lib/libcf.a
LIBPROGRAM := $(B)/lib/libprogram.a
LIBFORMATS := $(LIBPROGRAM) $(LIBCF)
LIBENGINE  := $(B)/lib/libengine.a
LIBPICTURE := $(B)/lib/libpicture.a
LIBSHARED  := $(B)/lib/libshared.a
LIBCAPTURE := $(B)/lib/libcapture.a

HEADERS    := $(addprefix formats/stream/,cf.h cf_columns.h cf_stretched.h)
MACHINES   := $(wildcard formats/machines/*.yaml)
MAN        := $(sort $(wildcard */*.[1457] */*/*.[1457]))
UNIT       := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
BENCH      := $(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c))
# The one for bash serves as a script for the others.
COMPLETION := pipelines/cacheflow.bash-completion pipelines/cacheflow.zsh pipelines/cacheflow.fish
# What runs from anywhere, and the programs that it records.
PIPELINES  := $(addprefix pipelines/,explore.mk modeling.mk names.mk settings.mk stored.mk batch.mk) $(wildcard pipelines/recipe-*.mk pipelines/bbprof*.mk pipelines/cache*.mk pipelines/*.awk pipelines/*.c)
SCRIPTS    := $(wildcard pipelines/*.sh)
RECORDED   := $(wildcard samples/cacheflow/*.[ch] samples/cacheperf/* samples/bbprof/*)

comma     := ,
OWN_FLAGS := -std=gnu11 -Wall -Wextra $(if $(filter-out 0,$(WERROR)),-Werror)
# Binaries do not depend on where they are built: debug information has the tree as ".".
export PWD := $(CURDIR)
PREFIX_MAP := -ffile-prefix-map='$(subst ','\'',$(CURDIR))'=.
OWN_CPP   := -D_GNU_SOURCE -I. -DCF_VERSION='"$(VERSION)"'
SANFLAGS  := $(if $(filter-out 0,$(SANITIZE)),-fsanitize=address$(comma)undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer -DCF_SANITIZED)
LIBCF_LIBS := -lyaml -lzstd -lxxhash -lm -lpthread
OWN_LIBS  := -lcsv $(LIBCF_LIBS)
DRAW_LIBS := -lcairo
# Libraries that few programs need: those that read executables, and those that draw.
LIBS_cf-resolve := -ldw -lelf -ldl
LIBS_alloc_shim := -lelf
LIBS_cf-capture := -lelf
LIBS_cf-capture-dumpcache := -lelf
LIBS_cf-capture-pages := -lelf -lpfm
LIBS_cf-capture-pages-told := -lelf -lpfm
LIBS_cf-capture-probe-coarse := -lpfm
LIBS_cf-capture-perf := -lZydis -lelf -lpfm
LIBS_cf-capture-qemu := -lelf
LIBS_cf-capture-snapshot := -lelf
LIBS_cf-capture-trace := -lelf
LIBS_test_qemu_decode := -lelf
LIBS_test_trace_decode := -lelf
LIBS_test_trace_processes := -lelf
LIBS_test_maps := -lelf
LIBS_test_emit := -lelf
LIBS_bench_breakpoint := -lpfm
LIBS_test_here := -lpfm
LIBS_cf-capture-probe := -lpfm
LIBS_step_operands := -lZydis
LIBS_log_operands := -lZydis
LIBS_cf-heatmap := $(DRAW_LIBS)
LIBS_cf-occupancy := $(DRAW_LIBS)
LIBS_cf-sets := $(DRAW_LIBS)
LIBS_cf-mrc := $(DRAW_LIBS)
LIBS_cf-policy := $(DRAW_LIBS)
LIBS_cf-classify := $(DRAW_LIBS)
LIBS_cf-rank := $(DRAW_LIBS)
LIBS_cf-report := $(DRAW_LIBS)
LIBS_cf-sweep := $(DRAW_LIBS)
LIBS_cf-infer := $(DRAW_LIBS)

Q   := $(if $(filter-out 0,$(V)),,@)
say  = $(if $(Q),@printf '  %-7s %s\n' $(1) $(2))

compile = $(CC) $(OWN_FLAGS) $(PREFIX_MAP) $(SANFLAGS) $(OWN_CPP) $(CPPFLAGS) $(CFLAGS)
link    = $(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS)
# The recipe of every program: of its objects and archives, in their order.
define linked
$(call say,LD,$@)
$(Q)mkdir -p $(@D)
$(Q)$(link) -o $@.new $(filter %.o %.a,$^) $(LIBS_$(@F)) $(OWN_LIBS) $(LDLIBS) && mv $@.new $@
endef
# Sources named _simd.c or _simd512.c are compiled for the processors of formats/cpu/cf_cpu.h.
ARCH      := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
SIMD      := base $(if $(filter x86_64,$(ARCH)),avx2)
SIMD512   := $(SIMD) $(if $(filter x86_64,$(ARCH)),avx512)
SIMD_base :=
SIMD_avx2 := -mavx2 -mbmi -mbmi2 -mpopcnt
SIMD_avx512 := $(SIMD_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512
objects = $(patsubst %.c,$(B)/obj/%.o,$(filter-out %_simd.c %_simd512.c,$(1))) \
	$(foreach s,$(SIMD),$(patsubst %.c,$(B)/obj/%.$s.o,$(filter %_simd.c,$(1)))) \
	$(foreach s,$(SIMD512),$(patsubst %.c,$(B)/obj/%.$s.o,$(filter %_simd512.c,$(1))))

all: $(PROGRAMS:%=$(B)/bin/%) $(LIBCF) $(MACHINES:formats/machines/%=$(B)/share/cacheflow/machines/%) $(B)/man.list

-include $(wildcard capture/*/build.mk filters/*/build.mk)
# The tool that runs inside Valgrind, by its own rules.
all: $(EXTRA) $(if $(wildcard capture/trace/build.mk),cftrace)

# Rewritten only when the flags change, so that other flags mean a new build.
$(B)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(compile) / $(link) / $(SIMD512) / $(VG_CC) $(VG_CFLAGS) $(VG_LIB))' >$@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

$(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(compile) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@ $<

define simd
$(B)/obj/%_$(2).$(1).o: %_$(2).c $(B)/flags
	$$(call say,CC,$$< for $(1))
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(compile) -DCF_SIMD_FOR=$(1) $(SIMD_$(1)) -ffp-contract=off -MMD -MP -MT $$@ \
		-MF $$(@:.o=.d) -c -o $$@ $$<
endef
$(foreach s,$(SIMD),$(eval $(call simd,$s,simd)))
$(foreach s,$(SIMD512),$(eval $(call simd,$s,simd512)))

# Taken in by .incbin, of which the compiler does not tell.
page_files = $(wildcard $(foreach kind,html css js,filters/$(1)*.$(kind)))
$(B)/obj/filters/parts/annotate/annotate_html.o: $(call page_files,parts/annotate/page)
$(B)/obj/filters/heat/render_html.o: $(call page_files,heat/page)
$(B)/obj/filters/parts/report/page_json.o: $(call page_files,parts/report/page)
$(B)/obj/filters/parts/report/findings_json.o: $(call page_files,parts/report/findings) filters/parts/report/page.html
$(B)/obj/filters/parts/infer/infer_html.o: $(call page_files,parts/infer/page)
$(B)/obj/filters/parts/rank/rank_html.o: $(call page_files,parts/rank/page)
$(B)/obj/filters/picture/chart_html.o: $(call page_files,picture/chart)
$(B)/obj/filters/picture/file.o: $(call page_files,picture/page)

# An archive is made anew when a source was added, changed or removed.
define archive
$(B)/lib/$(1).list: FORCE
	@mkdir -p $$(@D); echo '$(2)' >$$@.$$$$$$$$; \
	if cmp -s $$@.$$$$$$$$ $$@; then rm $$@.$$$$$$$$; else mv $$@.$$$$$$$$ $$@; fi
$(B)/lib/$(1).a: $(call objects,$(2)) $(B)/lib/$(1).list
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@.$$$$$$$$; ar rcs $$@.$$$$$$$$ $(call objects,$(2)) && mv $$@.$$$$$$$$ $$@
endef
$(eval $(call archive,libcf,$(LIBCF_SOURCES)))
$(eval $(call archive,libprogram,$(LIBPROGRAM_SOURCES)))
$(eval $(call archive,libengine,$(LIBENGINE_SOURCES)))
$(eval $(call archive,libpicture,$(LIBPICTURE_SOURCES)))
$(eval $(call archive,libshared,$(LIBSHARED_SOURCES)))
$(eval $(call archive,libcapture,$(LIBCAPTURE_SOURCES)))

# $(1) is the program, $(2) its sources, $(3) the archives before those of formats/.
define program
$(B)/bin/$(1): $(call objects,$(2)) $(3) $(LIBFORMATS)
	$$(linked)
endef
$(foreach p,$(FILTERS),$(eval $(call program,$p,filters/$p.c \
	$(call parts,filters/parts/$(p:cf-%=%)),$(LIBSHARED) $(LIBPICTURE) $(LIBENGINE))))
$(foreach p,$(CAPTURES),$(eval $(call program,$p,capture/$p.c \
	$(if $(filter cf-capture-%,$p),$(call parts,capture/$(p:cf-capture-%=%))),$(LIBCAPTURE))))

# One that was renamed or removed must not stay.
$(B)/machines.list: FORCE
	@mkdir -p $(@D); echo '$(MACHINES)' >$@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else \
	    rm -rf $(B)/share/cacheflow/machines; mv $@.$$$$ $@; fi

$(B)/share/cacheflow/machines/%: formats/machines/% $(B)/machines.list
	$(Q)mkdir -p $(@D) && cp $< $@

# Man pages stand where man(1) looks for those of a program in build/bin.
$(B)/man.list: $(MAN) FORCE
	@mkdir -p $(@D); echo '$(MAN)' >$@.$$$$; \
	if cmp -s $@.$$$$ $@ && test -z '$(filter-out FORCE,$?)'; then rm $@.$$$$; else \
	    rm -rf $(B)/share/man; for m in $(MAN); do \
	    install -D -m 644 $$m $(B)/share/man/man$${m##*.}/$${m##*/} || exit 1; done; \
	    mv $@.$$$$ $@; fi

# Tests and benchmarks are one file each. They may use the library and the engines, and those of
# kmod/ the headers that kernel and user side share.
tests: $(UNIT:%=$(B)/test/%) $(if $(wildcard filters/template.c),$(B)/test/cf-template) \
	$(B)/test/leon4-forms $(B)/test/test_reference $(B)/test/cf-capture-pages-told \
	$(B)/test/cf-capture-probe-coarse \
	$(if $(SANFLAGS),,$(B)/test/faults $(B)/test/faults.so)
benches: $(BENCH:%=$(B)/bench/%) $(B)/test/alloc_shim

$(B)/test/%: $(B)/obj/tests/unit/%.o $(LIBENGINE) $(LIBCAPTURE) $(LIBFORMATS)
	$(linked)

# Numbers of pictures; nothing of it draws.
$(B)/test/test_axis: $(LIBPICTURE)

# The searches of cf-capture-probe, on an engine, and what cf-infer makes of them.
PROBE_SEARCHES := $(call objects,capture/probe/pattern.c capture/probe/measure.c \
	$(addprefix capture/probe/,search.c levels.c inclusion.c conflict.c))
$(B)/test/test_probe $(B)/test/test_conflict: $(PROBE_SEARCHES)
$(B)/test/test_probe_policy: $(PROBE_SEARCHES) $(call objects,capture/probe/policy.c)
INFER_PARTS := $(call objects,$(addprefix filters/parts/infer/,known.c read.c exclusive.c relation.c policy.c))
$(B)/test/test_modeling: $(B)/obj/tests/unit/test_modeling.o $(PROBE_SEARCHES) $(INFER_PARTS) \
	$(LIBENGINE) $(LIBFORMATS)
	$(linked)
$(B)/test/test_probe_noise: $(B)/obj/tests/unit/test_probe_noise.o $(PROBE_SEARCHES) $(INFER_PARTS) \
	$(call objects,$(addprefix capture/probe/,noisy.c window.c noise.c policy.c)) $(LIBENGINE) $(LIBFORMATS)
	$(linked)

# Its patterns, walked to be recorded.
WALKED := $(wildcard capture/probe/steady/*.c) \
	$(addprefix capture/probe/,policy.c conflict.c pattern.c measure.c bench/frames.c bench/chain.c)
$(B)/test/walk_patterns: $(call objects,$(WALKED) capture/base/cf_clock.c formats/base/cf_sequence.c formats/base/cf_memory.c)

# The first level of a machine that is disturbed; what is behind it is linked, and not reached.
$(B)/test/test_first: $(B)/obj/tests/unit/test_first.o $(call objects,$(filter-out capture/probe/bench/chain.c, \
	$(WALKED))) $(LIBFORMATS)
	$(linked)

# What new filters start from is built and tested as one of them, but not installed.
$(B)/test/cf-template: $(B)/obj/filters/template.o $(LIBENGINE) $(LIBFORMATS)
	$(linked)

# cf-capture pages with a clock of the tests: the time is what the timed program says.
TOLD_SOURCES := capture/cf-capture-pages.c $(wildcard capture/pages/*.c) tests/told/clock.c
$(B)/test/cf-capture-pages-told: $(call objects,$(TOLD_SOURCES)) $(LIBCAPTURE) $(LIBFORMATS)
	$(linked)

# cf-capture probe with a clock that is too coarse, or stands still.
COARSE_SOURCES := capture/cf-capture-probe.c $(call parts,capture/probe) tests/told/coarse.c
$(B)/test/cf-capture-probe-coarse: $(call objects,$(COARSE_SOURCES)) $(LIBCAPTURE) $(LIBFORMATS)
	$(linked)

# What makes the samples of LEON, of several files.
LEON4_SOURCES := $(wildcard tests/leon4/*.c)
$(B)/test/leon4-forms: $(call objects,$(LEON4_SOURCES)) $(LIBENGINE) $(LIBFORMATS)
	$(linked)

# The slow model of caches and what compares the programs with it. No engine.
REFERENCE_SOURCES := $(wildcard tests/reference/*.c)
$(B)/test/test_reference: $(call objects,$(REFERENCE_SOURCES)) $(LIBFORMATS)
	$(linked)

# What lets calls of the programs fail; the sanitizers have allocators of their own.
$(B)/test/faults: $(B)/obj/tests/faults/drive.o $(B)/obj/tests/faults/one_run.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(link) -o $@.new $^ $(LDLIBS) && mv $@.new $@

$(B)/test/faults.so: tests/faults/preload.c tests/faults/faults.h $(B)/flags
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(compile) -fPIC -fno-builtin -shared $(LDFLAGS) -o $@.new $< && mv $@.new $@

# Breakpoints as cf-capture perf sets them.
$(B)/bench/bench_breakpoint: $(LIBCAPTURE)

$(B)/bench/%: $(B)/obj/tests/bench/%.o $(LIBENGINE) $(LIBFORMATS)
	$(linked)

-include $(shell test -d $(B)/obj && find $(B)/obj -name '*.d')

# It reads the clock that cf-capture pages reads.
$(B)/bench/bench_observed: $(LIBCAPTURE)

# ---- what people call ----

help:
	@sed -n '3,/^# The end/{/^# The end/d;s/^# \{0,1\}//;p}' Makefile

deps:
	@.ci/install build check guest

demo:
	@.ci/install build
	@$(MAKE) all
	@$(MAKE) -f pipelines/demo.mk B=$(B)

# Kernels for guests only where a suite is to run that boots one.
GUESTS = $(if $(SANFLAGS),,$(if $(TESTS),$(if $(findstring kmod,$(TESTS)),guest),guest))

check:
	@.ci/install build check $(GUESTS)
	@$(MAKE) all tests
	@tests/run -b $(B) -j $$(($(JOBS) + 1)) $(if $(ALL)$(TESTS),,--quick) $(TESTS) # some wait more than they work

# Before anything is installed or built, also with make -n: does tests/run-long take this?
check-long: TIME = 600
check-long: LONG = -b $(B) -t '$(TIME)'
check-long:
	+@tests/run-long -n $(LONG)
	@.ci/install build check guest fuzz kernel package
	@$(MAKE) all tests
	@tests/run-long $(LONG)

# Inputs that libFuzzer makes up, TIME seconds a target; without TARGET all of them.
fuzz: TIME = 60
fuzz: LONG = -b $(B) -j $(JOBS) -t '$(TIME)' $(ENGINE:%=-e %) $(or $(TARGET:%=fuzz:%),fuzz)
fuzz:
	+@tests/run-long -n $(LONG)
	@.ci/install build check fuzz
	@$(MAKE) all tests
	@tests/run-long $(LONG)

mutate:
	@.ci/install build check guest
	@tests/mutate -j $(JOBS)

bench:
	@.ci/install build bench
	@$(MAKE) all benches
	@tests/bench/run -b $(B)

lint:
	@.ci/install build check
	@.ci/lint

kmod:
	@$(MAKE) --no-print-directory -C kmod OUT=$(abspath $(B)/kmod)

dist:
	@pipelines/package/dist.sh $(VERSION) $(B)/dist/cacheflow-$(VERSION).tar.gz

deb: dist
	@.ci/install build package
	@pipelines/package/deb.sh $(VERSION) $(B)/dist/cacheflow-$(VERSION).tar.gz $(B)/deb

golden:
	@.ci/install build check
	@$(MAKE) all tests
	@tests/run -b $(B) -j $(JOBS) --golden $(TESTS)
	@git diff --stat -p -- tests/golden; git status --short -- tests/golden

# What install puts somewhere, uninstall removes by the same lists: no file of others, wherever it lies.
bindir := $(PREFIX)/bin
libdir := $(PREFIX)/lib
incdir := $(PREFIX)/include/cacheflow
exedir := $(PREFIX)/libexec/cacheflow
shrdir := $(PREFIX)/share/cacheflow
mandir := $(PREFIX)/share/man
cmpdir := $(PREFIX)/share/bash-completion/completions
zshdir := $(PREFIX)/share/zsh/site-functions
fshdir := $(PREFIX)/share/fish/vendor_completions.d

# One word for the shell, whatever the name holds; and a file or folder below DESTDIR as such.
quoted  = '$(subst ','\'',$(1))'
D       = $(call quoted,$(DESTDIR)$(1))
# make would take it for a variable of its own, and a part of the name would be missing.
no_dollar = $(foreach v,DESTDIR PREFIX,$(if $(findstring $$,$(value $v)),\
	$(error $v holds a dollar sign, which make takes for a variable: give another name)))

# What is private to the programs: what was built, or would be.
PRIVATE = $(patsubst $(B)/libexec/cacheflow/%,%,$(filter $(B)/libexec/cacheflow/%,$(EXTRA) \
	$(shell find $(B)/libexec/cacheflow ! -type d 2>/dev/null)))

install: all
	$(no_dollar)@$(MAKE) --no-print-directory install-files

# Without a build: what is there is put in place.
install-files:
	$(no_dollar)$(Q)install -d -- $(call D,$(bindir)) $(call D,$(libdir)/pkgconfig) $(call D,$(incdir)) \
	    $(call D,$(shrdir)/machines) $(call D,$(shrdir)/pipelines) $(call D,$(shrdir)/samples/cacheflow) \
	    $(call D,$(shrdir)/samples/cacheperf) $(call D,$(shrdir)/samples/bbprof)
	$(Q)install -m 755 -- $(PROGRAMS:%=$(B)/bin/%) $(call D,$(bindir))
	$(Q)install -m 644 -- $(LIBCF) $(call D,$(libdir))
	$(Q)install -m 644 -- $(HEADERS) $(call D,$(incdir))
	$(Q)install -m 644 -- $(MACHINES) $(call D,$(shrdir)/machines)
	$(Q)install -m 644 -- $(PIPELINES) $(call D,$(shrdir)/pipelines)
	$(Q)install -m 755 -- $(SCRIPTS) $(call D,$(shrdir)/pipelines)
	$(Q)for f in $(RECORDED); do install -m 644 -- $$f $(call D,$(shrdir))/$$f || exit 1; done
	$(Q)printf '%s\n' prefix="$$(realpath -ms -- $(call quoted,$(PREFIX)))" 'includedir=$${prefix}/include' \
	    libdir=$(call quoted,$(subst $(PREFIX)/,$${prefix}/,$(libdir))) '' \
	    'Name: cacheflow' 'Description: read and write the cacheflow record stream' \
	    'Version: $(VERSION)' 'Cflags: -I"$${includedir}"' \
	    'Libs: -L"$${libdir}" -lcf $(LIBCF_LIBS)' >$(call D,$(libdir)/pkgconfig/cacheflow.pc) && \
	    chmod 644 -- $(call D,$(libdir)/pkgconfig/cacheflow.pc)
	$(Q)for m in $(MAN); do \
	    install -D -m 644 -- $$m $(call D,$(mandir))/man$${m##*.}/$${m##*/} || exit 1; done
	$(Q)if test -d $(B)/libexec/cacheflow; then install -d -- $(call D,$(exedir)) && \
	    cp -R -P --preserve=mode,timestamps --remove-destination -- $(B)/libexec/cacheflow/. $(call D,$(exedir)/) && \
	    chmod -R a+rX -- $(call D,$(exedir)); fi
	$(Q)install -D -m 644 -- $(word 1,$(COMPLETION)) $(call D,$(cmpdir)/cacheflow)
	$(Q)install -D -m 644 -- $(word 3,$(COMPLETION)) $(call D,$(fshdir)/cacheflow.fish)
	$(Q)for p in $(PROGRAMS); do ln -sf -- cacheflow $(call D,$(cmpdir))/$$p && \
	    ln -sf -- cacheflow.fish $(call D,$(fshdir))/$$p.fish || exit 1; done
	$(Q)install -d -- $(call D,$(zshdir)) && \
	    sed 's/@PROGRAMS@/$(PROGRAMS)/' $(word 2,$(COMPLETION)) >$(call D,$(zshdir)/_cacheflow) && \
	    chmod 644 -- $(call D,$(zshdir)/_cacheflow)
	@echo "installed into" $(call D,$(PREFIX))

uninstall:
	$(no_dollar)$(Q)rm -f -- $(foreach p,$(PROGRAMS),$(call D,$(bindir)/$p) $(call D,$(cmpdir)/$p) \
	    $(call D,$(fshdir)/$p.fish)) \
	    $(call D,$(libdir)/libcf.a) $(call D,$(libdir)/pkgconfig/cacheflow.pc) \
	    $(call D,$(cmpdir)/cacheflow) $(call D,$(fshdir)/cacheflow.fish) $(call D,$(zshdir)/_cacheflow) \
	    $(foreach m,$(MAN),$(call D,$(mandir)/man$(patsubst .%,%,$(suffix $m))/$(notdir $m))) \
	    $(foreach f,$(notdir $(HEADERS)),$(call D,$(incdir)/$f)) $(foreach f,$(PRIVATE),$(call D,$(exedir)/$f)) \
	    $(foreach f,$(MACHINES:formats/%=%) $(PIPELINES) $(SCRIPTS) $(RECORDED),$(call D,$(shrdir)/$f))
	$(Q)for d in $(call D,$(incdir)) $(call D,$(exedir)) $(call D,$(shrdir)); do ! test -d "$$d" || \
	    { (CDPATH= cd -- "$$d" && find . -mindepth 1 -depth -type d -empty -delete) && \
	    rmdir --ignore-fail-on-non-empty -- "$$d"; } || exit 1; done
	@echo "removed from" $(call D,$(PREFIX))

clean:
	$(Q)rm -rf build
