/*
 * crashes: dies in the way that its argument names. The test knows the names of the functions, the numbers that they
 * are called with, and what is printed before the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

static volatile int sink;

static void average(int total, int count)
{
	sink = total / count;
}

static void divide(void)
{
	average(4711, 0);
}

static void give_up(void)
{
	__builtin_trap();
}

static void illegal(void)
{
	give_up();
}

static void read_config(const char *text)
{
	sink = text[0];
}

/* Another process would cut the file off while this one reads it. */
static void cut_off(void)
{
	int file = open("config.dat", O_RDWR | O_CREAT, 0600);
	char *text;

	if (file < 0 || ftruncate(file, PAGE))
		_exit(1);
	text = mmap(0, PAGE, PROT_READ, MAP_SHARED, file, 0);
	printf("address %lx\n", (unsigned long)text);
	fflush(stdout);
	if (ftruncate(file, 0))
		_exit(1);
	read_config(text);
}

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *transfer(void *unused)
{
	pthread_mutex_lock(&accounts);
	printf("accounts %d\n", gettid());
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&journal);
	return unused;
}

static void *audit(void *unused)
{
	pthread_mutex_lock(&journal);
	printf("journal %d\n", gettid());
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&accounts);
	return unused;
}

static void deadlock(void)
{
	pthread_t first, second;

	pthread_barrier_init(&both, 0, 2);
	pthread_create(&first, 0, transfer, 0);
	pthread_create(&second, 0, audit, 0);
	/* The value 2 says that a thread waits, or is about to. */
	while (accounts.__data.__lock != 2 || journal.__data.__lock != 2)
		usleep(1000);
	usleep(200000);
	fflush(stdout);
	/* Whoever starts programs in the background lets them ignore it. */
	signal(SIGQUIT, SIG_DFL);
	raise(SIGQUIT);
}

static const struct {
	const char *name;
	void (*die)(void);
} ways[] = {{"divide", divide}, {"illegal", illegal}, {"cut_off", cut_off}, {"deadlock", deadlock}};

int main(int argc, char **argv)
{
	unsigned long i;

	for (i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].die();
	return 1;
}
