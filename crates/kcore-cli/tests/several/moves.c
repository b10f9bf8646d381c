/* Three threads wait in idle(). At the first line on standard input, one of them goes on to stuck(), two others are
 * made that go there too, and the one in starting() ends. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int pipes[2][2];

static __attribute__((noinline)) void idle(void)
{
	char byte;

	if (read(pipes[0][0], &byte, 1) != 1)
		puts("idle");
	__asm__ volatile("");
}

static __attribute__((noinline)) void starting(void)
{
	char byte;

	if (read(pipes[1][0], &byte, 1) != 1)
		puts("starting");
	__asm__ volatile("");
}

static __attribute__((noinline)) void stuck(void)
{
	for (;;)
		pause();
}

static void *work(void *first)
{
	if (first)
		idle();
	stuck();
	return NULL;
}

static void *start(void *nothing)
{
	starting();
	return nothing;
}

/* Whether another thread is not in a system call, by the file that tells. */
static int runs(const char *tid)
{
	char path[64], text[16] = "";
	FILE *file;

	if (tid[0] == '.' || atoi(tid) == gettid())
		return 0;
	snprintf(path, sizeof path, "/proc/self/task/%s/syscall", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(text, sizeof text, file))
		text[0] = 0;
	fclose(file);
	return !strncmp(text, "running", 7) || !text[0];
}

/* Until all other threads have been asleep twice in a row: they sleep nowhere but where they are to be seen. */
static void wait_until_asleep(void)
{
	int rounds = 0;

	while (rounds < 2) {
		DIR *tasks = opendir("/proc/self/task");
		struct dirent *task;
		int running = 0;

		while ((task = readdir(tasks)))
			running |= runs(task->d_name);
		closedir(tasks);
		rounds = running ? 0 : rounds + 1;
		usleep(20 * 1000);
	}
}

int main(void)
{
	pthread_t threads[3], starter, more;
	int i;

	if (pipe(pipes[0]) || pipe(pipes[1]))
		return 1;
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, pipes);
	pthread_create(&starter, NULL, start, NULL);
	wait_until_asleep();
	puts("begun");
	fflush(stdout);
	getchar();
	if (write(pipes[0][1], "x", 1) != 1 || write(pipes[1][1], "x", 1) != 1)
		return 1;
	pthread_join(starter, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&more, NULL, work, NULL);
	wait_until_asleep();
	puts("moved");
	fflush(stdout);
	getchar();
	getchar();
	return 0;
}
