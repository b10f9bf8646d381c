/* COUNT functions of SIZE bytes each, with symbols and unwind information: what a big program is made of. */

	.altmacro
	.macro	function number
	.globl	_ZN9generated4step\number\()E
	.type	_ZN9generated4step\number\()E, @function
_ZN9generated4step\number\()E:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	sub	$32, %rsp
	.cfi_adjust_cfa_offset 32
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	add	$\number, %rax
	add	$32, %rsp
	.cfi_adjust_cfa_offset -32
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.skip	SIZE - 32, 0xcc
	.size	_ZN9generated4step\number\()E, . - _ZN9generated4step\number\()E
	.endm
	.macro	entry number
	.quad	_ZN9generated4step\number\()E
	.endm

	.text
	.set	number, 0
	.rept	COUNT
	function %number
	.set	number, number + 1
	.endr

	.section .data.rel.ro, "aw"
	.globl	generated, generated_count
generated:
	.set	number, 0
	.rept	COUNT
	entry	%number
	.set	number, number + 1
	.endr
generated_count:
	.quad	COUNT
	.section .note.GNU-stack, "", @progbits
