# SPDX-License-Identifier: BSD-2-Clause
#
# Snapshots of a board: what cacheflow.mk takes instead of a model where DEVICE is given. Programs run
# as they are, and the kernel module reads the cache (see cacheflow(4)); this takes root. Not made are
# fig6, which is fig4 on another board; policies.csv, for which one has to know every access; and
# schedules.csv, whose cycles are those of a model. fig13 and fig14 take huge pages, three of 2 MB
# (sysctl vm.nr_hugepages=3), and a buffer of the module that holds 17 snapshots, 64 MB; without huge
# pages they are left out, and the last line that is printed says so.
#
# DEVICE       of the kernel module, /dev/cacheflow
# SNAP         time from snapshot to snapshot of programs           [10ms]
# SYNTH_SNAP   the same of SYNTH                                    [2ms]
# LEAD         time that BOMB runs before the two of table2         [100ms]
# PAIRS2       pairs of snapshots of each mode of table2            [100]
# PASSES2      how often BOMB reads its buffer there: longer than LEAD  [1000]
# REPL_PASSES  how often REPL goes over its sets before the snapshot of fig13  [1]
# RUNS         of each program and pair for the slowdowns           [5]
# OWN, OTHER   processors that a program and one beside it run on   [0, 1]
# THREE        those of fig11                                       [0-2]

SNAP       ?= 10ms
SYNTH_SNAP ?= 2ms
LEAD       ?= 100ms
PAIRS2     ?= 100
PASSES2    ?= 1000
REPL_PASSES ?= 1
RUNS       ?= 5
OWN        ?= 0
OTHER      ?= 1
THREE      ?= 0-2

# Figures are of the programs: lines of other processes and of the kernel are left out.
shoot = cf-capture snapshot -q --device $(DEVICE) --command-output /dev/null -o $@.all
ours  = && cf-select -q -o $@ --pid $$(cf-cat -q --csv --table task --columns pid $@.all | \
        sed 1d | sort -u | paste -sd,) $@.all && rm $@.all
every = $(foreach p,$(PROGRAMS),-- $(call command,$p))
heat  = cf-resolve -q $< | cf-heatmap -q --table line --csv $(1) $(png) $(to)
four  = -n 4 --picture-size 1200x500

# Two at a time would disturb each other.
.NOTPARALLEL:

# ---- heat maps ----

$(OUT)/fig4.cf: $(OUT)/synth
	$(shoot) -r -m -p $(SYNTH_SNAP) -c $(OWN) -- $(program) $(SYNTH_BYTES) $(ours)

$(OUT)/fig5.cf: $(OUT)/synth $(OUT)/bomb
	$(shoot) -r -m -t -p $(SYNTH_SNAP) -c $(OWN) -- /bin/sh -c '$(OUT)/bomb 2621440 $(FILL); exec $(program) $(SYNTH_BYTES)' $(ours)

$(OUT)/fig4.csv: $(OUT)/fig4.cf
	$(call heat,$(four))

# The shell has become SYNTH; the lines of its buffers alone are shown.
$(OUT)/fig5.csv: $(OUT)/fig5.cf
	pid=$$(cf-cat -q --csv --table task --columns pid,label $< | sed -n '/,synth$$/s/,.*//p' | tail -n 1); \
	[[ -n $$pid ]] || { echo "SYNTH has ended before a snapshot was due: SYNTH_SNAP, $(SYNTH_SNAP), is too long" >&2; exit 1; }; \
	cf-resolve -q $< | cf-select -q --pid $$pid --region '[[]anon*' | \
	    cf-heatmap -q --table line --csv -n 1 --picture-size 1200x500 --scale linear $(png) $(to)

$(ALL:%=$(OUT)/%.alone.cf): $(OUT)/%.alone.cf: $(INPUTS) $(OUT)/bomb
	$(shoot) -r -m -p $(SNAP) -c $(OWN) -- $(call command,$*) $(ours)

$(OUT)/fig7.csv: $(OUT)/$(SECOND).alone.cf
	$(call heat)

$(OUT)/fig8.csv: $(OUT)/$(lastword $(PROGRAMS)).alone.cf
	$(call heat)

# ---- who occupies the cache ----

# priorities that decrease
FIFO := -s $(shell i=50; for p in $(PROGRAMS); do printf '%s' "$${s:-}fifo:$$i"; i=$$((i - 1)); s=,; done)

$(OUT)/fig9.cf: $(INPUTS)
	$(shoot) -r -p $(SNAP) -c $(OWN) $(every) $(ours)

$(OUT)/fig10.cf: $(INPUTS)
	$(shoot) -r -p $(SNAP) -c $(OWN) $(FIFO) $(every) $(ours)

$(OUT)/fig11.cf: $(INPUTS)
	taskset -c $(THREE) $(shoot) -r -p $(SNAP) $(FIFO) $(every) $(ours)

TITLE9  := fair turns on one processor
TITLE10 := fixed priorities on one processor
TITLE11 := fixed priorities on three processors
$(OUT)/fig9.csv $(OUT)/fig10.csv $(OUT)/fig11.csv: %.csv: %.cf
	cf-occupancy -q --csv $(call named,Occupancy: $(TITLE$(patsubst fig%.csv,%,$(@F)))) $< $(to)

# ---- tables ----

MODES2 := full-flush=-rm resolve-layout=-trm resolve=-tr layout=-tm transparent=-t
$(OUT)/table2.csv: $(OUT)/bomb
	@rm -rf $(OUT)/table2 && mkdir -p $(OUT)/table2
	for mode in $(MODES2); do for i in $$(seq $(PAIRS2)); do \
	    cf-capture snapshot -q --device $(DEVICE) $${mode#*=} -2 -n 1 -d $(LEAD) -c $(OWN) \
	        -o $(OUT)/table2/$${mode%=*}.$$i.cf -- $(OUT)/bomb 2621440 $(PASSES2) || \
	        { [[ $$? != 1 ]] || echo "where BOMB has ended before LEAD, $(LEAD), give it more PASSES2"; exit 1; } >&2; \
	done; done
	cf-diff -q --pairs --summary $(OUT)/table2/*.cf $(to)

# Times without snapshots, alone and beside each other.
time = $(SCRIPTS)cacheflow-time.sh $(RUNS) $(OWN) $(OTHER)
$(OUT)/slowdown.csv: $(INPUTS) $(OUT)/bomb
	(echo observed,interfering,slowdown; $(foreach a,$(PROGRAMS), \
	    alone=$$($(time) $(call quoted,$(call command,$a))) || exit 1; $(foreach b,$(ALL), \
	    beside=$$($(time) $(call quoted,$(call command,$a)) $(call quoted,$(call command,$b))) || exit 1; \
	    awk -v a=$$alone -v b=$$beside 'BEGIN { printf "%s,%s,%.4f\n", "$a", "$b", b / a }';))) $(to)

# ---- the replacement policy ----

# REPL stops itself where a snapshot is due, which is transparent: after a flush nothing is left.
$(OUT)/rounds-%.cf: $(OUT)/repl
	$(shoot) -t -r -e stop -c $(OWN) -- $(program) $* $(REPL_SETS) $(REPL_PASSES) $(WAY_BYTES) $(WAYS) 1 $(ours)

# Whether REPL's lines were in one set each, and the sets others each time.
shaped = cf-cat -q --csv --table snapshot --columns sets,ways $< | awk -F, 'NR == 2 && ($(WAY_BYTES) % (64 * $$1) || $(REPL_SETS) > $$1 || $$2 != $(WAYS)) { \
	print "WAY_BYTES=$(WAY_BYTES) WAYS=$(WAYS) REPL_SETS=$(REPL_SETS): the cache has " $$2 " ways of " 64 * $$1 " bytes" >"/dev/stderr"; exit 1 }'

# Of all snapshots the set of REPL's lines alone, each of which is at the beginning of a way.
$(OUT)/fig14.csv: $(OUT)/rounds-1.cf $(OUT)/repl
	@$(shaped)
	for i in $$(seq $(REPL_TIMES)); do \
	    cf-capture snapshot -q --device $(DEVICE) --command-output /dev/null -t -r -e stop -c $(OWN) -- \
	        $(OUT)/repl 1 1 1 $(WAY_BYTES) $(WAYS) 2 || exit 1; \
	done | $(choices) --set 0 $(to)

LEFT_OUT := Not made: fig6, which is fig4 on another board; policies.csv and schedules.csv, which need a model$(if \
    $(REPLACED),,; fig13 and fig14, for which there are too few huge pages: sysctl vm.nr_hugepages=3)
