/* Waits in functions of known names, and says "ready" once all threads do. The first argument says what else it does:
 *
 * plain    nothing
 * hidden   lets nobody read its mappings
 * handles  handles signal 35 itself
 * resets   makes signal 35 what it is by default, after the agent was installed
 * blocks   has all threads block signal 35
 * mute     looks as if it had the agent, and handles its signal without a word
 *
 * At each line that it reads it writes how often its own handler ran. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile int handled;
static atomic_int waiting;

static void handle(int signal)
{
    (void)signal;
    handled++;
}

__attribute__((noinline)) void wait_in_thread(void)
{
    waiting++;
    for (;;)
        pause();
}

static void *run(void *unused)
{
    wait_in_thread();
    return unused;
}

__attribute__((noinline)) void wait_in_main(void)
{
    char line[64];
    while (waiting < 3)
        usleep(1000);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        printf("%d\n", handled);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, 35);
    if (!strcmp(word, "hidden"))
        prctl(PR_SET_DUMPABLE, 0);
    if (!strcmp(word, "handles") || !strcmp(word, "mute"))
        sigaction(35, &(struct sigaction){ .sa_handler = handle, .sa_flags = SA_RESTART }, NULL);
    if (!strcmp(word, "resets"))
        signal(35, SIG_DFL);
    if (!strcmp(word, "blocks"))
        pthread_sigmask(SIG_BLOCK, &asked, NULL);
    if (!strcmp(word, "mute")) {
        int file = memfd_create("kcore-agent.1.35", MFD_CLOEXEC);
        mmap(NULL, 4096, PROT_NONE, MAP_SHARED, file, 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
    }
    wait_in_main();
    return 0;
}
