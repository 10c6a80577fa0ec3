# SPDX-License-Identifier: BSD-2-Clause
#
# Figures of BBProf (section 7 of "Governing with Insights") on the programs of samples/bbprof: the
# profile of each by page, by the model of a machine's caches; and what co-runners do to it.
#
#   make -j2 -f pipelines/bbprof.mk                 all of it, in build/bbprof: under a quarter of an hour
#   make -f pipelines/bbprof.mk build/bbprof/fig6.csv      one figure
#
#   fig6        by how much of the runtime each heap page of staircase shortens it when it alone is
#               cached, the best first
#   fig7        the same of the heap and stack pages of the three image programs
#   fig8        runtime with the best k pages cached, as a part of that with the best one, by size
#   fig9        runtime with the best k pages by the profile of input def, of each input
#   orders      how far the order of pages for def is that for each input: correlations of the ranks,
#               and overlap of the best, and of the input's working set
#   fig3, fig5, fig10, fig11, fig12   programs beside three co-runners: bbprof-beside.mk
#   workingset  the smallest k whose runtime is within 2 % of that with all pages cached
#
# Each is a .csv, and the figures a .svg; profile/NAME.png are the pages of each profile, text and
# data of the program among them. All runtimes are cycles of the model (cf-pages(1), and for programs
# beside others cf-cache(1) and cf-latency(1)): none was measured, and no kernel module is needed.
#
# OUT          where results go                           [build/bbprof]
# BIN          where the programs are                     [build/bin, else where they were installed]
# MACHINE      whose caches                               [zynq-ultrascale]
# PROGRAMS     the image programs                         [disparity regions tracking]
# SIZES        of their images; the first one is that of figures 7 and 9    [sqcif qcif]
# INPUTS       beside def                                 [nor1 nor2 deg1 deg2]
# ITERATIONS   of staircase                               [20]
# SHIFTS, FRAMES   of disparity and tracking              [4, 1]
# V            1: the commands are printed
#
# A figure of k pages takes a simulation for every k: twice the pixels take four times as long.

OUT        ?= $(B)/bbprof
include $(dir $(lastword $(MAKEFILE_LIST)))names.mk
MACHINE    ?= zynq-ultrascale
PROGRAMS   ?= disparity regions tracking
SIZES      ?= sqcif qcif
INPUTS     ?= nor1 nor2 deg1 deg2
ITERATIONS ?= 20
SHIFTS     ?= 4
FRAMES     ?= 1
SOURCE     := $(SCRIPTS)../samples/bbprof

export LC_ALL := C

SMALL   := $(firstword $(SIZES))
FIGURES := $(patsubst %,$(OUT)/%,fig3 fig5 fig6 fig7 fig8 fig9 fig10 fig11 fig12)
NAMES   := staircase $(foreach p,$(PROGRAMS),$(SIZES:%=$p-%-def) $(INPUTS:%=$p-$(SMALL)-%))

# What is made on the way is kept.
.PRECIOUS: $(addprefix $(OUT)/,program/% trace/%.cf profile/%.cf best/%.cf best/%.csv by-def/%.csv machine/%.yaml alone/%.cf lines/%.cf \
    data/%.cf list/%.csv run/%.csv)

# step WORD: what a recipe begins with. One line says what it makes.
V    ?= 0
step  = mkdir -p $(@D)$(if $(findstring s,$(firstword -$(MAKEFLAGS)))$(filter-out 0,$(V)),,; printf '  %-8s %s\n' '$(1)' '$(@:$(OUT)/%=%)')
ifeq ($(V),0)
.SILENT:
endif

all: $(FIGURES:=.csv) $(FIGURES:=.svg) $(OUT)/orders.csv $(OUT)/workingset.csv $(NAMES:%=$(OUT)/profile/%.png)
	echo "results in $(OUT)"; cat $(OUT)/workingset.csv

# Results are made under another name and renamed, so that a stopped run leaves no half of one.
done = $(unchanged)mv $@.tmp $@ || { rm -f $@.tmp; exit 1; }
to   = >$@.tmp && $(done)

# ---- programs, recordings, profiles: staircase, or PROGRAM-SIZE-INPUT ----

.SECONDEXPANSION:
$(OUT)/program/%: $(SOURCE)/payload.h $(SOURCE)/%.c
	$(call step,compile)
	$(CC) -std=c11 -O1 -g -o $@.tmp $(SOURCE)/$*.c && $(done)

words          = $(subst -, ,$*)
program        = $(firstword $(words))
work_disparity = $(SHIFTS)
work_tracking  = $(FRAMES)
work_staircase = $(ITERATIONS)
work_c2isbm    = $(CALLS)
work_interf    = $$(($(STORES) / (16 * $(word 2,$(words))) + 1))
arguments      = $(wordlist 2,3,$(words)) $(work_$(program))
# Of the co-runner nothing but its stores matters.
fetches        = $(if $(filter interf,$(program)),,-i)

# All heap memory is that of brk(), as in the paper.
$(OUT)/trace/%.cf: $(OUT)/program/$$(firstword $$(subst -, ,$$*))
	$(call step,record)
	MALLOC_MMAP_MAX_=0 MALLOC_TOP_PAD_=1048576 cf-capture trace -q $(fetches) --own-allocator --function observed \
	    --command-output /dev/null -- $< $(arguments) | cf-resolve -q -o $@.tmp && $(done)

$(OUT)/profile/%.cf: $(OUT)/trace/%.cf
	$(call step,profile)
	cf-pages -q -m $(MACHINE) -o $@.tmp $< && $(done)

$(OUT)/profile/%.png: $(OUT)/profile/%.cf
	$(call step,draw)
	cf-rank -q --by page --value gain --picture $@.tmp.png --title 'Pages of $* by cycles gained, $(MACHINE)' $< >/dev/null && \
	    mv $@.tmp.png $@

# The best k pages by the program's own profile, and by that of input def.
$(OUT)/best/%.cf: $(OUT)/trace/%.cf $(OUT)/profile/%.cf
	$(call step,best k)
	cf-pages -q -m $(MACHINE) --rank $(word 2,$^) $< | cat $(word 2,$^) - $(to)

$(OUT)/best/%.csv: $(OUT)/best/%.cf
	$(call step,table)
	cf-rank -q --csv --by page --value gain $< $(to)

$(OUT)/by-def/%.csv: $(OUT)/trace/%.cf $(OUT)/profile/$$(firstword $$(subst -, ,$$*))-$(SMALL)-def.cf
	$(call step,best k)
	cf-pages -q -m $(MACHINE) --rank $(word 2,$^) $< | cf-cat --csv --table page --columns policy,k,runtime_cycles $(to)

include $(SCRIPTS)bbprof-beside.mk

# ---- figures ----

# heap NAME: "rank,region,page,gain_percent" of its heap and stack pages, of the runtime with none cached.
# The regions of other pages are paths and may hold commas; theirs do not.
heap = { cf-cat --csv --table page --columns policy,runtime_cycles $(OUT)/profile/$(1).cf | sed 's/^/runtime,/' && \
	cf-rank -q --csv --by page --value gain $(OUT)/profile/$(1).cf; } | \
	awk -F, '$$1 == "runtime" { if ($$2 == 1) none = $$3; next } $$2 ~ /^\[(heap|stack)\]$$/ { gsub(/[][]/, "", $$2); \
	    printf "%d,%s,%d,%.4f\n", ++n[$$2], $$2, $$3, 100 * $$4 / none }'

$(OUT)/fig6.csv: $(OUT)/profile/staircase.cf
	$(call step,table)
	{ echo rank,region,page,gain_percent; $(call heap,staircase) | grep ,heap,; } $(to)

$(OUT)/fig7.csv: $(PROGRAMS:%=$(OUT)/profile/%-$(SMALL)-def.cf)
	$(call step,table)
	{ echo program,rank,region,page,gain_percent $(foreach p,$(PROGRAMS),&& $(call heap,$p-$(SMALL)-def) | sed 's/^/$p,/'); } $(to)

# Fields from the end, since a region may hold commas.
$(OUT)/fig8.csv: $(foreach p,$(PROGRAMS),$(SIZES:%=$(OUT)/best/$p-%-def.csv))
	$(call step,table)
	{ echo program,size,k,runtime_cycles,runtime_of_best_one $(foreach p,$(PROGRAMS),$(foreach s,$(SIZES),&& \
	    awk -F, -v OFS=, 'NR > 1 { if (NR == 2) one = $$(NF - 2); print "$p", "$s", $$1, $$(NF - 2), $$(NF - 2) / one }' $(OUT)/best/$p-$s-def.csv)); } $(to)

$(OUT)/workingset.csv: $(OUT)/best/staircase.csv $(foreach p,$(PROGRAMS),$(SIZES:%=$(OUT)/best/$p-%-def.csv))
	$(call step,table)
	{ echo program,pages,working_set && for f in $^; do \
	    awk -F, -v OFS=, -v of=$$(basename $$f .csv) 'NR > 1 { set += $$NF } END { print of, NR - 1, set }' $$f || exit 1; done; } $(to)

$(OUT)/fig9.csv: $(foreach p,$(PROGRAMS),$(patsubst %,$(OUT)/by-def/$p-$(SMALL)-%.csv,def $(INPUTS)))
	$(call step,table)
	{ echo program,input,k,runtime_cycles $(foreach p,$(PROGRAMS),$(foreach i,def $(INPUTS),&& \
	    awk -F, -v OFS=, '$$1 == 5 { print "$p", "$i", $$2, $$3 }' $(OUT)/by-def/$p-$(SMALL)-$i.csv)); } $(to)

$(OUT)/orders.csv: $(foreach p,$(PROGRAMS),$(patsubst %,$(OUT)/best/$p-$(SMALL)-%.cf,def $(INPUTS)))
	$(call step,table)
	{ echo program,input,measure,pages,value $(foreach p,$(PROGRAMS),$(foreach i,$(INPUTS),&& \
	    cf-rank -q --csv --by page --value gain --against $(OUT)/best/$p-$(SMALL)-def.cf $(OUT)/best/$p-$(SMALL)-$i.cf | \
	        sed '1d; s/^/$p,$i,/')); } $(to)

# How each is drawn. All are cycles of the model, which the axes say.
x_fig3  := corunner_kib
x_fig5  := colours
x_fig6  := rank
x_fig7  := rank
x_fig8  := k
x_fig9  := k
x_fig10 := pages_moved
x_fig11 := pages_moved_of_each
x_fig12 := size
y_fig3  := runtime_of_alone
y_fig5  := runtime_of_alone
y_fig6  := gain_percent
y_fig7  := gain_percent
y_fig8  := runtime_of_best_one
y_fig9  := runtime_cycles
y_fig10 := runtime_of_alone
y_fig11 := slowdown_left
y_fig12 := runtime_of_alone
by_fig3  := policy
by_fig5  := case
by_fig6  := region
by_fig7  := program
by_fig8  := program size
by_fig9  := input
by_fig10 := policy
by_fig11 := program policy
by_fig12 := case
also_fig3  = -v y2=memory_mb_per_s -v y2text='traffic of the co-runners with memory, MB/s (dotted)'
also_fig5  = -v panel='program size'
also_fig7  = -v panel=region -v own=1
also_fig9  = -v panel=program -v own=1
also_fig12 = -v panel=program -v shape=bars
xtext_fig3  := buffer of each of three co-runners, KiB
xtext_fig5  := page colours of the program, of 16; the co-runners have the rest, at 16 all
xtext_fig6  := rank of the page
xtext_fig7  := rank of the page
xtext_fig8  := pages cached
xtext_fig9  := pages cached
xtext_fig10 := pages moved to the pool of 4 colours
xtext_fig11 := pages moved to the pool of 4 colours, of each of three co-runners
xtext_fig12 := size of the images
alone       := runtime, alone: 1 (cycles of the model)
ytext_fig3  := $(alone)
ytext_fig5  := $(alone)
ytext_fig6  := gain, % of the runtime (cycles of the model)
ytext_fig7  := gain, % of the runtime (cycles of the model)
ytext_fig8  := runtime, one page: 1 (cycles of the model)
ytext_fig9  := runtime, cycles of the model
ytext_fig10 := $(alone)
ytext_fig11 := slowdown, none moved: 1 (cycles of the model)
ytext_fig12 := $(alone)
title_fig3  = $(PROGRAM3) beside three co-runners, by replacement of the second level
title_fig5  = Programs alone and beside 3 co-runners by colours, second level $(POLICY)
title_fig6  := STAIRCASE: share of the runtime that each page alone saves
title_fig7  := Heap and stack pages: share of the runtime that each alone saves
title_fig8  := Runtime with the best k pages cached, the best one alone: 1
title_fig9  := Runtime with the best k pages cached, by the order of input def
title_fig10 = c2isbm beside three co-runners, by replacement of the second level
title_fig11 := Programs beside three co-runners, by replacement of the second level
title_fig12 = Ways to share the cache with 3 co-runners, second level $(POLICY)

$(FIGURES:=.svg): $(OUT)/%.svg: $(OUT)/%.csv $(SCRIPTS)bbprof-curves.awk
	$(call step,draw)
	awk -f $(SCRIPTS)bbprof-curves.awk -v x=$(x_$*) -v y=$(y_$*) -v by='$(by_$*)' $(also_$*) -v xtext='$(xtext_$*)' \
	    -v ytext='$(ytext_$*)' -v title='$(title_$*), $(MACHINE)' $< $(to)

include $(SCRIPTS)settings.mk
