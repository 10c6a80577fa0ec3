# SPDX-License-Identifier: BSD-2-Clause
#
# What fish offers for each line of file $IN, into file $OUT, as offer.zsh does.
set -p fish_complete_path $FUNCTIONS
while read -l line
    echo "> $line"
    complete -C $line | string replace -r '\t.*' ''
end <$IN >$OUT
exit 0
