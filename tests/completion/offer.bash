# SPDX-License-Identifier: BSD-2-Clause
#
# What bash offers for each line of file $IN, into file $OUT, as offer.zsh does. A line is split as readline
# does it: at blanks, and around a =.
# shellcheck source=pipelines/cacheflow.bash-completion
. "$FUNCTIONS/cacheflow"
while IFS= read -r line; do
    echo "> $line"
    read -r -a COMP_WORDS <<<"${line//=/ = }"
    # the word after a blank or the sign that is not begun yet
    [[ $line != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    f=$(complete -p "${COMP_WORDS[0]}" | sed 's/.*-F \([^ ]*\).*/\1/')
    "$f" "${COMP_WORDS[0]}" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
    [[ ${#COMPREPLY[@]} == 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
done <"$IN" >"$OUT"
