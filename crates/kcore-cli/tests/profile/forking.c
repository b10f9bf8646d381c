/* A server whose workers come and go. Each process says what it is, with its id, and works in a function of its own for
 * as long as the first one lives. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t first;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin_for(double seconds)
{
    double end = now() + seconds;
    while (now() < end) {
    }
}

static int server_lives(void)
{
    return kill(first, 0) == 0;
}

static void tell(const char *what)
{
    dprintf(1, "%s %d\n", what, getpid());
}

__attribute__((noinline)) static void work_for_good(void)
{
    while (server_lives())
        spin_for(0.05);
}

/* Most of its life it sleeps. */
__attribute__((noinline)) static void work_and_go(void)
{
    for (int turn = 0; turn < 300 && server_lives(); turn++) {
        spin_for(0.001);
        usleep(9000);
    }
}

__attribute__((noinline)) static void work_without_parent(void)
{
    while (server_lives()) {
        spin_for(0.002);
        usleep(8000);
    }
}

__attribute__((noinline)) static void become_another_program(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    tell("other");
    execlp("sleep", "sleep", "600", NULL);
}

/* Nobody else can trace it then. */
__attribute__((noinline)) static void be_traced(void)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    tell("traced");
    while (server_lives())
        usleep(50000);
}

/* Its child goes on when somebody has ended it. */
static void foster(void)
{
    if (fork() == 0) {
        tell("orphan");
        work_without_parent();
        _exit(0);
    }
    tell("foster");
    while (server_lives())
        usleep(50000);
}

static void begin(void (*work)(void))
{
    if (fork() == 0) {
        work();
        _exit(0);
    }
}

static void stay(void)
{
    tell("staying");
    work_for_good();
}

static void pass(void)
{
    tell("passing");
    work_and_go();
}

/* For each process that ends there is another one. */
__attribute__((noinline)) static void supervise(void)
{
    begin(foster);
    begin(stay);
    begin(be_traced);
    begin(become_another_program);
    for (;;) {
        begin(pass);
        wait(NULL);
    }
}

int main(void)
{
    first = getpid();
    signal(SIGPIPE, SIG_IGN);
    tell("server");
    supervise();
}
