# SPDX-License-Identifier: BSD-2-Clause
#
# Snapshots of a board: what cacheflow.mk takes instead of a model where DEVICE is given. Programs run
# as they are, and the kernel module reads the cache (see cacheflow(4)); this takes root. Figures 4, 5, 7
# to 12 and the tables 2 and 3 are made; fig6 is fig4 on another board.
#
# DEVICE       of the kernel module, /dev/cacheflow
# SNAP         time from snapshot to snapshot of programs           [10ms]
# SYNTH_SNAP   the same of SYNTH                                    [2ms]
# LEAD         time that BOMB runs before the two of table2         [100ms]
# PAIRS2       pairs of snapshots of each mode of table2            [100]
# PASSES2      how often BOMB reads its buffer there: longer than LEAD  [1000]
# RUNS         of each program and pair for the slowdowns           [5]
# OWN, OTHER   processors that a program and one beside it run on   [0, 1]
# THREE        those of fig11                                       [0-2]

SNAP       ?= 10ms
SYNTH_SNAP ?= 2ms
LEAD       ?= 100ms
PAIRS2     ?= 100
PASSES2    ?= 1000
RUNS       ?= 5
OWN        ?= 0
OTHER      ?= 1
THREE      ?= 0-2

shoot = cf-capture snapshot -q --device $(DEVICE) --command-output /dev/null -o $@
every = $(foreach p,$(PROGRAMS),-- $(call command,$p))
heat  = cf-resolve -q $< | cf-heatmap -q --table line --csv $(1) $(png) $(to)
four  = -n 4 --picture-size 1200x500

# Two at a time would disturb each other.
.NOTPARALLEL:

# ---- heat maps ----

$(OUT)/fig4.cf: $(OUT)/synth
	$(shoot) -r -m -p $(SYNTH_SNAP) -c $(OWN) -- $< $(SYNTH_BYTES)

$(OUT)/fig5.cf: $(OUT)/synth $(OUT)/bomb
	$(shoot) -r -m -t -p $(SYNTH_SNAP) -c $(OWN) -- /bin/sh -c '$(OUT)/bomb 2621440 $(FILL); exec $< $(SYNTH_BYTES)'

$(OUT)/fig4.csv: $(OUT)/fig4.cf
	$(call heat,$(four))

# The shell has become SYNTH; its lines alone are shown, and of them those of the buffers.
$(OUT)/fig5.csv: $(OUT)/fig5.cf
	cf-resolve -q $< | \
	    cf-select -q --pid $$(cf-cat -q --csv --table task --columns pid,label $< | sed -n '/,synth$$/s/,.*//p' | tail -n 1) | \
	    cf-heatmap -q --table line --csv -n 1 --picture-size 1200x500 --scale linear $(png) $(to)

$(ALL:%=$(OUT)/%.alone.cf): $(OUT)/%.alone.cf: $(INPUTS) $(OUT)/bomb
	$(shoot) -r -m -p $(SNAP) -c $(OWN) -- $(call command,$*)

$(OUT)/fig7.csv: $(OUT)/$(word 2,$(PROGRAMS)).alone.cf
	$(call heat)

$(OUT)/fig8.csv: $(OUT)/$(lastword $(PROGRAMS)).alone.cf
	$(call heat)

# ---- who occupies the cache ----

# priorities that decrease
FIFO := -s $(shell i=50; for p in $(PROGRAMS); do printf '%s' "$${s:-}fifo:$$i"; i=$$((i - 1)); s=,; done)

$(OUT)/fig9.cf: $(INPUTS)
	$(shoot) -r -p $(SNAP) -c $(OWN) $(every)

$(OUT)/fig10.cf: $(INPUTS)
	$(shoot) -r -p $(SNAP) -c $(OWN) $(FIFO) $(every)

$(OUT)/fig11.cf: $(INPUTS)
	taskset -c $(THREE) $(shoot) -r -p $(SNAP) $(FIFO) $(every)

TITLE9  := fair turns on one processor
TITLE10 := fixed priorities on one processor
TITLE11 := fixed priorities on three processors
$(OUT)/fig9.csv $(OUT)/fig10.csv $(OUT)/fig11.csv: %.csv: %.cf
	cf-occupancy -q --csv $(call named,Occupancy: $(TITLE$(patsubst $(OUT)/fig%.csv,%,$@))) $< $(to)

# ---- tables ----

MODES2 := full-flush=-rm resolve-layout=-trm resolve=-tr layout=-tm transparent=-t
$(OUT)/table2.csv: $(OUT)/bomb
	@rm -rf $(OUT)/table2 && mkdir -p $(OUT)/table2
	for mode in $(MODES2); do for i in $$(seq $(PAIRS2)); do \
	    cf-capture snapshot -q --device $(DEVICE) $${mode#*=} -2 -n 1 -d $(LEAD) -c $(OWN) \
	        -o $(OUT)/table2/$${mode%=*}.$$i.cf -- $(OUT)/bomb 2621440 $(PASSES2) || exit 1; \
	    [[ $$(cf-cat -q --csv --table snapshot $(OUT)/table2/$${mode%=*}.$$i.cf | wc -l) == 3 ]] || \
	        { echo "BOMB has ended before LEAD, $(LEAD): give it more PASSES2"; exit 1; } >&2; \
	done; done
	cf-diff -q --pairs --summary $(OUT)/table2/*.cf $(to)

# Times without snapshots, alone and beside each other.
time = $(SCRIPTS)cacheflow-time.sh $(RUNS) $(OWN) $(OTHER)
$(OUT)/slowdown.csv: $(INPUTS) $(OUT)/bomb
	(echo observed,interfering,slowdown; $(foreach a,$(PROGRAMS), \
	    alone=$$($(time) "$(call command,$a)") || exit 1; $(foreach b,$(ALL), \
	    beside=$$($(time) "$(call command,$a)" "$(call command,$b)") || exit 1; \
	    awk -v a=$$alone -v b=$$beside 'BEGIN { printf "%s,%s,%.4f\n", "$a", "$b", b / a }';))) $(to)
