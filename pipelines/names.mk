# SPDX-License-Identifier: BSD-2-Clause
#
# What pipelines have in common: where programs and scripts are, and which names are refused. A makefile
# includes this where OUT, and TRACES, if it has any, are known.

B       ?= build
SCRIPTS := $(dir $(lastword $(MAKEFILE_LIST)))
BIN     ?= $(dir $(firstword $(wildcard $(B)/bin/cf-cat $(SCRIPTS)../../../bin/cf-cat) $(B)/bin/))

# A pipeline fails when any part of it does.
SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c
export PATH := $(abspath $(BIN)):$(PATH)
# By it, cd goes elsewhere and says where; $(shell) has it nevertheless.
unexport CDPATH

# What the shell below would not see: to it, $(shell) passes no newline.
define newline


endef
$(foreach v,TRACES OUT BIN,$(if $(filter command environment,$(firstword $(origin $v))),$(if $(findstring $$,$(value $v)),\
    $(error $v='$(value $v)' has a dollar sign, which is make's own: rename it or link to it))$(if $(findstring $(newline),$(value $v)),\
    $(error $v='$(subst $(newline), ,$(value $v))' has a newline: rename it or link to it))))

$(if $(strip $(OUT)),,$(error OUT is empty, which would be the root of all folders: give one))

# Names stand unquoted in rules and commands. What is refused has no way into them.
quoted = '$(subst ','\'',$(1))'
UNFIT := $(shell LC_ALL=C; bad='[][:space:][:cntrl:]["'\''`$$&|;<>(){}*?!\#~%:=^\]'; shopt -s nullglob; \
	look() { for f; do if [[ $$f == -* || $$f == */-* || $$f =~ $$bad ]]; then echo "$${f//[[:cntrl:]]/ }"; exit; fi; done; }; \
	look $(call quoted,$(TRACES)) $(call quoted,$(OUT)) $(call quoted,$(BIN)) $(call quoted,$(SCRIPTS)) \
	    $(foreach m,$(MACHINES),$(call quoted,$m)); $(if $(TRACES),if CDPATH= cd -- $(call quoted,$(TRACES)) 2>/dev/null; then look *.cf; fi))
$(if $(UNFIT),$(error '$(strip $(UNFIT))': a name with a blank, a leading '-' or a character of the shell's or make's own: \
    rename it or link to it))

# numbers NAMES: a count that is no number would be 0 to awk, or to a loop.
numbers = $(foreach v,$(1),$(if $(shell [[ $(call quoted,$(strip $($v))) =~ ^[1-9][0-9]*$$ ]] || echo no),\
    $(error $v='$($v)' is no number from 1 on: give how many)))

# Without our programs each shell would only say that it found no such command. To batch.mk, which sets LIST, each
# worker says it of its machine.
ifeq ($(LIST)$(filter clean tidy,$(MAKECMDGOALS))$(findstring n,$(firstword -$(MAKEFLAGS))),)
FOUND := $(or $(wildcard $(BIN)/cf-cat),$(if $(filter command,$(firstword $(origin BIN))),,$(shell PATH=$(call quoted,$(PATH)); command -v cf-cat)))
$(if $(FOUND),,$(error no cf-cat in BIN, which is '$(BIN)'$(if $(filter command,$(firstword $(origin BIN))),,, nor in PATH): \
    cacheflow's programs are missing: build them by 'make', or give the folder that has them as BIN))
endif

# unheard_of FILES,WHO HAS: says which variables of the command line none of the files has outside of comments, as where
# one is misspelt: results would be taken for what they were to be.
unheard = $(foreach v,$(filter-out B BIN COMMAND_% LIST OUT PICTURES STORE TRACES V,$(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$v))),$(if \
    $(filter 0,$(shell sed '/^[[:blank:]]*\#/d' $(1) 2>/dev/null | grep -cwF -e $(call quoted,$v))),$v))
unheard_of = $(foreach v,$(unheard),$(warning $v='$(value $v)': $(2) no variable of this name: is it misspelt?))
