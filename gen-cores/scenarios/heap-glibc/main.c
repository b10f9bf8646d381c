/*
 * heap-glibc: four threads allocate and free at random, blocks of each other too; one of them has ended. Then the main
 * thread writes all blocks that are in use, all that are free, and what mallinfo2 says of this instant, to blocks.txt, and
 * reads through NULL. With -DFOREIGN others take memory by sbrk in between, and brk is blocked in the end.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, SLOTS = 1500, FREED = 6000 };

struct block {
	void *at;
	size_t size;
};

/* What each thread has, and what it freed. */
static struct block table[THREADS + 1][SLOTS];
static void *freed[THREADS + 1][FREED];
static int freed_count[THREADS + 1];
static volatile int sink;
static pthread_barrier_t turn;
static char text[1 << 16];
static int text_len, out;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static size_t random_size(uint32_t *state)
{
	uint32_t kind = next_random(state) % 100;

	if (kind < 70)
		return next_random(state) % 200;
	if (kind < 95)
		return next_random(state) % 3000;
	if (kind < 99)
		return next_random(state) % 60000;
	return 130000 + next_random(state) % 400000;
}

static void *allocate(size_t size, uint32_t *state)
{
	uint32_t kind = next_random(state) % 16;
	void *at;

	if (kind == 0 && posix_memalign(&at, 64u << next_random(state) % 7, size) == 0)
		return at;
	if (kind == 1)
		return calloc(1, size);
	return malloc(size);
}

static void release(int thread, struct block *block)
{
	if (freed_count[thread] < FREED)
		freed[thread][freed_count[thread]++] = block->at;
	free(block->at);
	block->at = 0;
}

/* Steps of one thread; some blocks are freed that another thread allocated before. */
static void churn(int thread, int other, int steps)
{
	uint32_t state = 4711u * (uint32_t)(thread + 1);
	struct block *block;

	for (int step = 0; step < steps; step++) {
		block = &table[thread][next_random(&state) % SLOTS];
		if (block->at && next_random(&state) % 8 == 0) {
			block->size = random_size(&state);
			freed[thread][freed_count[thread] % FREED] = block->at;
			freed_count[thread] += freed_count[thread] < FREED;
			block->at = realloc(block->at, block->size ? block->size : 1);
			block->size = block->size ? block->size : 1;
		} else if (block->at) {
			release(thread, block);
		} else {
			block->size = random_size(&state);
			block->at = allocate(block->size, &state);
		}
	}
	for (int index = 0; other >= 0 && index < SLOTS; index += 17)
		if (table[other][index].at)
			release(thread, &table[other][index]);
}

FN static void hold(void)
{
	WAIT(pause());
}

FN static void *run(void *number)
{
	int thread = (int)(intptr_t)number;

	churn(thread, -1, 4000);
	pthread_barrier_wait(&turn);
	/* The second one frees what the third has: that stands still meanwhile. */
	if (thread == 2)
		churn(thread, 3, 500);
	pthread_barrier_wait(&turn);
	if (thread == 4)
		return 0;
	truth_thread("allocates");
	CALLV(hold());
	return 0;
}

static void flush(void)
{
	sink = (int)write(out, text, (size_t)text_len);
	text_len = 0;
}

static void tell(const char *what, size_t first, size_t second, size_t third)
{
	if (text_len > (int)sizeof text - 200)
		flush();
	text_len += snprintf(text + text_len, 200, "%s %zx %zx %zx\n", what, first, second, third);
}

static int is_used(void *at)
{
	for (int thread = 0; thread <= THREADS; thread++)
		for (int slot = 0; slot < SLOTS; slot++)
			if (table[thread][slot].at == at)
				return 1;
	return 0;
}

static void tell_blocks(void)
{
	struct mallinfo2 info = mallinfo2();
	struct block *block;

	for (int thread = 0; thread <= THREADS; thread++) {
		for (int slot = 0; slot < SLOTS; slot++) {
			block = &table[thread][slot];
			if (block->at)
				tell("used", (size_t)block->at, block->size, malloc_usable_size(block->at));
		}
		for (int slot = 0; slot < freed_count[thread]; slot++)
			if (!is_used(freed[thread][slot]))
				tell("freed", (size_t)freed[thread][slot], 0, 0);
	}
	tell("arena", info.arena, 0, 0);
	tell("ordblks", info.ordblks, 0, 0);
	tell("smblks", info.smblks, 0, 0);
	tell("hblks", info.hblks, 0, 0);
	tell("hblkhd", info.hblkhd, 0, 0);
	tell("fsmblks", info.fsmblks, 0, 0);
	tell("uordblks", info.uordblks, 0, 0);
	tell("fordblks", info.fordblks, 0, 0);
	tell("keepcost", info.keepcost, 0, 0);
	flush();
}

/* A mmapped block at an alignment: its header lies inside of its mapping. */
static void align_apart(void)
{
	struct block *block = &table[0][0];

	if (block->at)
		release(0, block);
	block->size = 700000;
	if (posix_memalign(&block->at, 1 << 20, block->size))
		exit(1);
}

#ifdef FOREIGN
static void take_break(void)
{
	char *taken = sbrk(12000);

	memset(taken, 0x5a, 12000);
	churn(0, -1, 3000);
	taken = sbrk(5000);
	memset(taken, 0xa5, 5000);
	churn(0, -1, 3000);
	taken = sbrk(0);
	if (mmap((void *)(((uintptr_t)taken + 4095) & ~4095ul), 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		exit(1);
	/* A large block goes where brk cannot. */
	for (int slot = 0; slot < 30; slot++) {
		struct block *block = &table[0][100 + slot];

		if (block->at)
			release(0, block);
		block->size = 100000;
		block->at = malloc(block->size);
	}
	churn(0, -1, 3000);
}
#endif

FN static void use(const int *field)
{
	DIE(sink = field[2]);
}

int main(void)
{
	pthread_t threads[THREADS];

	out = open("blocks.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	pthread_barrier_init(&turn, 0, THREADS);
	/* Before anything is freed: what the C library allocates for threads is no block of ours. */
	for (intptr_t thread = 1; thread <= THREADS; thread++)
		if (pthread_create(&threads[thread - 1], 0, run, (void *)thread))
			exit(1);
	churn(0, -1, 4000);
	pthread_join(threads[THREADS - 1], 0);
	truth_wait_ready(THREADS - 1);
#ifdef FOREIGN
	take_break();
#endif
	churn(0, 4, 300);
	align_apart();
	tell_blocks();
	CALLV(use(truth_launder(0)));
	return 0;
}
