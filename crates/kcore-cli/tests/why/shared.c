/* Waits for a mutex in shared memory that a child holds. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
	pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ready[2];
	char byte;

	if (mutex == MAP_FAILED || pthread_mutex_init(mutex, NULL) || pipe(ready))
		return 1;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_mutex_lock(mutex);
		if (write(ready[1], "x", 1) == 1)
			for (;;)
				pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		return 1;
	puts("begun");
	fflush(stdout);
	pthread_mutex_lock(mutex);
	return 0;
}
