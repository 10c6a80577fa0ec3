# SPDX-License-Identifier: BSD-2-Clause
#
# Makes the traces in samples/ anew. They are small recordings of real programs, of Debian 12 and
# of our own; what a run on another machine gives differs in addresses and counts, not in kind.
#
#   make -f pipelines/samples.mk           all of them
#   make -f pipelines/samples.mk samples/gzip.cf

# BIN  where cf-capture is. The shipped ones were made by an installed one, since the names of
#      its own files are in a trace's mappings: make install PREFIX=/opt/cacheflow, and
#      make -f pipelines/samples.mk BIN=/opt/cacheflow/bin

B     ?= build
BIN   ?= $(B)/bin
TEXT  := /usr/share/common-licenses/GPL-3
# An empty environment, so that the stack does not depend on who records.
TRACE := env -i PATH=/usr/bin:/bin $(BIN)/cf-capture trace --quiet

all: samples/gzip.cf samples/sort.cf samples/sqlite.cf samples/cc1.cf samples/threads.cf

samples/gzip.cf: FORCE
	$(TRACE) -o $@ -- gzip -9 -c $(TEXT) >/dev/null

samples/sort.cf: FORCE
	$(TRACE) -o $@ -- sort $(TEXT) >/dev/null

samples/sqlite.cf: FORCE
	$(TRACE) --limit 6000000 -o $@ -- sqlite3 :memory: \
	  "create table t(a integer primary key, b text); with recursive n(i) as (values(1) union all \
	   select i+1 from n where i < 4000) insert into t select i, hex(i*7919%4001) from n; \
	   select count(*), sum(a) from t where b like '3%';" >/dev/null

# With instruction fetches: the compiler proper, on a file of ours.
samples/cc1.cf: FORCE
	$(TRACE) -i --limit 4000000 -o $@ -- $$(gcc -print-prog-name=cc1) -quiet -O2 \
	  -imultiarch $$(gcc -print-multiarch) formats/stream/cf_names.c -o /dev/null

samples/threads.cf: $(B)/bench/bench_threads FORCE
	d=$$(mktemp -d) && trap 'rm -rf "$$d"' EXIT && cp $< "$$d/two-threads" && \
	$(TRACE) --limit 4000000 -o $@ -- "$$d/two-threads" >/dev/null

FORCE:
.PHONY: all FORCE
