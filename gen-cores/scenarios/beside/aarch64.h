/* Switches on aarch64, each as a library of the public has it, none with unwind information. */

__asm__(
	/* byuu's libco; the arguments the other way round. */
	"	.text\n"
	"	.globl switch_bare\n"
	"	.type switch_bare, @function\n"
	"switch_bare:\n"
	"	mov x16, sp\n"
	"	stp x16, x30, [x1]\n"
	"	ldp x16, x30, [x0]\n"
	"	mov sp, x16\n"
	"	stp x19, x20, [x1, 16]\n"
	"	ldp x19, x20, [x0, 16]\n"
	"	stp x21, x22, [x1, 32]\n"
	"	ldp x21, x22, [x0, 32]\n"
	"	stp x23, x24, [x1, 48]\n"
	"	ldp x23, x24, [x0, 48]\n"
	"	stp x25, x26, [x1, 64]\n"
	"	ldp x25, x26, [x0, 64]\n"
	"	stp x27, x28, [x1, 80]\n"
	"	ldp x27, x28, [x0, 80]\n"
	"	str x29, [x1, 96]\n"
	"	ldr x29, [x0, 96]\n"
	"	stp d8, d9, [x1, 112]\n"
	"	ldp d8, d9, [x0, 112]\n"
	"	br x30\n"
	"	.size switch_bare, . - switch_bare\n"
	/* minicoro. */
	"	.globl switch_label\n"
	"	.type switch_label, @function\n"
	"switch_label:\n"
	"	mov x10, sp\n"
	"	mov x11, x30\n"
	"	stp x19, x20, [x0, #(0*16)]\n"
	"	stp x21, x22, [x0, #(1*16)]\n"
	"	stp x23, x24, [x0, #(2*16)]\n"
	"	stp x25, x26, [x0, #(3*16)]\n"
	"	stp x27, x28, [x0, #(4*16)]\n"
	"	stp x29, x30, [x0, #(5*16)]\n"
	"	stp x10, x11, [x0, #(6*16)]\n"
	"	ldp x19, x20, [x1, #(0*16)]\n"
	"	ldp x21, x22, [x1, #(1*16)]\n"
	"	ldp x23, x24, [x1, #(2*16)]\n"
	"	ldp x25, x26, [x1, #(3*16)]\n"
	"	ldp x27, x28, [x1, #(4*16)]\n"
	"	ldp x29, x30, [x1, #(5*16)]\n"
	"	ldp x10, x11, [x1, #(6*16)]\n"
	"	mov sp, x10\n"
	"	br x11\n"
	"	.size switch_label, . - switch_label\n"
	"	.globl begin_label\n"
	"	.type begin_label, @function\n"
	"begin_label:\n"
	"	mov x0, x19\n"
	"	mov x30, x21\n"
	"	br x20\n"
	"	.size begin_label, . - begin_label\n"
	/* Ruby's fibers. */
	"	.globl switch_pushed\n"
	"	.type switch_pushed, @function\n"
	"switch_pushed:\n"
	"	sub sp, sp, 0x60\n"
	"	stp x19, x20, [sp, 0x00]\n"
	"	stp x21, x22, [sp, 0x10]\n"
	"	stp x23, x24, [sp, 0x20]\n"
	"	stp x25, x26, [sp, 0x30]\n"
	"	stp x27, x28, [sp, 0x40]\n"
	"	stp x29, x30, [sp, 0x50]\n"
	"	mov x2, sp\n"
	"	str x2, [x0, 0]\n"
	"	ldr x3, [x1, 0]\n"
	"	mov sp, x3\n"
	"	ldp x19, x20, [sp, 0x00]\n"
	"	ldp x21, x22, [sp, 0x10]\n"
	"	ldp x23, x24, [sp, 0x20]\n"
	"	ldp x25, x26, [sp, 0x30]\n"
	"	ldp x27, x28, [sp, 0x40]\n"
	"	ldp x29, x30, [sp, 0x50]\n"
	"	add sp, sp, 0x60\n"
	"	ret\n"
	"	.size switch_pushed, . - switch_pushed\n");

void switch_label(void *from, void *to);
void switch_pushed(void *from, void *to);
void switch_bare(void *to, void *from);
void begin_label(void);

/* Called through a variable, as byuu's libco has it. */
static void (*volatile bare)(void *to, void *from) = switch_bare;

static void go(int kind, unsigned long *from, unsigned long *to)
{
	switch (kind) {
	case 0:
		bare(to, from);
		break;
	case 1:
		switch_label(from, to);
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
	switch (kind) {
	case 0:
		context[0] = context[12] = (unsigned long)top;
		context[1] = (unsigned long)entry;
		return "body";
	case 1:
		context[1] = (unsigned long)entry;
		context[2] = 0xdeaddeaddeaddead;
		context[12] = (unsigned long)top;
		context[13] = (unsigned long)begin_label;
		return "begin_label";
	default:
		top[-1] = (unsigned long)entry;
		context[0] = (unsigned long)(top - 12);
		return NULL;
	}
}

enum { KINDS = 3 };
