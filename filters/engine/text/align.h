/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * align.h - which line of a text is which line of an earlier version of it.
 *
 * Lines are numbers, the same for the same text. A line that stands once in each version is the
 * same line. As many of these as can keep their order (a longest increasing subsequence) stand
 * fast, with the lines before and behind them as far as they are the same: the anchors of Bram
 * Cohen's patience diff, as "git diff --patience" has it. Between them comes the longest common
 * subsequence (Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1, 1986,
 * section 4b, in linear space). The other single lines have moved across, with those before and
 * behind them that are left (Heckel, "A Technique for Isolating Differences Between Files", CACM
 * 21(4), 1978). What stands several times, such as a brace, is thus taken for moved with its
 * neighbours only.
 *
 * Memory: 40 bytes a line. Time: lines times differences; where there are more than some thousand
 * differences the subsequence may be shorter than the longest, and the time stays within lines
 * times that number.
 */
#ifndef CF_ALIGN_H
#define CF_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/* Fills in match[0 .. olds): for each old line the place of its new one + 1, 0 where it has none;
   no new line has two. Numbers of lines are at most `most`. -1 without memory, or with 2^30 lines
   or more. */
int cf_align(const uint32_t *old, size_t olds, const uint32_t *new_, size_t news, uint32_t most,
             uint32_t *match) __attribute__((warn_unused_result));

#endif
