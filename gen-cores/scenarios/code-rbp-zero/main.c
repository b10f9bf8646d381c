/* code-rbp-zero: code that was made at run time sets rbp to 0, and calls what dies. */
#include "truth.h"

#include <string.h>
#include <sys/mman.h>

/* push %rbp; push %rbx; push %rcx; xor %ebp,%ebp; call *%rdi; pop %rcx; pop %rbx; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x53, 0x51, 0x31, 0xed, 0xff, 0xd7, 0x59, 0x5b, 0x5d, 0xc3};
/* Where the call returns to. */
enum { RETURN = 7 };

static volatile long sink;

FN static void dies(void)
{
	const long *null = truth_launder(0);

	DIE(sink = null[1]);
}

FN static long run(unsigned char *made)
{
	void (*call)(void (*)(void)) = (void (*)(void (*)(void)))made;

	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_pc((unsigned long)made + RETURN);
	call(dies);
	truth_pop();
	truth_pop();
	return 1;
}

int main(void)
{
	unsigned char *made =
		mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(made, code, sizeof code);
	return (int)CALL(run(made));
}
