# SPDX-License-Identifier: BSD-2-Clause
#
# What an interactive zsh offers for each line of file $IN, into file $OUT: the line behind "> ", then a word
# a line. $FUNCTIONS is where our completion stands. zsh completes only in a terminal, so it makes itself one.
if [[ ! -o interactive ]]; then
    zmodload zsh/zpty
    zpty inner 'zsh -f -i'
    zpty -w inner "source ${(q)ZSH_ARGZERO:A}"
    zpty -w -n inner $'\Cxa'
    while zpty -r inner; do :; done >/dev/null
    return
fi
PROMPT=
fpath=($FUNCTIONS $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    local -a hits
    builtin compadd -O hits "$@"
    (( ! $#hits )) || print -rl -- $hits >>$OUT
    builtin compadd "$@"
}
zle -C offer complete-word _main_complete
offer-all() {
    local line
    while IFS= read -r line; do
        print -r -- "> $line" >>$OUT
        BUFFER=$line CURSOR=$#line
        zle offer
    done <$IN
    BUFFER=exit
    zle accept-line
}
zle -N offer-all
bindkey '^Xa' offer-all
