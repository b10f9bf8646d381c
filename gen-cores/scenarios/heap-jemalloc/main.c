/*
 * heap-jemalloc: a process whose memory another allocator than the C library's hands out, and which knows all of its
 * blocks. Four threads allocate in every way that there is, free most of it, a part of it each other's, and one of them
 * ends. `blocks.bin` then has a line for each block: where, asked for, usable, and whether it is the program's still.
 * `statistics.txt` has what the allocator says of itself at the same moment. Neither of them allocates.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORKERS 4
#define BLOCKS 3000 /* of each worker */
#define HUGE_BYTES (40 << 20)

#ifdef PROFILED
/* jemalloc reads this. */
const char *malloc_conf = "prof:true,lg_prof_sample:12";
#endif

/* What jemalloc says. */
__attribute__((weak)) int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);
/* What tcmalloc says. */
__attribute__((weak)) int MallocExtension_GetNumericProperty(const char *property, size_t *value);
/* What mimalloc says: it keeps no totals in its release builds. */
__attribute__((weak)) int mi_version(void);

#ifdef SANITIZED
/* What AddressSanitizer says. */
size_t __sanitizer_get_current_allocated_bytes(void);
size_t __sanitizer_get_heap_size(void);

/* It asks for its options here. Without these, it leaves no core. */
const char *__asan_default_options(void)
{
	return "disable_coredump=0:abort_on_error=1:detect_leaks=0:allocator_release_to_os_interval_ms=-1";
}
#endif

struct block {
	uint64_t at;
	uint64_t asked;
	uint64_t usable;
	uint64_t live;
};

static struct block *blocks; /* WORKERS * BLOCKS of them, in memory of their own */
static pthread_barrier_t filled, freed;

/* Small buffers, since nothing may be allocated any more. */
static char out[8192];
static size_t out_used;
static int out_fd;

static void flush(void)
{
	if (write(out_fd, out, out_used) != (ssize_t)out_used)
		_exit(94);
	out_used = 0;
}

static void put(const char *text)
{
	while (*text) {
		if (out_used == sizeof out)
			flush();
		out[out_used++] = *text++;
	}
}

static char *decimal(uint64_t value, char digits[24])
{
	char *at = digits + 23;

	*at = 0;
	do
		*--at = '0' + value % 10;
	while (value /= 10);
	return at;
}

static void put_fact(const char *name, uint64_t value)
{
	char digits[24];

	put(name), put(" "), put(decimal(value, digits)), put("\n");
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Most blocks are small, and a few are large. */
static size_t some_size(uint64_t *state)
{
	uint64_t die = next_random(state) % 1000, value = next_random(state);

	if (die < 700)
		return value % 256;
	if (die < 900)
		return value % 4096;
	if (die < 996)
		return value % 20000;
	return value % (768 << 10);
}

static void *allocate(uint64_t *state, size_t size)
{
	void *made = 0;

	switch (next_random(state) % 8) {
	case 0:
		return calloc(1, size);
	case 1:
		return realloc(malloc(size / 2), size ? size : 1);
	case 2:
		if (posix_memalign(&made, 16 << next_random(state) % 9, size))
			_exit(93);
		return made;
	default:
		return malloc(size);
	}
}

static void fill(struct block *block, uint64_t *state)
{
	size_t size = some_size(state);
	void *at = allocate(state, size);

	if (at && size)
		*(volatile char *)at = 1;
	*block = (struct block){(uint64_t)at, size, malloc_usable_size(at), at != 0};
}

static void release(struct block *block)
{
	if (block->live)
		free((void *)block->at);
	block->live = 0;
}

/* Allocates, frees 60 of 100 on the way, some more of the neighbour's, and fills a part of the gaps again. */
static void work(int number)
{
	uint64_t state = 0x9e3779b97f4a7c15ull * (number + 1);
	struct block *mine = blocks + number * BLOCKS;
	struct block *other = blocks + (number + 1) % WORKERS * BLOCKS;
	int i;

	for (i = 0; i < BLOCKS * 9 / 10; i++) {
		fill(&mine[i], &state);
		if (next_random(&state) % 10 < 6)
			release(&mine[next_random(&state) % (i + 1)]);
	}
	pthread_barrier_wait(&filled);
	for (i = 0; i < BLOCKS; i += 17)
		release(&other[i]);
	pthread_barrier_wait(&freed);
	for (i = BLOCKS * 9 / 10; i < BLOCKS; i++)
		fill(&mine[i], &state);
	/* One block that has memory of its own, of which little is touched. */
	release(&mine[0]);
	mine[0] = (struct block){(uint64_t)malloc(HUGE_BYTES), HUGE_BYTES, 0, 1};
	mine[0].usable = malloc_usable_size((void *)mine[0].at);
}

FN static void rest(void)
{
	WAIT(pause());
}

static void *worker_main(void *number)
{
	truth_thread("worker");
	work((int)(intptr_t)number);
	CALLV(rest());
	return 0;
}

/* A worker whose thread is gone when the process dies. */
static void *leaver_main(void *number)
{
	work((int)(intptr_t)number);
	return 0;
}

static uint64_t control(const char *name)
{
	size_t value = 0, len = sizeof value;

	return mallctl(name, &value, &len, 0, 0) ? 0 : value;
}

/* `stats.arenas.<arena>.<what>`, with `bins.<index>` between them if there is an index. */
static void tell_of_arena(unsigned arena, const char *kind, int index, const char *what)
{
	char name[128] = "stats.arenas.", digits[24];
	uint64_t value;

	strcat(name, decimal(arena, digits)), strcat(name, ".");
	if (kind)
		strcat(name, kind), strcat(name, "."), strcat(name, decimal(index, digits)), strcat(name, ".");
	strcat(name, what);
	value = control(name);
	if (value)
		put_fact(name, value);
}

static void tell_jemalloc(void)
{
	static const char *const totals[] = {"stats.allocated", "stats.active", "stats.metadata", "stats.retained",
					     "stats.arenas.4096.tcache_bytes"};
	static const char *const of_arenas[] = {"pactive", "pdirty", "pmuzzy", "small.allocated", "large.allocated"};
	unsigned arenas = 0, bins = 0, arena, i;
	uint64_t epoch = 1;
	size_t len = sizeof arenas;

	mallctl("arenas.narenas", &arenas, &len, 0, 0);
	mallctl("arenas.nbins", &bins, &len, 0, 0);
	mallctl("epoch", 0, 0, &epoch, sizeof epoch);
	for (i = 0; i < sizeof totals / sizeof *totals; i++)
		put_fact(totals[i], control(totals[i]));
	for (arena = 0; arena < arenas; arena++) {
		for (i = 0; i < sizeof of_arenas / sizeof *of_arenas; i++)
			tell_of_arena(arena, 0, 0, of_arenas[i]);
		for (i = 0; i < bins; i++) {
			tell_of_arena(arena, "bins", i, "curregs");
			tell_of_arena(arena, "bins", i, "curslabs");
		}
		for (i = 0; i < 60; i++)
			tell_of_arena(arena, "lextents", i, "curlextents");
	}
}

static void tell_tcmalloc(void)
{
	static const char *const names[] = {
		"generic.current_allocated_bytes",   "generic.heap_size",
		"tcmalloc.pageheap_free_bytes",	     "tcmalloc.pageheap_unmapped_bytes",
		"tcmalloc.central_cache_free_bytes", "tcmalloc.transfer_cache_free_bytes",
		"tcmalloc.thread_cache_free_bytes",  "tcmalloc.current_total_thread_cache_bytes",
	};
	unsigned i;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		size_t value = 0;

		if (MallocExtension_GetNumericProperty(names[i], &value))
			put_fact(names[i], value);
	}
}

static void tell_statistics(void)
{
	out_fd = open("statistics.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (mallctl)
		tell_jemalloc();
	if (MallocExtension_GetNumericProperty)
		tell_tcmalloc();
	if (mi_version)
		put_fact("mi_version", mi_version());
#ifdef SANITIZED
	put_fact("__sanitizer_get_current_allocated_bytes", __sanitizer_get_current_allocated_bytes());
	put_fact("__sanitizer_get_heap_size", __sanitizer_get_heap_size());
#endif
	flush();
	close(out_fd);
}

static void tell_blocks(void)
{
	size_t len = WORKERS * BLOCKS * sizeof *blocks;

	out_fd = open("blocks.bin", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (write(out_fd, blocks, len) != (ssize_t)len)
		_exit(92);
	close(out_fd);
}

FN static void end(void)
{
	truth_wait_ready(WORKERS - 1);
	tell_statistics();
	tell_blocks();
	DIE_IN("libc", abort());
}

int main(int count, char **arguments)
{
	pthread_t threads[WORKERS];
	intptr_t i;

	(void)count, (void)arguments;
#ifdef PROFILED
	/* tcmalloc asks the environment as it is when the process begins. */
	if (!getenv("TCMALLOC_SAMPLE_PARAMETER")) {
		setenv("TCMALLOC_SAMPLE_PARAMETER", "4096", 1);
		execl("/proc/self/exe", arguments[0], (char *)0);
		return 1;
	}
#endif
	truth_thread("main");
	blocks = mmap(0, WORKERS * BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_barrier_init(&filled, 0, WORKERS);
	pthread_barrier_init(&freed, 0, WORKERS);
	for (i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], 0, i ? worker_main : leaver_main, (void *)i);
	pthread_join(threads[0], 0);
	CALLV(end());
	return 0;
}
