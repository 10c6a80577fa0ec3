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
# MACHINES  machine descriptions; the first one is that of the rankings
# TABLES    which are made, with their pictures, where the command line says so
#
# Source lines need the recorded program as it was, with debug information. A trace without columns source
# and function, and without what they are found by (instructions and the mappings of their files), fails at
# lines.csv and functions.csv, as many a one of cf-capture csv does: name the others in TABLES. Further
# variables, and what names may hold: stored.mk

TRACES   ?= samples
MACHINES ?= raspberry-pi-4 xeon-6230 zynq-ultrascale
$(if $(filter command,$(firstword $(origin MACHINE))),$(error MACHINE='$(MACHINE)': machines are taken here as MACHINES, the first one for rankings))

include $(dir $(lastword $(MAKEFILE_LIST)))stored.mk

TABLES  := curve.csv curve-by-op.csv curve-fetches.csv sweep.csv classes.csv lines.csv functions.csv
RESULTS := $(TABLES) $(call pictures,$(TABLES))
MACHINE := $(firstword $(MACHINES))
of      := of the first level of $(MACHINE)
marks    = $(if $(filter-out 0,$(PICTURES)),-m $(MACHINE))

# ---- tables ----

$(OUT)/%/curve.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-distance -q $< | cf-mrc -q $(marks) $(call png,Miss ratio of loads and stores) $(to)

$(OUT)/%/curve-by-op.csv: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-distance -q $< | cf-mrc -q --by op $(marks) $(call png,Miss ratio by operation) $(to)

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
