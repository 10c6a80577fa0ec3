# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What programs that were built with the sanitizers run with. A find must not look like one of our
# own exit statuses. Half of such a program's time goes into freed blocks that are held back and the
# call stacks of all allocations: less of both. For the whole stack of a find, run it again without.
export ASAN_OPTIONS=exitcode=99:detect_leaks=1:abort_on_error=0:quarantine_size_mb=8:malloc_context_size=3:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
