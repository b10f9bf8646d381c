#include "brpc.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

Brpc brpc;

struct Wanted {
	const char *name;
	void *into;
};

static const Wanted WANTED[] = {
	{"bthread_start_background", &brpc.start_background},
	{"bthread_start_urgent", &brpc.start_urgent},
	{"bthread_setconcurrency", &brpc.setconcurrency},
	{"bthread_self", &brpc.self},
	{"bthread_usleep", &brpc.usleep},
	{"bthread_yield", &brpc.yield},
	{"bthread_join", &brpc.join},
	{"bthread_mutex_init", &brpc.mutex_init},
	{"bthread_mutex_lock", &brpc.mutex_lock},
	{"bthread_mutex_unlock", &brpc.mutex_unlock},
	{"bthread_cond_init", &brpc.cond_init},
	{"bthread_cond_wait", &brpc.cond_wait},
	{"bthread_cond_timedwait", &brpc.cond_timedwait},
	{"_ZN7bthread12butex_createEv", &brpc.butex_create},
	{"_ZN7bthread10butex_wakeEPvb", &brpc.butex_wake},
	{"_ZN7bthread10butex_waitEPviPK8timespecb", &brpc.butex_wait},
	{"bthread_timer_add", &brpc.timer_add},
	{"bthread_jump_fcontext", &brpc.jump_fcontext},
};

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static const char *map_file(const char *path)
{
	struct stat stat;
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &stat) != 0)
		fail(path);
	void *at = mmap(nullptr, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		fail(path);
	return (const char *)at;
}

static void take(const char *name, uintptr_t at)
{
	for (const Wanted &wanted : WANTED)
		if (strcmp(wanted.name, name) == 0)
			*(uintptr_t *)wanted.into = at;
}

// The functions are in the table that only debuggers read.
static void find_all(const char *file, uintptr_t bias)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbols = (const Elf64_Sym *)(file + sections[i].sh_offset);
		const char *names = file + sections[sections[i].sh_link].sh_offset;
		for (size_t n = 0; n < sections[i].sh_size / sizeof *symbols; n++)
			if (ELF64_ST_TYPE(symbols[n].st_info) == STT_FUNC)
				take(names + symbols[n].st_name, bias + symbols[n].st_value);
	}
}

void brpc_load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (library == nullptr)
		fail(dlerror());
	struct link_map *map;
	dlinfo(library, RTLD_DI_LINKMAP, &map);
	find_all(map_file(path), map->l_addr);
	for (const Wanted &wanted : WANTED)
		if (*(void **)wanted.into == nullptr)
			fail(wanted.name);
}
