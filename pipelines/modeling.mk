# SPDX-License-Identifier: BSD-2-Clause
#
# What caches a machine has, from measurements alone: the experiments of "Automatic Cache Modeling by
# Measurements" and those beyond it, on models, whose truth is known, and on the machine at hand.
#
#   make && make -f pipelines/modeling.mk        all of it, in build/modeling; page.html shows it
#   make -f pipelines/modeling.mk here           the machine at hand alone
#   make -f pipelines/modeling.mk MACHINES=300 OUT=build/300   the table of recovery over more random machines
#
#   fig1a, fig1b, fig1c   capacity, associativity and block of MODEL, by misses and by time (.misses, .time)
#   recovery.csv          of MACHINES random machines: how many values were told right, or within bounds, told wrong, not told
#   policies.csv          the policy of their first levels beside the one that was told
#   here.cf, here.yaml    measurements of this machine, and its description
#   claimed.csv           each value measured beside what Linux claims of this machine, where it claims any
#   topology.txt          what likwid-topology says, where it is installed
#   page.html             all of that on one page; here.html, MODEL.misses.html, MODEL.time.html: every curve
#
# OUT        where results go                                       [build/modeling]
# MODEL      a machine description; its first level costs something [atom-d525]
# MACHINES   how many random machines                               [60]
# HERE       options of cf-capture probe for this machine           [none; --quick, --thorough, --cpu N]
# BIN        where the programs are                                 [build/bin, else where they were installed]
#
# With -j: others that run at the same time disturb the measurements of this machine, so with goals all and page.html
# those come after all else.

OUT      ?= $(B)/modeling
include $(dir $(lastword $(MAKEFILE_LIST)))names.mk
MODEL    ?= atom-d525
MACHINES ?= 60
HERE     ?=

export LC_ALL := C

BY      := misses time
$(if $(shell [[ $(call quoted,$(MACHINES)) =~ ^[0-9]+$$ ]] || echo no),$(error MACHINES='$(MACHINES)' is no number: give how many))
NUMBERS := $(shell seq $(MACHINES))
RANDOM  := $(foreach n,$(NUMBERS),$(BY:%=$(OUT)/random/$n.%.csv))
# files of MODEL, which may be a path
OF      := $(OUT)/$(notdir $(MODEL))
FIGURES := $(foreach f,a b c,$(BY:%=$(OUT)/fig1$f.%.png))
TABLES  := $(OUT)/recovery.csv $(OUT)/policies.csv $(OUT)/claimed.csv

# Results are made under another name and renamed, so that a stopped run leaves no half of one.
done = $(unchanged)mv $@.tmp $@ || { rm -f $@.tmp; exit 1; }
to   = >$@.tmp && $(done)
# That no cache was found, on a machine too busy or without one, is a result as well.
found = || { [[ $$? == 1 && -e $@ ]]; }

all: $(OUT)/page.html
	@echo "results in $(OUT): open page.html"; echo; cat $(OUT)/recovery.csv; echo; cat $(OUT)/claimed.csv

here: $(OUT)/here.yaml $(OUT)/claimed.csv $(OUT)/here.html
	@cat $(OUT)/here.yaml

.SECONDARY:
.SECONDEXPANSION:

# ---- models ----

$(OF).misses.cf $(OF).time.cf: $(OF).%.cf:
	@mkdir -p $(@D) && echo "measure $(MODEL) by $*"
	@cf-capture probe -q --on $(MODEL) --by $* -o $@

$(OUT)/random/%.yaml: $(SCRIPTS)modeling-machine.awk
	@mkdir -p $(@D)
	@awk -v seed=$* -f $< $(to)

$(foreach b,$(BY),$(NUMBERS:%=$(OUT)/random/%.$b.cf)): $(OUT)/random/%.cf: $(OUT)/random/$$(basename $$*).yaml
	@cf-capture probe -q --quick --on $(call quoted,$(abspath $<)) --by $(subst .,,$(suffix $*)) -o $@ $(found)

$(RANDOM): $(OUT)/random/%.csv: $(OUT)/random/%.cf
	@cf-infer -q --compare $(call quoted,$(abspath $(OUT)/random/$(basename $*).yaml)) $< $(to)

# ---- the machine at hand, after all else where that is wanted, too ----

ALL := all %page.html
$(OUT)/here.cf: | $(if $(filter $(ALL),$(or $(MAKECMDGOALS),all)),$(FIGURES) $(OUT)/recovery.csv $(OUT)/policies.csv \
    $(OUT)/topology.txt $(BY:%=$(OF).%.html))
	@mkdir -p $(@D) && echo "measure this machine"
	@cf-capture probe -q $(HERE) -o $@ $(found)

$(OUT)/here.yaml: $(OUT)/here.cf
	@{ cf-infer $< || { [[ $$? == 1 ]] && echo '# no cache can be described'; }; } $(to)

$(OUT)/claimed.csv: $(OUT)/here.cf
	@{ cf-infer -q --csv --compare host $< || { [[ $$? == 2 ]] && cf-infer -q --csv $<; }; } $(to)

$(OUT)/topology.txt:
	@mkdir -p $(@D)
	@if command -v likwid-topology >/dev/null; then likwid-topology -c; else echo "likwid-topology is not installed"; fi $(to)

# ---- pictures: all curves of a stream, and of the model those of the paper's figure ----

figure_a := capacity
figure_b := associativity
figure_c := block

%.curves: %.cf
	@rm -rf $@ $@.tmp && mkdir -p $@.tmp && cf-infer -q --csv --picture '$@.tmp/%.png' $< >/dev/null && mv $@.tmp $@

# The first data level is L1, or L1D where instructions were measured, too.
$(FIGURES): $(OUT)/fig1%.png: $(OF).$$(subst .,,$$(suffix $$*)).curves
	@cp $</L1*-$(figure_$(basename $*)).png $@.tmp && $(done)

%.html: %.cf
	@cf-infer -q --csv --html $@.tmp $< >/dev/null && $(done)

# ---- tables ----

# What was told of the random machines, behind how it was measured.
told = for by in $(BY); do for n in $(NUMBERS); do sed "1d;s/^/$$by,/" $(OUT)/random/$$n.$$by.csv || exit; done; done

# By how it was measured, the level and what: values told right, told wrong (also of a level that is not there), not told.
$(OUT)/recovery.csv: $(RANDOM)
	@{ echo by,level,what,right,wrong,not_told && $(told) | \
	    awk -F, -v OFS=, '$$3 != "latency" || $$1 == "time" { k = $$1 OFS $$2 OFS $$3; if (!(k in all)) key[++n] = k; all[k]++ } \
	        $$9 == "equal" || $$9 == "within bounds" { right[k]++ } $$9 == "differs" || $$9 == "not claimed" { wrong[k]++ } \
	        END { for (i = 1; i <= n; i++) { k = key[i]; \
	            print k, right[k] + 0, wrong[k] + 0, all[k] - right[k] - wrong[k] } }' | sort; } $(to)

# Those that no sequence distinguishes are told together, with a slash between them.
$(OUT)/policies.csv: $(RANDOM)
	@{ echo by,policy,told,machines && $(told) | awk -F, -v OFS=, '$$2 ~ /^L1D?$$/ && $$3 == "policy" { \
	    all[$$1 OFS $$8 OFS ($$9 == "equal" || $$9 == "within bounds" || $$9 == "differs" ? $$4 : "cannot tell")]++ } \
	    END { for (k in all) print k, all[k] }' | sort; } $(to)

$(OUT)/page.html: $(SCRIPTS)modeling-page.awk $(FIGURES) $(TABLES) $(OUT)/topology.txt $(OUT)/here.yaml $(OUT)/here.curves \
    $(OUT)/here.html $(BY:%=$(OF).%.html)
	@awk -v out=$(OUT) -v model=$(notdir $(MODEL)) -v machines=$(MACHINES) -v figures="$(notdir $(FIGURES))" \
	    -v curves="$$(cd $(OUT)/here.curves && echo *.png)" -v date="$$(date -u +%F)" -f $< $(to)
	@echo "page.html: $$(wc -c <$@) bytes"

.DELETE_ON_ERROR:

include $(SCRIPTS)settings.mk
