/* Ends by the bug that its argument names. */
#define _GNU_SOURCE
#include <alloca.h>
#include <emmintrin.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static void (*volatile handler)(void);
static char buffer[64] __attribute__((aligned(16)));
static char other_stack[64 << 10];

static __attribute__((noinline)) int follow(uintptr_t pointer)
{
	return *(volatile int *)pointer;
}

static __attribute__((noinline)) void store(uintptr_t pointer)
{
	_mm_store_si128((__m128i *)pointer, _mm_set1_epi32(7));
}

static __attribute__((noinline)) void call_slot(void)
{
	handler();
	__asm__ volatile("");
}

static __attribute__((noinline)) void stop_by(const char *instruction)
{
	if (!strcmp(instruction, "int3"))
		__asm__ volatile("int3");
	if (!strcmp(instruction, "hlt"))
		__asm__ volatile("hlt");
	__builtin_trap();
}

/* Jumps on to a null pointer, and leaves no frame. */
static __attribute__((noinline, noclone)) void jump_on(void)
{
	__asm__ volatile("xorl %%ecx, %%ecx\n\tjmp *%%rcx" ::: "rcx");
}

static __attribute__((noinline, noclone)) void jump_on_by_rax(void)
{
	__asm__ volatile("xorl %%eax, %%eax\n\tjmp *%%rax" ::: "rax");
}

/* Calls a function that jumps on by the register by which it was called. */
static __attribute__((noinline, noclone)) void call_by_rax(void)
{
	handler = jump_on_by_rax;
	__asm__ volatile("movq %0, %%rax\n\tcall *%%rax" ::"m"(handler) : "rax", "memory");
}

/* A byte that is no instruction in 64-bit mode. */
static __attribute__((noinline)) void no_instruction(void)
{
	__asm__ volatile(".byte 0x06");
}

/* Goes on elsewhere, as the handler of a program does that prints its stack, and sends the signal again. */
static void go_elsewhere(int number, siginfo_t *info, void *context)
{
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)stop_by;
	signal(number, SIG_DFL);
	raise(number);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };

	action.sa_sigaction = handler;
	sigaction(number, &action, NULL);
}

static __attribute__((noinline)) void large_frame(void)
{
	volatile char large[20 << 20];

	large[5 << 20] = 1;
	__asm__ volatile("" : : "r"(large) : "memory");
}

/* More frames than a leaf has lie above the calls that repeat. */
static __attribute__((noinline, noclone)) int deep_in_handler(int depth)
{
	volatile int here = depth;

	if (depth == 0)
		raise(SIGSEGV);
	else
		here += deep_in_handler(depth - 1);
	return here + 1;
}

static void die_deep(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	signal(number, SIG_DFL);
	deep_in_handler(6);
}

static __attribute__((noinline, noclone)) int repeat(volatile int *below)
{
	volatile int here = *below + 1;

	return repeat(&here) + here;
}

/* Fails a few bytes above the end of the memory that its stack has so far. */
static __attribute__((noinline, noclone)) void near_end(void)
{
	unsigned long start = 0, end = 0, here = (unsigned long)__builtin_frame_address(0);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= here && here < end)
			break;
	volatile char *low = alloca(here - start - 512);
	*low = 1;
	__asm__ volatile("hlt" : : "r"(low) : "memory");
}

/* A mapping of three pages of a file that has one. */
static char *map_of_cut_file(void)
{
	int file = open("cut", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *map;

	if (ftruncate(file, 3 * 4096))
		return NULL;
	map = mmap(NULL, 3 * 4096, PROT_READ, MAP_SHARED, file, 0);
	return ftruncate(file, 4096) ? NULL : map;
}

static __attribute__((noinline)) int cut_file(void)
{
	volatile char *map = map_of_cut_file();

	return map[2 * 4096 + 5];
}

/* A function of a library is what touches the file. */
static __attribute__((noinline)) int copy_cut(size_t length)
{
	char page[4096];

	memcpy(page, map_of_cut_file() + 2 * 4096, length);
	return page[5] + page[length - 1];
}

static __attribute__((noinline)) long forbidden(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	return syscall(SYS_getpriority, 0, 0);
}

static __attribute__((noinline)) void spin(void)
{
	struct rlimit limit = { 1, 2 };

	setrlimit(RLIMIT_CPU, &limit);
	for (;;)
		__asm__ volatile("");
}

static __attribute__((noinline)) void grow(void)
{
	struct rlimit limit = { 32 << 20, 32 << 20 };
	int file = open("grown", O_RDWR | O_CREAT | O_TRUNC, 0600);

	/* Whoever started the program may have ignored it. */
	signal(SIGXFSZ, SIG_DFL);
	/* The core comes to lie beside it, and is bounded too. */
	setrlimit(RLIMIT_FSIZE, &limit);
	if (ftruncate(file, 64 << 20))
		puts("refused");
}

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!strcmp(bug, "unmapped")) {
		munmap(page, 4096);
		printf("%p\n", page);
		fflush(stdout);
		follow((uintptr_t)page);
	}
	if (!strcmp(bug, "pattern"))
		follow(0xdeadbeefdeadbeef);
	if (!strcmp(bug, "text"))
		follow(0x424241414141);
	if (!strcmp(bug, "none")) {
		mprotect(page, 4096, PROT_NONE);
		((void (*)(void))page)();
	}
	if (!strcmp(bug, "guard")) {
		mprotect(page, 4096, PROT_NONE);
		printf("%p\n", (void *)((char *)page + 16));
		fflush(stdout);
		follow((uintptr_t)page + 16);
	}
	if (!strcmp(bug, "misaligned")) {
		printf("%p\n", (void *)(buffer + 8));
		fflush(stdout);
		store((uintptr_t)buffer + 8);
	}
	if (!strcmp(bug, "slot")) {
		*(volatile uintptr_t *)&handler = 0x4847464544434241;
		call_slot();
	}
	if (!strcmp(bug, "register"))
		((void (*)(void))0x1122334455667788)();
	if (!strcmp(bug, "jump"))
		jump_on();
	if (!strcmp(bug, "tail"))
		call_by_rax();
	if (!strcmp(bug, "trap") || !strcmp(bug, "int3") || !strcmp(bug, "hlt"))
		stop_by(bug);
	if (!strcmp(bug, "illegal"))
		no_instruction();
	if (!strcmp(bug, "elsewhere")) {
		handle(SIGILL, go_elsewhere);
		no_instruction();
	}
	if (!strcmp(bug, "large"))
		large_frame();
	if (!strcmp(bug, "below")) {
		stack_t other = { .ss_sp = other_stack, .ss_size = sizeof other_stack };

		sigaltstack(&other, NULL);
		handle(SIGSEGV, die_deep);
		repeat(&argc);
	}
	if (!strcmp(bug, "grows"))
		near_end();
	if (!strcmp(bug, "cut"))
		cut_file();
	if (!strcmp(bug, "copied"))
		return copy_cut(1000 + argc);
	if (!strcmp(bug, "seccomp"))
		forbidden();
	if (!strcmp(bug, "cpu"))
		spin();
	if (!strcmp(bug, "file"))
		grow();
	return 0;
}
