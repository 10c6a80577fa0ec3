# SPDX-License-Identifier: BSD-2-Clause
#
# Of stored traces: which pages gain most by being cached (cf-pages, cf-rank), as a table and a
# picture; with BEST=1 the runtime with the best k of them, too.
#
#   make -j -f pipelines/recipe-bbprof.mk TRACES=dir OUT=dir
#
# MACHINE   a machine description with latencies, or one whose latencies LATENCY gives [zynq-ultrascale]
# LATENCY   such as "L2=20 memory=180"                           [none]
# BEST      1: best.csv, for each k the runtime; on machines whose first level is not LRU it takes
#           a simulation for each page                           [0]
#
# Traces of cf-capture trace -i --own-allocator have the pages that the program has by itself; with
# --function, those of one function's call. Further variables: stored.mk

MACHINE ?= zynq-ultrascale
LATENCY ?=
BEST    ?= 0
$(if $(filter command,$(firstword $(origin MACHINES))),$(error MACHINES='$(MACHINES)': one machine is taken here, MACHINE))
MACHINES = $(MACHINE)

include $(dir $(lastword $(MAKEFILE_LIST)))stored.mk

RESULTS := profile.cf pages.csv $(call pictures,pages.csv) $(if $(filter-out 0,$(BEST)),best.csv)
cost     = -m $(MACHINE) $(LATENCY:%=--latency %)

$(OUT)/%/profile.cf: $(FOLDER)/%.cf
	@mkdir -p $(@D)
	cf-resolve -q $< | cf-pages -q $(cost) -o $@.tmp && $(done)

$(OUT)/%/pages.csv: $(OUT)/%/profile.cf
	cf-rank -q --csv --by page --value gain $(call png,Pages by cycles gained) $< $(to)

$(OUT)/%/best.csv: $(FOLDER)/%.cf $(OUT)/%/profile.cf
	cf-resolve -q $< | cf-pages -q $(cost) --rank $(word 2,$^) | cat $(word 2,$^) - | cf-rank -q --csv --by page --value gain $(to)
