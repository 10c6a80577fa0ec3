#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# dist.sh VERSION FILE: writes cacheflow-VERSION as a .tar.gz of what the last commit holds. The same commit
# gives the same bytes: names are sorted, files are owner 0's, and of the time that SOURCE_DATE_EPOCH says,
# else of the commit's. Exit status: 0 written, 2 wrong usage, 3 the tree is no clone, or not as committed.
set -u
[ $# = 2 ] || {
    sed -n '4,6s/^# //p' "$0" >&2
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
# a tree that was unpacked somewhere in another one's clone is not what that one tracks
if [ "$(git rev-parse --show-toplevel 2>/dev/null)" != "$(pwd -P)" ] || ! git rev-parse -q --verify HEAD >/dev/null; then
    refuse "this tree is no clone with a commit, of which a tarball could be made: clone it with git"
fi
changed=$(git status --porcelain --untracked-files=no | cut -c 4-)
[ -z "$changed" ] || refuse "not committed, and so in no tarball: commit or stash ${changed//$'\n'/, }"
left=$(git ls-files --others --exclude-standard)
[ -z "$left" ] || echo "dist: not tracked, and left out: ${left//$'\n'/, }" >&2
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
[[ $time =~ ^[0-9]+$ ]] || refuse "SOURCE_DATE_EPOCH is '$time': give seconds since 1970"

mkdir -p "$(dirname "$file")" || exit 3
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work" "$file.$$"' EXIT
trap 'exit 130' INT TERM
set -o pipefail
# tar anew: git archive of older versions takes no time
write() {
    git archive --prefix="cacheflow-$version/" HEAD | tar -x -C "$work" &&
        LC_ALL=C tar -c -C "$work" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
            --mode=u+rw,go=rX --mtime="@$time" "cacheflow-$version" | gzip -9n >"$file.$$" &&
        mv "$file.$$" "$file"
}
write || refuse "$file is not written"
echo "$file"
