/*
 * perf-map: code that was made at run time, whose unwind information libgcc was given. Its names stand in a file for perf
 * alone, among those of code that lay there before, and of code that is none.
 */
#include "truth.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void __register_frame(void *begin);

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

/* As V8 and others do: what is said of a place later counts. */
static void write_map(const struct made *outer)
{
	unsigned long at = (uintptr_t)outer;
	unsigned long next = (uintptr_t)(outer + 1);
	char path[32];
	FILE *map;

	snprintf(path, sizeof path, "perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return;
	fprintf(map, "%lx 2000 code_that_was_there_before\n", at);
	fprintf(map, "%lx %zx made_outer\n", at, sizeof code);
	fprintf(map, "0x%lx 0x%zx made_inner\n", next, sizeof code);
	fprintf(map, "%lx 10 no_code\n", (unsigned long)(uintptr_t)&sink);
	fprintf(map, "%lx", at);
	fclose(map);
}

FN static void middle(void)
{
	CALLV(run(inner, "made_inner", dies));
	sink++;
}

int main(void)
{
	struct made *outer =
		mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	inner = outer + 1;
	make(outer);
	make(inner);
	write_map(outer);
	CALLV(run(outer, "made_outer", middle));
	return (int)sink;
}
