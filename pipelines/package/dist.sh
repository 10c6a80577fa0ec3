#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# dist.sh VERSION FILE: writes cacheflow-VERSION as a .tar.gz of what the last commit holds. The same commit
# gives the same bytes, however git, tar and gzip are configured: names are sorted, files are owner 0's, and
# of the time that SOURCE_DATE_EPOCH says, else of the commit's.
# Exit status: 0 written, 2 wrong usage, 3 the tree is no clone, or not as committed.
set -u -o pipefail
[ $# = 2 ] || {
    sed -n '4,7s/^# //p' "$0" >&2
    exit 2
}
version=$1
case $2 in
/*) file=$2 ;;
*) file=$PWD/$2 ;;
esac
cd "$(dirname "$0")/../.." || exit 3
refuse() {
    echo "dist: $*" >&2
    exit 3
}
clone="a tarball is made of a clone with a commit: clone it with git"
top=$(git rev-parse --show-toplevel) || refuse "this tree is no clone to git, which says above why; $clone"
# a tree that was unpacked somewhere in another one's clone is not what that one tracks
if [ "$top" != "$(pwd -P)" ] || ! commit=$(git rev-parse -q --verify HEAD); then
    refuse "this tree is no clone, or has no commit; $clone"
fi
changed=$(git --no-optional-locks status --porcelain --untracked-files=no | cut -c 4-) || refuse "git does not say what is committed"
[ -z "$changed" ] || refuse "not committed, and so in no tarball: commit or stash ${changed//$'\n'/, }"
left=$(git ls-files --others --exclude-standard)
[ -z "$left" ] || echo "dist: not tracked, and left out: ${left//$'\n'/, }" >&2
# not of git log, which may be configured to say more
time=${SOURCE_DATE_EPOCH:-$(git rev-list -1 --timestamp "$commit" | cut -d ' ' -f 1)}
[[ $time =~ ^[0-9]+$ ]] || refuse "SOURCE_DATE_EPOCH is '$time': give seconds since 1970"
objects=$(realpath "$(git rev-parse --git-path objects)") || exit 3

mkdir -p "$(dirname "$file")" || exit 3
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work" "$file.$$"' EXIT
trap 'exit 130' INT TERM
unset TAR_OPTIONS GZIP
# What git archive writes depends on configuration (core.autocrlf, tar.umask) and on attributes, of the system,
# the user and the clone: a clone without any has the same objects.
archive() {
    mkdir -p "$work/git/refs" && echo "$commit" >"$work/git/HEAD" &&
        env -i PATH="$PATH" HOME="$work" GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 GIT_DIR="$work/git" \
            GIT_OBJECT_DIRECTORY="$objects" git archive --prefix="cacheflow-$version/" "$commit"
}
# tar anew: git archive of older versions takes no time
write() {
    archive | tar -x -C "$work" &&
        LC_ALL=C tar -c -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
            --mode=u+rw,go=rX --mtime="@$time" "cacheflow-$version" | gzip -9n >"$file.$$" &&
        mv "$file.$$" "$file"
}
write || refuse "$file is not written"
echo "$file"
