/*
 * fp-registers: dies with known values in the x87 stack and in every vector register. Byte j of vector i is 16 * i + j,
 * modulo 256; mask ki is 0x0101010101010101 * i. The program prints the width of the vectors in bytes.
 */
#include "truth.h"

#include <stdio.h>

#define NUMBERS "0,1,2,3,4,5,6,7"
#define LOW NUMBERS ",8,9,10,11,12,13,14,15"
#define HIGH "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

/* -2.5, pi, 1 and 0, the last on top; then the vectors; then the fault. */
#define X87 "fninit; fldl %[number]; fldpi; fld1; fldz; ldmxcsr %[mxcsr];"
#define FAULT "movq $1, 8(%[field])"
#define OPERANDS                                                                                                       \
	: : [number] "m"(number), [mxcsr] "m"(mxcsr), [vectors] "r"(vectors), [masks] "r"(masks), [field] "r"(field) : "memory"

static unsigned char vectors[32][64];
static unsigned long masks[8];
static const double number = -2.5;
static const unsigned mxcsr = 0x1fa0;

static void fill(void)
{
	for (int i = 0; i < 32; i++)
		for (int j = 0; j < 64; j++)
			vectors[i][j] = (unsigned char)(16 * i + j);
	for (int i = 0; i < 8; i++)
		masks[i] = 0x0101010101010101UL * (unsigned long)i;
}

FN static void die_by_16(long *field)
{
	DIE(__asm__ volatile(X87 ".irp n," LOW "; movdqu \\n*64(%[vectors]), %%xmm\\n; .endr;" FAULT OPERANDS));
}

FN static void die_by_32(long *field)
{
	DIE(__asm__ volatile(X87 ".irp n," LOW "; vmovdqu \\n*64(%[vectors]), %%ymm\\n; .endr;" FAULT OPERANDS));
}

FN static void die_by_64(long *field)
{
	DIE(__asm__ volatile(X87 ".irp n," LOW "," HIGH "; vmovdqu64 \\n*64(%[vectors]), %%zmm\\n; .endr;"
			     ".irp n," NUMBERS "; kmovq \\n*8(%[masks]), %%k\\n; .endr;" FAULT OPERANDS));
}

int main(void)
{
	int width = __builtin_cpu_supports("avx512bw") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;

	fill();
	printf("width %d\n", width);
	fflush(stdout);
	if (width == 64)
		CALLV(die_by_64(truth_launder(0)));
	else if (width == 32)
		CALLV(die_by_32(truth_launder(0)));
	else
		CALLV(die_by_16(truth_launder(0)));
	return 0;
}
