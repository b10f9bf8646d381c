/*
 * altstack: SIGSEGV is handled on an alternate stack by a function that aborts. The fault: a read in a leaf, a call
 * through NULL (-DNULL_CALL), or the first instruction of a function (-DFIRST_INSTRUCTION).
 */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <stdlib.h>

typedef int (*reader)(const int *);

static char stack[64 * 1024];

FN static void dump_state(int signal)
{
	DIE_IN("libc", abort());
	(void)signal;
}

FN static void on_fault(int signal)
{
	truth_gap("signal");
	CALLV(dump_state(signal));
}

#if defined FIRST_INSTRUCTION
/* before_first ends where first begins, without padding; its last CFA is not that of first. */
#ifdef __aarch64__
#define BEFORE_FIRST                                                                                                   \
	"stp x29, x30, [sp, #-32]!\n.cfi_adjust_cfa_offset 32\n.cfi_offset 29, -32\n.cfi_offset 30, -24\n"             \
	"ldp x29, x30, [sp], #32\n.cfi_adjust_cfa_offset -32\n.cfi_restore 29\n.cfi_restore 30\n"                      \
	"sub sp, sp, #80\n.cfi_adjust_cfa_offset 80\n"                                                                 \
	"brk #1\n"
#define FIRST "ldr w0, [x0]\n"
#else
#define BEFORE_FIRST                                                                                                   \
	"push %rbx\n.cfi_adjust_cfa_offset 8\n"                                                                        \
	"pop %rbx\n.cfi_adjust_cfa_offset -8\n"                                                                        \
	"sub $72, %rsp\n.cfi_adjust_cfa_offset 72\n"                                                                   \
	"ud2\n"
#define FIRST "mov (%rdi), %eax\n"
#endif
int first(const int *);
__asm__(".text\n"
	".type before_first, @function\n"
	"before_first:\n"
	".cfi_startproc\n"
	BEFORE_FIRST
	".cfi_endproc\n"
	".size before_first, .-before_first\n"
	".globl first\n"
	".type first, @function\n"
	"first:\n"
	".cfi_startproc\n"
	FIRST
	"ret\n"
	".cfi_endproc\n"
	".size first, .-first\n");
#elif !defined NULL_CALL
/* On one line: compilers may say that the load belongs to the closing brace. */
LINE_OF(first, 1);
FN static int first(const int *field) { return *field; }
#endif

FN static int fetch(const int *field)
{
	int value;
#ifdef NULL_CALL
	reader read = (reader)truth_launder(0);

	truth_push(__func__, __FILE__, __LINE__ + 10);
	truth_pc(0);
#else
	reader read = (reader)truth_launder((void *)first);
#ifdef FIRST_INSTRUCTION
	enum { first_line = 0 };
#endif
	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_note("first", first_line);
#endif
	value = read(field);
	return value + 1;
}

FN static int convert(const int *field)
{
	return CALL(fetch(field)) * 2;
}

int main(void)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, 0);
	sigaction(SIGSEGV, &action, 0);
	return CALL(convert(truth_launder((void *)8)));
}
