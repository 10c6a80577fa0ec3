# SPDX-License-Identifier: BSD-2-Clause
#
# The demo: records a real program with every access it makes, finds out what the accesses belong
# to, and shows where they go. The program is cf-rank of this suite at work on a stored trace: it
# has debug information, so that functions, source lines and allocation sites get their names.
#
#   make demo                      the whole of it; the results stay in build/demo
#   make -f pipelines/demo.mk PROGRAM="gzip -9 -c README.md"     another program, in place of that

OUT     ?= $(B)/demo
include $(dir $(lastword $(MAKEFILE_LIST)))names.mk
PROGRAM ?= $(B)/bin/cf-rank --quiet --by cache-line --top 3 samples/gzip.cf

RESULTS := heatmap.html heatmap.png heatmap.csv functions.csv sites.csv lines.csv

# Results are made under another name and renamed, so that a stopped run leaves no half of one.
to = >$@.tmp && mv $@.tmp $@

show: $(RESULTS:%=$(OUT)/%)
	@echo
	@[ -t 1 ] || export NO_COLOR=1; cf-heatmap --term --top 6 $(OUT)/resolved.cf
	@echo
	@echo "Functions by accesses:"
	@cf-rank -q --by function --term --top 8 $(OUT)/resolved.cf
	@echo
	@echo "Where the memory was allocated that is accessed most:"
	@cf-rank -q --by site --term --top 8 $(OUT)/resolved.cf
	@echo
	@echo "Source lines:"
	@cf-rank -q --by source --term --top 8 $(OUT)/resolved.cf
	@echo
	@echo "More in $(OUT) (open the .html in a browser): $(RESULTS)"

# What PROGRAM was: written when it is another one, so that this is recorded in its place, as is one
# of whose files one has changed.
program = printf '%s\n' $(call quoted,$(PROGRAM))
$(OUT)/program: FORCE
	@mkdir -p $(@D)
	@$(program) | cmp -s - $@ || $(program) >$@

$(OUT)/trace.cf: $(OUT)/program $(wildcard $(PROGRAM))
	@printf 'recording: '; cat $<
	cf-capture trace -o $@.tmp -- $(PROGRAM)
	@mv $@.tmp $@

$(OUT)/resolved.cf: $(OUT)/trace.cf
	cf-resolve -o $@ $<

$(OUT)/heatmap.csv: $(OUT)/resolved.cf
	cf-heatmap $< $(to)

$(OUT)/heatmap.png: $(OUT)/resolved.cf
	cf-heatmap -q --picture $@.tmp.png $< >/dev/null && mv $@.tmp.png $@

$(OUT)/heatmap.html: $(OUT)/resolved.cf
	cf-heatmap -q --html $@.tmp $< >/dev/null && mv $@.tmp $@

$(OUT)/functions.csv: $(OUT)/resolved.cf
	cf-rank -q --by function $< $(to)

$(OUT)/sites.csv: $(OUT)/resolved.cf
	cf-rank -q --by site $< $(to)

$(OUT)/lines.csv: $(OUT)/resolved.cf
	cf-rank -q --by source $< $(to)

FORCE:
.DELETE_ON_ERROR:
.PHONY: show FORCE
