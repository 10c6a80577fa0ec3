# SPDX-License-Identifier: BSD-2-Clause
#
# Snapshots: regenerates the figures and tables of "Observing the Invisible", section 7, on this
# machine. Programs are recorded with every access that they make; the recordings run through the
# model of a Tegra X1, which writes what a shutter would have read there. Or, with DEVICE, on a
# board whose cache the kernel module reads (cacheflow-board.mk).
#
#   make -j2 -f pipelines/cacheflow.mk                  all of it, in build/cacheflow: five minutes
#   make -f pipelines/cacheflow.mk build/cacheflow/fig4.png         one of them
#   make -f pipelines/cacheflow.mk DEVICE=/dev/cacheflow PROGRAMS="gzip a b c" COMMAND_a='./a -x'
#
#   fig4, fig5   SYNTH, lines of each page: flush mode; transparent mode, after BOMB filled the cache
#   fig6         fig4 on another board, a Raspberry Pi 4: its second level is half as large, and in
#                the same 2 ms its slower clock ticks less often. (The paper's Odroid XU4 has a
#                second level of the Tegra's geometry, of which a model says what it says of that.)
#   fig7, fig8   two real programs in flush mode: the second and the last of PROGRAMS; of one, that
#   fig9         lines of the programs that take turns on one processor
#   fig10        the same by fixed priority; fig11: on three processors
#   fig12        active and reused sets of the programs and BOMB, each alone
#   fig13        how many of 16 lines of a set survive 1 to 8 rounds over them
#   fig14        which way a new line takes; policies.csv: which policy predicts that
#   table2       what changes between two snapshots back to back
#   table3       slowdown of each by each, the two metrics that predict it, and their correlation
#   schedules    cycles of the programs under the schedules of fig9 to fig11
#
# Each is a .csv, a figure also a .png; table3 is a .txt too. A program has the same colour in figures 9
# to 12, unless two of PROGRAMS run programs of the same name.
#
# What a model cannot show: the time that a snapshot takes, and what taking it does to the cache
# (Table 2 has both: here transparent snapshots change nothing, and a flush changes what was there);
# how much slower stores are than loads (time counts instructions); other processes and the kernel.
# The paper's programs (SD-VBS) are not in Debian: gzip, sort, sqlite3 and a compiler stand in.
# They run for some 10 ms where the paper's take seconds, and touch less: so in figures 9 to 12 and
# table3, which are about programs that compete, the second level has 512 KiB.
#
# PROGRAMS     names, of letters, digits, _ . and -; of one that is not among the four,
#              COMMAND_name is its command line [its name]
# DEVICE       of the kernel module, of a board                     [none]
# OUT          where results go                                     [build/cacheflow, with DEVICE build/cacheflow-board]
# BIN          where the programs are                               [build/bin, else where they were installed]
# MACHINE      the model, one of formats/machines                   [tegra-x1]
# MACHINE6     that of fig6                                         [raspberry-pi-4]
# L2           second level of the model where programs compete     [512KiB]
# LIMIT        accesses to record of a real program                 [15000000]
# TIME         instructions of each that the experiments take       [20000000]
# PERIOD       instructions from snapshot to snapshot of programs   [1000000]
# SLICE        of fair scheduling, in instructions                  [400000]
# TEXT, ROWS, UNIT   what they work on: lines to compress and to sort, rows of the
#              database, source to compile   [60000, 12000, filters/cf-merge.c, installed repl.c]
# SYNTH_BYTES, SYNTH_PERIOD  a buffer of SYNTH; between snapshots   [524288, 32768]
# FILL         how often BOMB reads its buffer before SYNTH          [2]
# REPL_SETS, REPL_TIMES      experiments of fig13, of fig14         [1000, 2000]
# WAY_BYTES, WAYS            of the board's cache, for these; fewer bytes than 64 * REPL_SETS do not do  [131072, 16]
#              Without DEVICE they are those of the last level of MACHINE.
# LATENCY      cycles beyond a hit in the first level, of the second level and of memory
#                                                                   [17 176]
# PICTURES     0: CSV only                                          [1]

DEVICE       ?=
OUT          ?= $(B)/cacheflow$(if $(DEVICE),-board)
include $(dir $(lastword $(MAKEFILE_LIST)))names.mk
MACHINE      ?= tegra-x1
MACHINE6     ?= raspberry-pi-4
L2           ?= 512KiB
LIMIT        ?= 15000000
TIME         ?= 20000000
TEXT         ?= 60000
ROWS         ?= 12000
PERIOD       ?= 1000000
SLICE        ?= 400000
SYNTH_BYTES  ?= 524288
SYNTH_PERIOD ?= 32768
FILL         ?= 2
REPL_SETS    ?= 1000
REPL_TIMES   ?= 2000
WAY_BYTES    ?= $(word 1,$(GEOMETRY))
WAYS         ?= $(word 2,$(GEOMETRY))
LATENCY      ?= 17 176
PICTURES     ?= 1
$(call numbers,TEXT ROWS TIME)
SOURCE       := $(SCRIPTS)../samples/cacheflow
DESCRIPTIONS := $(firstword $(wildcard $(SCRIPTS)../formats/machines $(SCRIPTS)../machines))
$(foreach v,$(if $(DEVICE),,MACHINE MACHINE6),$(if $(wildcard $(DESCRIPTIONS)/$($v).yaml),,$(error $v=$($v): there is no \
    $(DESCRIPTIONS)/$($v).yaml, whose ways and clock are needed here: give a name that has one)))
# bytes of a way, and ways, of the last level that has data
GEOMETRY     := $(or $(if $(DEVICE),,$(shell awk -F ' size: | ways: ' '/ size: .* ways: / && !/kind: instruction/ { w = $$3 + 0; \
		b = $$2 * ($$2 ~ /^[0-9]+K/ ? 1024 : $$2 ~ /^[0-9]+M/ ? 1048576 : 1) } END { if (w) printf "%d %d\n", b / w, w }' \
		$(wildcard $(DESCRIPTIONS)/$(MACHINE).yaml) </dev/null)),131072 16)
$(if $(DEVICE)$(findstring =$(GEOMETRY)=,=$(strip $(WAY_BYTES) $(WAYS))=),,$(error WAY_BYTES=$(WAY_BYTES) WAYS=$(WAYS): \
    the last level of $(MACHINE) has $(word 2,$(GEOMETRY)) ways of $(word 1,$(GEOMETRY)) bytes: leave them out))
UNIT         ?= $(firstword $(wildcard $(SCRIPTS)../filters/cf-merge.c $(SOURCE)/repl.c))

export LC_ALL := C

PROGRAMS ?= gzip sort sqlite3 cc1
$(if $(strip $(PROGRAMS)),,$(error PROGRAMS is empty: give one name at least))
# They are in names of files, in rules and in CSV, and each is once.
UNNAMED  := $(filter bomb synth fill steps repl-% rounds-% %.cut %.alone,$(PROGRAMS)) $(shell printf '%s\n' $(foreach p,$(PROGRAMS),$(call quoted,$p)) | \
		LC_ALL=C awk '!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$$/ || n[$$0]++')
$(if $(strip $(UNNAMED)),$(error PROGRAMS has '$(firstword $(UNNAMED))', which is no name for one, is another's here, or is there twice: \
    give a name of letters, digits, '_', '.' and '-', and its command line as COMMAND_name))
SECOND   := $(or $(word 2,$(PROGRAMS)),$(PROGRAMS))
FIGURES  := 4 5 6 7 8 9 10 11 12 13 14
RESULTS  := $(FIGURES:%=fig%.csv) policies.csv schedules.csv
TABLES   := table2.csv table3.csv table3.txt correlation.csv
ifneq ($(DEVICE),)
# 13 and 14 where there are huge pages for the memory of REPL
REPLACED := $(shell awk '/^HugePages_Free:/ { n = $$2 } /^Hugepagesize:/ { kb = $$2 } \
		END { if (n * kb * 1024 >= 3 * $(WAY_BYTES) * $(WAYS)) print 13, 14 }' /proc/meminfo)
FIGURES  := 4 5 7 8 9 10 11 12 $(REPLACED)
RESULTS  := $(FIGURES:%=fig%.csv)
endif
RESULTS  += $(TABLES)
IMAGES   := $(if $(filter-out 0,$(PICTURES)),$(FIGURES:%=fig%.png))

all: $(RESULTS:%=$(OUT)/%) $(IMAGES:%=$(OUT)/%)
	@echo "results in $(OUT)"; cat $(OUT)/table3.txt $(OUT)/correlation.csv
	$(if $(DEVICE),@echo "$(LEFT_OUT)")

# Results are made under another name and renamed, so that a stopped run leaves no half of one. A
# recipe whose picture is made beside its table asks for it by $(png); without, a picture of an older table goes.
done = $(unchanged)$(if $(png),,$(if $(filter %.csv,$@),rm -f $(@:.csv=.png) && ))mv $@.tmp $@ || { rm -f $@.tmp; exit 1; }
to   = >$@.tmp && $(done)
png  = $(if $(filter-out 0,$(PICTURES)),--picture $(@:.csv=.png))
# Colours are by names of processes, which are those of what is run, as far as Linux keeps them.
ALL     := $(PROGRAMS) bomb
comma   := ,
empty   :=
process = $(notdir $(firstword $(if $(findstring $$,$(firstword $(call command,$(1)))),$(1),$(call command,$(1)))))
NAMES   = $(shell printf '%.15s\n' $(foreach p,$(ALL),$(call quoted,$(call process,$p))))
named   = --colours $(call quoted,$(subst $(empty) ,$(comma),$(NAMES))) $(png) --title '$(1)'

# ---- programs and their recordings ----

# Instruction fetches too: the second level holds code as well. What a program prints is dropped. A recording
# that a signal has ended is whole, and short: it is renamed by a line of its own, which is not run then.
record = cf-capture trace -q -i -o $@.tmp --command-output /dev/null
# one of ours, by its folder, where OUT is this one, too
program = $(<D)/$(<F)
# of names without a rule below, which are given on the command line
command = $(or $(COMMAND_$(1)),$(1))

$(OUT)/%: $(SOURCE)/%.c $(SOURCE)/kernel.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -o $@ $<

# Lines of words, which are as random on every machine.
RANDOM_AWK := function any(n) { s = s * 16807 % 2147483647; return int(n * s / 2147483647) }
$(OUT)/text.txt:
	@mkdir -p $(@D)
	awk '$(RANDOM_AWK) BEGIN { s = 7; for (i = 0; i < 4000; i++) for (k = any(8) + 2; k; k--) \
	    w[i] = w[i] sprintf("%c", 97 + any(26)); for (l = 0; l < $(TEXT); l++) { t = ""; \
	    for (k = any(12) + 3; k; k--) t = t w[any(any(4000) + 1)] " "; print t } }' $(to)

$(OUT)/script.sql:
	@mkdir -p $(@D)
	awk '$(RANDOM_AWK) BEGIN { s = 9; q = "\047"; \
	    print "create table t(a integer primary key, b text, c integer);\nbegin;"; \
	    for (i = 0; i < $(ROWS); i++) print "insert into t values(" i "," q "name " any(100000) q "," any(1000) ");"; \
	    print "commit;\ncreate index i on t(c);"; \
	    print "select c, count(*), avg(a) from t group by c order by 2 desc limit 5;"; \
	    print "select sum(y.c) from t x join t y on y.a = (x.a * 7919) % $(ROWS);"; \
	    print "select b from t order by b limit 5;" }' $(to)

$(OUT)/unit.i: $(UNIT)
	@mkdir -p $(@D)
	$(CC) -E -D_GNU_SOURCE -I$(SCRIPTS).. $< $(to)

COMMAND_gzip    ?= gzip -9 -c $(OUT)/text.txt
COMMAND_sort    ?= sort --parallel=1 -S 16M $(OUT)/text.txt
COMMAND_sqlite3 ?= sqlite3 :memory: '.read $(OUT)/script.sql'
COMMAND_cc1     ?= $$(gcc -print-prog-name=cc1) -quiet -O2 -o /dev/null $(OUT)/unit.i
COMMAND_bomb    ?= $(OUT)/bomb
INPUTS          := $(OUT)/text.txt $(OUT)/script.sql $(OUT)/unit.i

# The lines of REPL, and which way each new one of them takes.
LINES   := 0x40000000-$(shell printf %#x $$((0x40000000 + $(WAYS) * $(WAY_BYTES) - 1)))
ROUNDS  := 1 2 3 4 5 6 7 8
CACHE   := $(if $(DEVICE),the board,$(MACHINE))
choices  = cf-policy -q --addr $(LINES) --choices - $(png) --title 'Ways of $(CACHE) that are chosen for new lines'

ifneq ($(DEVICE),)
include $(SCRIPTS)cacheflow-board.mk
else

$(PROGRAMS:%=$(OUT)/%.cf): $(OUT)/%.cf: $(INPUTS)
	$(record) -n $(LIMIT) -- $(call command,$*)
	$(done)

$(OUT)/synth.cf: $(OUT)/synth
	$(record) -- $(program) $(SYNTH_BYTES)
	$(done)

$(OUT)/bomb.cf: $(OUT)/bomb
	$(record) -n $(LIMIT) -- $(program)
	$(done)

# BOMB, only as long as it takes to fill the cache.
$(OUT)/fill.cf: $(OUT)/bomb
	$(record) -- $(program) 2621440 $(FILL)
	$(done)

# The same with a smaller second level.
MODEL := $(OUT)/$(MACHINE).yaml
$(MODEL): $(DESCRIPTIONS)/$(MACHINE).yaml
	@mkdir -p $(@D)
	grep ' size: .* ways: ' $< | tail -n 1 | grep -q 'name: L2,.* size: ' || \
	    { echo "$(MACHINE): its last level is no second level L2: give another MACHINE" >&2; exit 1; }
	sed 's/^\(name: .*\)/\1, second level of $(L2)/; s/\(name: L2,.* size: \)[^,]*/\1$(L2)/' $< $(to)

# Heat maps, sets and clashes take the same time of each program.
$(OUT)/%.cut.cf: $(OUT)/%.cf
	cf-select -q --time -$$(($(TIME) - 1)) -o $@ $<

# ---- heat maps ----

snapshots = cf-cache -q -m $(or $(2),$(MACHINE)) --snapshot-every $(1)
heat      = cf-resolve -q | cf-heatmap -q --table line --csv $(1) $(png) $(to)

# As in the paper, the four regions that have most lines.
four      = -n 4 --picture-size 1200x500

$(OUT)/fig4.csv: $(OUT)/synth.cf
	$(call snapshots,$(SYNTH_PERIOD)) --flush $< | $(call heat,$(four))

# SYNTH alone is shown, the second of the two processes, and as in the paper its buffers.
$(OUT)/fig5.csv: $(OUT)/fill.cf $(OUT)/synth.cf
	cf-merge -q --schedule fifo $^ | $(call snapshots,$(SYNTH_PERIOD)) | cf-resolve -q | \
	    cf-select -q --pid $$((10000000 + $$(cf-cat -q --csv --table task --columns pid $(OUT)/synth.cf | sed -n 2p))) | \
	    cf-heatmap -q --table line --csv -n 1 --picture-size 1200x500 --scale linear $(png) $(to)

clock = $(shell sed -n 's/^clock_hz: *//p' $(DESCRIPTIONS)/$(1).yaml)
$(OUT)/fig6.csv: $(OUT)/synth.cf
	$(call snapshots,$$(($(SYNTH_PERIOD) * $(call clock,$(MACHINE6)) / $(call clock,$(MACHINE)))),$(MACHINE6)) --flush $< | \
	    $(call heat,$(four))

$(OUT)/fig7.csv: $(OUT)/$(SECOND).cut.cf
	$(call snapshots,$$(($(PERIOD) / 8))) --flush $< | $(call heat)

$(OUT)/fig8.csv: $(OUT)/$(lastword $(PROGRAMS)).cut.cf
	$(call snapshots,$$(($(PERIOD) / 8))) --flush $< | $(call heat)

# ---- who occupies the cache ----

# As they were recorded, so that they end at different times.
RUNS := $(PROGRAMS:%=$(OUT)/%.cf)
fair1 := --schedule fair:$(SLICE)
fifo1 := --schedule fifo
fifo3 := --schedule fifo --cores 3
occupancy = cf-merge -q $(1) $(RUNS) | $(call snapshots,$(PERIOD),$(MODEL)) --flush | \
            cf-occupancy -q --csv $(call named,Occupancy: $(2)) $(to)

$(OUT)/fig9.csv: $(RUNS) $(MODEL)
	$(call occupancy,$(fair1),fair turns on one processor)

$(OUT)/fig10.csv: $(RUNS) $(MODEL)
	$(call occupancy,$(fifo1),fixed priorities on one processor)

$(OUT)/fig11.csv: $(RUNS) $(MODEL)
	$(call occupancy,$(fifo3),fixed priorities on three processors)

# Cycles: an instruction takes one, and what the second level and memory serve takes more.
# Columns of cf-rank are counted from the end, since the name of a process may hold commas.
costs = cf-cache -q -m $(MODEL) | cf-latency -q -m $(MODEL) --latency L1I=0 --latency L1D=0 \
        --latency L2=$(word 1,$(LATENCY)) --latency memory=$(word 2,$(LATENCY))
# instructions of a recording
instructions = $$(cf-cat --info $(1) | sed -n 's/.*"access": .* last: \([0-9]*\),.*/\1/p')

$(OUT)/schedules.csv: $(RUNS) $(MODEL)
	(echo schedule,instructions,stall_cycles,cycles; \
	n=0; for f in $(RUNS); do n=$$((n + $(call instructions,$$f))); done; \
	for s in '$(fair1)' '$(fifo1)' '$(fifo3)'; do \
	    cf-merge -q $$s $(RUNS) | $(costs) | cf-rank -q --csv --by process --value cost --op load,store,ifetch | \
	        awk -F, -v s="$${s#--schedule }" -v n=$$n 'NR > 1 { c += $$(NF - 3) } END { printf "%s,%s,%.0f,%.0f\n", s, n, c, n + c }' || exit 1; \
	done) $(to)

# ---- sets, and programs that clash ----

$(OUT)/%.alone.cf: $(OUT)/%.cut.cf $(MODEL)
	$(call snapshots,$(PERIOD),$(MODEL)) --flush -o $@ $<

# Cycles of each of two programs that run side by side on a processor each, and of each alone. Those
# of the second input are the processes from 10,000,000 on.
cycles = cf-rank -q --csv --by process --value cost --op load,store,ifetch | \
         awk -F, -v first=$(1) -v second=$(2) -v na=$(call instructions,$(OUT)/$(1).cut.cf) -v nb=$(call instructions,$(OUT)/$(or $(2),$(1)).cut.cf) ' \
             NR > 1 { if ($$2 < 10000000) a += $$(NF - 3); else b += $$(NF - 3) } \
             END { printf "%s,%s,%.0f\n", first, second, na + a; \
                 if (second != "" && second != first) printf "%s,%s,%.0f\n", second, first, nb + b }'
define pair
$(OUT)/pairs/$(1)+$(2).csv: $(OUT)/$(1).cut.cf $(OUT)/$(2).cut.cf $(MODEL)
	@mkdir -p $$(@D)
	cf-merge -q --schedule fifo --cores 2 $(OUT)/$(1).cut.cf $(OUT)/$(2).cut.cf | $$(costs) | $$(call cycles,$(1),$(2)) $$(to)
endef
define alone
$(OUT)/pairs/$(1).csv: $(OUT)/$(1).cut.cf $(MODEL)
	@mkdir -p $$(@D)
	cf-cat -q $$< | $$(costs) | $$(call cycles,$(1)) $$(to)
endef
# each pair once: the programs before the first one of a pair are left out
from  = $(if $(filter $(1),$(firstword $(2))),$(2),$(call from,$(1),$(wordlist 2,99,$(2))))
PAIRS := $(foreach a,$(ALL),$(foreach b,$(call from,$a,$(ALL)),$(if $(filter bomb+bomb,$a+$b),,$a+$b)))
$(foreach p,$(PAIRS),$(eval $(call pair,$(word 1,$(subst +, ,$p)),$(word 2,$(subst +, ,$p)))))
$(foreach p,$(ALL),$(eval $(call alone,$p)))

# As in the paper, BOMB interferes only.
$(OUT)/slowdown.csv: $(ALL:%=$(OUT)/pairs/%.csv) $(PAIRS:%=$(OUT)/pairs/%.csv)
	awk -F, 'BEGIN { print "observed,interfering,slowdown" } $$2 == "" { alone[$$1] = $$3; next } \
	    $$1 != "bomb" { printf "%s,%s,%.4f\n", $$1, $$2, $$3 / alone[$$1] }' $^ $(to)

# Two snapshots back to back: the second one comes as soon as the program has gone on for a moment.
LEAD := $(shell echo $$(($(TIME) / 2)))
$(OUT)/table2.csv: $(ALL:%=$(OUT)/%.cut.cf)
	@for f in $^; do (($(call instructions,$$f) > $(LEAD))) || \
	    echo "$$f is left out of table2: it ends before instruction $(LEAD), half of TIME" >&2; done
	(for mode in --flush ''; do for f in $^; do \
	    cf-select -q --time -$$(($(LEAD) + 100)) $$f | $(call snapshots,$(LEAD)) $$mode || exit 1; \
	done; done) | cf-diff -q --pairs --summary $(to)

# ---- the replacement policy ----

# Huge pages, of which one has all, so that lines a way apart are in one set; only the accesses to the lines of REPL.
REGION  := 0x40000000+$(shell echo $$((3 * $(WAYS) * $(WAY_BYTES))))
HUGE    := --page-size 1GiB --ram 1024GiB --frames sequential
NEVER   := 1000000000000

$(OUT)/repl-%.cf: $(OUT)/repl
	cf-capture trace -q -o $@.tmp -- $(program) $* $(REPL_SETS) 1 $(WAY_BYTES) $(WAYS)
	$(done)

$(OUT)/rounds-%.cf: $(OUT)/repl-%.cf
	cf-select -q --addr $(REGION) $< | $(call snapshots,$(NEVER)) --seed $* $(HUGE) -o $@

$(OUT)/steps.cf: $(OUT)/repl
	cf-capture trace -q -- $(program) 1 1 $(REPL_TIMES) $(WAY_BYTES) $(WAYS) | cf-select -q --addr $(REGION) -o $@

$(OUT)/steps.snapshots.cf: $(OUT)/steps.cf
	$(call snapshots,1) $(HUGE) -o $@ $<

$(OUT)/fig14.csv: $(OUT)/steps.snapshots.cf
	$(choices) $< $(to)

$(OUT)/policies.csv: $(OUT)/steps.snapshots.cf $(OUT)/steps.cf
	cf-policy -q --policies - --accesses $(OUT)/steps.cf $< $(to)

endif

# ---- of both, models and boards ----

$(OUT)/fig13.csv: $(ROUNDS:%=$(OUT)/rounds-%.cf)
	$(if $(DEVICE),@$(shaped))
	cf-policy -q --addr $(LINES) --survivors - $(png) --title 'Lines of a set of $(CACHE) that are still cached' $^ $(to)

$(OUT)/fig12.csv: $(ALL:%=$(OUT)/%.alone.cf)
	cf-sets -q $(call named,Active and reused sets) $^ $(to)

CLASH = cf-clash -q --slowdown $< $(foreach p,$(ALL),$p=$(OUT)/$p.alone.cf)
table3.csv := --csv
table3.txt := --term
correlation.csv := --correlation --csv
$(addprefix $(OUT)/,table3.csv table3.txt correlation.csv): $(OUT)/slowdown.csv $(ALL:%=$(OUT)/%.alone.cf)
	$(CLASH) $($(@F)) $(to)

# These are made with their table; one that is missing is made again with it. (By a name of its own,
# or `make -n` would run the line.)
again = $(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST))
$(FIGURES:%=$(OUT)/fig%.png): %.png: %.csv
	@[ -e $@ ] || { rm $< && $(again) $<; }

.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all

include $(SCRIPTS)settings.mk
