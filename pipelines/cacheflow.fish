# SPDX-License-Identifier: BSD-2-Clause
#
# Completion for cacheflow in fish: that of bash, run as a script, says what can stand here.

function __cacheflow
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program (command -s -- $words[1])
    set -l script
    set -l kind 10
    if test -n "$program"
        set script (dirname -- (realpath -- $program))/../share/bash-completion/completions/cacheflow
    end
    if test -r "$script"
        bash $script $program $words[2..] "$word" 2>/dev/null
        set kind $status
    end
    switch $kind
        case 10
            # fish's own, of a command that has no options: it takes quotes, ~ and variables, and runs nothing
            complete --do-complete="'' $word"
        case 11
            # the words after -- are another command's
            set -l at (contains -i -- -- $words)
            set -l theirs (string join ' ' -- (string escape -- $words[(math $at + 1)..]) $word)
            complete --do-complete=$theirs
    end
end

# Each program has a link to this file beside it, by which its completion is found; all of them are known by
# the first one.
if not set -q __cacheflow_known
    set -g __cacheflow_known yes
    for file in (string replace -r '[^/]*$' '' (status filename))cf-*.fish
        complete -c (string replace -r '.*/(.*)\.fish' '$1' $file) -f -a '(__cacheflow)'
    end
end
