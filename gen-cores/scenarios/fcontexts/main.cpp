// Coroutines whose switches leave contexts as Boost.Context does: on x86-64 as since 1.81, with a word for the stack
// protector. Each tells in values.jsonl by which functions it comes to where it is left; some have not run, one has
// ended, and the process aborts in the midst of one.

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#include "../bthreads/switch.hpp"
#include "down.h"

#ifdef __x86_64__
// As `jump_fcontext` has it: mxcsr and the x87 control word, the protector's word, r12 to r15, rbx, rbp, the pc.
extern "C" void *protected_jump(void **from, void *to);
extern "C" void protected_begin();
__asm__(R"(
	.text
	.globl protected_jump
	.type protected_jump, @function
protected_jump:
	sub $0x40, %rsp
	stmxcsr (%rsp)
	fnstcw 4(%rsp)
	mov %fs:0x28, %rcx
	mov %rcx, 8(%rsp)
	mov %r12, 0x10(%rsp)
	mov %r13, 0x18(%rsp)
	mov %r14, 0x20(%rsp)
	mov %r15, 0x28(%rsp)
	mov %rbx, 0x30(%rsp)
	mov %rbp, 0x38(%rsp)
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	ldmxcsr (%rsp)
	fldcw 4(%rsp)
	mov 0x10(%rsp), %r12
	mov 0x18(%rsp), %r13
	mov 0x20(%rsp), %r14
	mov 0x28(%rsp), %r15
	mov 0x30(%rsp), %rbx
	mov 0x38(%rsp), %rbp
	add $0x40, %rsp
	pop %r8
	jmp *%r8
	.size protected_jump, . - protected_jump

	.globl protected_begin
	.type protected_begin, @function
protected_begin:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	push %rbp
	jmp *%rbx
	.cfi_endproc
	ud2
protected_end:
	endbr64
	xor %rdi, %rdi
	call _exit@PLT
	hlt
	.size protected_begin, . - protected_begin
	.globl protected_end
)");
extern "C" void protected_end();

static void jump(void **from, void *to)
{
	protected_jump(from, to);
	BARRIER();
}

static void *new_context(char *top, size_t, void (*entry)(intptr_t))
{
	unsigned long *context = (unsigned long *)top - 9;
	context[0] = 0x37f00001f80;
	context[6] = (unsigned long)entry;
	context[7] = (unsigned long)protected_end;
	context[8] = (unsigned long)protected_begin;
	return context;
}
#else
static void jump(void **from, void *to)
{
	bthread_jump_fcontext(from, to, 0, true);
	BARRIER();
}

static void *new_context(char *top, size_t size, void (*entry)(intptr_t))
{
	return bthread_make_fcontext(top, size, entry);
}
#endif

enum { COUNT = 24, STACK = 64 << 10 };

static FILE *out;
static void *of_main, *contexts[COUNT + 2];
static int current;

static void tell(const char *state, const char *function, int depth)
{
	fprintf(out, "{\"state\":\"%s\",\"function\":\"%s\",\"depth\":%d}\n", state, function, depth);
}

static char *new_stack()
{
	return (char *)mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

DOWN(leaves, jump(&contexts[current], of_main))
DOWN(dies, fclose(out); DIE_IN("libc", abort()))

FN static void body(intptr_t)
{
	int number = current;
	if (number == COUNT)
		dies(2);
	if (number % 4 != 3) {
		tell("found", "leaves", number % 5);
		leaves(number % 5);
	}
	void *nowhere;
	contexts[number] = nullptr;
	jump(&nowhere, of_main);
}

#ifdef __x86_64__
// As Boost.Context's own first function does, which waits so for the stack to be entered.
FN static void leaves_at_once(intptr_t)
{
	protected_jump(&contexts[current], of_main);
	BARRIER();
}
#endif

int main()
{
	truth_thread("main");
	out = fopen("values.jsonl", "w");
#ifdef __x86_64__
	current = COUNT + 1;
	contexts[current] = new_context(new_stack() + STACK, STACK, leaves_at_once);
	tell("found", "leaves_at_once", 0);
	jump(&of_main, contexts[current]);
#endif
	for (current = 0; current <= COUNT; current++) {
		char *stack = new_stack();
		contexts[current] = new_context(stack + STACK, STACK, body);
		if (current % 6 == 5)
			tell("created", "body", 0);
		else
			jump(&of_main, contexts[current]);
	}
	return 0;
}
