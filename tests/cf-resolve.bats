# SPDX-License-Identifier: BSD-2-Clause
#
# cf-resolve: regions and pages, heap objects, allocation sites, variables, functions and lines.

load lib

# resolve FILE [OPTION...]: the resolved stream in resolved.cf, the summary in summary.
resolve() {
    local file=$1
    shift
    cf-resolve "$@" "$file" >resolved.cf 2>summary || { cat summary >&2; return 1; }
}

# shown COLUMNS: those columns of the resolved accesses, without the header line.
shown() {
    cf-cat --csv --columns "$1" resolved.cf | tail -n +2
}

# shown_objects COLUMNS
shown_objects() {
    cf-cat --csv --table object --columns "$1" resolved.cf | tail -n +2
}

# hex NUMBER...
hex() {
    printf '0x%x\n' "$@"
}

# elf_maps FILE BASE [PID]: rows of table map as the loader would make them, with zero-filled pages.
elf_maps() {
    local file base=$2 pid=${3:-1} offset vaddr filesz memsz flags perms end
    file=$(realpath "$1")
    readelf -lW "$1" | grep '^  LOAD' | while read -r _ offset vaddr _ filesz memsz flags; do
        perms=0
        [[ $flags == *R* ]] && ((perms |= 1))
        [[ $flags == *W* ]] && ((perms |= 2))
        [[ $flags == *E* ]] && ((perms |= 4))
        end=$(((vaddr + filesz + 4095) & ~4095))
        printf '0,%d,map,0x%x,0x%x,%d,%d,%s\n' "$pid" $((base + (vaddr & ~4095))) \
            $((base + end)) $((offset & ~4095)) $perms "$file"
        if (((vaddr + memsz + 4095 & ~4095) > end)); then
            printf '0,%d,map,0x%x,0x%x,0,3,\n' "$pid" $((base + end)) \
                $((base + (vaddr + memsz + 4095 & ~4095)))
        fi
    done
}

maps_header=time,pid,op,start,end,offset,perms,name

# address FILE SYMBOL: its virtual address, as a decimal number.
address() {
    echo $((0x$(nm "$1" | awk -v s="$2" '$3 == s { print $1; exit }')))
}

program() {
    cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int table[5000];
static int counter = 5;
static char buffer[64];
const char *const names[2] = {"one", "two"};
const int squares[4] = {0, 1, 4, 9};
static inline __attribute__((always_inline)) int twice(int x)
{
    counter += x;
    return x * 2 + counter;
}
__attribute__((noinline)) void *xalloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}
__attribute__((noinline)) int work(int n)
{
    for (int i = 0; i < n; i++)
        table[i % 5000] += twice(i) + squares[i & 3];
    return table[n % 5000];
}
int main(int argc, char **argv)
{
    char *a = xalloc((size_t)argc * 10);
    memset(buffer, argc, sizeof buffer);
    printf("%d %d\n", work(argc * 1000), a[0] + buffer[3]);
    free(a);
    return 0;
}
END
}

# every_insn FILE BASE: accesses whose pc is each instruction of our own functions, with the file's
# mappings, in insns.cf; their virtual addresses in the file insns.
every_insn() {
    { echo $maps_header && elf_maps "$1" "$2"; } >maps.csv
    local f
    for f in xalloc work main; do
        objdump -d --disassemble=$f "${3:-$1}" | grep -oE '^ +[0-9a-f]+:' | tr -d ' :'
    done | sort -u >insns
    local a
    { echo time,pid,op,size,addr,pc && while read -r a; do
        printf '1,1,load,8,0x0,0x%x\n' $((0x$a + $2))
    done <insns; } | stream insns.cf --with map=maps.csv
}

# as_addr2line FILE [OUTER]: what binutils says of the addresses in insns: innermost function, or the
# one that contains it, and innermost line. Nops after a function's end are its own for addr2line; they are left out of both.
as_addr2line() {
    addr2line -a -i -f -e "$1" <insns | sed 's, (discriminator.*,,; s,.*:?$,,' |
        awk -v outer="${2:-}" '/^0x/ { if (n) print f "," s; n = 0; next }
             n % 2 == 0 && (n == 0 || outer) { f = $0 } n == 1 { s = $0 } { n++ }
             END { print f "," s }'
}

lines_agree() {
    every_insn "$1" "$2" "${3:-$1}"
    local outer
    for outer in "${INNERMOST-}" --no-inline; do
        resolve insns.cf --path-parts 0 $outer
        shown function,source >got
        as_addr2line "${3:-$1}" $outer >want
        [[ $(wc -l <want) -gt 40 ]]
        # Padding: no function here, the line before it or none there.
        paste -d ' ' got want | awk '$1 ~ /^,/ { pad++; next } $1 != $2 { print; bad = 1 }
                                     { good++ } END { exit bad || pad > 12 || good < 40 }'
    done
}

@test "usage errors end with status 2" {
    run -2 cf-resolve --add region,nonsense /dev/null
    has "nonsense"
    run -2 cf-resolve --page-size 3000 /dev/null
    has "power of two"
    run -2 cf-resolve --site-depth 0 /dev/null
    run -2 cf-resolve --path-parts x /dev/null
    mkdir a:b
    touch file
    for option in --debug-dir --sysroot; do
        run -2 cf-resolve $option a:b /dev/null
        has "$PWD/a:b: has a colon in its path"
        run -2 cf-resolve $option none /dev/null
        has "none: No such file"
        run -2 cf-resolve $option file /dev/null
        has "file: Not a directory"
    done
}

@test "regions: files by permissions and offset, anonymous memory, growing heap, stack from its top" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x400000,0x401000,0,1,/no/prog
0,1,map,0x401000,0x405000,0x1000,5,/no/prog
0,1,map,0x405000,0x406000,0x5000,1,/no/prog
0,1,map,0x406000,0x407000,0x5000,3,/no/prog
0,1,map,0x10000,0x12000,0,3,[heap]
0,1,map,0x7000000,0x7002000,0,3,
0,1,map,0x7ff0000,0x8000000,0,3,[stack]
0,1,map,0x9000000,0x9001000,0,9,/dev/shm/x
10,1,map,0x12000,0x15000,0,3,[heap]
10,1,map,0x20000,0x22000,0,3,[heap]
10,1,map,0x7fe0000,0x7ff0000,0,3,[stack]
20,1,map,0x7fd0000,0x8000000,0,3,[stack]
20,1,map,0x10000,0x16000,0,3,[heap]
END
    stream in.cf --with map=maps.csv <<'END'
time,pid,op,size,addr
1,1,load,1,0x400fff
1,1,load,1,0x404000
1,1,load,1,0x405001
1,1,load,1,0x406001
1,1,load,1,0x11000
1,1,load,1,0x7001008
1,1,load,1,0x7ffffff
1,1,load,1,0x7ffefff
1,1,load,1,0x9000000
1,1,load,1,0x14000
1,1,load,1,0x407000
10,1,load,1,0x14000
10,1,load,1,0x21000
10,1,load,1,0x7fee123
10,1,load,1,0x7ffffff
20,1,load,1,0x7fd0000
20,1,load,1,0x7fee123
20,1,load,1,0x15000
END
    resolve in.cf
    run -0 shown region,page
    is "/no/prog r--,0
/no/prog r-x,3
/no/prog r-- +0x5000,0
/no/prog rw-,0
[heap],1
[anon] 1,1
[stack],0
[stack],1
/dev/shm/x r--s,0
,0
,0
[heap],4
[heap] 0x20000,1
[stack],17
[stack],0
[stack],47
[stack],17
[heap],5"
    has "18 accesses: 16 in a mapping" "$(cat summary)"
}

@test "regions: a mapping over another, holes, new permissions, unmapping; pages keep their numbers" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x100000,0x110000,0,1,/no/lib
0,1,map,0x300000,0x340000,0,0,
1,1,map,0x104000,0x108000,0x4000,5,/no/lib
1,1,map,0x300000,0x304000,0,3,
2,1,unmap,0x10c000,0x10e000,,,
2,1,map,0x304000,0x308000,0,3,
3,1,map,0x306000,0x307000,0,3,/no/other
END
    stream in.cf --with map=maps.csv <<'END'
time,pid,op,size,addr
0,1,load,1,0x105000
0,1,load,1,0x30c000
1,1,load,1,0x105000
1,1,load,1,0x109000
2,1,load,1,0x10c000
2,1,load,1,0x10dfff
2,1,load,1,0x10e000
2,1,load,1,0x10bfff
2,1,load,1,0x103fff
2,1,load,1,0x305000
3,1,load,1,0x305000
3,1,load,1,0x306000
3,1,load,1,0x307000
END
    resolve in.cf
    run -0 shown region,page
    is "/no/lib r--,5
[anon] 1,12
/no/lib r-x,1
/no/lib r--,9
,0
,0
/no/lib r--,14
/no/lib r--,11
/no/lib r--,3
[anon] 1,5
[anon] 1,5
/no/other rw-,0
[anon] 1,7"
}

@test "regions: a row of neighbours that were joined keeps their names and pages; the rest is new" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x100000,0x104000,0,3,/no/lib
0,1,map,0x300000,0x304000,0,3,
1,1,map,0x100000,0x101000,0,1,/no/lib
1,1,map,0x2fc000,0x304000,0,3,
2,1,map,0x2f8000,0x306000,0,3,
3,1,map,0x101000,0x106000,0x1000,3,/no/lib
5,2,map,0x101000,0x106000,0x1000,3,/no/lib
5,2,map,0x2f8000,0x306000,0,3,
6,1,map,0x302000,0x308000,0,3,
6,2,map,0x2f8000,0x306000,0,7,
7,1,map,0x101000,0x106000,0,3,/no/lib
8,1,map,0x50000,0x51000,0,3,rom
9,1,map,0x50000,0x52000,0,3,ram
END
    printf '%s\n' time,pid,tid,parent,op,label 0,1,1,0,begin,a 5,2,2,1,begin,a >tasks.csv
    local at pid=1
    { echo time,pid,op,size,addr
      for at in 2:303000 2:2fc000 2:2f8000 2:304000 3:103000 3:105000 5:103000 5:105000 5:301000 5:2fd000 \
          5:2f9000 5:305000 6:300000 6:302000 7:101000 9:50000; do
          [[ $at != 5:* ]] || pid=2
          [[ $at != 6:* ]] || pid=1
          echo "${at%:*},$pid,load,1,0x${at#*:}"
      done
      echo 9,2,load,1,0x301000
    } | stream in.cf --with map=maps.csv --with task=tasks.csv
    resolve in.cf
    run -0 shown region,page
    is "[anon] 1,3
[anon] 2,0
[anon] 3,0
[anon] 4,0
/no/lib rw-,3
/no/lib rw- +0x4000,1
/no/lib rw-,3
/no/lib rw- +0x4000,1
[anon] 1,1
[anon] 2,1
[anon] 3,1
[anon] 4,1
[anon] 1,0
[anon] 5,0
/no/lib rw-,0
ram,0
[anon] 1,1"
}

@test "page size" {
    printf '%s\n0,1,map,0x10000,0x30000,0,3,[heap]\n' $maps_header >maps.csv
    stream in.cf --with map=maps.csv <<'END'
time,pid,op,size,addr
0,1,load,1,0x1ffff
0,1,load,1,0x20000
END
    resolve in.cf --page-size 64K
    run -0 shown page
    is "0
1"
    resolve in.cf --page-size 64
    run -0 shown page
    is "1023
1024"
}

@test "processes: each has its own space; fork inherits, the child's changes are its own; exit ends it" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x10000,0x20000,0,3,[heap]
5,2,map,0x20000,0x30000,0,3,[heap]
6,2,unmap,0x10000,0x11000,,,
8,3,map,0x40000,0x50000,0,3,
END
    cat >tasks.csv <<'END'
time,pid,tid,parent,op,name
0,1,1,99,begin,sh
2,1,7,1,begin,thread
4,2,2,1,begin,child
7,1,1,0,exit,sh
8,1,7,0,exit,thread
9,2,2,0,exit,child
11,2,2,3,begin,again
END
    cat >objects.csv <<'END'
time,pid,op,addr,bytes
1,1,alloc,0x12000,100
1,1,alloc,0x13000,100
5,2,free,0x12000,0
5,1,free,0x13000,0
END
    stream in.cf --with map=maps.csv --with task=tasks.csv --with object=objects.csv <<'END'
time,pid,op,size,addr
3,2,load,1,0x12000
4,2,load,1,0x12000
5,1,load,1,0x12000
5,2,load,1,0x12000
5,1,load,1,0x13063
5,2,load,1,0x13063
5,2,load,1,0x21000
5,1,load,1,0x21000
6,2,load,1,0x10000
6,1,load,1,0x10000
7,1,load,1,0x12000
8,1,load,1,0x12000
9,1,load,1,0x12000
9,2,load,1,0x13000
10,2,load,1,0x13000
11,2,load,1,0x40000
END
    resolve in.cf
    run -0 shown region,page,object
    is ",0,0
[heap],2,1
[heap],2,1
[heap],2,0
[heap],3,0
[heap],3,2
[heap],17,0
,0,0
,0,0
[heap],0,0
[heap],2,1
[heap],2,1
,0,0
[heap],3,2
,0,0
[anon] 1,0,0"
    run -0 shown_objects object
    is "1
2
1
2"
}

@test "exec: with its mappings go the objects, and the new program's heap is [heap] again" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x10000,0x20000,0,3,[heap]
5,1,unmap,0,0xffffffffffffffff,,,
5,1,map,0x70000,0x80000,0,3,[heap]
5,1,map,0x10000,0x20000,0,3,[heap]
END
    printf 'time,pid,op,addr,bytes\n1,1,alloc,0x12000,100\n6,1,alloc,0x71000,8\n' >objects.csv
    stream in.cf --with map=maps.csv --with object=objects.csv <<'END'
time,pid,op,size,addr
4,1,load,1,0x12000
5,1,load,1,0x12000
6,1,load,1,0x71007
6,1,load,1,0x71008
END
    resolve in.cf
    run -0 shown region,page,object
    is "[heap],2,1
[heap] 0x10000,2,0
[heap],1,2
[heap],1,0"
}

@test "objects: bounds, unaligned, of no bytes, reused, released twice, overlapping, without end" {
    cat >objects.csv <<'END'
time,pid,op,addr,bytes
1,1,alloc,0x1001,7
1,1,alloc,0x1008,1
1,1,alloc,0x2000,0
2,1,free,0x1001,0
2,1,free,0x1001,0
2,1,free,0x9999,0
3,1,alloc,0x1000,4
4,1,alloc,0x1002,16
5,1,alloc,0x8000,0x8000000000000000
6,1,alloc,0xfffffffffffffff0,0xffffffffffffffff
7,1,free,0x8000,0
7,1,free,0x2000,0
END
    stream in.cf --with object=objects.csv <<'END'
time,pid,op,size,addr
0,1,load,1,0x1001
1,1,load,1,0x1000
1,1,load,1,0x1001
1,1,load,1,0x1007
1,1,load,1,0x1008
1,1,load,1,0x1009
2,1,load,1,0x1001
2,1,load,1,0x1008
3,1,load,1,0x1003
3,1,load,1,0x1004
4,1,load,1,0x1000
4,1,load,1,0x1008
4,1,load,1,0x1011
4,1,load,1,0x1012
5,1,load,1,0x8000000000007fff
5,1,load,1,0x8000000000008000
6,1,load,1,0xffffffffffffffff
7,1,load,1,0x8000
END
    resolve in.cf
    run -0 shown object
    is "0
0
1
1
2
0
0
2
4
0
0
5
5
0
6
0
7
0"
    run -0 shown_objects object
    is "1
2
3
1
0
0
4
5
6
7
6
3"
    has "2 heap objects were still live" "$(cat summary)"
    has "2 releases of what was not allocated" "$(cat summary)"
    run ! grep region <(cf-cat --csv resolved.cf)
}

@test "a release is of its object, also where its memory was unmapped before, in part or at the same time" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x10000,0x80000,0,3,[heap]
3,1,unmap,0x10000,0x20000,,,
4,1,unmap,0x21000,0x40000,,,
6,1,unmap,0x40000,0x50000,,,
7,1,map,0x40000,0x50000,0,3,[heap]
END
    # one is given back at once, one shrinks and one moves within realloc(), one is never released
    printf '%s\n' time,pid,op,addr,bytes 1,1,alloc,0x10030,0xff00 1,1,alloc,0x20010,0x1fff0 \
        1,1,alloc,0x40010,0x100 1,1,alloc,0x40200,0x100 3,1,free,0x10030,0 5,1,free,0x20010,0 \
        5,1,alloc,0x20010,16 7,1,free,0x40010,0 8,1,free,0x40010,0 8,1,alloc,0x40200,8 \
        9,1,free,0x40200,0 9,1,free,0x40200,0 >objects.csv
    printf '%s\n' time,pid,op,size,addr 2,1,load,1,0x21000 9,1,load,1,0x20010 |
        stream in.cf --with map=maps.csv --with object=objects.csv
    resolve in.cf
    run -0 shown_objects op,object
    is "alloc,1
alloc,2
alloc,3
alloc,4
free,1
free,2
alloc,5
free,3
free,0
alloc,6
free,6
free,0"
    has "0 heap objects were still live" "$(cat summary)"
    has "2 releases of what was not allocated" "$(cat summary)"
    run -0 shown object
    is "2
5"
}

@test "a child of fork says again what it has from its parent: that is no lost release, other extents are" {
    printf '%s\n' time,pid,tid,parent,op,label 0,1,1,0,begin,a 5,2,2,1,begin,a >tasks.csv
    printf '%s\n' time,pid,op,addr,bytes 1,1,alloc,0x1000,64 1,1,alloc,0x2000,64 1,1,alloc,0x3000,64 \
        5,2,alloc,0x1000,64 5,2,alloc,0x2000,32 6,2,alloc,0x3000,64 6,2,free,0x1000,0 >objects.csv
    printf '%s\n' time,pid,op,size,addr 7,1,load,1,0x1000 7,2,load,1,0x1000 7,2,load,1,0x3000 |
        stream in.cf --with task=tasks.csv --with object=objects.csv
    resolve in.cf
    has "2 heap objects were still live" "$(cat summary)"
    has "0 releases of what was not allocated" "$(cat summary)"
    run -0 shown object
    is "1
0
6"
}

@test "a child of fork that repeats its mappings has the objects that it repeats, not what its parent got since" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x0,0x800,0,5,/no/prog
0,1,map,0x1000,0x9000,0,3,[heap]
5,2,map,0x0,0x800,0,5,/no/prog
5,2,map,0x1000,0x9000,0,3,[heap]
5,3,map,0x9000,0xa000,0,3,[heap]
END
    printf '%s\n' time,pid,tid,parent,op,label 0,1,1,0,begin,a 5,2,2,1,begin,a 5,3,3,1,begin,a >tasks.csv
    printf '%s\n' time,pid,op,addr,bytes 1,1,alloc,0x1000,64 2,1,alloc,0x2000,64 6,2,alloc,0x1000,64 \
        7,2,alloc,0x2010,16 8,1,free,0x2000,0 >objects.csv
    printf '%s\n' time,pid,op,size,addr 5,1,load,1,0x1000 6,2,load,1,0x2000 6,3,load,1,0x2000 7,1,load,1,0x2000 \
        7,2,load,1,0x2010 | stream in.cf --with map=maps.csv --with task=tasks.csv --with object=objects.csv
    resolve in.cf
    run ! grep "still live" summary
    run -0 shown object
    is "1
0
2
2
4"
}

@test "invalid rows of map are passed over and counted" {
    make_stream odd >in.cf
    resolve in.cf
    run -0 shown region
    is "[heap]
[heap]
[heap]"
    has "2 rows of table map are invalid" "$(cat summary)"
    run -0 cf-cat --csv --table map resolved.cf
    [[ ${#lines[@]} == 4 ]]
}

@test "columns: what the input makes possible, what --add says; object rows too" {
    printf 'time,pid,op,size,addr\n0,1,load,1,0x2000\n' >a.csv
    stream in.cf <a.csv
    resolve in.cf
    run -0 cf-cat --csv resolved.cf
    is "time,pid,op,size,addr
0,1,load,1,0x2000"
    resolve in.cf --add page,object
    run -0 cf-cat --csv resolved.cf
    is "time,pid,op,size,addr,page,object
0,1,load,1,0x2000,0,0"
    printf 'time,pid,op,addr,bytes\n0,1,alloc,0x2000,1\n' >o.csv
    stream in.cf --with object=o.csv <a.csv
    resolve in.cf
    run -0 cf-cat --csv resolved.cf
    is "time,pid,op,size,addr,object,site
0,1,load,1,0x2000,1,"
    # Also in frames before the first allocation, where whoever ranks sites needs them.
    printf 'time,pid,op,start,end\n0,1,map,0x1000,0x3000\n' >m.csv
    stream maps.cf --with map=m.csv <a.csv
    cat maps.cf in.cf >both.cf
    run -0 bash -c 'cf-resolve -q both.cf | cf-rank -q --by site'
    is "rank,site,accesses,share_percent,cumulative_percent,knee
1,,2,100.000,100.000,0"
    resolve in.cf --add object
    run -0 cf-cat --csv --table object resolved.cf
    is "time,pid,op,addr,bytes,object
0,1,alloc,0x2000,1,1"
    # Once more: columns are replaced, not doubled.
    cf-resolve -q --add object resolved.cf >again.cf
    same <(cf-cat --csv resolved.cf) <(cf-cat --csv again.cf)
}

@test "segments know nothing of each other" {
    printf '%s\n0,1,map,0x2000,0x3000,0,3,[heap]\n' $maps_header >maps.csv
    printf 'time,pid,op,addr,bytes\n0,1,alloc,0x2000,8\n' >o.csv
    printf 'time,pid,op,size,addr\n0,1,load,1,0x2000\n' >a.csv
    stream one.cf --with map=maps.csv --with object=o.csv <a.csv
    stream two.cf <a.csv
    cat one.cf two.cf one.cf >in.cf
    resolve in.cf --add region,object
    run -0 shown region,object
    is "[heap],1
,0
[heap],1"
}

@test "a packed file with events far ahead of their accesses gives the same as a pipe" {
    awk 'BEGIN { print "time,pid,op,addr,bytes"
                 for (i = 0; i < 40000; i++) {
                     print i ",1,alloc," 4096 + i % 100 * 64 "," 1 + i % 64
                     if (i >= 50) print i ",1,free," 4096 + (i - 50) % 100 * 64 ",0" } }' >o.csv
    awk 'BEGIN { print "time,pid,op,size,addr"
                 for (i = 0; i < 40000; i++)
                     print i ",1,load,1," 4096 + i * 7919 % 6400 }' >a.csv
    stream in.cf --with object=o.csv <a.csv
    stream in.packed.cf --with object=o.csv <a.csv
    resolve in.packed.cf
    cf-cat --csv resolved.cf >packed.csv
    cf-resolve -q -o out.cf in.cf
    same packed.csv <(cf-cat --csv out.cf)
    # By arithmetic: slot k holds the object of the last i with i % 100 == k, if it is not 50 older.
    awk -F, 'function number(text,    n, i) {
                 for (i = 3; i <= length(text); i++)
                     n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
                 return n
             }
             NR > 1 { a = number($5) - 4096; k = int(a / 64); t = $1; i = t - (t - k + 100) % 100
                      want = i >= 0 && i > t - 50 && a % 64 <= i % 64 ? i + 1 : 0
                      if ($6 != want) { print $0, "want", want; bad = 1 } }
             END { exit bad || NR < 40000 }' packed.csv
}

# random_streams SEED: maps.csv, tasks.csv, objects.csv, a.csv, and the reference's answer, want.
# The reference keeps one entry a byte of a tiny address space, for each process.
random_streams() {
    awk -v seed="$1" '
    function r(n) { return int(rand() * n) }
    function unmap(p, s, e,    b, q, o) {
        for (b = s; b < e; b++) {
            delete where[p, b]
            if ((p, b) in obj) {
                o = obj[p, b]
                for (q = 0; q < N; q++) if ((p, q) in obj && obj[p, q] == o) delete obj[p, q]
            }
        }
    }
    BEGIN {
        srand(seed); N = 96; P = 3; number = 0
        print "time,pid,op,start,end,offset,perms,name" >"maps.csv"
        print "time,pid,tid,parent,op,name" >"tasks.csv"
        print "0,1,1,0,begin,a" >"tasks.csv"
        print "time,pid,op,addr,bytes" >"objects.csv"
        print "time,pid,op,size,addr" >"a.csv"
        alive[1] = 1
        for (t = 1; t < 700; t++) {
            what = r(12); p = 1 + r(P)
            if (what == 0) {
                s = r(N); e = s + 1 + r(N - s)
                print t ",1,map," 8 * s "," 8 * e ",0,1,/f" t >"maps.csv"
                for (b = s; b < e; b++) { where[1, b] = t; base[1, b] = s }
            } else if (what == 1 && alive[p]) {
                s = r(N); e = s + 1 + r(12); if (e > N) e = N
                print t "," p ",unmap," 8 * s "," 8 * e ",,," >"maps.csv"
                unmap(p, s, e)
            } else if (what == 2 && p > 1) {
                if (alive[p]) {
                    print t "," p "," p ",0,exit,x" >"tasks.csv"
                    for (b = 0; b < N; b++) { delete where[p, b]; delete obj[p, b] }
                    alive[p] = 0
                } else {
                    print t "," p "," p ",1,begin,x" >"tasks.csv"
                    for (b = 0; b < N; b++) {
                        delete where[p, b]; delete obj[p, b]
                        if ((1, b) in where) { where[p, b] = where[1, b]; base[p, b] = base[1, b] }
                        if ((1, b) in obj) { obj[p, b] = obj[1, b]; first[p, obj[1, b]] = first[1, obj[1, b]] }
                    }
                    alive[p] = 1
                }
            } else if (what < 7 && alive[p]) {
                s = r(N); n = 1 + r(6); if (s + n > N) n = N - s
                print t "," p ",alloc," 8 * s "," 8 * n >"objects.csv"
                for (b = s; b < s + n; b++)
                    if ((p, b) in obj) {
                        o = obj[p, b]
                        for (q = 0; q < N; q++) if ((p, q) in obj && obj[p, q] == o) delete obj[p, q]
                    }
                number++
                for (b = s; b < s + n; b++) obj[p, b] = number
                first[p, number] = s
            } else if (what < 10 && alive[p]) {
                s = r(N)
                print t "," p ",free," 8 * s ",0" >"objects.csv"
                if ((p, s) in obj && first[p, obj[p, s]] == s) {
                    o = obj[p, s]
                    for (q = 0; q < N; q++) if ((p, q) in obj && obj[p, q] == o) delete obj[p, q]
                }
            }
            for (i = 0; i < 6; i++) {
                p = 1 + r(P); b = r(N)
                # An exit spares what happens at its own moment.
                if (what == 2 && !alive[p]) continue
                print t "," p ",load,1," 8 * b + r(8) >"a.csv"
                print ((p, b) in where ? "/f" where[p, b] " r--," b - base[p, b] : ",0") "," \
                    ((p, b) in obj ? obj[p, b] : 0) >"want"
            }
        }
    }'
}

@test "objects: of one byte of the addresses that recent accesses said something of" {
    cat >objects.csv <<'END'
time,pid,op,addr,bytes
0,1,alloc,0x9000,16
2,1,alloc,0x10ff,16
2,1,alloc,0x1ff8,9
END
    stream in.cf --with object=objects.csv <<'END'
time,pid,op,size,addr
1,1,load,1,0x1010
1,1,load,1,0x2010
2,1,load,1,0x10ff
2,1,load,1,0x2000
END
    resolve in.cf
    run -0 shown object
    is "0
0
2
3"
}

@test "random streams agree with a reference that keeps every byte" {
    local seed
    for seed in 1 2 3 4 5; do
        random_streams $seed
        stream in.cf --with map=maps.csv --with task=tasks.csv --with object=objects.csv <a.csv
        resolve in.cf --page-size 8 --add region,page,object
        shown region,page,object >got
        same want got
    done
    [[ $(grep -vc ',0$' want) -gt 300 ]]
}

@test "functions and lines: position-independent, fixed, and clang's, as addr2line says" {
    program
    gcc -O2 -g -fPIE -pie prog.c -o pie
    gcc -O2 -g -no-pie prog.c -o fixed
    lines_agree pie $((0x555555554000))
    lines_agree fixed 0
    if command -v clang >/dev/null; then
        clang -O1 -g prog.c -o clangs
        # of inlined functions addr2line takes their lines, but not their names
        INNERMOST=--no-inline lines_agree clangs $((0x7f0000000000))
    fi
}

@test "functions and lines: a shared library, at two addresses in two processes" {
    program
    gcc -O2 -g -fPIC -shared -Wl,-soname,libprog.so prog.c -o libprog.so
    lines_agree libprog.so $((0x7f8888000000))
    local work
    work=$(address libprog.so work)
    { echo $maps_header && elf_maps libprog.so $((0x7f8888000000)) 1 &&
        elf_maps libprog.so $((0x7f9999000000)) 2; } >maps.csv
    stream in.cf --with map=maps.csv <<END
time,pid,op,size,addr,pc
1,1,load,1,0,$(hex $((0x7f8888000000 + work)))
1,2,load,1,0,$(hex $((0x7f9999000000 + work)))
1,2,load,1,0,$(hex $((0x7f8888000000 + work)))
END
    resolve in.cf
    run -0 shown function,page
    is "work,0
work,0
,0"
}

@test "stripped: symbol table alone, dynamic symbols alone, separate debug file by link and by build-id" {
    program
    mkdir bin
    gcc -O2 -g -fPIE -pie -Wl,--build-id prog.c -o full
    strip --strip-debug full -o bin/symbols
    lines_agree_function() {
        every_insn "$1" $((0x555555554000)) full
        resolve insns.cf
        # without those that are named by their own address, as belongs to no function
        shown function,source | paste -d , insns - | awk -F, -v file="${1##*/}" '
            $2 != file "+0x" $1 { print $2 "," $3 }' | sort -u >got
    }
    lines_agree_function bin/symbols
    # What the compiler put apart as unlikely shows under its symbol's name.
    grep -v cold got | same <(printf 'main,\nwork,\nxalloc,\n') -

    strip full -o bin/bare
    lines_agree_function bin/bare
    # Of functions without a symbol the table for unwinding knows where they begin.
    nm full | awk '$3 ~ /^(main|work|xalloc)$/ { sub(/^0*/, "", $1); print "bare+0x" $1 "," }' |
        sort | same - got
    (($(wc -l <got) >= 3))
    cp got right
    # A table that is not sorted, or too long, or cut off, names nothing wrongly.
    local at
    at=$(($(readelf -lW bin/bare | awk '$1 == "GNU_EH_FRAME" { print $2 }')))
    cp bin/bare bare.keep
    printf '\xff\xff\xff\x7f' | dd of=bin/bare bs=1 seek=$((at + 8)) conv=notrunc status=none
    lines_agree_function bin/bare
    run ! grep -vxFf right got
    printf 'x%.0s' {1..200} | dd of=bin/bare bs=1 seek=$((at + 12)) conv=notrunc status=none
    lines_agree_function bin/bare
    run ! grep -vxFf right got
    printf '\x03' | dd of=bin/bare bs=1 seek=$at conv=notrunc status=none
    lines_agree_function bin/bare
    [[ ! -s got ]]
    has "0 with function" "$(cat summary)"
    mv bare.keep bin/bare

    objcopy --only-keep-debug full bin/linked.debug
    strip full -o bin/linked
    (cd bin && objcopy --add-gnu-debuglink=linked.debug linked)
    lines_agree bin/linked $((0x555555554000)) full

    local id
    id=$(readelf -n full | awk '/Build ID/ { print $3 }')
    mkdir -p "debug/.build-id/${id:0:2}"
    cp bin/linked.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
    every_insn bin/bare $((0x555555554000)) full
    resolve insns.cf --debug-dir "$PWD/debug" --path-parts 0
    shown function,source >got
    same <(shown function,source) got
    grep -q "^work,$PWD/prog.c:23\$" got
    # those of a root that is named from here
    mkdir -p "root$PWD" root/usr/lib
    cp -r bin "root$PWD"
    cp -r debug root/usr/lib
    resolve insns.cf --sysroot root --path-parts 0
    shown function,source | same got -

    gcc -O2 -shared -fPIC -s prog.c -o bin/dynamic.so
    every_insn bin/dynamic.so 0 bin/dynamic.so
    local work
    work=$(nm -D bin/dynamic.so | awk '$3 == "work" { print $1 }')
    printf 'time,pid,op,size,addr,pc\n1,1,load,1,0,0x%s\n' "$work" |
        stream in.cf --with map=maps.csv
    resolve in.cf
    run -0 shown function,source
    is "work,"
}

@test "source paths: two components, all, or the name alone; --sysroot" {
    program
    mkdir -p root/opt src
    mv prog.c src
    gcc -O0 -g -fPIE -pie src/../src/prog.c -o root/opt/prog
    { echo $maps_header && elf_maps root/opt/prog 4096; } | sed "s,$PWD/root,," >maps.csv
    printf 'time,pid,op,size,addr,pc\n1,1,load,1,%d,%d\n' \
        $((4096 + $(address root/opt/prog work))) $((4096 + $(address root/opt/prog work))) | stream in.cf --with map=maps.csv
    resolve in.cf --sysroot "$PWD/root"
    run -0 shown region,function,source
    is "/opt/prog r-x,work,src/prog.c:22"
    # which file that is, and when the program was linked; once
    touch -d @1700000000 root/opt/prog
    resolve in.cf --sysroot "$PWD/root"
    run -0 rows file resolved.cf
    is "source,label,built
src/prog.c,$PWD/src/prog.c,1700000000"
    cf-cat --verify resolved.cf >said || fail "$(cat said)"
    resolve in.cf --sysroot "$PWD/root" --path-parts 0
    run -0 shown source
    is "$PWD/src/prog.c:22"
    run -0 rows file resolved.cf
    is "source,label,built
$PWD/src/prog.c,$PWD/src/prog.c,1700000000"
    resolve in.cf --sysroot "$PWD/root" --path-parts 1
    run -0 shown source
    is "prog.c:22"
    resolve in.cf
    run -0 shown function,source
    is "prog (not found),"
    has "0 with function" "$(cat summary)"
    run -0 rows file resolved.cf
    has_not prog.c
    # of each segment, whose strings are its own
    cat in.cf in.cf >two.cf
    resolve two.cf --sysroot "$PWD/root"
    run -0 rows file resolved.cf
    [[ $(grep -c "^src/prog.c,$PWD/src/prog.c,1700000000$" <<<"$output") == 2 ]]
}

@test "source paths: of units whose directories are relative" {
    local d
    mkdir main work
    for d in main work; do
        printf '#include "./util.h"\nint %s(volatile int *p) { return util(p) * 3; }\n' $d >$d/f.c
        printf 'static inline __attribute__((always_inline)) int util(volatile int *p)\n{ return p[1] + p[2]; }\n' >$d/util.h
        (cd $d && gcc -O1 -g -fPIC -ffile-prefix-map="${PWD%/*}"=. -c f.c)
    done
    gcc -shared -nostdlib main/f.o work/f.o -o lib.so
    every_insn lib.so 0
    for d in 0 2; do
        resolve insns.cf --path-parts $d
        shown source | sort -u >got
        same <(printf '%s\n' main/f.c:2 main/util.h:2 work/f.c:2 work/util.h:2) got
    done
}

@test "variables: data, zero-filled data beyond the file, constants, statics; none in gaps and code" {
    program
    local f base
    for f in pie fixed; do
        base=$((0x555555554000))
        if [[ $f == pie ]]; then
            gcc -O1 -fPIE -pie prog.c -o pie
        else
            gcc -O1 -no-pie prog.c -o fixed
            base=0
        fi
        { echo $maps_header && elf_maps $f $base; } >maps.csv
        stream in.cf --with map=maps.csv <<END
time,pid,op,size,addr
1,1,load,4,$((base + $(address $f table)))
1,1,load,4,$((base + $(address $f table) + 19999))
1,1,load,4,$((base + $(address $f counter)))
1,1,load,4,$((base + $(address $f buffer) + 63))
1,1,load,4,$((base + $(address $f squares) + 15))
1,1,ifetch,4,$((base + $(address $f work)))
1,1,load,4,$((base + $(address $f work)))
1,1,load,4,$((base + $(address $f table) - 1))
1,1,ifetch,4,$((base + $(address $f counter)))
1,1,load,4,$((base + $(address $f counter)))
END
        resolve in.cf
        run -0 shown symbol
        [[ $(shown symbol | sed -n 9,10p) == $'""\ncounter' ]] # code is no variable
        [[ ${lines[*]} == "table table counter buffer squares"* ]]
        [[ $(shown symbol | sed -n 6,7p) == $'""\n""' ]]
        [[ $(shown symbol | sed -n 8p) != table ]]
        run -0 shown region
        [[ ${lines[1]} == "$PWD/$f [bss]" ]]
        has "$PWD/$f r--" "${lines[4]}"
    done
}

@test "zero-filled data ends where the file says, also in a row that goes on" {
    program
    gcc -O1 -no-pie prog.c -o fixed
    { echo $maps_header && elf_maps fixed 0 | awk -F, -v OFS=, '
        $8 == "" { printf "0,1,map,%s,0x900000,0,3,\n", $4; next } { print }'; } >maps.csv
    stream in.cf --with map=maps.csv <<END
time,pid,op,size,addr
1,1,load,4,$(($(address fixed table) + 19999))
1,1,load,4,$((($(address fixed _end) + 4095) & ~4095))
1,1,load,4,0x8fffff
END
    resolve in.cf
    run -0 shown symbol,region
    is "table,$PWD/fixed [bss]
,[anon] 1
,[anon] 1"
}

@test "variables: read-only after relocation, in a page that two segments share" {
    program
    gcc -O1 -fPIE -pie -Wl,-z,relro,-z,now prog.c -o prog
    # The loader makes the start of the written segment read-only again.
    local base=$((0x555555554000)) offset vaddr size
    read -r _ offset vaddr _ _ size _ < <(readelf -lW prog | grep '^  GNU_RELRO')
    { echo $maps_header && elf_maps prog $base &&
        printf '1,1,map,0x%x,0x%x,%d,1,%s\n' $((base + (vaddr & ~4095))) \
            $((base + ((vaddr + size) & ~4095))) $((offset & ~4095)) "$PWD/prog"; } >maps.csv
    printf 'time,pid,op,size,addr\n2,1,load,4,%d\n2,1,load,4,%d\n' $((base + $(address prog names))) \
        $((base + $(address prog squares))) | stream in.cf --with map=maps.csv
    resolve in.cf
    run -0 shown symbol
    is "names
squares"
}

# Call stacks: main calls xalloc, which calls malloc in a library that is called libc.
stacks() {
    program
    gcc -O1 -g -fPIE -pie prog.c -o prog
    printf 'char heap[99]; char *malloc(unsigned long n);\nchar *malloc(unsigned long n) { return heap + n; }\nchar *fopen(void);\nchar *fopen(void) { return malloc(3) + 1; }\n' >libc.c
    gcc -O1 -g -fPIC -fno-builtin -shared libc.c -o libc.so.6
    P=$((0x555555554000)) L=$((0x7f0000000000))
    { echo $maps_header && elf_maps prog $P && elf_maps libc.so.6 $L; } >maps.csv
    # The return address of a call, found as the instruction behind it.
    after_call() {
        objdump -d --disassemble="$2" "$1" | awk -v to="<$3" 'hit { print "0x" substr($1, 1, length($1) - 1); exit }
            /call/ && index($0, to) { hit = 1 }'
    }
    cat >stacks.csv <<END
pid,stack,parent,pc
1,1,0,$((P + $(after_call prog main xalloc)))
1,2,1,$((P + $(after_call prog xalloc malloc)))
1,3,1,$((L + $(after_call libc.so.6 fopen malloc)))
1,4,0,$((L + $(after_call libc.so.6 fopen malloc)))
1,5,9,$((0x123456))
END
    printf 'time,pid,op,addr,bytes,stack\n' >objects.csv
    local i
    for i in 2 3 4 5 77 0; do
        echo "1,1,alloc,$((4096 * (i + 1))),16,$i" >>objects.csv
    done
    echo "2,1,free,$((4096 * 3)),0,2" >>objects.csv
    printf 'time,pid,op,size,addr\n1,1,load,1,%d\n1,1,load,1,%d\n' $((4096 * 3)) $((4096 * 4)) |
        stream in.cf --with map=maps.csv --with stack=stacks.csv --with object=objects.csv
}

@test "allocation sites: the first frame outside of allocators, callers, skipped functions" {
    stacks
    resolve in.cf --path-parts 1
    run -0 shown site
    is "xalloc prog.c:16
main prog.c:29"
    run -0 shown_objects object,site,function,source
    is "1,xalloc prog.c:16,xalloc,prog.c:16
2,main prog.c:29,main,prog.c:29
3,fopen libc.c:4,fopen,libc.c:4
4,0x123456,,
5,,,
6,,,
1,xalloc prog.c:16,,"
    resolve in.cf --path-parts 1 --site-depth 3
    run -0 shown site
    is "xalloc prog.c:16 < main prog.c:29
main prog.c:29"
    resolve in.cf --path-parts 1 --skip xalloc
    run -0 shown site
    is "main prog.c:29
main prog.c:29"
}

@test "allocation sites: a forked child goes on with its parent's call stacks" {
    stacks
    printf 'time,pid,tid,parent,op,name\n2,2,2,1,begin,x\n' >tasks.csv
    printf 'time,pid,op,addr,bytes,stack\n3,2,alloc,4096,8,2\n' >objects.csv
    printf 'time,pid,op,size,addr\n3,2,load,1,4096\n' |
        stream in.cf --with map=maps.csv --with stack=stacks.csv --with object=objects.csv \
            --with task=tasks.csv
    resolve in.cf --path-parts 1
    run -0 shown site
    is "xalloc prog.c:16"
}

@test "allocation sites: inlined allocation wrappers of the C++ library are not the site" {
    command -v g++ >/dev/null || skip "no C++ compiler"
    cat >v.cc <<'END'
#include <new>
namespace app {
struct Pool {
    __attribute__((noinline)) static char *take(unsigned long n);
};
}
namespace std {
inline __attribute__((always_inline)) char *allocate_for(unsigned long n)
{
    return static_cast<char *>(::operator new(n));
}
}
char *app::Pool::take(unsigned long n)
{
    char *p = std::allocate_for(n);
    p[0] = 1;
    return p;
}
int main() { return app::Pool::take(8)[0]; }
END
    g++ -O1 -g -fPIE -pie v.cc -o v
    { echo $maps_header && elf_maps v 0x100000; } >maps.csv
    local ret
    ret=$(objdump -d v | awk '/call.*Znwm/ { getline; print substr($1, 1, length($1) - 1); exit }')
    printf 'pid,stack,parent,pc\n1,1,0,%d\n' $((0x100000 + 0x$ret)) >stacks.csv
    printf 'time,pid,op,addr,bytes,stack\n1,1,alloc,4096,8,1\n' >objects.csv
    printf 'time,pid,op,size,addr,pc\n1,1,load,1,4096,%d\n' $((0x100000 + 0x$ret)) |
        stream in.cf --with map=maps.csv --with stack=stacks.csv --with object=objects.csv
    resolve in.cf --path-parts 1
    run -0 shown site,function
    is "app::Pool::take v.cc:15,app::Pool::take"
}

@test "variables of C++ have their qualified names, also without debug information" {
    command -v g++ >/dev/null || skip "no C++ compiler"
    cat >v.cc <<'END'
namespace app {
struct Pool { static int taken; };
int Pool::taken = 1;
}
static int alone = 2;
extern "C" { int _Zebra = 3; int plain = 4; }
int next(int n) { static int last = 5; return last += n; }
int main() { return app::Pool::taken + alone++ + _Zebra + plain + next(1); }
END
    g++ -O0 -fPIE -pie v.cc -o v
    { echo $maps_header && elf_maps v 0x100000; } >maps.csv
    {
        echo time,pid,op,size,addr
        for name in _ZN3app4Pool5takenE _ZL5alone _Zebra plain _ZZ4nextiE4last; do
            echo "1,1,load,4,$((0x100000 + 0x$(nm v | awk -v name=$name '$3 == name { print $1 }')))"
        done
    } | stream in.cf --with map=maps.csv
    resolve in.cf
    run -0 shown symbol
    is "app::Pool::taken
alone
_Zebra
plain
next(int)::last"
}

@test "code that the unwinder does not know is no part of the function before it" {
    cat >w.c <<'END'
__attribute__((noinline)) int known(int n) { return n * 3; }
__asm__(".text\nunknown: nop\n nop\n nop\n nop\n ret\n .p2align 4\n");
int main(int n, char **v) { (void)v; return known(n); }
END
    gcc -O1 -fPIE -pie w.c -o whole
    strip whole -o w
    { echo $maps_header && elf_maps w 0x100000 && echo 0,1,map,0x9000000,0x9001000,0,7,; } >maps.csv
    local at
    at() { echo $((0x$(nm whole | awk -v name="$1" '$3 == name { print $1 }') + $2)); }
    for at in "$(at known 0)" "$(at known 2)" "$(at unknown 0)" "$(at unknown 4)" "$(at main 3)"; do
        echo "1,1,load,4,0,$((0x100000 + at))"
    done >rows
    # made while the program runs; where nothing is
    printf '1,1,load,4,0,%s\n' 0x9000010 0xa000000 0x9000020 >>rows
    { echo time,pid,op,size,addr,pc && cat rows; } | stream in.cf --with map=maps.csv
    resolve in.cf
    run -0 shown function
    is "$(printf 'w+0x%x\n' "$(at known 0)" "$(at known 0)" "$(at unknown 0)" "$(at unknown 4)" "$(at main 0)" &&
        printf '%s\n' '[anon] 1' '""' '[anon] 1')"
    has "3 with function (37.5%)" "$(cat summary)"
}

@test "functions of C++ without debug information have readable names" {
    command -v g++ >/dev/null || skip "no C++ compiler"
    cat >f.cc <<'END'
namespace app {
struct Pool { int take(int n); };
__attribute__((noinline)) int Pool::take(int n) { return n + 1; }
template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }
}
extern "C" __attribute__((noinline)) int _Zebra(int n) { return n - 1; }
int main(int n, char **) { app::Pool p; return p.take(n) + app::twice(n) + _Zebra(n); }
END
    g++ -O1 -fPIE -pie f.cc -o f
    { echo $maps_header && elf_maps f 0x100000; } >maps.csv
    {
        echo time,pid,op,size,addr,pc
        for name in _ZN3app4Pool4takeEi _ZN3app5twiceIiEET_S1_ _Zebra main; do
            echo "1,1,load,4,0,$((0x100000 + 0x$(nm f | awk -v name=$name '$3 == name { print $1 }')))"
        done
    } | stream in.cf --with map=maps.csv
    resolve in.cf
    run -0 shown function
    is "app::Pool::take(int)
int app::twice<int>(int)
_Zebra
main"
}

@test "files that are no programs, devices and FIFOs as mapped names do no harm" {
    mkfifo pipe
    printf 'not an ELF file, but long enough to be looked at, or so one might think at first\n' >text
    { head -c 64 /bin/sh && head -c 4096 /dev/zero; } >broken
    cat >maps.csv <<END
$maps_header
0,1,map,0x1000,0x2000,0,5,$PWD/pipe
0,1,map,0x2000,0x3000,0,5,$PWD/text
0,1,map,0x3000,0x4000,0,5,$PWD/broken
0,1,map,0x4000,0x5000,0,5,/dev/tty
0,1,map,0x5000,0x6000,0,5,$PWD
0,1,map,0x6000,0x7000,0,5,$PWD/missing
END
    { echo time,pid,op,size,addr,pc && for i in 1 2 3 4 5 6; do
        echo "1,1,load,1,0x${i}010,0x${i}010"
    done; } | stream in.cf --with map=maps.csv
    run -0 timeout 1800 cf-resolve -q -o out.cf in.cf
    run -0 cf-cat --csv --columns function,page out.cf
    is "function,page
pipe (no symbols),0
text (no symbols),0
broken (no symbols),0
tty (no symbols),0
${PWD##*/} (no symbols),0
missing (not found),0"
}

# stated CSV BUILD: rows of map with a build in them.
stated() {
    sed "1s/\$/,build/; 2,\$s/\$/,$2/" "$1"
}

# build_id FILE
build_id() {
    readelf -n "$1" | awk '/Build ID/ { print $3 }'
}

# recorded [OPTION...]: accesses in every instruction of the program old, in in.cf; what is wanted of
# it is in want. Then another program has its place.
recorded() {
    program
    gcc -O1 -g -fPIE -pie "$@" prog.c -o prog
    cp -p prog old
    every_insn prog $((0x555555554000))
    local build
    build=$(build_id prog)
    [[ -z $build ]] && build=$(stat -c 'size:%s mtime:%.9Y' prog) || build=build-id:$build
    stated maps.csv "$build" >stated.csv
    cf-cat --csv insns.cf | stream in.cf --with map=stated.csv
    resolve in.cf --path-parts 0
    has_not "not the build" "$(cat summary)"
    has_not "does not state" "$(cat summary)"
    shown function,source,region >want
    [[ $(grep -c '^work,' want) -gt 10 ]]
    sed -i '1i int before;\nint another(int a) { return a + before; }\n' prog.c
    gcc -O1 -g -fPIE -pie "$@" prog.c -o prog
}

# refused FILE: the names are left out, one warning says so, and that is no failure.
refused() {
    resolve in.cf "${@:2}"
    [[ $(grep -c 'not the build that was recorded' summary) == 1 ]]
    has "cf-resolve: $1: not the build that was recorded" "$(cat summary)"
    has " 0 with function (0.0%)" "$(cat summary)"
    run -0 bash -c 'cf-cat --csv --columns function,source resolved.cf | tail -n +2 | sort -u'
    is "${1##*/} (another build),"
}

# found OPTION...: names are those of the recorded build, without a warning.
found() {
    resolve in.cf --path-parts 0 "$@"
    has_not "not the build" "$(cat summary)"
    shown function,source,region | same want -
}

@test "a rebuilt program: its names are refused, taken with --trust, or those of the recorded build" {
    recorded
    refused "$PWD/prog"
    resolve in.cf --path-parts 0 --trust
    has_not "not the build" "$(cat summary)"
    shown function,source,region >got
    grep -q '^work,' got
    run ! diff -q want got

    local id
    id=$(build_id old)
    mkdir -p by-id/.build-id/"${id:0:2}" by-id2/.build-id/"${id:0:2}" plain named other/.build-id/"${id:0:2}"
    objcopy --only-keep-debug old "by-id/.build-id/${id:0:2}/${id:2}.debug"
    cp old "by-id2/.build-id/${id:0:2}/${id:2}"
    cp old plain/prog
    objcopy --only-keep-debug old named/prog.debug
    local dir
    for dir in by-id by-id2 plain named; do
        found --debug-dir $dir
        # the search leaves standard input open, and a further file
        cf-resolve -q --debug-dir $dir <in.cf | cf-cat --verify
        cf-resolve -q --debug-dir $dir in.cf in.cf | cf-cat --verify
    done
    # Segments of a debug file may be those of the program, with notes that are not there (eu-strip).
    local at
    for at in $(readelf -lW by-id/.build-id/*/*.debug 2>/dev/null | awk '/ 0x[0-9a-f]+ 0x/ { n++; if ($1 == "NOTE") print 64 + 56 * (n - 1) + 8 }'); do
        printf '\100\0' | dd of="by-id/.build-id/${id:0:2}/${id:2}.debug" bs=1 seek="$at" conv=notrunc status=none
    done
    [[ -n $at ]]
    found --debug-dir by-id
    # nor does it open what is no file
    mv prog aside
    mkfifo prog
    timeout 600 cf-resolve -q --debug-dir by-id in.cf | cf-cat --verify
    rm prog
    mv aside prog
    # What has the name but not the id is not taken.
    cp prog "other/.build-id/${id:0:2}/${id:2}.debug"
    refused "$PWD/prog" --debug-dir other
    # Nor is it asked for names that nobody wants.
    resolve in.cf --add region,page
    has_not "not the build" "$(cat summary)"
    run -2 cf-resolve -q --debug-dir none -o out.cf in.cf
    has "--debug-dir none: No such file"
}

@test "a program that is gone: names from its debug file, in every process and of its variables" {
    recorded
    local id base
    id=$(build_id old)
    mkdir -p "debug/.build-id/${id:0:2}"
    objcopy --only-keep-debug old "debug/.build-id/${id:0:2}/${id:2}.debug"
    rm prog
    found --debug-dir debug
    resolve in.cf
    has_not "not the build" "$(cat summary)"
    run -0 bash -c 'cf-cat --csv --columns function,source resolved.cf | tail -n +2 | sort -u'
    is "prog (not found),"
    has "$PWD/prog: not there: names of its functions" "$(cat summary)"
    # and those that it had are lost by that
    found --debug-dir debug
    has_not "not there" "$(cat summary)"
    cp resolved.cf named.cf
    resolve named.cf
    has "the input had names from an earlier cf-resolve" "$(cat summary)"
    resolve named.cf --debug-dir debug
    has_not "had names" "$(cat summary)"

    # Two images in one process; a page of the file in two segments; zero-filled data.
    cp old prog
    for base in 0x10000 0x7f1234560000; do
        elf_maps prog $((base))
    done >rows
    rm prog
    { echo $maps_header && cat rows; } >maps.csv
    stated maps.csv "build-id:$id" >stated.csv
    {
        echo time,pid,op,size,addr,pc
        for base in 0x10000 0x7f1234560000; do
            for name in table counter buffer names squares; do
                printf '1,1,load,1,0x%x,0x%x\n' $((base + $(address old $name))) $((base + $(address old work)))
            done
        done
    } | stream in.cf --with map=stated.csv
    resolve in.cf --debug-dir debug
    run -0 shown symbol,function
    is "table,work
counter,work
buffer,work
names,work
squares,work
table,work
counter,work
buffer,work
names,work
squares,work"
}

@test "a rebuilt program at a fixed address" {
    recorded -no-pie -fno-pie
    refused "$PWD/prog"
    local id
    id=$(build_id old)
    mkdir -p "debug/.build-id/${id:0:2}"
    objcopy --only-keep-debug old "debug/.build-id/${id:0:2}/${id:2}.debug"
    every_insn old 0 && sed -i "s,/old\$,/prog," maps.csv
    stated maps.csv "build-id:$id" >stated.csv
    cf-cat --csv insns.cf | stream in.cf --with map=stated.csv
    resolve in.cf --path-parts 0 --debug-dir debug
    shown function,source >got
    lines_agree old 0
    shown function,source | same - got
}

@test "a rebuilt program without build id: by size and time, also of a copy that keeps whole seconds" {
    recorded -Wl,--build-id=none
    refused "$PWD/prog"
    refused "$PWD/prog" --debug-dir "$PWD"
    cp -p old prog
    found
    touch -d "@$(stat -c %Y old)" prog
    found
    touch -d "@$(($(stat -c %Y old) + 1))" prog
    refused "$PWD/prog"
    found --trust
}

@test "builds: data that changes, files that were replaced, several builds of one path" {
    recorded
    # Mapped data has no names, so that it may change.
    stated maps.csv "size:5 mtime:1.000000000" >stated.csv
    cf-cat --csv insns.cf | stream in.cf --with map=stated.csv
    refused "$PWD/prog"
    echo this is no program, whatever its size is, and 64 bytes or more are needed >prog
    resolve in.cf
    has_not "not the build" "$(cat summary)"
    # Nobody knows what was mapped.
    cp old prog
    stated maps.csv unknown >stated.csv
    cf-cat --csv insns.cf | stream in.cf --with map=stated.csv
    refused "$PWD/prog"
    # One path, two processes, two builds: each has its own names.
    { stated maps.csv "build-id:$(build_id old)" && elf_maps prog $((0x555555554000)) 2 | sed 's/$/,build-id:00/'; } >stated.csv
    { cf-cat --csv insns.cf && cf-cat --csv insns.cf | tail -n +2 | sed 's/^1,1,/1,2,/'; } |
        stream in.cf --with map=stated.csv
    resolve in.cf
    [[ $(grep -c 'not the build that was recorded' summary) == 1 ]]
    [[ $(shown pid,function | grep -c '^1,work') -gt 10 ]]
    [[ $(shown pid,function | grep '^2,' | sort -u) == "2,prog (another build)" ]]
    # Texts that are none.
    local text
    for text in build-id: build-id:xyz "build-id:$(printf '0%.0s' {1..3000})" build-id:0 nonsense; do
        stated maps.csv "$text" >stated.csv
        cf-cat --csv insns.cf | stream in.cf --with map=stated.csv
        refused "$PWD/prog"
    done
}

@test "a stream without builds is resolved, and the summary says what that means" {
    program
    gcc -O1 -g prog.c -o prog
    every_insn prog 0
    resolve insns.cf
    has "does not state which builds" "$(cat summary)"
    shown function | grep -q work
    resolve insns.cf --trust
    has_not "does not state" "$(cat summary)"
}

# asks ID: the server has it.
asks() {
    { exec 7<>"/dev/tcp/127.0.0.1/$port" && printf 'GET /buildid/%s/debuginfo HTTP/1.0\r\n\r\n' "$1" >&7 &&
        head -n 1 <&7 | grep -q ' 200 '; } 2>/dev/null
}

# serve DIR ID: a debuginfod of the files in DIR at $url, which has ID by now.
serve() {
    for _ in {1..20}; do
        port=$((20000 + RANDOM % 30000))
        debuginfod -F -p $port -d :memory: "$1" >server.log 2>&1 3>&- &
        server=$!
        url=http://127.0.0.1:$port
        until asks "$2"; do
            kill -0 $server 2>/dev/null || continue 2
            sleep 0.1
        done
        return
    done
    fail "no server: $(tail -n 3 server.log)"
}

@test "debuginfod: asked where DEBUGINFOD_URLS is set, never else" {
    need debuginfod "to serve debug files"
    recorded
    mkdir served
    objcopy --only-keep-debug old served/old.debug
    export HOME=$PWD DEBUGINFOD_CACHE_PATH=$PWD/cache
    serve served "$(build_id old)"
    DEBUGINFOD_URLS=$url found
    # It is kept.
    kill $server
    wait $server || true
    DEBUGINFOD_URLS=$url found
    rm -r cache
    DEBUGINFOD_URLS=$url refused "$PWD/prog"
    # Programs that are there are stripped here, and their debug files come the same way.
    rm -rf cache
    strip old -o prog
    serve served "$(build_id old)"
    DEBUGINFOD_URLS=$url found
    grep -q "GET /buildid/$(build_id old)/debuginfo 200" server.log
    kill $server
    wait $server || true

    sanitized && skip "the leak sanitizer does not work under strace"
    need strace "to see what is opened"
    env -u DEBUGINFOD_URLS strace -f -e trace=network -o calls cf-resolve -q -o out.cf in.cf
    run ! grep -q 'connect(\|socket(' calls
}

@test "lines of a snapshot: whose they are at its time" {
    cat >maps.csv <<END
$maps_header
0,1,map,0x10000,0x20000,0,3,[heap]
0,2,map,0x10000,0x20000,0,5,/no/prog
20,1,unmap,0x10000,0x20000,,,
END
    printf 'time,pid,op,addr,bytes\n1,1,alloc,0x11000,4096\n15,1,free,0x11000,0\n' >objects.csv
    printf 'snapshot,time\n0,5\n1,15\n2,20\n' >snapshots.csv
    cat >lines.csv <<'END'
snapshot,level,set,way,state,addr,pid
0,1,0,0,1,0x11040,1
0,1,0,1,1,0x11040,2
0,1,0,2,1,0x11040,3
1,1,0,0,1,0x11040,1
2,1,0,0,1,0x11040,1
END
    stream in.cf --with map=maps.csv --with object=objects.csv --with snapshot=snapshots.csv \
        --with line=lines.csv <<END
time,pid,op,size,addr
4,1,load,1,0x11000
14,1,load,1,0x11000
15,1,load,1,0x11000
19,1,load,1,0x11000
20,1,load,1,0x11000
END
    resolve in.cf
    run -0 cf-cat --csv --table line --columns snapshot,region,page,object resolved.cf
    is "snapshot,region,page,object
0,[heap],1,1
0,/no/prog r-x,1,0
0,,0,0
1,[heap],1,0
2,,0,0"
    has "5 accesses: 4 in a mapping" "$(cat summary)"
    has "5 lines of snapshots: 3 in a mapping (60.0%), 1 in a heap object (20.0%), 0 in a variable (0.0%)" "$(cat summary)"
    run -0 --separate-stderr bash -c "cf-capture csv -q --table line --with map=maps.csv lines.csv | cf-resolve >/dev/null"
    has "cf-resolve: 5 lines of snapshots: 4 in a mapping" "$stderr" # as nobody tells their time
    has_not accesses "$stderr"
    run -0 shown region,page,object
    is "[heap],1,1
[heap],1,1
[heap],1,0
[heap],1,0
,0,0"
}

@test "a process with objects and without a mapping, asked for mappings and variables" {
    printf 'time,pid,op,object,addr,bytes\n0,1,alloc,1,0x1000,64\n' >objects.csv
    printf 'time,pid,op,size,addr\n1,1,load,1,0x1008\n' | stream in.cf --with object=objects.csv
    resolve in.cf --add region,page,object,symbol
    [[ $(shown object,region,symbol) == 1,, ]] || fail "$(shown object,region,symbol)"
}

# two programs at 0 and 0x1000000, and an access by the first instruction of main of each
two_programs() {
    program
    gcc -O1 -g -fPIE -pie prog.c -o one
    cp one two
    { echo $maps_header && elf_maps one 0 && elf_maps two $((0x1000000)); } >maps.csv
    local main
    main=$(address one main)
    printf 'time,pid,op,size,addr,pc\n1,1,load,1,0,%d\n2,1,load,1,0,%d\n' "$main" $((main + 0x1000000)) |
        stream in.cf --with map=maps.csv
}

@test "a mapped file that cannot be opened is named, with the reason: status 3, the rest resolved" {
    two_programs
    resolve in.cf
    [[ $(shown function | paste -sd,) == main,main ]]
    few='for fd in {3..9}; do eval "exec $fd>&-"; done; ulimit -n 4;'
    # standard streams and the input
    run -3 bash -c "$few cf-resolve -q in.cf >resolved.cf"
    has "cf-resolve: $(realpath one): Too many open files: "
    has "cf-resolve: $(realpath two): Too many open files: "
    [[ $(shown function | paste -sd,) == "one (no symbols),two (no symbols)" ]]
    # root has to leave its powers behind
    chmod 000 two
    run -3 setpriv --bounding-set=-all cf-resolve -q -o resolved.cf in.cf
    has "cf-resolve: $(realpath two): Permission denied: "
    [[ $(shown function | paste -sd,) == "main,two (no symbols)" ]]
}

@test "many mapped files that cannot be opened: ten are named, the rest counted" {
    local i
    two_programs
    {
        echo $maps_header
        for i in {10..29}; do
            cp one one$i
            elf_maps one$i $((i * 0x1000000))
            chmod 000 one$i
        done
    } >maps.csv
    { echo time,pid,op,size,addr,pc && for i in {10..29}; do echo 1,1,load,1,0,$((i * 0x1000000 + 0x1100)); done; } |
        stream in.cf --with map=maps.csv
    run -3 --separate-stderr setpriv --bounding-set=-all cf-resolve -q -o resolved.cf in.cf
    [[ ${#stderr_lines[@]} == 11 ]] || fail "$stderr"
    has "10 more files could not be read" "$stderr"
}

@test "mapped files that are not there, or no programs, or damaged ones, are no refusal" {
    local main
    two_programs
    main=$(address one main)
    rm one
    head -c 3000 two >cut
    mv cut two
    run -0 --separate-stderr cf-resolve -q -o resolved.cf in.cf
    is ""
    [[ -z $stderr && $(shown function | paste -sd,) == "one (not found),two+0x$(printf %x "$main")" ]]
    head -c 3000 /dev/urandom >two
    run -0 --separate-stderr cf-resolve -q -o resolved.cf in.cf
    [[ -z $stderr && $(shown function | paste -sd,) == "one (not found),two (no symbols)" ]]
    rm two
    ln -s two two
    run -0 --separate-stderr cf-resolve -q -o resolved.cf in.cf
    [[ -z $stderr ]]
}

@test "sites in a file that is not there are offsets in it, wherever a process has it" {
    printf '%s\n' $maps_header 0,1,map,0x400000,0x402000,0,1,/no/lib 0,1,map,0x402000,0x405000,0x2000,5,/no/lib \
        0,2,map,0x7f0000002000,0x7f0000005000,0x2000,5,/no/lib 0,1,map,0x900000,0x901000,0,7, >maps.csv
    printf '%s\n' pid,stack,parent,pc 1,1,0,0x403010 2,2,0,0x7f0000003010 1,3,0,0x900010 >stacks.csv
    printf '%s\n' time,pid,op,addr,bytes,stack 1,1,alloc,0x1000,16,1 1,2,alloc,0x1000,16,2 1,1,alloc,0x2000,16,3 >objects.csv
    printf '%s\n' time,pid,op,size,addr 2,1,load,1,0x1000 2,2,load,1,0x1000 2,1,load,1,0x2000 |
        stream in.cf --with map=maps.csv --with stack=stacks.csv --with object=objects.csv
    resolve in.cf
    run -0 shown site
    is "lib+0x300f
lib+0x300f
[anon]+0x90000f"
}

@test "--recording: of an input that is cut off stays a partial file, and the older one" {
    awk 'BEGIN { print "time,pid,tid,op,addr,pc"; for (i = 0; i < 60000; i++) printf "%d,7,7,load,0x%x,0x1000\n", i, i * 8 }' |
        stream raw.cf
    head -c $(($(stat -c %s raw.cf) / 2)) raw.cf >cut.cf
    echo old >out.cf
    run -1 --separate-stderr bash -c 'cf-resolve -q --recording -o out.cf <cut.cf'
    has 'cut off' "$stderr"
    [[ $(<out.cf) == old ]]
    run -1 cf-cat --verify out.cf.partial
    # a frame has 16,384 rows at most: of 30,000 at least one that is not whole is missing
    (($(cf-cat --csv out.cf.partial 2>/dev/null | wc -l) > 13000))
    rm out.cf.partial
    # without it, a filter's output gets its name, and says that it is not of all
    run -1 bash -c 'cf-resolve -q -o out.cf <cut.cf'
    wanting out.cf
    run -0 bash -c 'cf-resolve -q --recording -o whole.cf <raw.cf'
    cf-cat --verify whole.cf
    [[ ! -e whole.cf.partial ]]
}

# A system without address translation: two tasks and the kernel in one memory map.
flat() {
    printf '%s\n' "$maps_header" "0,7,map,0x1000,0x3000,0,3,[control]" "0,9,map,0x8000,0xa000,0,3,[logger]" \
        "0,0,map,0x100000,0x101000,0,5,[kernel]" "20,9,unmap,0x9000,0xa000,0,0," "20,11,map,0x9000,0xa000,0,3,[late]" >flat.maps
    printf 'snapshot,time\n1,10\n2,30\n' >flat.snapshots
    printf 'snapshot,set,way,phys\n1,0,0,0x1040\n1,1,0,0x2000\n1,2,0,0x9000\n1,3,0,0x100000\n1,4,0,0x5000\n2,2,0,0x9000\n' |
        stream flat.cf -t line --clock ticks --with map=flat.maps --with snapshot=flat.snapshots
}

@test "--physical: without address translation, lines belong to whose memory they are in" {
    flat
    run -0 cf-resolve -q --physical -o resolved.cf flat.cf
    run -0 cf-cat --csv --table line --columns snapshot,pid,phys,region,page resolved.cf
    is 'snapshot,pid,phys,region,page
1,7,0x1040,[control],0
1,7,0x2000,[control],1
1,9,0x9000,[logger],1
1,0,0x100000,[kernel],0
1,0,0x5000,,0
2,11,0x9000,[late],0'
    # without it nothing says so
    cf-resolve -q flat.cf | cf-cat --csv --table line >plain
    run ! grep -F control plain
    # whose memory it is, counted
    cf-occupancy -q --csv --lines 16 resolved.cf | awk -F, '{ print $1, $4, $6 }' >got
    printf '%s\n' 'snapshot pid lines' '1 7 2' '1 0 2' '1 9 1' '2 11 1' | sort | same - <(sort got)
}

@test "--physical=OFFSET: memory that is mapped a constant distance away; what has a process keeps it" {
    printf '%s\n' "$maps_header" "0,7,map,0xc0001000,0xc0003000,0,3,[control]" "0,9,map,0xc0001000,0xc0002000,0,3,[other]" >m.csv
    printf 'snapshot,phys,pid,addr\n1,0x1040,0,0\n1,0x1040,9,0\n1,0,7,0xc0002040\n1,0x9040,0,0\n' | stream o.cf -t line --with map=m.csv
    cf-resolve -q --physical=0xc0000000 o.cf | cf-cat --csv --table line --columns pid,region,page >got
    printf '%s\n' pid,region,page '7,[control],0' '9,[other],0' '7,[control],1' '0,,0' | same - got
    # the same with a negative distance, of accesses
    printf '%s\n' "$maps_header" "0,7,map,0x1000,0x3000,0,3,[control]" >m.csv
    printf 'time,op,addr,phys\n1,load,0x77,0x40001040\n2,store,0x78,0x40002040\n' | stream a.cf --with map=m.csv
    cf-resolve -q --physical=-0x40000000 a.cf | cf-cat --csv --columns pid,region,page >got
    printf '%s\n' pid,region,page '7,[control],0' '7,[control],1' | same - got
    run -2 cf-resolve --physical=x a.cf
    run -2 cf-resolve --physical=- a.cf
}

@test "two libraries in turn at one address: each access has the function that stood there then, also within a frame" {
    need valgrind "it records the program"
    # what the columns of a frame are looked up by, pc, is the same for both
    echo 'int NAME(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }' >lib.c
    cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    static int data[1000];
    const char *name[] = {"first", "second"};
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        char file[64];
        sprintf(file, "./lib%s.so", name[i % 2]);
        void *lib = dlopen(file, RTLD_NOW);
        int (*work)(int *, int) = (int (*)(int *, int))dlsym(lib, name[i % 2]);
        printf("%p\n", (void *)work);
        sum += work(data, 1000);
        dlclose(lib);
    }
    return sum;
}
C
    for name in first second; do
        gcc -g -O1 -fno-inline -shared -fPIC -DNAME=$name lib.c -o lib$name.so
    done
    gcc -g -O1 main.c -o main -ldl
    cf-capture trace -q -o x.cf -- ./main >places
    [ "$(sort -u places | wc -l)" -eq 1 ]
    resolve x.cf
    shown time,function,source | awk -F, '$2 ~ /^(first|second)$/ && $3 ~ /lib.c:1$/ {
        if ($2 != last) printf "%s%s", n ? n "\n" : "", $2 " "; n = $2 == last ? n + 1 : 1; last = $2 }
        END { print n }' >got
    [ "$(wc -l <got)" -eq 6 ]
    [ "$(sed -n '1s/ .*//p;2s/ .*//p' got | paste -sd,)" = first,second ]
    run -0 awk '$2 < 1000 { exit 1 }' got
}

@test "threads that were put side by side before are a warning; those that were not are none" {
    cf-merge -q --interleave --cores 2 "$ROOT"/samples/threads.cf -o side.cf
    cf-resolve -q side.cf -o x.cf 2>err
    grep -q "cf-resolve: threads were put side by side before.*run cf-resolve before cf-merge --interleave" err
    [ "$(grep -c 'side by side' err)" -eq 1 ]
    cf-resolve -q "$ROOT"/samples/threads.cf -o x.cf 2>err
    run ! grep 'side by side' err
    # one thread a process: cpu alone says nothing
    cf-merge -q --interleave --cores 2 "$ROOT"/samples/sort.cf -o side.cf
    cf-resolve -q side.cf -o x.cf 2>err
    run ! grep 'side by side' err
}
