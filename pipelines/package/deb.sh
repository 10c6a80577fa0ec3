#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# deb.sh VERSION TARBALL FOLDER: builds Debian packages of a tarball of dist.sh into FOLDER, by what the
# tarball has as pipelines/package/debian, and has lintian look at them. Their maintainer is who DEBFULLNAME
# and DEBEMAIL name; without DEBEMAIL it is the user here, for packages that stay here.
# Exit status: 0 built, 1 lintian found something, 2 wrong usage, 3 they cannot be built.
set -u
[ $# = 3 ] || {
    sed -n '4,7s/^# //p' "$0" >&2
    exit 2
}
version=$1
tarball=$(realpath "$2") folder=$(realpath -m "$3")
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
mv pipelines/package/debian . || exit 3
# Who it is lintian knows nothing of, where nobody says so.
maintainer="${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(hostname -f 2>/dev/null || uname -n)}>"
nobody=root-in-contact,bogus-mail-host,bogus-mail-host-in-debian-changelog
[ -z "${DEBEMAIL:-}" ] || nobody=
[ -z "$nobody" ] || echo "deb: packages for this machine, of $maintainer: DEBEMAIL and DEBFULLNAME name another" >&2
time=$(stat -c %Y Makefile)
control=$(<debian/control)
printf '%s\n' "${control/@MAINTAINER@/"$maintainer"}" >debian/control
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
lintian --allow-root --fail-on error,warning ${nobody:+--suppress-tags "$nobody"} "$work"/*.changes || exit 1
