/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that run another one in their place: what that is, whether it can be recorded, and what
 * it is given.
 */
#include "tool.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_machine.h"

/* Functions and variables of Valgrind's core that its tool headers do not declare. */
extern Int VG_(cl_exec_fd);
extern Int VG_(check_executable)(Bool *is_setuid, const HChar *path, Bool allow_setuid);
extern Int VG_(fcntl)(Int fd, Int command, Addr argument);
extern Int VG_(access)(const HChar *path, Bool read, Bool write, Bool execute);
extern HChar **VG_(client_envp);
extern struct {
    Int fd; /* and more */
} VG_(log_output_sink);

#if defined(VGA_amd64)
enum { MACHINE = 62 };
#elif defined(VGA_arm64)
enum { MACHINE = 183 };
#endif

enum {
    DEPTH = 5,   /* scripts that name each other as interpreter */
    HEAD = 1024, /* bytes of a file that say what it is, and which linker it wants */
};

/* /proc/self/exe is Valgrind, and what the program means by it is itself. Valgrind's own handling
 * of execve() (build.mk has this take its place) sees to that in other calls, not here. */

struct arguments {
    Word number;
    UWord of[8];
};
struct status {
    enum { COMPLETE = 1 } what;
    SysRes result;
};
extern SysRes VG_(mk_SysRes_Error)(UWord error);
extern Bool VG_(resolve_filename)(Int fd, const HChar **path);
void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId tid, void *layout,
                                                struct arguments *arguments, struct status *status,
                                                UWord *flags);
void __real_vgSysWrap_generic_sys_execve_before(ThreadId tid, void *layout,
                                                struct arguments *arguments, struct status *status,
                                                UWord *flags);
void __wrap_vgSysWrap_linux_sys_execveat_before(ThreadId tid, void *layout,
                                                struct arguments *arguments, struct status *status,
                                                UWord *flags);
void __real_vgSysWrap_linux_sys_execveat_before(ThreadId tid, void *layout,
                                                struct arguments *arguments, struct status *status,
                                                UWord *flags);

/* A call that Valgrind has begun ends the process where the kernel then refuses it, or Valgrind
 * finds no interpreter: what is so is found before, and the call fails. */

/* Copies what the program calls the file; False where there is no such text. */
static Bool name_of(Addr name, HChar *path)
{
    SizeT i;

    for (i = 0; i < VKI_PATH_MAX; i++) {
        if (!VG_(am_is_valid_for_client)(name + i, 1, VKI_PROT_READ))
            return False;
        path[i] = ((const HChar *)name)[i];
        if (!path[i])
            return True;
    }
    return False;
}

static Bool is_own_executable(const HChar *path)
{
    HChar numbered[40];

    VG_(sprintf)(numbered, "/proc/%d/exe", VG_(getpid)());
    return VG_(strcmp)(path, "/proc/self/exe") == 0 ||
           VG_(strcmp)(path, "/proc/thread-self/exe") == 0 || VG_(strcmp)(path, numbered) == 0;
}

/* Valgrind opens what it is to run, and would wait for the other end of a FIFO. */
static Bool is_no_file(const HChar *path)
{
    struct vg_stat st;

    return !sr_isError(VG_(stat)(path, &st)) && !VKI_S_ISREG(st.mode);
}

/* The program that a script names, in place of the script's own name; False where it is none. */
static Bool take_interpreter(const HChar *text, HChar *path)
{
    UInt at = 2, n = 0;

    if (text[0] != '#' || text[1] != '!')
        return False;
    while (text[at] == ' ' || text[at] == '\t')
        at++;
    while (text[at] && text[at] != ' ' && text[at] != '\t' && text[at] != '\n')
        path[n++] = text[at++];
    path[n] = 0;
    return n > 0;
}

/* The first bytes of a file: how many, with a zero behind them, or -1. */
static Int read_head(const HChar *path, HChar head[HEAD])
{
    const SysRes file = VG_(open)(path, VKI_O_RDONLY, 0);
    Int n;

    if (sr_isError(file))
        return -1;
    n = VG_(read)(sr_Res(file), head, HEAD - 1);
    VG_(close)(sr_Res(file));
    head[n > 0 ? n : 0] = 0;
    return n;
}

static Bool is_program(const HChar *head, Int n)
{
    enum { HEADER = 64 };

    return n >= HEADER && VG_(memcmp)(head, "\177ELF", 4) == 0;
}

/* As the kernel (load_elf_phdrs() of fs/binfmt_elf.c): of a kind that runs, and with all of its
 * headers. */
static Bool has_headers(const HChar *head, const HChar *path)
{
    enum { TYPE = 16, EXEC = 2, DYN = 3, HEADERS = 32, ENTRY = 54, COUNT = 56, BYTES = 56 };
    const UShort type = *(const UShort *)(head + TYPE), n = *(const UShort *)(head + COUNT);
    const ULong first = *(const ULong *)(head + HEADERS);
    struct vg_stat st;

    return (type == EXEC || type == DYN) && n > 0 && n * BYTES <= VKI_PAGE_SIZE &&
           *(const UShort *)(head + ENTRY) == BYTES && !sr_isError(VG_(stat)(path, &st)) &&
           first <= (ULong)st.size && n * BYTES <= (ULong)st.size - first;
}

static Bool is_of_this_machine(const HChar *head)
{
    enum { CLASS = 4, CLASS_64 = 2, AT_MACHINE = 18 };

    return head[CLASS] == CLASS_64 && *(const UShort *)(head + AT_MACHINE) == MACHINE;
}

/* The dynamic linker that a program of this machine names, in place of its own name. */
static Bool take_linker(const HChar *head, Int n, HChar *path)
{
    enum { HEADERS = 32, ENTRY = 56, COUNT = 56, OFFSET = 8, BYTES = 32, INTERPRETER = 3 };
    const ULong first = *(const ULong *)(head + HEADERS);

    for (UInt i = 0; i < *(const UShort *)(head + COUNT); i++) {
        const HChar *h = head + first + (ULong)i * ENTRY;

        if (first > HEAD || h + ENTRY > head + n)
            break;
        if (*(const UInt *)h == INTERPRETER && *(const ULong *)(h + OFFSET) < (ULong)n &&
            *(const ULong *)(h + BYTES) < (ULong)n - *(const ULong *)(h + OFFSET)) {
            VG_(strcpy)(path, head + *(const ULong *)(h + OFFSET));
            return True;
        }
    }
    return False;
}

/* Why no file can be executed by that name, for what the program or the scripts that name each
 * other as interpreter need; 0 where that is not known. */
static Int cannot(const HChar *name)
{
    HChar path[VKI_PATH_MAX], head[HEAD];

    VG_(strcpy)(path, name);
    for (UInt depth = 0; depth <= DEPTH; depth++) {
        const Int error = depth ? VG_(check_executable)(NULL, path, True) : 0,
                  n = error ? -1 : read_head(path, head);

        if (n < 0)
            return error;
        if (is_program(head, n) && !is_of_this_machine(head))
            return 0;
        if (is_program(head, n) && !has_headers(head, path))
            return VKI_ENOEXEC;
        if (is_program(head, n))
            return take_linker(head, n, path) ? VG_(check_executable)(NULL, path, True) : 0;
        if (!take_interpreter(head, path))
            return depth ? VKI_ENOEXEC : 0; /* Valgrind would give it to a shell */
    }
    return VKI_ELOOP;
}

/* Bytes of a text of the program with its end, at most `most`. */
static SizeT bytes_of(Addr text, SizeT most)
{
    SizeT n = 0;

    while (n < most && ((n && (text + n) % VKI_PAGE_SIZE) ||
                        VG_(am_is_valid_for_client)(text + n, 1, VKI_PROT_READ)))
        if (!((const HChar *)text)[n++])
            break;
    return n;
}

/* What the kernel takes of arguments and environment (fs/exec.c), and Valgrind adds its own. */
static Bool are_too_long(const UWord lists[2])
{
    enum { OWN = 16 << 10, STRING = 128 << 10, LEAST = 128 << 10, MOST = 6 << 20 };
    struct vki_rlimit stack = {0, 0};
    SizeT bytes = OWN, most;

    VG_(getrlimit)(VKI_RLIMIT_STACK, &stack);
    most = stack.rlim_cur / 4 < LEAST  ? LEAST
           : stack.rlim_cur / 4 < MOST ? stack.rlim_cur / 4
                                       : MOST;
    for (UInt i = 0; i < 2; i++)
        for (const Addr *p = (const Addr *)lists[i];
             p && VG_(am_is_valid_for_client)((Addr)p, sizeof *p, VKI_PROT_READ) && *p; p++) {
            const SizeT n = bytes_of(*p, STRING + 1);

            bytes += n + sizeof *p;
            if (n > STRING || bytes > most)
                return True;
        }
    return False;
}

static void fail(struct status *status, Int error)
{
    status->what = COMPLETE;
    status->result = VG_(mk_SysRes_Error)(error);
}

/* Runs the file, or has the call fail; `named`: the call names it by that name itself. */
static void execute(ThreadId tid, void *layout, struct arguments *call, struct status *status,
                    UWord *flags, HChar path[VKI_PATH_MAX], Bool named)
{
    enum { RED_ZONE = 128, NAME_LENGTH = 255, TOO_LONG = 36 /* ENAMETOOLONG */ };
    /* The name must be in the program's memory: below its stack there is nothing of its own. */
    const Addr place = VG_(get_SP)(tid) - RED_ZONE - VKI_PATH_MAX;
    HChar link[40];
    SSizeT length;
    Int error = are_too_long(call->of + 1) ? VKI_E2BIG : 0;

    if (!error && path[0] && !VG_(strchr)(path, '/')) { /* Valgrind would look for it in PATH */
        length = VG_(strlen)(path);
        if (length > NAME_LENGTH)
            error = TOO_LONG;
        else
            VG_(memmove)(path + 2, path, length + 1);
        path[0] = '.', path[1] = '/';
        named = False;
    }
    if (!error && is_own_executable(path)) {
        VG_(sprintf)(link, "/proc/self/fd/%d", VG_(cl_exec_fd));
        length = VG_(readlink)(link, path, VKI_PATH_MAX - 1);
        path[length > 0 ? length : 0] = 0;
        named = False;
    } else if (!error) {
        error = is_no_file(path) ? VKI_EACCES : cannot(path);
    }
    if (!error && !named) {
        if (VG_(am_is_valid_for_client)(place, VKI_PATH_MAX, VKI_PROT_WRITE))
            VG_(strcpy)((HChar *)place, path);
        else
            error = VKI_ENOMEM;
        call->of[0] = place;
    }
    if (error)
        fail(status, error);
    else
        __real_vgSysWrap_generic_sys_execve_before(tid, layout, call, status, flags);
}

void __wrap_vgSysWrap_generic_sys_execve_before(ThreadId tid, void *layout,
                                                struct arguments *arguments, struct status *status,
                                                UWord *flags)
{
    struct arguments call = *arguments; /* a call that failed has those that it came with */
    HChar path[VKI_PATH_MAX];

    if (name_of(call.of[0], path))
        execute(tid, layout, &call, status, flags, path, True);
    else
        __real_vgSysWrap_generic_sys_execve_before(tid, layout, arguments, status, flags);
}

enum { NOFOLLOW = 0x100 }; /* AT_SYMLINK_NOFOLLOW, which Valgrind's headers lack */

/* A name as that of execve(), of one at a directory or of an open file; False: left to Valgrind. */
static Bool resolve_at(Int at, UInt flags, HChar path[VKI_PATH_MAX])
{
    HChar name[VKI_PATH_MAX];
    const HChar *directory;

    if (flags & ~(UInt)(VKI_AT_EMPTY_PATH | NOFOLLOW) || !(path[0] || flags & VKI_AT_EMPTY_PATH))
        return False;
    if (path[0] == '/' || (path[0] && at == VKI_AT_FDCWD))
        return True;
    if (!VG_(resolve_filename)(at, &directory) ||
        VG_(strlen)(directory) + 1 + VG_(strlen)(path) >= VKI_PATH_MAX)
        return False;
    VG_(strcpy)(name, path);
    VG_(sprintf)(path, "%s%s%s", directory, name[0] ? "/" : "", name);
    return True;
}

void __wrap_vgSysWrap_linux_sys_execveat_before(ThreadId tid, void *layout,
                                                struct arguments *arguments, struct status *status,
                                                UWord *flags)
{
    struct arguments call = {arguments->number,
                             {arguments->of[1], arguments->of[2], arguments->of[3]}};
    HChar path[VKI_PATH_MAX], link[1];

    if (!name_of(arguments->of[1], path) || !resolve_at(arguments->of[0], arguments->of[4], path))
        __real_vgSysWrap_linux_sys_execveat_before(tid, layout, arguments, status, flags);
    else if (arguments->of[4] & NOFOLLOW && VG_(readlink)(path, link, sizeof link) >= 0)
        fail(status, VKI_ELOOP);
    else
        execute(tid, layout, &call, status, flags, path, False);
}

/* By the program's own file and the interpreters that it names. What is no program is no matter of
 * ours: Valgrind lets the call fail. */
static UInt kind_of(const HChar *name)
{
    HChar path[VKI_PATH_MAX], head[HEAD];
    UInt depth;

    VG_(strncpy)(path, name, sizeof path - 1);
    path[sizeof path - 1] = 0;
    for (depth = 0; depth < DEPTH; depth++) {
        Bool privileged = False;
        Int n;

        VG_(check_executable)(&privileged, path, False);
        if (privileged)
            return CF_WIRE_EXEC_PRIVILEGED;
        n = read_head(path, head);
        if (n > 0 && is_program(head, n))
            return is_of_this_machine(head) ? CF_WIRE_EXEC_RECORDED : CF_WIRE_EXEC_FOREIGN;
        if (n < 0 || !take_interpreter(head, path))
            break;
    }
    return CF_WIRE_EXEC_RECORDED;
}

/* Takes the place of the core's decision (build.mk): what it would let Valgrind refuse runs as it
 * does by itself. */
Bool __wrap_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **argv);
Bool __wrap_vgPlain_should_we_trace_this_child(const HChar *path, const HChar **argv)
{
    UInt how;

    (void)argv;
    if (!path)
        return False;
    how = cf_tool_options.follow ? kind_of(path) : CF_WIRE_EXEC_ALONE;
    cf_transport_exec(how, VG_(basename)(path));
    return how == CF_WIRE_EXEC_RECORDED;
}

/* What the next image is given: files that stay open, and the options that name them. */

static HChar **option(const HChar *name)
{
    Word i;

    for (i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
        HChar **arg = VG_(indexXA)(VG_(args_for_valgrind), i);

        if (VG_(strncmp)(*arg, name, VG_(strlen)(name)) == 0)
            return arg;
    }
    return NULL;
}

void cf_exec_pass(Bool recorded, Int fd, const HChar *name, HChar *whole)
{
    HChar **arg = option(name);

    if (arg)
        *arg = whole;
    VG_(fcntl)(fd, VKI_F_SETFD, recorded ? 0 : VKI_FD_CLOEXEC);
}

/* A log that Valgrind has the name of it opens at the program's lowest free number, and leaves it
 * there. One that is open it copies to where its own files are. */
static const HChar log_option[] = "--log-fd=";

void cf_exec_log(void)
{
    HChar **arg = option(log_option);

    if (arg)
        VG_(close)(VG_(strtoll10)(*arg + VG_(strlen)(log_option), NULL));
}

void cf_exec_pass_log(Bool recorded)
{
    static HChar whole[32];
    const Int fd = VG_(log_output_sink).fd;

    VG_(sprintf)(whole, "%s%d", log_option, fd);
    if (fd > 2) /* else Valgrind could not copy it */
        cf_exec_pass(recorded, fd, log_option, whole);
}

/* Valgrind writes what the program finds in /proc/self/cmdline to a file in TMPDIR, and would end a
 * program that may have a TMPDIR in which there is nothing to write: there it has another one. */
SizeT __real_vgPlain_mkstemp_fullname_bufsz(SizeT part);
SizeT __wrap_vgPlain_mkstemp_fullname_bufsz(SizeT part);
Int __real_vgPlain_mkstemp(const HChar *part, HChar *name);
Int __wrap_vgPlain_mkstemp(const HChar *part, HChar *name);

static Bool is_writable(const HChar *directory)
{
    struct vg_stat st;

    return !sr_isError(VG_(stat)(directory, &st)) && VKI_S_ISDIR(st.mode) &&
           VG_(access)(directory, False, True, True) == 0;
}

static HChar in_tmp[] = "TMPDIR=/tmp", in_memory[] = "TMPDIR=/dev/shm";

SizeT __wrap_vgPlain_mkstemp_fullname_bufsz(SizeT part)
{
    return __real_vgPlain_mkstemp_fullname_bufsz(part) + sizeof in_memory;
}

Int __wrap_vgPlain_mkstemp(const HChar *part, HChar *name)
{
    enum { NAME = sizeof "TMPDIR=" - 1 };
    HChar **variable = VG_(client_envp), *own;
    Int fd;

    while (*variable && VG_(strncmp)(*variable, in_tmp, NAME) != 0)
        variable++;
    own = *variable;
    if (own && !is_writable(VG_(tmpdir)()))
        *variable = is_writable(in_tmp + NAME) ? in_tmp : in_memory;
    fd = __real_vgPlain_mkstemp(part, name);
    *variable = own;
    return fd;
}
