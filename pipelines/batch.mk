# SPDX-License-Identifier: BSD-2-Clause
#
# Every trace of a folder through a recipe: here, on several hosts, or on a cluster. A run that was
# stopped, or of which a worker, a node or make itself was killed, is taken up by the same command:
# only what is missing is made.
#
#   make -j2 -f pipelines/batch.mk TRACES=dir OUT=dir RECIPE=explore     here, two traces at a time
#   make -f pipelines/batch.mk ... LAUNCH=parallel HOSTS="a b"          on hosts, by GNU parallel and ssh
#   make -f pipelines/batch.mk ... LAUNCH=slurm                        by Slurm, as arrays of jobs
#   make -f pipelines/batch.mk TRACES=dir OUT=dir status               what is whole, failed, running, missing
#   make -f pipelines/batch.mk TRACES=dir OUT=dir manifest             the traces are as they are now: take them so
#
# TRACES    folder with traces (*.cf)
# OUT       where results go: a folder for each trace, and
#               index.html    all traces on a page, with their pictures
#               manifest.csv  which traces these are: bytes, xxHash (XXH128), and what their captures say
# RECIPE    explore, cacheperf, bbprof, or a file of the form that stored.mk describes   [that of OUT, else explore]
# LAUNCH    parallel, slurm; nothing: here                                               [nothing]
# HOSTS     for parallel: names as --sshlogin takes them; : is this one                  [:]
# JOBS      for parallel: traces at a time on each host                                  [one a core]
# SBATCH    for slurm: further options of sbatch                                         [none]
# ARRAY     for slurm: most jobs in an array (MaxArraySize of the cluster, less one)     [1000]
# WAIT      for slurm: 0 submits and ends; `status` and index.html tell what came of it  [1]
# MANIFEST  a manifest that came with the traces; what is not as it says is refused      [none]
#
# Other variables on the command line are the recipe's, and so are those of the environment that it
# sets with ?=. On other machines TRACES, OUT, the programs and this file have the same paths: a file
# system that all share.
#
# A trace that was changed since its results were begun is refused, as is one that MANIFEST does not know;
# the others are made; what MANIFEST knows and is not there is absent. Results are made anew when the
# recipe's file, one that it includes, its variables, a file outside of OUT that one of them names, or
# the version of the programs has changed. Exit status: 0 when all results are whole.

SCRIPTS  := $(dir $(lastword $(MAKEFILE_LIST)))
RECIPE   ?= $(or $(shell cat '$(OUT)/.batch/recipe' 2>/dev/null),explore)
LAUNCH   ?=
HOSTS    ?= :
JOBS     ?=
SBATCH   ?=
ARRAY    ?= 1000
WAIT     ?= 1
MANIFEST ?=

RECIPE_FILE := $(firstword $(wildcard $(if $(word 2,$(RECIPE)),,$(if $(filter %.mk,$(RECIPE)),$(RECIPE),$(SCRIPTS)recipe-$(RECIPE).mk $(SCRIPTS)$(RECIPE).mk))))
$(if $(and $(TRACES),$(OUT)),,$(error give TRACES, a folder of traces, and OUT, a folder for results))
$(if $(wildcard $(TRACES)/.),,$(if $(filter %.cf,$(TRACES)),$(error TRACES is a folder: of one trace, make -f the recipe)))
$(if $(RECIPE_FILE),,$(error no recipe '$(RECIPE)': it is explore, cacheperf, bbprof, or a file whose name ends in .mk))
$(if $(shell grep -lE '^include .*stored\.mk$$' '$(RECIPE_FILE)'),,$(error '$(RECIPE_FILE)' is no recipe for stored traces: stored.mk says what one is))
# What is whole is known by more than times of files, and by commands that end well.
$(foreach f,t i B,$(if $(findstring $f,$(firstword -$(MAKEFLAGS))),$(error make -$f is not for a batch: a trace whose folder in OUT you remove is made anew)))
$(if $(filter-out parallel slurm,$(LAUNCH))$(word 2,$(LAUNCH)),$(error LAUNCH is parallel, slurm or nothing))

.DEFAULT_GOAL := run
# it is not the recipe that runs here
LIST := /dev/null
$(foreach g,$(filter all files machines results tidy clean,$(MAKECMDGOALS)),$(error '$g' is for make -f the recipe: of a batch there are status and manifest))
include $(SCRIPTS)stored.mk
$(foreach n,$(filter index.html manifest.csv,$(NAMES)),$(error a trace '$n.cf': the batch has a file of the name '$n' in OUT))

export TRACES OUT RECIPE_FILE LAUNCH HOSTS JOBS SBATCH ARRAY WAIT MANIFEST SCRIPTS
batch := bash $(SCRIPTS)batch.sh

# What else was given makes other results.
INCLUDED := $(shell $(MAKE) -s --no-print-directory -I $(SCRIPTS) -f $(RECIPE_FILE) TRACES=$(TRACES)/any.cf OUT=$(OUT) LIST=/dev/null files 2>/dev/null)
NAMED := $(shell sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\) *?=.*/\1/p' $(RECIPE_FILE) $(SCRIPTS)stored.mk $(INCLUDED) 2>/dev/null) MANIFEST
GIVEN := $(sort $(foreach v,$(.VARIABLES),$(if $(findstring command,$(origin $v)),$v)) \
    $(foreach v,$(NAMED),$(if $(findstring environment,$(origin $v)),$v)))
OURS  := TRACES OUT BIN B RECIPE LAUNCH HOSTS JOBS SBATCH ARRAY WAIT MANIFEST NAME
# where the batch is begun or asked after, not by each worker
$(if $(filter one check,$(MAKECMDGOALS)),,$(call unheard_of,$(MAKEFILE_LIST) $(RECIPE_FILE) $(INCLUDED),the batch and its recipe have))
# the machines that the recipe takes, as given or by its own default
MODELS := $(if $(LAUNCH),$(shell $(MAKE) -s --no-print-directory -I $(SCRIPTS) -f $(RECIPE_FILE) TRACES=$(TRACES)/any.cf OUT=$(OUT) LIST=/dev/null \
    $(foreach v,$(filter-out $(OURS),$(GIVEN)),$(call quoted,$v=$(subst $$,$$$$,$($v)))) machines 2>/dev/null))
$(if $(filter host,$(MODELS)),$(error machine 'host' is another on each host: write a description, and give its file))
export BATCH_GIVEN := $(subst $(newline), ,$(foreach v,$(filter-out $(OURS),$(GIVEN)),$(call quoted,$v=$($v))))
export BATCH_FILES := $(foreach v,$(filter-out $(OURS),$(GIVEN)),$(call named,$($v)))
export BATCH_BIN := $(if $(filter command,$(firstword $(origin BIN))),$(BIN))
# how a worker is started on another machine; to its make a dollar sign is one of two
export BATCH_WORKER = cd $(call quoted,$(CURDIR)) && exec make -s --no-print-directory -f $(SCRIPTS)batch.mk \
    $(foreach v,$(filter-out LAUNCH NAME,$(GIVEN)),$(call quoted,$v=$(subst $$,$$$$,$($v)))) LAUNCH=

ifeq ($(LAUNCH),)
run: $(NAMES:%=.one.%)
	@$(batch) end
$(NAMES:%=.one.%): begin
else
run: begin
	@$(batch) launch
endif
begin:
	@$(batch) begin

# a trace that fails stops no other: `end` counts them
$(NAMES:%=.one.%): .one.%:
	+@(set -- one $*; HERE=1; . $(SCRIPTS)batch.sh) || true

# whatever the environment has by a name of the line above
unexport HERE
one:
	+@$(batch) one $(NAME)

status end check manifest:
	@$(batch) $@

.PHONY: run begin one check status end manifest $(NAMES:%=.one.%)
