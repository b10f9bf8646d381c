/* Switches on x86-64, each as a library of the public has it, none with unwind information. */

__asm__(
	/* Tencent's libco: the stack pointer at the return address, which is saved beside it too. */
	"	.text\n"
	"	.globl switch_whole\n"
	"	.type switch_whole, @function\n"
	"switch_whole:\n"
	"	lea (%rsp), %rax\n"
	"	mov %rax, 104(%rdi)\n"
	"	mov %rbx, 96(%rdi)\n"
	"	mov %rcx, 88(%rdi)\n"
	"	mov %rdx, 80(%rdi)\n"
	"	mov (%rax), %rax\n"
	"	mov %rax, 72(%rdi)\n"
	"	mov %rsi, 64(%rdi)\n"
	"	mov %rdi, 56(%rdi)\n"
	"	mov %rbp, 48(%rdi)\n"
	"	mov %r12, 24(%rdi)\n"
	"	mov %r13, 16(%rdi)\n"
	"	mov %r14, 8(%rdi)\n"
	"	mov %r15, (%rdi)\n"
	"	mov 48(%rsi), %rbp\n"
	"	mov 104(%rsi), %rsp\n"
	"	mov (%rsi), %r15\n"
	"	mov 8(%rsi), %r14\n"
	"	mov 16(%rsi), %r13\n"
	"	mov 24(%rsi), %r12\n"
	"	mov 56(%rsi), %rdi\n"
	"	mov 96(%rsi), %rbx\n"
	"	lea 8(%rsp), %rsp\n"
	"	push 72(%rsi)\n"
	"	mov 64(%rsi), %rsi\n"
	"	ret\n"
	"	.size switch_whole, . - switch_whole\n"
	/* libaco: the stack pointer as it is when the call has returned. */
	"	.globl switch_returned\n"
	"	.type switch_returned, @function\n"
	"switch_returned:\n"
	"	mov (%rsp), %rdx\n"
	"	lea 8(%rsp), %rcx\n"
	"	mov %r12, (%rdi)\n"
	"	mov %r13, 8(%rdi)\n"
	"	mov %r14, 0x10(%rdi)\n"
	"	mov %r15, 0x18(%rdi)\n"
	"	mov %rdx, 0x20(%rdi)\n"
	"	mov %rcx, 0x28(%rdi)\n"
	"	mov %rbx, 0x30(%rdi)\n"
	"	mov %rbp, 0x38(%rdi)\n"
	"	fnstcw 0x40(%rdi)\n"
	"	stmxcsr 0x44(%rdi)\n"
	"	mov (%rsi), %r12\n"
	"	mov 8(%rsi), %r13\n"
	"	mov 0x10(%rsi), %r14\n"
	"	mov 0x18(%rsi), %r15\n"
	"	mov 0x20(%rsi), %rax\n"
	"	mov 0x28(%rsi), %rcx\n"
	"	mov 0x30(%rsi), %rbx\n"
	"	mov 0x38(%rsi), %rbp\n"
	"	mov %rcx, %rsp\n"
	"	jmp *%rax\n"
	"	.size switch_returned, . - switch_returned\n"
	/* minicoro: the address of its own last instruction, which returns. */
	"	.globl switch_label\n"
	"	.type switch_label, @function\n"
	"switch_label:\n"
	"	lea 1f(%rip), %rax\n"
	"	mov %rax, (%rdi)\n"
	"	mov %rsp, 8(%rdi)\n"
	"	mov %rbp, 16(%rdi)\n"
	"	mov %rbx, 24(%rdi)\n"
	"	mov %r12, 32(%rdi)\n"
	"	mov %r13, 40(%rdi)\n"
	"	mov %r14, 48(%rdi)\n"
	"	mov %r15, 56(%rdi)\n"
	"	mov 56(%rsi), %r15\n"
	"	mov 48(%rsi), %r14\n"
	"	mov 40(%rsi), %r13\n"
	"	mov 32(%rsi), %r12\n"
	"	mov 24(%rsi), %rbx\n"
	"	mov 16(%rsi), %rbp\n"
	"	mov 8(%rsi), %rsp\n"
	"	jmp *(%rsi)\n"
	"1:	ret\n"
	"	.size switch_label, . - switch_label\n"
	"	.globl begin_label\n"
	"	.type begin_label, @function\n"
	"begin_label:\n"
	"	mov %r13, %rdi\n"
	"	jmp *%r12\n"
	"	.size begin_label, . - begin_label\n"
	/* byuu's libco: the return address on the stack alone; the arguments the other way round. */
	"	.globl switch_bare\n"
	"	.type switch_bare, @function\n"
	"switch_bare:\n"
	"	mov %rsp, (%rsi)\n"
	"	mov (%rdi), %rsp\n"
	"	pop %rax\n"
	"	mov %rbp, 8(%rsi)\n"
	"	mov %rbx, 16(%rsi)\n"
	"	mov %r12, 24(%rsi)\n"
	"	mov %r13, 32(%rsi)\n"
	"	mov %r14, 40(%rsi)\n"
	"	mov %r15, 48(%rsi)\n"
	"	mov 8(%rdi), %rbp\n"
	"	mov 16(%rdi), %rbx\n"
	"	mov 24(%rdi), %r12\n"
	"	mov 32(%rdi), %r13\n"
	"	mov 40(%rdi), %r14\n"
	"	mov 48(%rdi), %r15\n"
	"	jmp *%rax\n"
	"	.size switch_bare, . - switch_bare\n"
	/* Ruby's fibers: registers on the stack, and beside it the stack pointer alone. */
	"	.globl switch_pushed\n"
	"	.type switch_pushed, @function\n"
	"switch_pushed:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	mov %rsi, %rax\n"
	"	ret\n"
	"	.size switch_pushed, . - switch_pushed\n"
	"	.globl nobody_returns\n"
	"	.type nobody_returns, @function\n"
	"nobody_returns:\n"
	"	ud2\n"
	"	.size nobody_returns, . - nobody_returns\n");

void switch_whole(void *from, void *to);
void switch_returned(void *from, void *to);
void switch_label(void *from, void *to);
void switch_pushed(void *from, void *to);
void switch_bare(void *to, void *from);
void begin_label(void);
void nobody_returns(void);

/* Called through a variable, as byuu's libco has it. */
static void (*volatile bare)(void *to, void *from) = switch_bare;

static void go(int kind, unsigned long *from, unsigned long *to)
{
	switch (kind) {
	case 0:
		switch_whole(from, to);
		break;
	case 1:
		switch_returned(from, to);
		break;
	case 2:
		switch_label(from, to);
		break;
	case 3:
		bare(to, from);
		break;
	default:
		switch_pushed(from, to);
	}
	BARRIER();
}

/* Prepares a stack. Gives the function that it begins with, if that lies beside: such a coroutine can be found. */
static const char *make(int kind, unsigned long *context, unsigned long *top, void (*entry)(void))
{
	memset(context, 0, CONTEXT_SIZE);
	top -= 4;
	switch (kind) {
	case 0:
		top[0] = context[9] = (unsigned long)entry;
		context[13] = (unsigned long)top;
		return "body";
	case 1:
		top[-1] = (unsigned long)nobody_returns;
		context[4] = (unsigned long)entry;
		context[5] = (unsigned long)(top - 1);
		return "body";
	case 2:
		top[-1] = 0xdeaddeaddeaddead;
		context[0] = (unsigned long)begin_label;
		context[1] = (unsigned long)(top - 1);
		context[4] = (unsigned long)entry;
		return "begin_label";
	case 3:
		top[-1] = (unsigned long)nobody_returns;
		top[-2] = (unsigned long)entry;
		context[0] = (unsigned long)(top - 2);
		return NULL;
	default:
		top[-1] = 0;
		top[-2] = (unsigned long)entry;
		context[0] = (unsigned long)(top - 8);
		return NULL;
	}
}

enum { KINDS = 5 };
