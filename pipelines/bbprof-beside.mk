# SPDX-License-Identifier: BSD-2-Clause
#
# Programs beside three co-runners that take the shared cache from them: what bbprof.mk makes of
# BBProf's sections 7.1, 7.3 and 7.4. INTERF of samples/bbprof runs on CPUs 1 to 3, the program on CPU 0.
# The programs are interleaved as fast as their misses let them run: see bbprof-beside.sh.
#
#   fig3   runtime of an image program, and the co-runners' bandwidth, by the buffer of each
#   fig5   runtime of the image programs by the page colours that they have, the co-runners the rest
#   fig10  runtime of c2isbm, by how many of its pages are moved to a pool of 4 colours
#   fig11  runtime of that program and of c2isbm, by how many of the co-runners' pages are moved to such a pool
#   fig12  the image programs alone, beside the co-runners, with 4 and 12 colours, and with all pages of
#          the co-runners' buffers moved
#
# Runtimes are cycles of the model, and none was measured. A store costs less here than a load where
# it misses: it waits in the store buffer, which has the line fetched while the program goes on
# (Cortex-A53 manual DDI0500D, p. 2-5). How much less, no source states: a third is assumed. The
# model's memory serves everybody at the same speed, so that what programs contend for is the cache.
# Where the replacement of the shared level is not known, figures 3, 10 and 11 show two: the
# machine's own, random, is not verified (zynq-ultrascale.yaml). MACHINE must have a second level L2
# of 16 page colours that 4 CPUs share.
#
# PROGRAM3     the program of fig3, with size and input              [regions-sqcif-def]
# PROGRAMS11   those of fig11                                        [PROGRAM3 c2isbm]
# IMAGES       those of fig5 and fig12                               [PROGRAMS, in SIZES, of input def]
# POLICIES     of the second level; the first one is that of fig5 and fig12    [lru random]
# KIB, KIBS    buffer of each co-runner; those of fig3
# COLOURS      of fig5; 4, 12 and 16 are needed                      [2 4 6 8 12 16]
# OWN, THEIRS  pages moved in fig10; of each co-runner in fig11: of KIB / 4 that there are
# CALLS        of c2isbm; the first warms the caches                 [8]
# STORES       of the recording of a co-runner                       [2000000]
# LATENCY      of what the machine's description does not tell apart [memory.store=60 L2.store=5]
# PASSES, SETTLED, UNSETTLED   of bbprof-beside.sh                   [its own]

PROGRAM3 ?= $(if $(filter regions,$(PROGRAMS)),regions,$(firstword $(PROGRAMS)))-$(SMALL)-def
PROGRAMS11 ?= $(PROGRAM3) c2isbm
IMAGES   ?= $(foreach p,$(PROGRAMS),$(SIZES:%=$p-%-def))
POLICIES ?= lru random
KIB      ?= 420
KIBS     ?= 96 160 200 240 280 300 320 344 380 420 512 640
COLOURS  ?= 2 4 6 8 12 16
OWN      ?= 0 16 32 40 44 48 50 52 54 56 58 59 60 62 64 65
THEIRS   ?= 0 20 32 41 44 48 52 56 60 64 68 72 88 105
CALLS    ?= 8
STORES   ?= 2000000
LATENCY  ?= memory.store=60 L2.store=5
PASSES   ?=
SETTLED  ?=
UNSETTLED ?=

# The colours of 16 that the pool has, and the rest. Those of fig10 are all in one quarter of the first
# level's sets: it has 4 colours, which are those of the second level modulo 4.
POOL      := 12-15
REST      := 0-11
CODE_POOL := 0,4,8,12
CODE_REST := 1-3,5-7,9-11,13-15

POLICY       := $(firstword $(POLICIES))
DESCRIPTIONS := $(firstword $(wildcard $(SCRIPTS)../formats/machines $(SCRIPTS)../machines))

comma := ,

# ---- inputs ----

$(OUT)/machine/%.yaml: $(DESCRIPTIONS)/$(MACHINE).yaml
	$(call step,machine)
	sed 's/^\(name: .*\)/\1, second level $*/; s/\(name: L2,.* policy: \)[^},]*/\1$*/' $< $(to)
	grep -q 'name: L2,.*policy: $*[},]' $@ || { echo "$(MACHINE): its second level states no policy" >&2; rm $@; exit 1; }
	awk -F'[,{}] *' '/name: L2,/ { for (i = 1; i <= NF; i++) if (split($$i, a, ": ") == 2) of[a[1]] = a[2]; s = of["size"] } \
	    END { exit s * (s ~ /KiB/ ? 1024 : s ~ /MiB/ ? 1048576 : 1) != 16 * 4096 * of["ways"] || of["shared_by"] != 4 }' $@ || \
	    { echo "$(MACHINE): its second level is none of 16 page colours that 4 CPUs share: give another MACHINE" >&2; rm $@; exit 1; }

latencies = $(addprefix $(1) ,$(LATENCY))

# alone/POLICY/interf-KIB.cf: a co-runner, in the cycles that it takes by itself
$(OUT)/alone/%.cf: $(OUT)/trace/$$(notdir $$*).cf $(OUT)/machine/$$(firstword $$(subst /, ,$$*)).yaml
	$(call step,alone)
	cf-cache -q -m $(word 2,$^) --frames sequential $< | \
	    cf-latency -q -m $(word 2,$^) $(call latencies,--latency) --retime -o $@.tmp && $(done)

$(OUT)/lines/%.cf: $(OUT)/trace/%.cf $(SCRIPTS)bbprof-lines.awk
	$(call step,lines)
	cf-cat --csv --decimal --columns time,addr,pid,tid,op,size,pc,insns,function,page,region $< | \
	    awk -f $(SCRIPTS)bbprof-lines.awk | cf-capture csv -q --clock instructions -o $@.tmp && $(done)

# The first level holds what the others run, so their fetches are left out.
$(OUT)/data/%.cf: $(OUT)/trace/%.cf
	$(call step,data)
	cf-select -q --op load,store -o $@.tmp $< && $(done)

# Pages by what they gain: of the function of c2isbm, and of the co-runner's buffer.
$(OUT)/list/c2isbm.csv: kind = c2isbm r-x"*,
$(OUT)/list/%.csv:      kind = ^[0-9]*,.heap.,
$(OUT)/list/%.csv: $(OUT)/profile/%.cf
	$(call step,list)
	cf-rank -q --csv --by page --value gain $< | sed -n '1p; /$(kind)/p' $(to)

# ---- runs ----

# run/POLICY/CORUNNER/PLACE/PROGRAM.csv. The co-runner is "none" or its buffer in KIB. The place is "cN", N colours for
# the program and the others for the co-runners, or all for all; or "ownN" or "theirN", N pages moved.
part    = $(word $(1),$(subst /, ,$(2)))
stream  = $(OUT)/$(if $(filter c2isbm,$(1)),lines,data)/$(1).cf
beside  = $(if $(filter none,$(1)),,$(OUT)/alone/$(2)/interf-$(1).cf)
listed  = $(if $(filter own%,$(1)),$(OUT)/list/$(3).csv)$(if $(filter their%,$(1)),$(OUT)/list/interf-$(2).csv)
needs   = $(call stream,$(call part,4,$(1))) $(OUT)/machine/$(call part,1,$(1)).yaml \
    $(call beside,$(call part,2,$(1)),$(call part,1,$(1))) \
    $(call listed,$(call part,3,$(1)),$(call part,2,$(1)),$(call part,4,$(1)))

count   = $(patsubst c%,%,$(patsubst own%,%,$(patsubst their%,%,$(call part,3,$*))))
every   = $(foreach k,0 1 2 3,--colours $k:$(1))
others  = $(if $(filter none,$(call part,2,$*)),,$(1))
place_c     = $(if $(filter 16,$(count)),,--colours 0:0-$$(($(count) - 1)) $(call others,$(foreach k,1 2 3,--colours $k:$(count)-15)))
place_own   = $(call every,$(CODE_REST)) $(if $(filter 0,$(count)),,--pool $@.list:$(CODE_POOL)@0)
place_their = $(call every,$(REST)) $(if $(filter 0,$(count)),,$(foreach k,1 2 3,--pool $@.list:$(POOL)@$k))
place   = $(patsubst %$(count),%,$(call part,3,$*))
placed  = $(place_$(place))

# The first call of the function is to warm the caches: it ends where the second one enters it.
warm    = $(if $(filter c2isbm,$(call part,4,$*)),-w $$(cf-cat --csv --columns function $< | \
    awk '$$1 == "nops" && last != "nops" && ++n == 2 { at = NR - 2 } { last = $$1 } END { print at }'))

$(OUT)/run/%.csv: $$(call needs,$$*) $(SCRIPTS)bbprof-beside.sh
	$(call step,run)
	$(if $(filter %.csv,$^),awk -v n=$(count) 'NR <= n + 1 { print } END { if (NR <= n) { print "$(filter %.csv,$^) has only " NR - 1 \
	    " of " n " pages: give fewer in " ("$(place)" == "own" ? "OWN" : "THEIRS, or a larger KIB") >"/dev/stderr"; exit 1 } }' $(filter %.csv,$^) >$@.list)
	$(SCRIPTS)bbprof-beside.sh $(call latencies,-l) $(warm) $(addprefix -c ,$(call beside,$(call part,2,$*),$(call part,1,$*))) \
	    $(filter %.yaml,$^) $< $(placed) $(to)

# ---- figures ----

run       = $(OUT)/run/$(1)/$(2)/$(3)/$(4).csv
by_itself = $(call run,$(1),none,c16,$(2))
# pages of a co-runner's buffer
BUFFER   := $(shell echo $$((($(KIB) + 3) / 4)))
everyone  = their$(BUFFER)

# row KEYS BASELINE RUN: the keys, the runtime, and as a part of the baseline's
row = && awk -F, -v keys='$(1)' 'FNR == 2 && one { printf "%s,%s,%.4f$(4)\n", keys, $$1, $$1 / one$(5) } FNR == 2 { one = $$1 }' $(2) $(3)
row3 = $(call row,$(1),$(2),$(3),$(comma)%s$(comma)%s,$(comma) $$4$(comma) $$5)

$(OUT)/fig3.csv: $(foreach p,$(POLICIES),$(call by_itself,$p,$(PROGRAM3)) $(foreach k,$(KIBS),$(call run,$p,$k,c16,$(PROGRAM3))))
	$(call step,table)
	{ echo policy,corunner_kib,runtime_cycles,runtime_of_alone,stored_mb_per_s,memory_mb_per_s $(foreach p,$(POLICIES),$(foreach k,$(KIBS), \
	    $(call row3,$p$(comma)$k,$(call by_itself,$p,$(PROGRAM3)),$(call run,$p,$k,c16,$(PROGRAM3))))); } $(to)

keys_of = $(firstword $(subst -, ,$i)),$(word 2,$(subst -, ,$i))

runs5 = $(foreach i,$(IMAGES),$(foreach o,none $(KIB),$(foreach c,$(COLOURS),$(call run,$(POLICY),$o,c$c,$i))))
$(OUT)/fig5.csv: $(runs5) $(foreach i,$(IMAGES),$(call by_itself,$(POLICY),$i))
	$(call step,table)
	{ echo program,size,case,colours,runtime_cycles,runtime_of_alone $(foreach i,$(IMAGES),$(foreach o,none $(KIB),$(foreach c,$(COLOURS), \
	    $(call row,$(keys_of)$(comma)$(if $(filter none,$o),alone,beside)$(comma)$c,$(call by_itself,$(POLICY),$i),$(call run,$(POLICY),$o,c$c,$i))))); } $(to)

$(OUT)/fig10.csv: $(foreach p,$(POLICIES),$(call by_itself,$p,c2isbm) $(foreach k,$(OWN),$(call run,$p,$(KIB),own$k,c2isbm)))
	$(call step,table)
	{ echo policy,pages_moved,runtime_cycles,runtime_of_alone $(foreach p,$(POLICIES),$(foreach k,$(OWN), \
	    $(call row,$p$(comma)$k,$(call by_itself,$p,c2isbm),$(call run,$p,$(KIB),own$k,c2isbm)))); } $(to)

runs11 = $(call by_itself,$p,$i) $(foreach k,$(sort 0 $(THEIRS)),$(call run,$p,$(KIB),their$k,$i))
# As above, and what is left of the slowdown with none moved
row11 = && awk -F, -v keys='$i,$p,$k,$(shell echo $$((3 * ($(BUFFER) - $k))))' 'FNR == 2 { took[++n] = $$1 } \
    END { printf "%s,%s,%.4f,%.4f\n", keys, took[3], took[3] / took[1], (took[2] > took[1] ? (took[3] - took[1]) / (took[2] - took[1]) : 0) }' \
    $(call by_itself,$p,$i) $(call run,$p,$(KIB),their0,$i) $(call run,$p,$(KIB),their$k,$i)

$(OUT)/fig11.csv: $(foreach i,$(PROGRAMS11),$(foreach p,$(POLICIES),$(runs11)))
	$(call step,table)
	{ echo program,policy,pages_moved_of_each,pages_left,runtime_cycles,runtime_of_alone,slowdown_left \
	    $(foreach i,$(PROGRAMS11),$(foreach p,$(POLICIES),$(foreach k,$(THEIRS),$(row11)))); } $(to)

# The cases of fig12, as "name:co-runner/place".
cases = alone:none/c16 alone-4-colours:none/c4 alone-12-colours:none/c12 beside:$(KIB)/c16 beside-4-colours:$(KIB)/c4 \
    beside-12-colours:$(KIB)/c12 beside-moved:$(KIB)/$(everyone)
case_of = $(OUT)/run/$(POLICY)/$(word 2,$(subst :, ,$(1)))/$(2).csv
$(OUT)/fig12.csv: $(foreach i,$(IMAGES),$(foreach c,$(cases),$(call case_of,$c,$i)))
	$(call step,table)
	{ echo program,size,case,runtime_cycles,runtime_of_alone $(foreach i,$(IMAGES),$(foreach c,$(cases), \
	    $(call row,$(keys_of)$(comma)$(firstword $(subst :, ,$c)),$(call by_itself,$(POLICY),$i),$(call case_of,$c,$i)))); } $(to)
