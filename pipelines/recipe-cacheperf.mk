# SPDX-License-Identifier: BSD-2-Clause
#
# Of stored traces: which cache misses are worth fixing, with type, origin and place (cf-report
# --cacheperf), as a table and a page. Traces of several threads are laid side by side first.
#
#   make -j -f pipelines/recipe-cacheperf.mk TRACES=dir OUT=dir
#
# MACHINE   a machine description                                [xeon-6230]
# CORES     how many the threads of a trace run on               [4]
# SAMPLER   options of cf-sample                                 [none]
#
# Source lines need the recorded program as it was, with debug information; the allocator's part in
# misses, traces of cf-capture trace --own-allocator. Further variables: stored.mk

MACHINE ?= xeon-6230
CORES   ?= 4
SAMPLER ?=
$(if $(filter command,$(firstword $(origin MACHINES))),$(error MACHINES='$(MACHINES)': one machine is taken here, MACHINE))
MACHINES = $(MACHINE)

include $(dir $(lastword $(MAKEFILE_LIST)))stored.mk

RESULTS := samples.cf findings.csv findings.html

# With their remarks: too few samples make findings doubtful.

$(OUT)/%/samples.cf: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-resolve -q $< | cf-merge -q --interleave --cores $(CORES) | cf-cache -q -m $(MACHINE) | \
	    cf-sample -q -m $(MACHINE) $(SAMPLER) | cf-classify --rule cacheperf -m $(MACHINE) -o $@.tmp && $(done)

$(OUT)/%/findings.csv: $(OUT)/%/samples.cf
	cf-report --cacheperf --csv $< $(to)

$(OUT)/%/findings.html: $(OUT)/%/samples.cf
	cf-report -q --cacheperf --html $@.tmp $< >/dev/null && $(done)
