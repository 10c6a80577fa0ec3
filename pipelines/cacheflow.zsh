#compdef @PROGRAMS@
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion for cacheflow in zsh: that of bash, run as a script, says what can stand here.

local program=${${(Q)words[1]}/#\~/$HOME} script
local -a offered
program=$(whence -p -- $program)
script=${program:A:h}/../share/bash-completion/completions/cacheflow
# without a program it would be looked for beside the folder we are in
if [[ -z $program || ! -r $script ]]; then
    _default
    return
fi
# what stands after the cursor in its word is not looked at
offered=("${(@f)$(bash $script $program "${(@Q)words[2,CURRENT - 1]}" "${(Q)PREFIX}" 2>/dev/null)}")
local kind=$?
offered=(${offered:#})
(( ! $#offered )) || compadd -- $offered
case $kind in
10)
    compset -P '--[a-z][-a-z0-9]#='
    _files
    ;;
11)
    # the words after -- are another command's
    local -i at=${words[(i)--]}
    shift $at words
    (( CURRENT -= at ))
    _normal
    ;;
esac
