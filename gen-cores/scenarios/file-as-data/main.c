/* file-as-data: libraries that print stack traces, or look for symbols, map whole files to read them. */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
/* More than the program's file, four times. */
#define ROOM (64ul << 20)

/* The first byte is written, so that gdb's gcore holds the mapping too, which leaves out what is as in its file. */
static void map_whole(const char *path, int protection, int sharing, void *at)
{
	struct stat found;
	int file = open(path, O_RDONLY);
	if (file < 0 || fstat(file, &found))
		_exit(1);
	int where = sharing | (at ? MAP_FIXED : 0);
	volatile char *start = mmap(at, (size_t)found.st_size, protection, where, file, 0);
	if (start == MAP_FAILED)
		_exit(1);
	if (protection & PROT_WRITE)
		start[0] = 0x7f;
	close(file);
}

/* The program's code: its offset in the file, and its bytes. The program is told of first. */
static int find_code(struct dl_phdr_info *program, size_t size, void *found)
{
	(void)size;
	for (int i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_LOAD && program->dlpi_phdr[i].p_flags & PF_X)
			*(ElfW(Phdr) *)found = program->dlpi_phdr[i];
	return 1;
}

/* V8 maps its code once more where the code is near that it makes. */
static void map_code(void *at)
{
	ElfW(Phdr) code = { 0 };
	dl_iterate_phdr(find_code, &code);
	size_t before = code.p_offset % PAGE;
	int file = open("/proc/self/exe", O_RDONLY);
	if (mmap(at, code.p_filesz + before, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file,
		 (off_t)(code.p_offset - before)) == MAP_FAILED)
		_exit(1);
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
	char *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return 1;
	map_whole("/proc/self/exe", PROT_READ | PROT_WRITE, MAP_PRIVATE, room);
	map_code(room + ROOM / 4);
	map_whole("/proc/self/exe", PROT_READ, MAP_SHARED, room + ROOM / 2);
	map_code(room + ROOM / 4 * 3);
	map_whole(c_library.dli_fname, PROT_READ, MAP_PRIVATE, NULL);
	map_whole(c_library.dli_fname, PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL);
	CALLV(give_up());
	return 0;
}
