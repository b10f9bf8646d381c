/* 4 GiB of memory without a hole: every word is used. The program dies. */

#include <stdio.h>
#include <sys/mman.h>

#define SIZE (4ull << 30)

static volatile long sink;

static long __attribute__((noinline)) crash(const long *field)
{
	return field[1];
}

int main(void)
{
	unsigned long long *heap = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long long word = 1;

	if (heap == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (unsigned long long at = 0; at < SIZE / sizeof *heap; at++)
		heap[at] = word = word * 6364136223846793005ull + 1442695040888963407ull;
	sink = crash(0);
	return 0;
}
