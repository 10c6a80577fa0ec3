# SPDX-License-Identifier: BSD-2-Clause
#
# Explores stored traces: for each one the miss-ratio curve, the sweep over sizes and
# associativities, why accesses miss on three machines, and which source lines and functions miss,
# as CSV and as pictures.
#
#   make -f pipelines/explore.mk                       the samples; results in build/explore
#   make -j -f pipelines/explore.mk TRACES=dir OUT=dir all traces (*.cf) of a folder
#   make -f pipelines/explore.mk TRACES=trace.cf       one trace
#
# TRACES    folder with traces, or one trace                    [samples]
# OUT       where results go: a folder for each trace           [build/explore]
# MACHINES  machine descriptions; the first one is that of the rankings
# BIN       where the programs are                              [build/bin, else where they were installed]
# PICTURES  0: CSV only                                     [1]
#
# A result is made anew when its trace is newer. Names of traces and folders hold no blanks and none
# of the characters that the shell or make takes for its own: such a name is refused. Source lines
# need the recorded program as it was, with debug information.

B        ?= build
BIN      ?= $(dir $(firstword $(wildcard $(B)/bin/cf-cat $(SCRIPTS)../../../bin/cf-cat) $(B)/bin/))
TRACES   ?= samples
OUT      ?= $(B)/explore
MACHINES ?= raspberry-pi-4 xeon-6230 zynq-ultrascale
PICTURES ?= 1
SCRIPTS  := $(dir $(lastword $(MAKEFILE_LIST)))

# A pipeline fails when any part of it does.
SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c
export PATH := $(abspath $(BIN)):$(PATH)

# Names stand unquoted in rules and commands. What is refused has no way into them.
quoted = '$(subst ','\'',$(1))'
UNFIT := $(shell { printf '%s\0' $(call quoted,$(TRACES)) $(call quoted,$(OUT)) $(call quoted,$(BIN)) $(call quoted,$(SCRIPTS)) \
	    $(foreach m,$(MACHINES),$(call quoted,$m)); cd -- $(call quoted,$(TRACES)) 2>/dev/null && printf '%s\0' *.cf; } | \
	grep -zv '^\*\.cf$$' | LC_ALL=C grep -zm1 -e '^-' -e /- -e '[][:space:][:cntrl:]["'\''`$$&|;<>(){}*?!\#~%:=^\\]' | tr '\0-\037\177' ' ')
$(if $(UNFIT),$(error '$(strip $(UNFIT))': a name with a blank, a leading '-' or a character of the shell's or make's own: \
    rename it or link to it))

FOLDER := $(if $(filter %.cf,$(TRACES)),$(patsubst %/,%,$(dir $(TRACES))),$(TRACES))
NAMES  := $(basename $(notdir $(filter %.cf,$(if $(filter %.cf,$(TRACES)),$(TRACES),$(sort $(wildcard $(TRACES)/*.cf))))))
MACHINE := $(firstword $(MACHINES))

TABLES := curve.csv curve-by-op.csv curve-fetches.csv sweep.csv classes.csv lines.csv functions.csv
IMAGES := $(if $(filter-out 0,$(PICTURES)),$(TABLES:.csv=.png))

all: $(foreach n,$(NAMES),$(TABLES:%=$(OUT)/$n/%) $(IMAGES:%=$(OUT)/$n/%))
	$(if $(NAMES),@echo "$(words $(NAMES)) traces explored: results in $(OUT)",$(error no traces (*.cf) in '$(TRACES)'))

# Results are made under another name and renamed, so that a stopped run leaves no half of one. The
# programs that make a table draw it, too: $(call png,TITLE).
done  = mv $@.tmp $@ || { rm -f $@.tmp; exit 1; }
both  = mv $(@:.csv=.tmp.png) $(@:.csv=.png) && mv $@.tmp $@ || { rm -f $@.tmp $(@:.csv=.tmp.png); exit 1; }
to    = >$@.tmp && $(if $(filter-out 0,$(PICTURES)),$(both),$(done))
png   = $(if $(filter-out 0,$(PICTURES)),--picture $(@:.csv=.tmp.png) --picture-size 1120x640 --title '$(1): $*')
of    = of the first level of $(MACHINE)

# ---- tables ----

$(OUT)/%/curve.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-distance -q $< | cf-mrc -q -m $(MACHINE) $(call png,Miss ratio of loads and stores) $(to)

$(OUT)/%/curve-by-op.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-distance -q $< | cf-mrc -q --by op -m $(MACHINE) $(call png,Miss ratio by operation) $(to)

$(OUT)/%/curve-fetches.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-distance -q --for fetches $< | cf-mrc -q $(call png,Miss ratio of instruction fetches) $(to)

$(OUT)/%/sweep.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-sweep -q $(call png,Misses by size and associativity) $< $(to)

# One table for all machines.
$(OUT)/%/classes.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-classify -q $(MACHINES:%=-m %) --summary $(call png,Why accesses miss) $< $(to)

$(OUT)/%/lines.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-resolve -q $< | cf-classify -q -m $(MACHINE) | cf-rank -q --by source --value misses $(call png,Source lines by misses $(of)) $(to)

$(OUT)/%/functions.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-resolve -q $< | cf-classify -q -m $(MACHINE) | cf-rank -q --by function --value misses $(call png,Functions by misses $(of)) $(to)

# Pictures are made with their table; one that is missing is made again with it. (By a name of its
# own, or `make -n` would run the line.)
again = $(MAKE) --no-print-directory -f $(firstword $(MAKEFILE_LIST))
$(OUT)/%.png: $(OUT)/%.csv
	@[ -e $@ ] || { rm $< && $(again) $<; }

.DELETE_ON_ERROR:
.PHONY: all
