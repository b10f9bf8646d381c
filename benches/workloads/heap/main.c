/* 51 threads beside 4 GiB of memory of which one page in 1,024 is used; the main thread dies. */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (4ull << 30)
#define STEP (4ull << 20)

static volatile long sink;

static void __attribute__((noinline)) wait_for_work(int depth)
{
	if (depth > 0)
		wait_for_work(depth - 1);
	else
		for (;;)
			pause();
	__asm__ volatile("" ::: "memory");
}

static void *work(void *number)
{
	wait_for_work((int)(long)number % 20);
	return 0;
}

static long __attribute__((noinline)) crash(const long *field)
{
	return field[1];
}

int main(void)
{
	char *heap = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_t thread;

	if (heap == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (unsigned long long at = 0; at < SIZE; at += STEP)
		heap[at] = 1;
	for (long number = 0; number < 50; number++)
		if (pthread_create(&thread, 0, work, (void *)number))
			return 1;
	usleep(200000);
	sink = crash(0);
	return 0;
}
