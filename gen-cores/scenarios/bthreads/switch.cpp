#include "switch.hpp"

#if defined __x86_64__
__asm__(R"(
	.text
	.globl bthread_jump_fcontext
	.type bthread_jump_fcontext, @function
	.balign 16
bthread_jump_fcontext:
	sub $0x38, %rsp
	mov %r12, 0x08(%rsp)
	mov %r13, 0x10(%rsp)
	mov %r14, 0x18(%rsp)
	mov %r15, 0x20(%rsp)
	mov %rbx, 0x28(%rsp)
	mov %rbp, 0x30(%rsp)
	mov %rsp, (%rdi)
	mov %rdx, %rdi
	mov %rsi, %rsp
	mov 0x30(%rsp), %rbp
	mov 0x28(%rsp), %rbx
	mov 0x20(%rsp), %r15
	mov 0x18(%rsp), %r14
	mov 0x10(%rsp), %r13
	mov 0x08(%rsp), %r12
	mov %rdi, %rax
	add $0x38, %rsp
	pop %r8
	jmp *%r8
	.size bthread_jump_fcontext, . - bthread_jump_fcontext

	.globl bthread_make_fcontext
	.type bthread_make_fcontext, @function
	.balign 16
bthread_make_fcontext:
	and $-16, %rdi
	lea 1f(%rip), %rax
	mov %rax, -8(%rdi)
	mov %rdx, -0x10(%rdi)
	lea -0x48(%rdi), %rax
	ret
1:	xor %rdi, %rdi
	call _exit@PLT
	hlt
	.size bthread_make_fcontext, . - bthread_make_fcontext
)");
#elif defined __aarch64__
__asm__(R"(
	.text
	.globl bthread_jump_fcontext
	.type bthread_jump_fcontext, %function
	.balign 4
bthread_jump_fcontext:
	stp d8, d9, [sp, #-0xb0]!
	str x30, [sp, #0xa0]
	stp x29, x30, [sp, #0x90]
	stp x27, x28, [sp, #0x80]
	stp x25, x26, [sp, #0x70]
	stp x23, x24, [sp, #0x60]
	stp x21, x22, [sp, #0x50]
	stp x19, x20, [sp, #0x40]
	stp d14, d15, [sp, #0x30]
	stp d12, d13, [sp, #0x20]
	stp d10, d11, [sp, #0x10]
	mov x9, sp
	str x9, [x0]
	mov x0, x2
	mov sp, x1
	ldp d10, d11, [sp, #0x10]
	ldp d12, d13, [sp, #0x20]
	ldp d14, d15, [sp, #0x30]
	ldp x19, x20, [sp, #0x40]
	ldp x21, x22, [sp, #0x50]
	ldp x23, x24, [sp, #0x60]
	ldp x25, x26, [sp, #0x70]
	ldp x27, x28, [sp, #0x80]
	ldp x29, x30, [sp, #0x90]
	ldr x9, [sp, #0xa0]
	ldp d8, d9, [sp], #0xb0
	ret x9
	.size bthread_jump_fcontext, . - bthread_jump_fcontext

	.globl bthread_make_fcontext
	.type bthread_make_fcontext, %function
	.balign 4
bthread_make_fcontext:
	and x9, x0, #-16
	sub x0, x9, #0xb0
	adr x9, 1f
	stp x9, x2, [x0, #0x98]
	ret
1:	mov x0, #0
	bl _exit
	.size bthread_make_fcontext, . - bthread_make_fcontext
)");
#endif
