# SPDX-License-Identifier: BSD-2-Clause
#
# What recipes for stored traces share. A recipe is a makefile that makes files of its own choice from
# a trace: it includes this one first, names all of them in RESULTS, and has a rule for each. This is a
# whole one, to be given to batch.mk, or to make -I FOLDER -f, the folder being that of this file:
#
#   include stored.mk
#   RESULTS := pages.csv $(call pictures,pages.csv)
#   $(OUT)/%/pages.csv: $(FOLDER)/%.cf
#           @mkdir -p $(@D)
#           cf-resolve -q $< | cf-rank -q --by page $(call png,Pages by accesses) $(to)
#
#   $(to)              in place of a redirection: what is made appears under its name when it is whole
#   $(call png,TITLE)  option --picture of the program that makes NAME.csv, for NAME.png
#   $(call pictures,FILES)  these pictures, where they are wanted
#   $(OUT), $(FOLDER)  where results go, and where traces are
#
# Variables, from the command line, or else as a recipe sets them with ?= before this is included:
#
# TRACES    folder with traces, or one trace                    [.]
# OUT       where results go: a folder for each trace           [build/NAME of the recipe]
# BIN       where the programs are                              [build/bin, else where they were installed]
# PICTURES  0: no pictures                                      [1]
#
# A result is made anew when its trace is newer; another trace of that name that is not is refused. OUT keeps to the settings that its results were made
# with (settings.mk); batch.mk makes them anew. Names of traces and folders hold no blanks and none
# of the characters that the shell or make takes for its own: such a name is refused.

# said by batch.mk, never by what happens to be in the environment
ifeq ($(firstword $(origin LIST)),environment)
LIST :=
endif

SELF     := $(firstword $(MAKEFILE_LIST))
TRACES   ?= .
OUT      ?= $(B)/$(basename $(notdir $(SELF)))
PICTURES ?= 1

include $(dir $(lastword $(MAKEFILE_LIST)))names.mk

# A folder may have the name of a trace.
ONE    := $(if $(wildcard $(TRACES)/.),,$(filter %.cf,$(TRACES)))
FOLDER := $(if $(ONE),$(patsubst %/,%,$(dir $(ONE))),$(TRACES))
NAMES  := $(basename $(notdir $(filter %.cf,$(or $(ONE),$(sort $(wildcard $(TRACES)/*.cf))))))
$(if $(NAMES),,$(error no traces (*.cf) in '$(TRACES)' $(shell ls -- $(call quoted,$(TRACES)) 2>&1 >/dev/null)))

# Results are made under another name and renamed, so that a stopped run leaves no half of one. The
# programs that make a table draw it, too; a picture of an older table goes.
drawn    = $(patsubst %.csv,%.tmp.png,$(filter %.csv,$@))
done     = $(unchanged)$(unmoved)$(if $(drawn),if $(if $(filter-out 0,$(PICTURES)),[ -e $(drawn) ],false); then mv $(drawn) $(@:.csv=.png); else rm -f $(drawn) $(@:.csv=.png); fi && )mv $@.tmp $@ || { rm -f $@.tmp $(drawn); exit 1; }
to       = >$@.tmp && $(done)
png      = $(if $(filter-out 0,$(PICTURES)),--picture $(drawn) --picture-size 1120x640 --title '$(1): $*')
pictures = $(if $(filter-out 0,$(PICTURES)),$(patsubst %.csv,%.png,$(1)))

.SECONDEXPANSION:
all: results
	@echo "$(words $(NAMES)) traces: results in $(OUT)"

# A picture that is missing is made again with its table. (By a name of its own, or `make -n` would
# run the line.)
again = $(MAKE) --no-print-directory -f $(SELF) -I $(SCRIPTS)
$(OUT)/%.png: $(OUT)/%.csv
	@[ -e $@ ] || { rm -f $< && $(again) $< && \
	    { [ -e $@ ] || { echo "no picture came with $<: its rule wants \$$(call png,TITLE) and \$$(to)" >&2; false; }; }; }

# For batch.mk: `files` prints what the recipe includes and what files its variables name, `machines` whose caches it takes, `results` says nothing, but in file LIST what it has made; `tidy` removes what a killed run has left half made, `clean` all that the recipe makes.
# Of trace n these files.
made = $(addprefix $(OUT)/$n/,$(1))
# Said before anything is made: such a result would be overwritten.
taken   = $(if $(LIST),$(firstword $(filter log log/% .batch/%,$(RESULTS:./%=%))))
refused = $(if $(taken),$(error $(SELF) has '$(taken)' in RESULTS, where batch.mk keeps what programs say: name it otherwise))
results: $$(refused) $$(foreach n,$$(NAMES),$$(call made,$$(RESULTS)))
	$(if $(strip $(RESULTS)),,$(error $(SELF) names no RESULTS))
	$(if $(LIST),$(file >$(LIST),$(strip $(RESULTS))))
# To make, ./a is a, and the folder we are in may have blanks.
plain = $(subst $() ,?,$(abspath $(1)))
included = $(filter-out $(SELF) $(SCRIPTS)stored.mk,$(MAKEFILE_LIST))
# named TEXT: the files in it, also quoted, or in options such as --machine=FILE and -mFILE
named = $(wildcard $(1) $(patsubst -m%,%,$(subst =, ,$(subst ',,$(subst ",,$(1))))))
# The variables of the recipe and of what it includes, with a ? those that the caller may set. Of the others, what
# is expanded later is looked at as it is written; patterns, results and what is in OUT are no files that it reads.
variables = $(shell sed -n 's/^ *\(export  *\)*\([A-Za-z_][A-Za-z0-9_]*\) *?=.*/\2?/p; s/^ *\(export  *\)*\([A-Za-z_][A-Za-z0-9_]*\) *[:+]*=.*/\2/p' \
    $(SELF) $(filter-out $(SCRIPTS)names.mk,$(included)))
words_of = $(foreach w,$(if $(filter simple,$(flavor $(1))),$($(1)),$(value $(1))),$(if $(findstring *,$w)$(findstring ?,$w)$(findstring [,$w),,$w))
files:
	$(info $(wildcard $(included)) $(foreach f,$(foreach v,$(filter-out TRACES?,$(variables)),$(if $(filter %?,$v),$(call named,$($(v:?=))),$(call named,$(filter-out $(RESULTS),$(call words_of,$v))))),$(if $(findstring =$(call plain,$(OUT))/,=$(call plain,$f)),,$f)))@:
machines:
	$(info $(MACHINE) $(MACHINES))@:
# A machine that went down may have kept a new name and lost the bytes. The programs that were killed have
# names of their own for what they had begun.
begun = $(RESULTS:=.tmp) $(patsubst %.csv,%.tmp.png,$(filter %.csv,$(RESULTS)))
# A newline ends a command: the names of all traces are too many for one.
tidy:
	$(foreach n,$(NAMES),@rm -f $(call made,$(begun) $(begun:=.[0-9]*.tmp) $(begun:=.tmp[0-9]*)) && \
	    for f in $(call made,$(RESULTS)); do [ -s $$f ] || rm -f $$f; done$(newline))
clean: tidy
	$(foreach n,$(NAMES),@rm -f $(call made,$(RESULTS) $(patsubst %.csv,%.png,$(filter %.csv,$(RESULTS)))) && \
	    { [ ! -d $(OUT)/$n ] || rmdir --ignore-fail-on-non-empty $(OUT)/$n; }$(newline))

.DELETE_ON_ERROR:
.PHONY: all files machines results tidy clean

ifeq ($(LIST),)
NOFILE := $(if $(filter clean tidy,$(MAKECMDGOALS)),,$(shell for f in $(or $(ONE),$(FOLDER)/*.cf); do [ -f $$f ] || { echo $$f; exit; }; done))
$(if $(NOFILE),$(error no trace '$(NOFILE)': no regular file is there))
include $(SCRIPTS)settings.mk
ifeq ($(filter clean tidy,$(MAKECMDGOALS)),)
# One with the name of another, or put in its place, may be older than the results of that, which make
# would keep. OUT/.traces/NAME has the bytes and the time of the one that results were made of last.
UNLIKE := $(shell shopt -s nullglob; $(if $(settings_dry),,mkdir -p $(OUT)/.traces;) \
	(CDPATH= cd $(FOLDER) && printf '%s\0' $(if $(ONE),$(NAMES).cf,*.cf) | LC_ALL=C xargs -0 stat -L -c '%n %s,%.9Y' -- 2>/dev/null) | \
	while read -r f now; do n=$${f%.cf}; was=; [ ! -e $(OUT)/.traces/$$n ] || read -r was <$(OUT)/.traces/$$n; \
	    if [ "$$now" != "$$was" ]; then \
	        for r in $(OUT)/$$n/*; do [ $(FOLDER)/$$f -nt $$r ] || { echo $(FOLDER)/$$f; exit; }; done; \
	        $(if $(settings_dry),:,echo "$$now" >$(OUT)/.traces/$$n); \
	    fi; \
	done)
$(if $(UNLIKE),$(error '$(UNLIKE)' is not the trace that $(OUT)/$(basename $(notdir $(UNLIKE))) was made of, as far as is known, and not \
    newer: touch it, and all is made again, or give another OUT))
# Nor does one that is changed meanwhile give a result.
unmoved = $(foreach n,$(filter $(firstword $(subst /, ,$(subst $(call plain,$(OUT))/,,$(call plain,$@)))),$(NAMES)),{ \
    [ "$$(LC_ALL=C stat -L -c %s,%.9Y -- $(FOLDER)/$n.cf)" = "$$(cat $(OUT)/.traces/$n)" ] || \
    { echo "$(FOLDER)/$n.cf was changed while results were made of it" >&2; false; }; } && )
endif
endif
