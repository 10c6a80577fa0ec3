# SPDX-License-Identifier: BSD-2-Clause
#
# The template that new filters start from works, so that it cannot rot: it is built into
# build/test/cf-template, which nothing installs.
load lib

setup_file() {
    P=$BATS_FILE_TMPDIR/cf-template
    local b=${CF_B:-build} flags=()
    [[ $b == /* ]] || b=$BATS_TEST_DIRNAME/../$b
    if [[ -x $b/test/cf-template ]]; then
        P=$b/test/cf-template
    else
        [[ $b == */san ]] && flags=(-fsanitize=address,undefined)
        (cd "$BATS_TEST_DIRNAME/.." &&
            ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I. "${flags[@]}" \
                -o "$P" filters/template.c "$b/lib/libengine.a" "$b"/lib/lib{program,cf}.a \
                -lyaml -lcsv -lzstd -lxxhash -lm -lpthread)
    fi
    export P
}

setup() {
    lib_setup
    printf 'time,op,addr,size\n1,load,0x0,8\n2,store,0x7f,8\n3,load,0x1040,8\n4,load,0xffffffffffffffff,1\n' >a.csv
    stream a.cf a.csv
}

@test "adds its column to accesses" {
    run -0 bash -c '"$P" --sets 64 --line-size 64 a.cf | cf-cat --csv --columns addr,set'
    is "addr,set
0x0,0
0x7f,1
0x1040,1
0xffffffffffffffff,63"
    run -0 bash -c '"$P" --sets 3 --line-size 4K <a.cf | cf-cat --csv --columns addr,set'
    is "addr,set
0x0,0
0x7f,0
0x1040,1
0xffffffffffffffff,0"
}

@test "into a packed file, and all else passes" {
    printf 'time,pid,op,start,end,label\n0,1,map,0x0,0x2000,x\n' >m.csv
    stream b.cf --with map=m.csv a.csv
    "$P" -o out.packed.cf b.cf
    run -0 cf-cat --csv --columns addr,set,size,op,time out.packed.cf
    [[ ${lines[3]} == 0x1040,1,8,load,3 ]]
    run -0 cf-cat --csv --table map out.packed.cf
    [[ ${lines[1]} == 0,1,map,0x0,0x2000,* ]]
    run -0 cf-cat --info out.packed.cf
    has 'cf-template -o out.packed.cf b.cf'
    has 'set: {by: "cf-template", sets: 64, line_size: 64}'
}

@test "help, version, wrong usage, bad input, full disk" {
    run -0 "$P" --help
    has "Usage: cf-template"
    ((${#lines[@]} < 24))
    run -0 "$P" --version
    run -2 "$P" --nonsense a.cf
    run -2 "$P" --sets 0 a.cf
    run -2 "$P" --line-size 48 a.cf
    run -1 bash -c '"$P" nothing.cf >out.cf'
    head -c 300 a.cf >cut.cf
    run -1 --separate-stderr bash -c '"$P" cut.cf >out.cf'
    has "cf-template: cut.cf: " "$stderr"
    run -3 --separate-stderr bash -c '"$P" a.cf >/dev/full'
    has "cf-template: " "$stderr"
}

@test "the reader of its output has gone: it ends quietly" {
    awk 'BEGIN { print "addr"; for (i = 0; i < 200000; i++) print i * 7 }' >big.csv
    stream big.cf big.csv
    run -0 --separate-stderr bash -c '"$P" big.cf | head -c 100 >/dev/null'
    [[ -z $stderr ]]
}
