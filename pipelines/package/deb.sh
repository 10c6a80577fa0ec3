#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# deb.sh VERSION TARBALL FOLDER: builds Debian packages of what a tarball of dist.sh holds, by debian/ here,
# into FOLDER, and has lintian look at them. Their maintainer is who DEBFULLNAME and DEBEMAIL name.
# Exit status: 0 built, 1 lintian found something, 2 wrong usage, 3 they cannot be built.
set -u
[ $# = 3 ] || {
    sed -n '4,6s/^# //p' "$0" >&2
    exit 2
}
version=$1
here=$(realpath "$(dirname "$0")") tarball=$(realpath "$2") folder=$(realpath -m "$3")
mkdir -p "$folder" || exit 3
refuse() {
    echo "deb: $*" >&2
    exit 3
}
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if ! tar -xf "$tarball" -C "$work" || ! cd "$work/cacheflow-$version"; then
    refuse "no tarball of version $version: $tarball"
fi
cp -r "$here/debian" . || exit 3
[ -n "${DEBEMAIL:-}" ] || refuse "who makes the packages? DEBEMAIL is the maintainer's address, DEBFULLNAME the name"
maintainer="${DEBFULLNAME:-$DEBEMAIL} <$DEBEMAIL>"
time=$(stat -c %Y Makefile)
sed -i "s/@MAINTAINER@/${maintainer//\//\\/}/" debian/control
{
    echo 'License: BSD-2-Clause'
    sed -n '/^Redistribution/,/DAMAGE\.$/{s/^$/./;s/^/ /;p}' LICENSE
} >debian/license
sed -i -e '/@BSD@/{r debian/license' -e 'd}' debian/copyright
rm debian/license
printf 'cacheflow (%s) UNRELEASED; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' "$version" "$version" \
    "$maintainer" "$(LC_ALL=C date -u -R -d "@$time")" >debian/changelog
dpkg-buildpackage -b -us -uc >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    refuse "dpkg-buildpackage failed"
}
cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$folder" || exit 3
ls "$folder"/*.deb
lintian --fail-on error,warning "$work"/*.changes || exit 1
