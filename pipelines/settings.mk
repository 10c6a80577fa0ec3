# SPDX-License-Identifier: BSD-2-Clause
#
# Results keep to the settings that they were made with. What is there is not made again, so that with
# other settings a folder would hold results of both: it is refused. A makefile includes this at its
# end, where all that it sets with ?= is known. Settings are these variables, wherever their values
# come from, the others of the command line, CC of the environment, the command lines of programs, and
# the version of ours; not those that say where things are or how they are shown, nor PICTURES: one that
# is missing is drawn later. Values are
# compared as they are written, since to expand them would run what is in them; and with each file that
# is named so, outside of OUT, a checksum of what is in it: not one that a variable or $(...) names.
#
# $(OUT)/.settings has them, a word each. Files without it, such as those of earlier versions, may have
# been made with anything, and are refused, too. While there is no file, it is written anew.
#
# Nor do two runs at a time make the same files: the second one is refused. $(OUT)/.run has the process
# of the last one and when that began; while it is there, only what it starts itself may go on. What a
# make that was killed has left at work is not seen.

ifeq ($(filter clean tidy,$(MAKECMDGOALS)),)
settings_names := $(shell sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\) *?=.*/\1/p' $(MAKEFILE_LIST)) \
    $(foreach v,$(.VARIABLES),$(if $(filter command,$(origin $v)),$v)) $(filter COMMAND_%,$(.VARIABLES)) \
    $(if $(filter environment,$(origin CC)),CC)
settings_names := $(sort $(filter-out B BIN OUT PICTURES STORE TRACES V,$(settings_names)))
$(call unheard_of,$(MAKEFILE_LIST),$(firstword $(MAKEFILE_LIST)) has)
settings_word   = $(subst $() ,~_,$(subst %,~p,$(subst ~,~t,$(strip $(1)))))
settings_plain  = $(subst ~t,~,$(subst ~p,%,$(subst ~_, ,$(1))))
# Of a value, files are its words, as the shell takes them and without its quotes, and what <, = and the like divide.
settings_files := $(foreach f,$(shell for v in $(foreach v,$(settings_names),'$(subst ','\'',$(value $v))'); do \
	printf '%s\n' $$v; printf '%s' "$$v" | xargs printf '%s\n' 2>/dev/null | sed 'p; s/[<>=;|&]/\n/g; p; s/[[:blank:]]/\n/g'; \
	done | sort -u | while read -r f; do if [ -f "$$f" ]; then \
	    cksum <"$$f" | while read -r sum _; do printf '%s (checksum %s)\n' "$$f" $$sum | sed 's/~/~t/g; s/%/~p/g; s/ /~_/g'; done; \
	fi; done),$(if $(filter $(abspath $(OUT))/%,$(abspath $f)),,$f))
settings_by    := $(shell PATH=$(call quoted,$(PATH)) cf-cat --version 2>/dev/null)
settings_now   := with: $(call settings_word,$(settings_by)) $(foreach v,$(settings_names),$(call settings_word,$v=$(value $v))) $(settings_files)
settings_dry   := $(strip $(foreach f,n q t,$(findstring $f,$(firstword -$(MAKEFLAGS)))))
settings_then  := $(file <$(OUT)/.settings)
# settings_only A B: what A has and B has not
settings_only   = $(or $(call settings_plain,$(filter-out $(2),$(1))),the defaults)
# Recipes ask before a result gets its name whether such a file was changed meanwhile: put back, it would
# have left results of two in a folder.
settings_mark  := ~_(checksum~_
settings_stat  := $(if $(settings_files),echo $$(stat -L -c %y -- $(foreach f,$(settings_files),'$(subst ','\'',$(call \
    settings_plain,$(firstword $(subst $(settings_mark), ,$f))))') 2>&1))
unchanged      := $(if $(settings_files),{ [ "$$($(settings_stat))" = '$(subst ','\'',$(shell $(settings_stat)))' ] || \
    { echo "$(OUT): a file that a setting names was changed while results were made of it" >&2; false; }; } && )
ifneq ($(wildcard $(OUT)/*),)
$(if $(settings_then),,$(error $(OUT) has files, and no .settings that says what they were made with: give another OUT, or remove it))
# word by word: make 4.3 does not always take the newline from the end of a file
ifneq ($(filter-out $(settings_then),$(settings_now))$(filter-out $(settings_now),$(settings_then)),)
$(error what is in $(OUT) was made with $(call settings_only,$(settings_then),$(settings_now)), and now is given \
    $(call settings_only,$(settings_now),$(settings_then)): give another OUT, or remove it)
endif
endif
ifeq ($(settings_dry),)
settings_run := $(shell mkdir -p $(OUT); exec 2>/dev/null 9>>$(OUT)/.run && flock 9; began() { sed 's/^[0-9]* (.*) //' /proc/$$1/stat 2>/dev/null | cut -d' ' -f20; }; \
    read -r was when <$(OUT)/.run; \
    if [ "$$when" ] && [ "$$(began $$was)" = "$$when" ]; then \
        p=$$PPID; while [ "$$p" -gt 1 ] && [ $$p != $$was ]; do p=$$(sed -n 's/^PPid:[[:blank:]]*//p' /proc/$$p/status); done; \
        [ "$$p" = $$was ] || echo $$was; \
    else echo $$PPID $$(began $$PPID) >$(OUT)/.run; fi)
$(if $(settings_run),$(error process $(settings_run) is at work in $(OUT): wait for its end, or give another OUT))
$(if $(wildcard $(OUT)/*),,$(file >$(OUT)/.settings,$(settings_now)))
endif
endif
