/* general-rbp: assembly keeps the address of a decoy in rbp, and calls what dies. */
#include "truth.h"

/* Calls its first argument with the second, which it keeps in rbp meanwhile. */
long rbp_is_general(long (*call)(const long *), const long *argument);
__asm__(".text\n"
	".globl rbp_is_general\n"
	".type rbp_is_general, @function\n"
	"rbp_is_general:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	sub $24, %rsp\n"
	"	mov %rdi, %rbx\n"
	"	mov %rsi, %rbp\n"
	"1:	mov %rbp, %rdi\n"
	"	call *%rbx\n"
	"	add %rax, %rbp\n"
	"	test %rax, %rax\n"
	"	jne 1b\n"
	"	add $24, %rsp\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size rbp_is_general, . - rbp_is_general\n");

static volatile long sink;

FN static long dies(const long *decoy)
{
	const long *null = truth_launder(0);

	sink = decoy[0];
	DIE(sink = null[1]);
	return 0;
}

/* Two words on the stack as a frame record has them: what lies further out, and where this returns to. */
FN static long run(void)
{
	long decoy[2];
	long result;

	decoy[0] = (long)__builtin_frame_address(0);
	decoy[1] = (long)__builtin_return_address(0);
	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_frame((struct truth_frame){.function = "rbp_is_general", .match = EXACT});
	result = rbp_is_general(dies, truth_launder(decoy));
	truth_pop();
	truth_pop();
	return result + 1;
}

FN static long between(void)
{
	return CALL(run()) + 1;
}

int main(void)
{
	return (int)CALL(between());
}
