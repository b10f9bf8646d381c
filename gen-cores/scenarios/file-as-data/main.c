/* file-as-data: libraries that print stack traces, or look for symbols, map whole files to read them. */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first byte is written, so that gdb's gcore holds the mapping too, which leaves out what is as in its file. */
static void map_whole(const char *path, int protection)
{
	struct stat found;
	int file = open(path, O_RDONLY);
	if (file < 0 || fstat(file, &found))
		_exit(1);
	volatile char *start =
		mmap(NULL, (size_t)found.st_size, protection, MAP_PRIVATE, file, 0);
	if (start == MAP_FAILED)
		_exit(1);
	if (protection & PROT_WRITE)
		start[0] = 0x7f;
	close(file);
}

FN static void give_up(void)
{
	DIE_IN("libc", abort());
}

int main(void)
{
	Dl_info c_library;
	if (!dladdr(dlsym(RTLD_DEFAULT, "abort"), &c_library))
		return 1;
	map_whole("/proc/self/exe", PROT_READ | PROT_WRITE);
	map_whole(c_library.dli_fname, PROT_READ);
	map_whole(c_library.dli_fname, PROT_READ | PROT_WRITE);
	CALLV(give_up());
	return 0;
}
