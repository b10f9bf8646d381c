/*
 * The account behind truth.h: shadow stacks in a fixed table, written by hand with write(2), so that it works in a
 * signal handler, in every libc and without stdio. TRUTH_THREADS sizes the table.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef TRUTH_THREADS
#define TRUTH_THREADS 16
#endif
#define FRAMES 24
#define FACTS 16
#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

struct account {
	int tid;
	int depth;
	int ready;
	int sleeps;
	int crashed;
	const char *role;
	const char *end;
	struct truth_frame frames[FRAMES];
};

struct fact {
	const char *key;
	const char *text;
	unsigned long number;
	int form; /* 's' text, 'x' hexadecimal, 'd' decimal */
};

static struct account accounts[TRUTH_THREADS];
static struct fact facts[FACTS];
static int account_count;
static int fact_count;
static __thread struct account *mine;

/* Output, collected in a small buffer. */
static char out[1024];
static unsigned out_used;
static int out_fd;

static void flush(void)
{
	if (write(out_fd, out, out_used) != (ssize_t)out_used)
		_exit(99);
	out_used = 0;
}

static void put_char(char c)
{
	if (out_used == sizeof out)
		flush();
	out[out_used++] = c;
}

static void put(const char *text)
{
	while (*text)
		put_char(*text++);
}

static void put_number(unsigned long value, unsigned base)
{
	char digits[24];
	int used = 0;

	do
		digits[used++] = "0123456789abcdef"[value % base];
	while (value /= base);
	while (used)
		put_char(digits[--used]);
}

static void put_text(const char *text)
{
	if (!text) {
		put("null");
		return;
	}
	put_char('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			put_char('\\');
		if (*text == '\n')
			put("\\n");
		else
			put_char(*text);
	}
	put_char('"');
}

static void put_key(const char *key)
{
	put_char('"');
	put(key);
	put("\":");
}

static void put_flag(const char *key, int value)
{
	put_char(',');
	put_key(key);
	put(value < 0 ? "null" : value ? "true" : "false");
}

static void put_named(const struct truth_frame *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : 0;

	put_key("function");
	put_text(f->unnamed ? 0 : f->function);
	if (f->match)
		put(",\"match\":"), put_text(f->match);
	put(",\"file\":"), put_text(slash ? slash + 1 : f->file);
	put(",\"line\":");
	if (f->line)
		put_number(f->line, 10);
	else
		put("null");
	put_flag("inline", f->inlined);
}

static void put_frame(const struct truth_frame *f)
{
	put_char('{');
	if (f->gap)
		put_key("gap"), put_text(f->gap);
	else
		put_named(f);
	if (f->module)
		put(",\"module\":"), put_text(f->module);
	if (f->unnamed)
		put(",\"pc\":\"0x"), put_number(f->pc, 16), put_char('"');
	if (f->repeat)
		put(",\"repeat\":"), put_number(f->repeat, 10);
	if (f->slack)
		put(",\"slack\":"), put_number(f->slack, 10);
	if (f->mark)
		put(",\"mark\":"), put_text(f->mark);
	put_char('}');
}

static void put_account(const struct account *a)
{
	int i;

	put("{\"thread\":{\"tid\":"), put_number(a->tid, 10);
	put(",\"role\":"), put_text(a->role);
	put_flag("crashed", a->crashed);
	put(",\"frames\":[");
	for (i = a->depth; i-- > 0;) {
		put_frame(&a->frames[i]);
		if (i)
			put_char(',');
	}
	put("],\"end\":"), put_text(a->end);
	put("}}\n");
}

static void put_fact(const struct fact *f)
{
	put("{\"fact\":{"), put_key(f->key);
	if (f->form == 's')
		put_text(f->text);
	else if (f->form == 'x')
		put("\"0x"), put_number(f->number, 16), put_char('"');
	else
		put_number(f->number, 10);
	put("}}\n");
}

/* The arguments as the kernel keeps them; a very long list is cut. */
static void put_argv(void)
{
	char args[512];
	int fd = open("/proc/self/cmdline", O_RDONLY), at = 0;
	int got = fd < 0 ? 0 : read(fd, args, sizeof args - 1);

	if (fd >= 0)
		close(fd);
	args[got > 0 ? got : 0] = 0;
	put("{\"argv\":[");
	while (at < got) {
		put_text(args + at);
		at += strlen(args + at) + 1;
		if (at < got)
			put_char(',');
	}
	put("]}\n");
}

static void write_account(void)
{
	const char *path = getenv("KCORE_TRUTH");
	int i;

	if (!path)
		return;
	out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (out_fd < 0)
		_exit(98);
	put("{\"pid\":"), put_number(getpid(), 10), put("}\n");
	put_argv();
	for (i = 0; i < account_count; i++)
		put_account(&accounts[i]);
	for (i = 0; i < fact_count; i++)
		put_fact(&facts[i]);
	put("{\"done\":true}\n");
	flush();
	close(out_fd);
}

static struct account *me(void)
{
	if (!mine)
		truth_thread("main");
	return mine;
}

static struct truth_frame *newest(void)
{
	return &me()->frames[me()->depth - 1];
}

void truth_thread(const char *role)
{
	int index = __atomic_fetch_add(&account_count, 1, __ATOMIC_SEQ_CST);

	if (index >= TRUTH_THREADS)
		_exit(97);
	if (index == 0) /* an attaching gdb is welcome, also where only parents may trace */
		prctl(PR_SET_PTRACER, -1L, 0, 0, 0);
	mine = &accounts[index];
	mine->tid = syscall(SYS_gettid);
	mine->role = role;
	mine->end = "outermost";
	truth_gap("start");
}

void truth_frame(struct truth_frame frame)
{
	struct account *a = me();

	if (a->depth == FRAMES)
		_exit(96);
	a->frames[a->depth++] = frame;
}

void truth_push(const char *function, const char *file, int line)
{
	struct truth_frame frame = {0};

	frame.function = function;
	frame.file = file;
	frame.line = line;
	truth_frame(frame);
}

void truth_pop(void)
{
	me()->depth--;
}

void truth_gap(const char *what)
{
	struct truth_frame frame = {0};

	frame.gap = what;
	truth_frame(frame);
}

void truth_pc(unsigned long pc)
{
	struct truth_frame frame = {0};

	frame.unnamed = 1;
	frame.pc = pc;
	truth_frame(frame);
}

void truth_mark(const char *mark)
{
	newest()->mark = mark;
}

void truth_module(const char *module)
{
	newest()->module = module;
}

void truth_repeat(long times, long slack)
{
	newest()->repeat = times;
	newest()->slack = slack;
}

void truth_match(const char *match)
{
	newest()->match = match;
}

void truth_inlined(int inlined)
{
	newest()->inlined = inlined;
}

void truth_damaged(void)
{
	me()->depth = 0;
	me()->end = "honest";
}

static void add_fact(struct fact fact)
{
	if (fact_count < FACTS)
		facts[fact_count++] = fact;
}

void truth_fact(const char *key, const char *value)
{
	add_fact((struct fact){key, value, 0, 's'});
}

void truth_fact_hex(const char *key, unsigned long value)
{
	add_fact((struct fact){key, 0, value, 'x'});
}

void truth_fact_number(const char *key, unsigned long value)
{
	add_fact((struct fact){key, 0, value, 'd'});
}

void truth_ready(int will_sleep)
{
	me()->sleeps = will_sleep;
	__atomic_store_n(&me()->ready, 1, __ATOMIC_SEQ_CST);
}

/* The state letter of a thread of this process, as the kernel tells it. */
static char state_of(int tid)
{
	char path[64] = "/proc/self/task/", stat[256], digits[16], *end;
	int used = 0, fd;
	ssize_t got;

	for (; tid; tid /= 10)
		digits[used++] = '0' + tid % 10;
	end = path + strlen(path);
	while (used)
		*end++ = digits[--used];
	strcpy(end, "/stat");
	fd = open(path, O_RDONLY);
	got = fd < 0 ? 0 : read(fd, stat, sizeof stat - 1);
	if (fd >= 0)
		close(fd);
	stat[got > 0 ? got : 0] = 0;
	end = strrchr(stat, ')');
	return end ? end[2] : '?';
}

static int settled(const struct account *a)
{
	if (!__atomic_load_n(&a->ready, __ATOMIC_SEQ_CST))
		return 0;
	return !a->sleeps || state_of(a->tid) == 'S';
}

void truth_wait_ready(int threads)
{
	struct timespec nap = {0, 2000000};
	int left = threads, i;

	while (left > 0) {
		left = threads;
		for (i = 0; i < account_count && i < TRUTH_THREADS; i++)
			left -= &accounts[i] != mine && settled(&accounts[i]);
		if (left > 0)
			nanosleep(&nap, 0);
	}
}

void truth_write(void)
{
	me()->crashed = 1;
	write_account();
}

void truth_write_waiting(void)
{
	write_account();
}

volatile unsigned long *truth_counter(void)
{
	char path[512];
	const char *truth = getenv("KCORE_TRUTH");
	int fd;
	void *page;

	strcpy(path, truth ? truth : "truth");
	strcat(path, ".count");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		_exit(95);
	page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return (volatile unsigned long *)page;
}

__attribute__((noipa)) void *truth_launder(void *pointer)
{
	__asm__ volatile("" : "+r"(pointer));
	return pointer;
}
