/*
 * plt: breaks lazy binding in one of three places: the function's own slot of the GOT (-DSLOT), the linker's link map
 * pointer (-DLINK_MAP), or the linker's entry point, which the first entry of the PLT jumps to.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define NOWHERE 0x4141414141414141UL

/* The value of an entry of the program's own dynamic section; ld.so has relocated it. */
static unsigned long dynamic(long tag)
{
	const ElfW(Dyn) *entry = _DYNAMIC;

	while (entry->d_tag != DT_NULL && entry->d_tag != tag)
		entry++;
	return entry->d_un.d_ptr;
}

/* The number of a function's slot behind the three reserved ones. */
FN static unsigned long slot_of(const char *name)
{
	const ElfW(Rela) *rela = (void *)dynamic(DT_JMPREL);
	const ElfW(Sym) *symbols = (void *)dynamic(DT_SYMTAB);
	const char *names = (void *)dynamic(DT_STRTAB);
	unsigned long slot = 0;

	while (strcmp(names + symbols[ELF64_R_SYM(rela[slot].r_info)].st_name, name))
		slot++;
	return 3 + slot;
}

FN static void break_binding(void)
{
	unsigned long *got = (void *)dynamic(DT_PLTGOT);

#if defined SLOT
	got[slot_of("getpgrp")] = NOWHERE;
#elif defined LINK_MAP
	got[1] = 0x10;
#else
	got[2] = NOWHERE;
#endif
}

FN static int ask(int base)
{
	int group;

	truth_push(__func__, __FILE__, __LINE__ + 4);
	truth_gap("plt");
	truth_write();
	break_binding();
	group = getpgrp();
	return base + group;
}

FN static int prepare(int base)
{
	int slot = slot_of("getpgrp");

	return CALL(ask(slot + base));
}

int main(void)
{
	return CALL(prepare(3));
}
