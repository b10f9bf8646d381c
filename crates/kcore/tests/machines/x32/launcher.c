/* Runs a program of x32 in a process of x86-64, whose processor mode is the same, and writes the core that a kernel with
   x32 would write of its death: `launcher PROGRAM CORE`. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, STACK = 0x10000 };

static const char *core_path;
static Elf32_Ehdr header;
static Elf32_Phdr loads[16];
static unsigned count;
static uint32_t stack;

/* `struct elf_prstatus` of x32 (Linux include/linux/elfcore-compat.h, arch/x86/include/asm/elf.h). */
struct status {
    int32_t signal, code, error;
    int16_t current, pad;
    uint32_t pending, held;
    int32_t pid, parent, group, session;
    uint32_t times[8];
    uint64_t registers[27];
    int32_t has_fp, end;
};

struct note {
    Elf32_Nhdr head;
    char owner[8];
};

static void put(int to, const void *bytes, size_t len) {
    if (write(to, bytes, len) != (ssize_t)len)
        _exit(3);
}

static void put_note(int to, uint32_t type, const void *bytes, size_t len) {
    struct note note = {{5, len, type}, "CORE"};
    put(to, &note, sizeof note);
    put(to, bytes, len);
}

static void die(int number, siginfo_t *info, void *context) {
    const greg_t *saved = ((ucontext_t *)context)->uc_mcontext.gregs;
    static const int order[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_RBP, REG_RBX, REG_R11, REG_R10, REG_R9,
                                REG_R8, REG_RAX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, -1, REG_RIP, -1, REG_EFL,
                                REG_RSP};
    struct status status = {.signal = number, .current = number, .pid = getpid()};
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        status.registers[i] = order[i] < 0 ? 0 : (uint64_t)saved[order[i]];
    status.registers[15] = UINT64_MAX; /* in no system call */
    status.registers[17] = 0x33;
    uint32_t signal[32] = {number, 0, info->si_code, (uint32_t)(uintptr_t)info->si_addr};
    uint32_t auxiliary[] = {AT_PHDR, loads[0].p_vaddr + header.e_phoff, AT_PHENT, sizeof(Elf32_Phdr), AT_PHNUM,
                            header.e_phnum, AT_ENTRY, header.e_entry, AT_PAGESZ, PAGE, AT_NULL, 0};
    size_t notes = 3 * sizeof(struct note) + sizeof status + sizeof signal + sizeof auxiliary;

    int to = open(core_path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    Elf32_Ehdr head = header;
    head.e_type = ET_CORE;
    head.e_entry = head.e_shoff = head.e_shnum = head.e_shstrndx = 0;
    head.e_phoff = sizeof head;
    head.e_phnum = count + 2;
    put(to, &head, sizeof head);
    uint32_t at = sizeof head + (count + 2) * sizeof(Elf32_Phdr);
    Elf32_Phdr segment = {PT_NOTE, at, 0, 0, notes, 0, 0, 4};
    put(to, &segment, sizeof segment);
    at += notes;
    for (unsigned i = 0; i <= count; i++) {
        Elf32_Phdr mapped = {PT_LOAD, at, stack, 0, STACK, STACK, PF_R | PF_W, 1};
        if (i < count) {
            mapped = loads[i];
            uint32_t before = mapped.p_vaddr % PAGE;
            mapped.p_vaddr -= before;
            mapped.p_memsz = mapped.p_filesz = (mapped.p_memsz + before + PAGE - 1) / PAGE * PAGE;
            mapped.p_offset = at;
        }
        at += mapped.p_filesz;
        put(to, &mapped, sizeof mapped);
    }
    put_note(to, NT_PRSTATUS, &status, sizeof status);
    put_note(to, NT_SIGINFO, signal, sizeof signal);
    put_note(to, NT_AUXV, auxiliary, sizeof auxiliary);
    for (unsigned i = 0; i < count; i++) {
        uint32_t before = loads[i].p_vaddr % PAGE;
        size_t len = (loads[i].p_memsz + before + PAGE - 1) / PAGE * PAGE;
        put(to, (void *)(uintptr_t)(loads[i].p_vaddr - before), len);
    }
    put(to, (void *)(uintptr_t)stack, STACK);
    _exit(0);
}

static void load(int from, const Elf32_Phdr *segment) {
    uint32_t before = segment->p_vaddr % PAGE;
    void *at = (void *)(uintptr_t)(segment->p_vaddr - before);
    int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(at, segment->p_memsz + before, all, flags, -1, 0) != at)
        exit(4);
    if (pread(from, at, segment->p_filesz + before, segment->p_offset - before) < 0)
        exit(5);
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    core_path = argv[2];
    int from = open(argv[1], O_RDONLY);
    if (pread(from, &header, sizeof header, 0) != sizeof header)
        return 2;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf32_Phdr segment;
        pread(from, &segment, sizeof segment, header.e_phoff + i * sizeof segment);
        if (segment.p_type != PT_LOAD)
            continue;
        load(from, &segment);
        loads[count++] = segment;
    }
    void *low = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    stack = (uint32_t)(uintptr_t)low;
    stack_t other = {.ss_sp = malloc(STACK), .ss_size = STACK};
    sigaltstack(&other, 0);
    struct sigaction action = {.sa_sigaction = die, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    /* As the kernel starts a program: nothing is above the stack pointer but its arguments, of which there are none. */
    uint64_t top = (uint64_t)stack + STACK - 64;
    __asm__ volatile("mov %0, %%rsp; xor %%ebp, %%ebp; jmp *%1" : : "r"(top), "r"((uint64_t)header.e_entry) : "memory");
    __builtin_unreachable();
}
