/*
 * registered-frames: code that was made at run time and says so to libgcc, once as exceptions left it (among the objects
 * that were looked through) and once as it was registered. What it leaves on its stack looks like return addresses. GDB
 * was told its names, by a file as LLVM's JIT leaves it: not relocated, but for the addresses of its sections.
 */
#include "truth.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void __register_frame(void *begin);
const void *_Unwind_Find_FDE(void *pc, void *bases);

/*
 * push %rbx; sub $0x400,%rsp; mov %rdi,%rbx; mov %rsi,%rax; mov %rsp,%rdi; mov $0x80,%ecx; rep stosq; call *%rbx;
 * jmp *%rax
 */
static const unsigned char code[] = {
	0x53, 0x48, 0x81, 0xec, 0x00, 0x04, 0x00, 0x00, 0x48, 0x89, 0xfb, 0x48, 0x89, 0xf0, 0x48,
	0x89, 0xe7, 0xb9, 0x80, 0x00, 0x00, 0x00, 0xf3, 0x48, 0xab, 0xff, 0xd3, 0xff, 0xe0,
};
/* Where the call returns to. */
enum { RETURN = 27 };

/* `.eh_frame`: what descriptions have in common, one description, and the end. */
struct section {
	struct {
		uint32_t len, id;
		uint8_t version, augmentation, code_align, data_align, return_address, rules[7];
	} common;
	struct {
		uint32_t len, common;
		uint64_t start, size;
		uint8_t rules[12];
	} __attribute__((packed)) function;
	uint32_t end;
} __attribute__((packed));

struct made {
	unsigned char code[64];
	struct section section;
};

static const struct section section = {
	/* CFA = rsp + 8, the return address below it. */
	.common = {12 + 4, 0, 1, 0, 1, 0x78, 16, {0x0c, 7, 8, 0x90, 1}},
	/* Behind the push CFA = rsp + 16, rbx at CFA - 16; behind the sub CFA = rsp + 0x410. */
	.function = {4 + 8 + 8 + 12, 0, 0, sizeof code, {0x41, 0x0e, 16, 0x83, 2, 0x47, 0x0e, 0x90, 0x08}},
};

/* GDB's manual, JIT Compilation Interface. */
struct jit_code_entry {
	struct jit_code_entry *next, *previous;
	const void *file;
	uint64_t size;
};
struct {
	uint32_t version, action;
	struct jit_code_entry *relevant, *first;
} __jit_debug_descriptor = {1, 0, 0, 0};

FN void __jit_debug_register_code(void)
{
	BARRIER();
}

/* A file for GDB. */
static struct object {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[3];
	char strings[64];
} object = {
	.header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_REL,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shoff = offsetof(struct object, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	},
	.strings = "\0.text\0.symtab\0.strtab\0made_outer\0made_inner",
	.sections = {
		[1] = {.sh_name = 1, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR},
		[2] = {
			.sh_name = 7,
			.sh_type = SHT_SYMTAB,
			.sh_offset = offsetof(struct object, symbols),
			.sh_size = sizeof object.symbols,
			.sh_entsize = sizeof(Elf64_Sym),
			.sh_link = 3,
			.sh_info = 1,
		},
		[3] = {
			.sh_name = 15,
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct object, strings),
			.sh_size = sizeof object.strings,
		},
	},
	.symbols = {
		[1] = {23, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, sizeof code},
		[2] = {34, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, sizeof(struct made), sizeof code},
	},
};
static struct jit_code_entry entry = {0, 0, &object, sizeof object};

static volatile long sink;

static void make(struct made *made)
{
	memcpy(made->code, code, sizeof code);
	made->section = section;
	made->section.function.common = sizeof section.common + 4;
	made->section.function.start = (uintptr_t)made->code;
	__register_frame(&made->section);
}

FN static void dies(void)
{
	const long *null = truth_launder(0);

	DIE(sink = null[1]);
}

FN static void run(struct made *made, const char *name, void (*callee)(void))
{
	void (*call)(void (*)(void), void *) = (void (*)(void (*)(void), void *))(uintptr_t)made->code;

	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_frame((struct truth_frame){
		.function = name, .module = "[jit]", .pc = (unsigned long)made->code + RETURN});
	call(callee, __builtin_return_address(0));
	sink++;
}

static struct made *inner;

FN static void middle(void)
{
	CALLV(run(inner, "made_inner", dies));
	sink++;
}

int main(void)
{
	struct made *outer =
		mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *bases[3];

	inner = outer + 1;
	make(outer);
	if (!_Unwind_Find_FDE(outer->code + 1, bases))
		return 3;
	make(inner);
	object.sections[1].sh_addr = (uintptr_t)outer->code;
	object.sections[1].sh_size = 2 * sizeof *outer;
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = &entry;
	__jit_debug_descriptor.action = 1;
	__jit_debug_register_code();
	CALLV(run(outer, "made_outer", middle));
	return (int)sink;
}
