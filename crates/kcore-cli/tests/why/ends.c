/* Ends by the bug that its argument names. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static __attribute__((noinline)) int follow(uintptr_t pointer)
{
	return *(volatile int *)pointer;
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
	return 0;
}
