/*
 * Calls assembly without unwind information, for ever: a leaf with rbp as a counter, a function that aligns its stack
 * and saves the old stack pointer on it, one with a frame pointer, one with two ways out, and calls among them.
 */
void leaf(long count);
void aligned(long count);
void framed(long count);
void two_ways(long count);
void calls(long count);

__asm__(".text\n"
	"leaf:	push %rbp\n"
	"	push %rbx\n"
	"	mov %rdi, %rbp\n"
	"	lea 64(%rsp), %rbx\n"
	"1:	add $3, %rbx\n"
	"	imul %rbp, %rbx\n"
	"	dec %rbp\n"
	"	jnz 1b\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	"aligned:\n"
	"	push %r12\n"
	"	mov %rsp, %rax\n"
	"	sub $160, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 128(%rsp)\n"
	"	mov %rdi, %r12\n"
	"2:	movaps %xmm0, (%rsp)\n"
	"	paddd %xmm1, %xmm0\n"
	"	dec %r12\n"
	"	jnz 2b\n"
	"	mov 128(%rsp), %rsp\n"
	"	pop %r12\n"
	"	ret\n"
	"framed:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	and $-32, %rsp\n"
	"	sub $96, %rsp\n"
	"3:	mov %rdi, 8(%rsp)\n"
	"	dec %rdi\n"
	"	jnz 3b\n"
	"	leave\n"
	"	ret\n"
	"two_ways:\n"
	"	sub $40, %rsp\n"
	"	test $1, %dil\n"
	"	jz 5f\n"
	"4:	dec %rdi\n"
	"	jnz 4b\n"
	"	add $40, %rsp\n"
	"	ret\n"
	"5:	push %rbx\n"
	"6:	lea (%rbx,%rdi), %rbx\n"
	"	dec %rdi\n"
	"	jnz 6b\n"
	"	pop %rbx\n"
	"	add $40, %rsp\n"
	"	ret\n"
	"calls:\n"
	"	push %rbp\n"
	"	push %r15\n"
	"	push %r14\n"
	"	mov %rdi, %r14\n"
	"	mov $20, %r15d\n"
	"	mov %rsp, %rbp\n"
	"	not %rbp\n"
	"7:	mov %r14, %rdi\n"
	"	call leaf\n"
	"	mov %r14, %rdi\n"
	"	call two_ways\n"
	"	dec %r15d\n"
	"	jnz 7b\n"
	"	pop %r14\n"
	"	pop %r15\n"
	"	pop %rbp\n"
	"	ret\n");

int main(void)
{
	for (long count = 200;; count ^= 1) {
		leaf(count);
		aligned(count);
		framed(count);
		two_ways(count);
		calls(count);
	}
}
