# SPDX-License-Identifier: BSD-2-Clause
#
# CachePerf's experiments (section 4 of the paper) on the programs of samples/cacheperf: each is
# recorded with its own allocator, the caches of two processors are modelled, and what a performance
# monitoring unit would have sampled of it is classified and reported.
#
#   make -j2 -f pipelines/cacheperf.mk              all of it, in build/cacheperf: a quarter of an hour
#   make -f pipelines/cacheperf.mk SEEDS=20 OUT=build/seeds        with 20 seeds of the sampling: an hour
#   make -f pipelines/cacheperf.mk RUNS=0 OUT=few few/table2.csv   one table, no native runs
#
#   table2      each defect of the paper's Table 2, and each program that has none: in how many of the
#               seeds it was found, with what type and origin; by how much periods are shorter than the
#               paper's; the class that most misses of the statement have by Hill and Smith; how far
#               the sampled share of misses of any source line is from the exact one; how much less
#               processor time the mended program takes on this computer
#   allocators  the same of scratch, thrash and objects48, under other allocators
#   table5      the same with other periods, ratio of a window, accesses to one set that are a conflict,
#               time of a breakpoint, and skid; table5-lost has a line for each that is lost
#   table4      what these settings cost: samples, accesses at breakpoints, time and memory of the rule
#   table3      processor time and memory of real programs, and with what runs on this computer; fig10
#               draws it
#   report      a page with all of it
#
# Each is a .csv, fig10 an .svg, the report a .html.
#
# Periods are shorter than the paper's, so that a run has SAMPLES samples: the paper's programs run
# for minutes. The time of a breakpoint is shorter by the same factor. What sampling by counters costs
# (in the paper's Fig. 10, Tables 3 and 4) is left out: it is one of hardware, which a model has not.
#
# OUT          where results go                           [build/cacheperf]
# BIN          where the programs are                     [build/bin, else where they were installed]
# MACHINE      whose caches                               [xeon-6230]
# CORES        processors of the model                    [2]
# ONLY         of samples/cacheperf, those that are run   [all]
# SAMPLES      samples a run, at least                    [50000]
# SEEDS        seeds of the sampling: 1, 2, ...           [3]
# RUNS         of each program for its speed, of which the median counts; 0: none   [5]
# LASTING      milliseconds that such a run of a program as it is takes, at least   [500]
# ALLOCATORS   libraries to preload, of which those are taken that are installed
#              [libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0]
# REAL         real programs, of which those are taken that are installed; of one that is not among
#              these, COMMAND_name is its command line    [gzip xz sort sqlite3 cc1]
# TEXT, ROWS   lines that they compress and sort, rows of the database                [40000, 150000]
# V            1: the commands are printed

OUT        ?= $(B)/cacheperf
include $(dir $(lastword $(MAKEFILE_LIST)))names.mk
MACHINE    ?= xeon-6230
CORES      ?= 2
SAMPLES    ?= 50000
SEEDS      ?= 3
RUNS       ?= 5
LASTING    ?= 500
ALLOCATORS ?= libtcmalloc_minimal.so.4 libjemalloc.so.2 libmimalloc.so.2.0
REAL       ?= gzip xz sort sqlite3 cc1
TEXT       ?= 40000
ROWS       ?= 150000
$(call numbers,SAMPLES SEEDS LASTING TEXT ROWS $(if $(filter-out 0,$(RUNS)),RUNS))
SOURCE     := $(SCRIPTS)../samples/cacheperf
UNIT       ?= $(firstword $(wildcard $(SCRIPTS)../filters/cf-merge.c $(SOURCE)/thrash.c))

export LC_ALL := C

EVERY     := $(basename $(notdir $(wildcard $(SOURCE)/*.c)))
ONLY      ?= $(EVERY)
# program.0 is it as it is, .1 mended
VARIANTS  := $(foreach p,$(ONLY),$p.0 $(if $(filter clean lucky,$p),,$p.1) $(if $(filter srad,$p),srad.2))
DEFECTS   := $(filter $(VARIANTS),$(shell awk -F, 'NR > 1 && !known[$$1 $$3]++ { print $$1 "." $$3 }' $(SOURCE)/truth.csv))
OTHERS    := periods-10 periods-tenth ratio-0 ratio-2.5 same-set-4 same-set-16 expire-10 expire-1000 skid-1
SETTINGS  := usual $(OTHERS)
LIBRARIES := $(foreach a,$(ALLOCATORS),$(if $(wildcard /usr/lib/*/$a /lib/*/$a),$a))
PRELOADED := $(foreach l,$(LIBRARIES),$(foreach p,$(filter scratch thrash objects48,$(ONLY)),$p.0-$l))
COLUMNS   := program,row,mended,type,origin,found,runs,type_found,origin_found,others

TABLES := $(patsubst %,$(OUT)/%.csv,table2 allocators table5 table5-lost table4 table3)

# What is made on the way is kept.
.PRECIOUS: $(addprefix $(OUT)/,program/% trace/%.cf trace/%.periods verdict/%.csv settings/%.csv hill/%.csv shares/%.txt \
    effort/%.txt real/%.cf)

# step WORD: what a recipe begins with. One line says what it makes.
V    ?= 0
step  = mkdir -p $(@D)$(if $(findstring s,$(firstword -$(MAKEFLAGS)))$(filter-out 0,$(V)),,; printf '  %-8s %s\n' '$(1)' '$(@:$(OUT)/%=%)')
ifeq ($(V),0)
.SILENT:
endif

all: $(TABLES) $(OUT)/report.html
	echo "results in $(OUT), on one page in $(OUT)/report.html"; cat $(OUT)/table2.csv

# Results are made under another name and renamed, so that a stopped run leaves no half of one.
done = $(unchanged)mv $@.tmp $@ || { rm -f $@.tmp; exit 1; }
to   = >$@.tmp && $(done)

# ---- programs and their recordings ----

.SECONDEXPANSION:
$(OUT)/program/%: $(SOURCE)/mini.h $(SOURCE)/$$(basename $$*).c
	$(call step,compile)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -pthread -DMENDED=$(subst .,,$(suffix $*)) -o $@.tmp $(SOURCE)/$(basename $*).c && $(done)

# Accesses with the level that served them; threads side by side. A preloaded library is named behind
# a hyphen.
name    = $(firstword $(subst -, ,$*))
library = $(firstword $(wildcard $(if $(findstring -,$*),$(foreach d,/usr/lib /lib,$d/*/$(patsubst $(name)-%,%,$*)))))
$(OUT)/trace/%.cf: $(OUT)/program/$$(firstword $$(subst -, ,$$*))
	$(call step,record)
	LD_PRELOAD=$(library) cf-capture trace -q --own-allocator --command-output /dev/null -- $< | \
	    cf-resolve -q | cf-merge -q --interleave --cores $(CORES) | cf-cache -q -m $(MACHINE) -o $@.tmp && $(done)

# "LOADS STORES EXPIRE SCALING": two periods in the proportion of the paper's, milliseconds, a factor
$(OUT)/trace/%.periods: $(OUT)/trace/%.cf
	$(call step,periods)
	cf-rank -q --by process --value loads,stores $< | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$$i] = i; next } \
	    { n += $$at["loads"] + $$at["stores"] / 2.5 } \
	    END { p = int(n / $(SAMPLES) / 1.05); p = p < 2 ? 2 : p; \
	        printf "%d %d %.4f %.1f\n", p, 2.5 * p, 100 * p / 20000, 20000 / p }' $(to)
periods = read loads stores expire scaling <$(<:.cf=.periods)

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

# sample SETTING, classify SETTING: of the trace $<, with $seed
sample   = cf-sample -q -m $(MACHINE) --expire $$expire --seed $$seed $(or $(sampler_$(1)),$(sampler_usual)) $<
classify = cf-classify -q --rule cacheperf -m $(MACHINE) $(rule_$(1))

# findings SETTING: of the trace $<, for each seed, as judged
findings = $(periods); for seed in $$(seq $(SEEDS)); do \
	$(call sample,$(1)) | $(call classify,$(1)) | cf-report -q --cacheperf --csv >$@.found || exit 1; \
	    $(SCRIPTS)cacheperf-judge.sh $(SOURCE) $(basename $(name)) $(subst .,,$(suffix $(name))) $@.found || exit 1; done

$(OUT)/verdict/%.csv: $(OUT)/trace/%.cf $(OUT)/trace/%.periods
	$(call step,judge)
	{ $(call findings,usual); } $(to); rm -f $@.found

$(OUT)/settings/%.csv: $(OUT)/trace/%.cf $(OUT)/trace/%.periods $(OUT)/verdict/%.csv
	$(call step,settings)
	{ sed 's/^/usual,/' $(OUT)/verdict/$*.csv; $(foreach s,$(OTHERS),{ $(call findings,$s); } | sed 's/^/$s,/' &&) :; } $(to); rm -f $@.found

# Exact misses of each class on each source line.
$(OUT)/hill/%.csv: $(OUT)/trace/%.cf
	$(call step,classify)
	cf-classify -q -m $(MACHINE) --cores $(CORES) --level L1D --hit $< | \
	    cf-rank -q --by source --value misses,compulsory,capacity,conflict,true_sharing,false_sharing $(to)

# "POINTS MISSES": how far the share of misses of any source line is from the exact one, in any seed,
# and how many samples missed, at least.
by_source = cf-rank -q --level 1 --by source --value misses
$(OUT)/shares/%.txt: $(OUT)/trace/%.cf $(OUT)/trace/%.periods
	$(call step,shares)
	{ $(by_source) $< && $(periods) && for seed in $$(seq $(SEEDS)); do \
	    $(call sample,usual) --fine 0 >$@.cf && cf-cat -q --csv --table access --columns level $@.cf | \
	        awk 'NR > 1 && $$1 > 1 { n++ } END { print "missed," n + 0 }' && $(by_source) $@.cf || exit 1; \
	done; rm -f $@.cf; } | awk -f $(SCRIPTS)cacheperf-shares.awk $(to)

# "SETTING COARSE FINE MILLISECONDS MILLISECONDS KIB": samples of the first seed, what it takes to classify them
$(OUT)/effort/%.txt: $(OUT)/trace/%.cf $(OUT)/trace/%.periods | $(OUT)/cost
	$(call step,effort)
	{ $(periods); seed=1; $(foreach s,$(SETTINGS),$(call sample,$s) >$@.cf && \
	    n=$$(cf-histogram -q --csv --column stage --weight none $@.cf | awk -F, 'NR > 1 { n[$$1] += $$2 } END { print n[1] + 0, n[2] + 0 }') && \
	    c=$$($(OUT)/cost 1 $(call classify,$s) $@.cf) && echo "$s $$n $$c" &&) rm -f $@.cf; } $(to)

# ---- real programs ----

RANDOM_AWK := function any(n) { s = s * 16807 % 2147483647; return int(n * s / 2147483647) }
$(OUT)/real/text.txt:
	$(call step,input)
	awk '$(RANDOM_AWK) BEGIN { s = 7; for (l = 0; l < $(TEXT); l++) { t = ""; \
	    for (k = any(12) + 3; k; k--) t = t any(4000) * any(4000) " "; print t } }' $(to)
$(OUT)/real/script.sql:
	$(call step,input)
	{ echo 'create table t(a integer primary key, b text);'; \
	  echo 'with recursive n(i) as (values(1) union all select i+1 from n where i < $(ROWS)) insert into t select i, hex(i*7919%4001) from n;'; \
	  echo 'select count(*), sum(a) from t where b like "3%"; select b from t order by b limit 5;'; } $(to)
$(OUT)/real/unit.i: $(UNIT)
	$(call step,input)
	$(CC) -E -D_GNU_SOURCE -I$(SCRIPTS).. $< $(to)
INPUTS := $(OUT)/real/text.txt $(OUT)/real/script.sql $(OUT)/real/unit.i

COMMAND_gzip    ?= gzip -9 -c $(OUT)/real/text.txt
COMMAND_xz      ?= xz -1 -T1 -c $(OUT)/real/text.txt
COMMAND_sort    ?= sort --parallel=1 -S 16M $(foreach i,1 2 3 4 5 6 7 8,$(OUT)/real/text.txt)
COMMAND_sqlite3 ?= sqlite3 :memory: '.read $(OUT)/real/script.sql'
COMMAND_cc1     ?= $$(gcc -print-prog-name=cc1) -quiet -O2 -o /dev/null $(OUT)/real/unit.i
command          = $(or $(COMMAND_$(1)),$(1))
THERE := $(foreach p,$(REAL),$(if $(shell command -v $(if $(filter cc1,$p),gcc,$(firstword $(call command,$p)))),$p))
# How they are run: alone; with the library for heap objects, and samples of page faults; with breakpoints
# on the instructions that missed most in the model; with both; under the tracer. What the kernel does not
# permit is left out, and cf-capture perf says why. Asked for once.
MODES = $(eval MODES := $$(shell export PATH='$$(PATH)'; f=$$$$(mktemp) && { echo alone; \
	if why=$$$$(cf-capture perf -q --coarse page-faults --fine 64 -o "$$$$f" -- true 2>&1); then echo objects breakpoints both; \
	else echo "no breakpoints: $$$$why" >&2; fi; echo trace; rm "$$$$f"; }))$(MODES)

$(OUT)/cost: $(SCRIPTS)cacheperf-cost.c
	$(call step,compile)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -o $@.tmp $< && $(done)

# Under the tracer, to the samples.
$(OUT)/real/%.cf: $(INPUTS) | $(OUT)/cost
	$(call step,record)
	$(OUT)/cost 1 bash -o pipefail -c $(call quoted,cf-capture trace -q --own-allocator --command-output /dev/null -- $(call command,$*) | \
	    cf-resolve -q | cf-cache -q -m $(MACHINE) | cf-sample -q -m $(MACHINE) --loads 2000 --stores 5000 -o $@.tmp) >$@.cost && $(done)

perf             = cf-capture perf -q --command-output /dev/null -o $(OUT)/real/$(1).perf.cf --coarse
run_alone        = $(OUT)/cost $(RUNS) $(call command,$(1))
run_objects      = $(OUT)/cost $(RUNS) $(call perf,$(1)) page-faults --fine 0 -- $(call command,$(1))
run_breakpoints  = $(OUT)/cost $(RUNS) $(call perf,$(1)) $(OUT)/real/$(1).cf --no-objects -- $(call command,$(1))
run_both         = $(OUT)/cost $(RUNS) $(call perf,$(1)) $(OUT)/real/$(1).cf -- $(call command,$(1))
run_trace        = cat $(OUT)/real/$(1).cf.cost

# ---- times: nothing runs beside ----

# Milliseconds of processor time: "program.mended as-it-is mended".
TIMED := $(filter-out 0,$(RUNS))
PAIRS := $(if $(TIMED),$(DEFECTS))
FOUND := $(VARIANTS:%=$(OUT)/verdict/%.csv) $(DEFECTS:%=$(OUT)/hill/%.csv) $(DEFECTS:%=$(OUT)/shares/%.txt)
$(OUT)/speed.txt: $(if $(TIMED),$(FOUND) $(DEFECTS:%=$(OUT)/settings/%.csv) $(DEFECTS:%=$(OUT)/effort/%.txt) \
		$(PRELOADED:%=$(OUT)/verdict/%.csv) $(THERE:%=$(OUT)/real/%.cf)) | $(OUT)/cost
	$(call step,run)
	for v in $(PAIRS); do \
	    n=$$(sed -n 's/.*repeats(argc, argv, \([0-9]*\)).*/\1/p' $(SOURCE)/$${v%.*}.c); \
	    a=$$($(OUT)/cost 3 $(OUT)/program/$$v $$n) || exit 1; a=$${a%%.*}; n=$$((n * (a < $(LASTING) ? $(LASTING) / (a + 1) + 1 : 1))); \
	    a=$$($(OUT)/cost $(RUNS) $(OUT)/program/$$v $$n) && \
	    b=$$($(OUT)/cost $(RUNS) $(OUT)/program/$${v%.*}.$$(($${v##*.} + 1)) $$n) || exit 1; \
	    echo "$$v $${a%% *} $${b%% *}"; \
	done $(to)

$(OUT)/table3.csv: $(OUT)/speed.txt
	$(call step,run)
	$(if $(TIMED),$(foreach p,$(filter-out $(THERE),$(REAL)),echo "$p of REAL is left out: it is not installed" >&2;))
	{ echo program,mode,processor_milliseconds,milliseconds,kib_of_largest_process,times_longer,times_larger; \
	  $(if $(TIMED),$(foreach p,$(THERE),{ $(foreach m,$(MODES),c=$$($(call run_$m,$p)) && echo "$m $$c" &&) :; } | \
	      awk -v OFS=, '$$1 == "alone" { ms = $$2; kb = $$4 } { print "$p", $$1, $$2, $$3, $$4, sprintf("%.2f", $$2 / ms), sprintf("%.2f", $$4 / kb) }' &&)) :; } $(to)

# ---- tables ----

# One line of the judgements of all seeds.
SUM := BEGIN { FS = OFS = "," } { k = $$1 FS $$2 FS $$3 FS $$4 FS $$5; if (!runs[k]++) key[++n] = k; \
	found[k] += $$6; if ($$7 != "") { type[k] = $$7; origin[k] = $$8 } others[k] += $$9 } \
	END { for (i = 1; i <= n; i++) { k = key[i]; print k, found[k] + 0, runs[k], type[k], origin[k], others[k] } }

$(OUT)/table2.csv: $(FOUND) $(OUT)/speed.txt $(SCRIPTS)cacheperf-table.awk
	$(call step,table)
	cat $(VARIANTS:%=$(OUT)/verdict/%.csv) /dev/null | awk '$(SUM)' | \
	    awk -v out=$(OUT) -v sources=$(SOURCE) -v head=$(COLUMNS) -f $(SCRIPTS)cacheperf-table.awk $(to)

$(OUT)/table5.csv: $(DEFECTS:%=$(OUT)/settings/%.csv)
	$(call step,table)
	{ echo setting,$(COLUMNS); for s in $(SETTINGS); do cat $^ /dev/null | sed -n "s/^$$s,//p" | awk '$(SUM)' | sed "s/^/$$s,/"; done; } $(to)

$(OUT)/table5-lost.csv: $(OUT)/table5.csv
	$(call step,table)
	awk -F, 'NR == 1 || $$7 < $$8' $< $(to)

$(OUT)/table4.csv: $(DEFECTS:%=$(OUT)/effort/%.txt)
	$(call step,table)
	cat $^ /dev/null | awk -v settings='$(SETTINGS)' 'BEGIN { OFS = ","; print "setting", "samples", "breakpoint_accesses", "classify_milliseconds", "classify_kib_at_most" } \
	    { samples[$$1] += $$2; fine[$$1] += $$3; ms[$$1] += $$4; kb[$$1] = $$6 > kb[$$1] ? $$6 : kb[$$1] } \
	    END { n = split(settings, s, " "); for (i = 1; i <= n; i++) print s[i], samples[s[i]], fine[s[i]], ms[s[i]], kb[s[i]] }' $(to)

$(OUT)/allocators.csv: $(PRELOADED:%=$(OUT)/verdict/%.csv)
	$(call step,table)
	{ echo allocator,$(COLUMNS); $(foreach l,$(LIBRARIES),cat $(filter %-$l.csv,$^) /dev/null | awk '$(SUM)' | sed 's/^/$l,/';) } $(to)

# ---- the page ----

$(OUT)/fig10.svg: $(OUT)/table3.csv $(SCRIPTS)cacheperf-fig10.awk
	$(call step,draw)
	awk -f $(SCRIPTS)cacheperf-fig10.awk $< $(to)

$(OUT)/report.html: $(TABLES) $(OUT)/fig10.svg $(SCRIPTS)cacheperf-page.awk
	$(call step,page)
	awk -v out=$(OUT) -v machine=$(MACHINE) -v seeds=$(SEEDS) -v runs=$(RUNS) -v modes='$(MODES)' \
	    -v host="$$(uname -m), $$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), Linux $$(uname -r)" \
	    -v date="$$(date -u +%Y-%m-%d)" -f $(SCRIPTS)cacheperf-page.awk $(to)

include $(SCRIPTS)settings.mk
