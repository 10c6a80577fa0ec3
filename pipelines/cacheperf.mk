# SPDX-License-Identifier: BSD-2-Clause
#
# CachePerf's experiments (section 4 of the paper) on the programs of samples/cacheperf: each is
# recorded with its own allocator, the caches of two processors are modelled, and what a performance
# monitoring unit would have sampled of it is classified and reported.
#
#   make -j2 -f pipelines/cacheperf.mk              all of it, in build/cacheperf: some minutes
#   make -f pipelines/cacheperf.mk SEEDS=20         with 20 seeds of the sampling
#
#   table2      each defect of the paper's Table 2, and each program that has none: in how many of the
#               seeds it was found, with what type and origin; by how much periods are shorter than the
#               paper's; the class that most misses of the statement have by Hill and Smith; how
#               much faster the mended program runs on this computer
#   allocators  the same of scratch, thrash and objects48, under other allocators
#   table5      the same with other periods, ratio of a window, accesses to one set that are a conflict,
#               time of a breakpoint, and skid
#
# Periods are shorter than the paper's, so that a run has SAMPLES samples: the paper's programs run
# for minutes. The time of a breakpoint is shorter by the same factor. The cost of sampling (Fig. 10,
# Tables 3 and 4) is one of hardware, which a model has not.
#
# OUT          where results go                           [build/cacheperf]
# BIN          where the programs are                     [build/bin, else where they were installed]
# MACHINE      whose caches                               [xeon-6230]
# CORES        processors of the model                    [2]
# SAMPLES      samples a run, at least                    [20000]
# SEEDS        seeds of the sampling: 1, 2, ...           [3]
# RUNS         of each program for its speed, of which the median counts; 0: none   [5]
# LONGER       how much longer these are than the recorded ones                     [20]
# ALLOCATORS   libraries to preload, of which those are taken that are installed
#              [libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0]

B          ?= build
OUT        ?= $(B)/cacheperf
SCRIPTS    := $(dir $(lastword $(MAKEFILE_LIST)))
BIN        ?= $(dir $(firstword $(wildcard $(B)/bin/cf-cat $(SCRIPTS)../../../bin/cf-cat) $(B)/bin/))
MACHINE    ?= xeon-6230
CORES      ?= 2
SAMPLES    ?= 20000
SEEDS      ?= 3
RUNS       ?= 5
LONGER     ?= 20
ALLOCATORS ?= libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0
SOURCE     := $(SCRIPTS)../samples/cacheperf

# A pipeline fails when any part of it does.
SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c
export PATH := $(abspath $(BIN)):$(PATH)
export LC_ALL := C

PROGRAMS  := $(basename $(notdir $(wildcard $(SOURCE)/*.c)))
# program.0 is it as it is, .1 mended
VARIANTS  := $(PROGRAMS:%=%.0) $(patsubst %,%.1,$(filter-out clean lucky,$(PROGRAMS))) srad.2
DEFECTS   := $(shell awk -F, 'NR > 1 && !known[$$1 $$3]++ { print $$1 "." $$3 }' $(SOURCE)/truth.csv)
SETTINGS  := usual periods-10 periods-tenth ratio-0 ratio-2.5 same-set-4 same-set-16 expire-10 expire-1000 skid-1
LIBRARIES := $(foreach a,$(ALLOCATORS),$(if $(wildcard /usr/lib/*/$a /lib/*/$a),$a))
PRELOADED := $(foreach l,$(LIBRARIES),$(foreach p,scratch thrash objects48,$p.0-$l))
COLUMNS   := program,row,mended,type,origin,found,runs,type_found,origin_found,others

.SECONDARY:
all: $(OUT)/table2.csv $(OUT)/allocators.csv $(OUT)/table5.csv
	@echo "results in $(OUT)"; cat $(OUT)/table2.csv

done = mv $@.tmp $@ || { rm -f $@.tmp; exit 1; }
to   = >$@.tmp && $(done)

# ---- programs and their recordings ----

$(OUT)/program/%: $(SOURCE)/mini.h $(wildcard $(SOURCE)/*.c)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -pthread -DMENDED=$(subst .,,$(suffix $*)) -o $@ $(SOURCE)/$(basename $*).c

# Accesses with the level that served them; threads side by side. A preloaded library is named behind
# a hyphen.
name    = $(firstword $(subst -, ,$*))
library = $(firstword $(wildcard $(if $(findstring -,$*),$(foreach d,/usr/lib /lib,$d/*/$(patsubst $(name)-%,%,$*)))))
$(OUT)/trace/%.cf: $(VARIANTS:%=$(OUT)/program/%)
	@mkdir -p $(@D)
	LD_PRELOAD=$(library) cf-capture trace -q --own-allocator --command-output /dev/null -- $(OUT)/program/$(name) | \
	    cf-resolve -q | cf-merge -q --interleave --cores $(CORES) | cf-cache -q -m $(MACHINE) -o $@.tmp && $(done)

# "LOADS STORES EXPIRE SCALING": two periods in the proportion of the paper's, milliseconds, a factor
$(OUT)/trace/%.periods: $(OUT)/trace/%.cf
	cf-rank -q --by process --value loads,stores $< | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i; next } \
	    { n += $$at["loads"] + $$at["stores"] / 2.5 } \
	    END { p = int(n / $(SAMPLES) / 1.05); p = p < 2 ? 2 : p; \
	        printf "%d %d %.4f %.1f\n", p, 2.5 * p, 100 * p / 20000, 20000 / p }' $(to)

# ---- findings ----

sampler_usual         = --loads $$loads --stores $$stores
sampler_periods-10    = --loads $$((loads * 10)) --stores $$((stores * 10))
sampler_periods-tenth = --loads $$(((loads + 9) / 10)) --stores $$(((stores + 9) / 10))
sampler_same-set-4    = $(sampler_usual) --same-set 4
sampler_same-set-16   = $(sampler_usual) --same-set 16
sampler_expire-10     = $(sampler_usual) --expire $$(awk "BEGIN { print $$expire / 10 }")
sampler_expire-1000   = $(sampler_usual) --expire $$(awk "BEGIN { print $$expire * 10 }")
sampler_skid-1        = $(sampler_usual) --skid 1
rule_ratio-0          = --window-ratio 0
rule_ratio-2.5        = --window-ratio 2.5
rule_same-set-4       = --same-set 4
rule_same-set-16      = --same-set 16

# findings SETTING: of the trace $<, for each seed, as judged
findings = read loads stores expire scaling <$(<:.cf=.periods); for seed in $$(seq $(SEEDS)); do \
	cf-sample -q -m $(MACHINE) --expire $$expire --seed $$seed $(or $(sampler_$(1)),$(sampler_usual)) $< | \
	    cf-classify -q --rule cacheperf -m $(MACHINE) $(rule_$(1)) | cf-report -q --cacheperf --csv >$@.found || exit 1; \
	    $(SCRIPTS)cacheperf-judge.sh $(SOURCE) $(basename $(name)) $(subst .,,$(suffix $(name))) $@.found; done

$(OUT)/verdict/%.csv: $(OUT)/trace/%.cf $(OUT)/trace/%.periods
	@mkdir -p $(@D)
	{ $(call findings,usual); } $(to); rm -f $@.found

$(OUT)/settings/%.csv: $(OUT)/trace/%.cf $(OUT)/trace/%.periods
	@mkdir -p $(@D)
	{ $(foreach s,$(SETTINGS),{ $(call findings,$s); } | sed 's/^/$s,/' &&) :; } $(to); rm -f $@.found

# Exact misses of each class on each source line.
$(OUT)/hill/%.csv: $(OUT)/trace/%.cf
	@mkdir -p $(@D)
	cf-classify -q -m $(MACHINE) --cores $(CORES) --level L1D --hit $< | \
	    cf-rank -q --by source --value misses,compulsory,capacity,conflict,true_sharing,false_sharing $(to)

# Milliseconds, median of the runs: "program.mended as-it-is mended". Nothing runs beside.
median = $$(for i in $$(seq $(RUNS)); do s=$$(date +%s%N); $(1) >/dev/null || exit 1; \
	echo $$((($$(date +%s%N) - s) / 1000000)); done | sort -n | awk '{ t[NR] = $$1 } END { print t[int((NR + 1) / 2)] }')
$(OUT)/speed.txt: $(VARIANTS:%=$(OUT)/verdict/%.csv) $(DEFECTS:%=$(OUT)/settings/%.csv) $(DEFECTS:%=$(OUT)/hill/%.csv) \
		$(PRELOADED:%=$(OUT)/verdict/%.csv)
	for v in $(if $(filter-out 0,$(RUNS)),$(DEFECTS)); do \
	    n=$$(sed -n 's/.*repeats(argc, argv, \([0-9]*\)).*/\1/p' $(SOURCE)/$${v%.*}.c); n=$$((n * $(LONGER))); \
	    echo "$$v $(call median,$(OUT)/program/$$v $$n) $(call median,$(OUT)/program/$${v%.*}.$$(($${v##*.} + 1)) $$n)"; \
	done $(to)

# ---- tables ----

# One line of the judgements of all seeds.
SUM := BEGIN { FS = OFS = "," } { k = $$1 FS $$2 FS $$3 FS $$4 FS $$5; if (!runs[k]++) key[++n] = k; \
	found[k] += $$6; if ($$7 != "") { type[k] = $$7; origin[k] = $$8 } others[k] += $$9 } \
	END { for (i = 1; i <= n; i++) { k = key[i]; print k, found[k] + 0, runs[k], type[k], origin[k], others[k] } }

$(OUT)/table2.csv: $(OUT)/speed.txt $(SCRIPTS)cacheperf-table.awk
	cat $(VARIANTS:%=$(OUT)/verdict/%.csv) | awk '$(SUM)' | \
	    awk -v out=$(OUT) -v sources=$(SOURCE) -v head=$(COLUMNS) -f $(SCRIPTS)cacheperf-table.awk $(to)

$(OUT)/table5.csv: $(DEFECTS:%=$(OUT)/settings/%.csv)
	{ echo setting,$(COLUMNS); for s in $(SETTINGS); do sed -n "s/^$$s,//p" $^ | awk '$(SUM)' | sed "s/^/$$s,/"; done; } $(to)

$(OUT)/allocators.csv: $(PRELOADED:%=$(OUT)/verdict/%.csv)
	{ echo allocator,$(COLUMNS); $(foreach l,$(LIBRARIES),cat $(filter %-$l.csv,$^) | awk '$(SUM)' | sed 's/^/$l,/';) } $(to)
