/* The only thread of the process waits for a lock that nobody will free. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t begun = PTHREAD_ONCE_INIT;
static sem_t event;
static int ready[2];

__attribute__((noinline, noclone)) void upgrade(void)
{
	pthread_rwlock_rdlock(&table);
	pthread_rwlock_wrlock(&table);
}

__attribute__((noinline, noclone)) void begin_again(void) { pthread_once(&begun, begin_again); }
__attribute__((noinline, noclone)) void wait_for_event(void) { sem_wait(&event); }
__attribute__((noinline, noclone)) void lock_in_child(void) { pthread_mutex_lock(&plain); }
__attribute__((noinline, noclone)) void wait_for_child(pid_t pid) { waitpid(pid, NULL, 0); }

struct pool {
	int size;
	pthread_mutex_t lock;
};

__attribute__((noinline, noclone)) void lock_twice(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pthread_mutex_lock(&pool->lock);
	pool->size++;
	pthread_mutex_unlock(&pool->lock);
}

static void *hold(void *none)
{
	pthread_mutex_lock(&plain);
	if (write(ready[1], "x", 1) == 1)
		for (;;)
			pause();
	return none;
}

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	pthread_t thread;
	char byte;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(bug, "upgrade") || !strcmp(bug, "once") || !strcmp(bug, "event") || !strcmp(bug, "twice")) {
		printf("%d\n", getpid());
		fflush(stdout);
	}
	if (!strcmp(bug, "upgrade"))
		upgrade();
	if (!strcmp(bug, "twice"))
		lock_twice(calloc(1, sizeof(struct pool)));
	if (!strcmp(bug, "once"))
		begin_again();
	if (!strcmp(bug, "event"))
		wait_for_event();
	if (pipe(ready) || pthread_create(&thread, NULL, hold, NULL) || read(ready[0], &byte, 1) != 1)
		return 1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		lock_in_child();
		return 0;
	}
	/* What is printed is who hangs. */
	printf("%d\n%d\n", !strcmp(bug, "parent") ? getpid() : pid, pid);
	fflush(stdout);
	wait_for_child(pid);
	return 0;
}
