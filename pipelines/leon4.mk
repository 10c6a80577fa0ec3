# SPDX-License-Identifier: BSD-2-Clause
#
# LEON: builds the bare-metal programs of samples/leon4, runs them under an emulator, and makes of
# the emulator's log what the trace buffers of a LEON would have held, in every form in which
# monitors show them. What is modelled and not measured, samples/README.md says.
#
#   make && make -f pipelines/leon4.mk                  all forms of all programs, in build/leon4
#   make -f pipelines/leon4.mk build/leon4/fits.hist    one of them
#   make -f pipelines/leon4.mk tables                   misses by class and their cost, as the LEON4
#                                                       profiling tool's paper has them, of all
#                                                       programs: fits is its test case 2, overflow 3
#   make -f pipelines/leon4.mk tables L2=off            the same of a board whose second level is off,
#                                                       as after reset and in the paper's test case 3
#   make -f pipelines/leon4.mk samples                  rewrites the stored ones in samples/leon4
#
# A result's name says what it is: PROGRAM.hist, .inst and .ahb as GRMON shows them; .STYLE.hist,
# .STYLE.inst and .STYLE.ahb in another style (see leon4-forms --help); .inst.raw and .ahb.raw the
# buffers' bytes; .csv every load and store with its true address, .stream.csv with the
# fetches between them; .counters what the statistics unit would have counted. PROGRAM is fits, overflow, windows, or two: fits on CPU 0 beside windows
# on CPU 1.
#
# OUT       where results go                       [build/leon4, with L2=off build/leon4-l2-off]
# L2        on, off                                                   [on]
# FORMS     the program that makes the forms                          [build/test/leon4-forms]
# FORMSARGS options for it: --bus, --latency, --post, --lock, --start, --single, --from, --count
# LEON      prefix of the cross compiler                              [sparc64-linux-gnu-]
# QEMU      the emulator                                              [qemu-system-sparc]
# BIN       where the suite's programs are, for the tables            [build/bin]

L2        ?= on
$(if $(filter on off,$(subst $() ,_,$(strip $(L2)))),,$(error L2='$(L2)': it is on or off))
OFF       := $(if $(filter off,$(L2))$(filter --l2-off,$(FORMSARGS)),-l2-off)
OUT       ?= $(B)/leon4$(OFF)
include $(dir $(lastword $(MAKEFILE_LIST)))names.mk
FORMS     ?= $(B)/test/leon4-forms
FORMSARGS ?=
MACHINE   := leon4-n2x$(OFF)
LEON      ?= sparc64-linux-gnu-
QEMU      ?= qemu-system-sparc
SOURCE    := samples/leon4

PROGRAMS := fits overflow windows
BUS32    := openocd dsu
RESULTS  := hist inst ahb tcl.hist tcl-lines.hist tsim.hist ftdi.inst openocd.inst dsu.inst \
	words.inst words.ahb inst.raw ahb.raw csv stream.csv counters

all: $(foreach p,$(PROGRAMS) two,$(RESULTS:%=$(OUT)/$p.%)) \
     $(foreach p,$(PROGRAMS),$(BUS32:%=$(OUT)/$p.%.ahb))
	@echo "results in $(OUT); counted by the model:"
	@for p in $(PROGRAMS); do echo "$$p"; cat $(OUT)/$$p.counters; done

# ---- programs, and what they do ----

# The 64-bit compiler makes 32-bit code with -m32; its own library for that is no V8, and not used.
FLAGS := -m32 -mcpu=leon3 -O2 -Wall -Wextra -ffreestanding -fno-pic -fno-pie -nostdlib -static \
	-no-pie -Wl,--build-id=none,-z,noexecstack,-melf32_sparc -T $(SOURCE)/link.ld

$(OUT)/%.elf: $(SOURCE)/%.c $(SOURCE)/crt0.S $(SOURCE)/link.ld
	@mkdir -p $(@D)
	$(LEON)gcc $(FLAGS) -Wl,--defsym=BASE=0x40000000 -o $@ $(SOURCE)/crt0.S $<

# The same at another address, for a second CPU.
$(OUT)/%-1.elf: $(SOURCE)/%.c $(SOURCE)/crt0.S $(SOURCE)/link.ld
	@mkdir -p $(@D)
	$(LEON)gcc $(FLAGS) -Wl,--defsym=BASE=0x40100000 -o $@ $(SOURCE)/crt0.S $<

$(OUT)/%.bin: $(OUT)/%.elf
	$(LEON)objcopy -O binary $< $@

$(OUT)/%.lst: $(OUT)/%.elf
	$(LEON)objdump -d $< >$@

# Registers before each instruction. The emulator's exit says nothing; leon4-forms looks whether the
# program came to its end.
$(OUT)/%.log: $(OUT)/%.elf
	rm -f $@ && timeout 120 $(QEMU) -M leon3_generic -nographic -no-reboot -singlestep \
	    -d exec,nochain,cpu,fpu -D $@.tmp -kernel $< </dev/null && mv $@.tmp $@

# ---- forms ----

# A program of the tests, which `make` alone does not build.
$(FORMS):
	$(MAKE) --no-print-directory -f Makefile B=$(B) $@

run_of = $(if $(filter two,$(1)),$(OUT)/fits $(OUT)/windows-1,$(OUT)/$(1))

# $(1) is the program, $(2) the ending of the result, $(3) the options for it.
define form
$(OUT)/$(1).$(2): $(foreach r,$(call run_of,$(1)),$r.log $r.bin $r.lst) $(FORMS)
	$$(FORMS) -q $(OFF:%=-%) $$(FORMSARGS) $(3) $(call run_of,$(1)) >$$@.tmp && mv $$@.tmp $$@
endef
define forms
$(foreach f,hist inst ahb,$(eval $(call form,$(1),$f,-f $f)))
$(foreach s,tcl tcl-lines,$(foreach f,hist inst ahb,$(eval $(call form,$(1),$s.$f,-s $s -f $f))))
$(foreach f,hist inst,$(eval $(call form,$(1),tsim.$f,-s tsim -f $f)))
$(foreach s,ftdi words,$(eval $(call form,$(1),$s.inst,-s $s -f inst)))
$(foreach s,$(BUS32),$(foreach f,inst ahb,$(eval $(call form,$(1),$s.$f,-s $s -f $f --bus 32))))
$(eval $(call form,$(1),words.ahb,-s words -f ahb))
$(foreach f,inst ahb,$(eval $(call form,$(1),$f.raw,-s raw -f $f)))
$(foreach c,0 1,$(eval $(call form,$(1),cpu$c.inst.raw,-s raw -f inst --cpu $c)))
$(foreach c,0 1,$(eval $(call form,$(1),cpu$c.hist,-f hist --cpu $c)))
$(eval $(call form,$(1),csv,-f accesses))
$(eval $(call form,$(1),stream.csv,-f stream))
$(eval $(call form,$(1),counters,-f counters))
endef
$(foreach p,$(PROGRAMS) two,$(call forms,$p))

# ---- tables ----

# As the paper's figures 2 to 5: misses of each cache by class, cost, and what the counters have. By
# the paper's own procedure, with the addresses that were recovered (a bus read then counts for a
# load only where it is of the load's line), with classes by Hill and Smith; and misses of the true
# addresses, which no trace has.
REPORT  = $(BIN)/cf-latency -q -m $(MACHINE) | $(BIN)/cf-report -q --leon4 -m $(MACHINE) --counters $(OUT)/$$p.counters
CAPTURE = $(BIN)/cf-capture leon4 -q -r -b $(OUT)/$$p.ahb.raw $(OUT)/$$p.inst.raw
CLASS   = $(BIN)/cf-classify -q -m $(MACHINE)
tables: $(foreach p,$(PROGRAMS),$(foreach e,inst.raw ahb.raw stream.csv counters,$(OUT)/$p.$e))
	@for p in $(PROGRAMS); do r=$(OUT)/$$p.report; \
	    { echo "$$p, by the paper's procedure:"; \
	      $(CAPTURE) | $(CLASS) --rule leon4 --no-addresses | $(REPORT); } >$$r.paper.txt || exit 1; \
	    { echo "$$p, with recovered addresses:"; \
	      $(CAPTURE) --miss line | $(CLASS) --rule leon4 | $(REPORT); } >$$r.leon4.txt || exit 1; \
	    { echo "the same, after Hill and Smith:"; \
	      $(CAPTURE) | $(CLASS) --rule hill | $(REPORT); } >$$r.hill.txt || exit 1; \
	    { echo "misses of the true addresses:"; \
	      $(BIN)/cf-capture csv -q $(OUT)/$$p.stream.csv | $(CLASS) --rule leon4 --summary; } \
	        >$$r.truth.txt || exit 1; \
	    pr -t -m -w 130 $$r.paper.txt $$r.leon4.txt | expand; echo; \
	    cat $$r.hill.txt; echo; cat $$r.truth.txt; echo; done

# ---- the stored ones ----

# Whole runs as bytes and one as text; the rest are parts, since a run's text has megabytes.
STORE ?= samples/leon4
again  = $(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST)) B=$(B) FORMS=$(FORMS) PART=1
store  = for f in $(2); do cp $(1)/$$f $(STORE)/$(3)$$f || exit 1; done

samples: $(foreach p,$(PROGRAMS),$(foreach f,inst.raw ahb.raw csv counters,$(OUT)/$p.$f)) \
	$(OUT)/fits.hist part-late part-middle part-single part-long part-cpus
	$(call store,$(OUT),fits.hist $(foreach p,$(PROGRAMS),$(foreach f,inst.raw ahb.raw csv counters,$p.$f)))

# Each part is made by itself, from the same runs.
part = $(foreach p,$(2),$(foreach r,$(call run_of,$p),$r.log $r.bin $r.lst)) FORCE
# $(1) the folder, $(2) programs, $(3) endings, $(4) options
take = @mkdir -p $(OUT)/$(1) && for r in $(foreach p,$(2),$(call run_of,$p)); do \
	    for e in log bin lst; do ln -sf ../$${r\#\#*/}.$$e $(OUT)/$(1)/; done; done && \
	    $(again) OUT=$(OUT)/$(1) FORMSARGS='$(4)' -W $(FORMS) \
	        $(foreach p,$(2),$(3:%=$(OUT)/$(1)/$p.%)) && \
	    $(call store,$(OUT)/$(1),$(foreach p,$(2),$(3:%=$p.%)),$(1)-)

LATE   := --from 9500 --count 3500
MIDDLE := --from 9000 --count 800 --start 1073727700
LONG   := --from 9000 --count 13000 --start 1073727700
CPUS   := --from 1500 --count 700

part-late: $(call part,late,overflow)
	$(call take,late,overflow,hist csv,$(LATE))
part-middle: $(call part,middle,windows)
	$(call take,middle,windows,$(filter-out stream.csv counters,$(RESULTS)) $(BUS32:%=%.ahb),$(MIDDLE))
part-single: $(call part,single,windows)
	$(call take,single,windows,hist tcl-lines.hist inst.raw ahb.raw csv,$(MIDDLE) --single)
part-long: $(call part,long,windows)
	$(call take,long,windows,inst.raw ahb.raw csv,$(LONG) --single)
part-cpus: $(call part,two,two)
	$(call take,cpus,two,tcl.hist tcl-lines.hist cpu0.hist cpu1.hist cpu0.inst.raw cpu1.inst.raw ahb.raw csv,$(CPUS))

FORCE:
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all tables samples part-late part-middle part-single part-long part-cpus FORCE

# A part has options of its own, and is made again each time.
ifneq ($(origin PART),command line)
include $(SCRIPTS)settings.mk
endif
