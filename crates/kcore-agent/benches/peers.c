// The same collection as the agent's, with other unwinders in the handler: those of libunwind and libgcc.
//
//   peers THREADS libunwind|libgcc
//
// One line for each of five rounds: microseconds of the whole; from signal to answer in the median and at most; of
// a handler in the median and at most.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096, FRAMES = 128 };

static sem_t never, ready;
static int (*unwind)(void **, int);
static int tids[MOST], counts[MOST];
static double took[MOST], asked[MOST], answered[MOST];
static int answers;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    void *frames[FRAMES];
    double begun = now();
    int index = info->si_value.sival_int;
    counts[index] = unwind(frames, FRAMES);
    double ended = now();
    took[index] = ended - begun;
    answered[index] = ended - asked[index];
    __atomic_add_fetch(&answers, 1, __ATOMIC_RELEASE);
}

static __attribute__((noinline, noclone)) void deep(int depth) {
    if (depth > 0) {
        deep(depth - 1);
    } else {
        sem_post(&ready);
        while (sem_wait(&never) != 0) {
        }
    }
    __asm__ volatile("" ::: "memory");
}

static void *run(void *argument) {
    *(int *)argument = (int)syscall(SYS_gettid);
    deep(25);
    return argument;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void ask(int threads) {
    answers = 0;
    double begun = now();
    for (int i = 0; i < threads; i++) {
        siginfo_t info = {0};
        info.si_signo = 35;
        info.si_code = SI_QUEUE;
        info.si_pid = getpid();
        info.si_value.sival_int = i;
        asked[i] = now();
        syscall(SYS_rt_tgsigqueueinfo, getpid(), tids[i], 35, &info);
    }
    while (__atomic_load_n(&answers, __ATOMIC_ACQUIRE) < threads)
        usleep(100);
    double all = now() - begun;
    qsort(took, threads, sizeof *took, compare);
    qsort(answered, threads, sizeof *answered, compare);
    printf("%.0f; %.1f %.1f; %.1f %.1f (%d frames)\n", all, answered[threads / 2], answered[threads - 1],
           took[threads / 2], took[threads - 1], counts[0]);
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1000;
    int libunwind = count > 2 && !strcmp(arguments[2], "libunwind");
    void *library = libunwind ? dlopen("libunwind.so.8", RTLD_NOW) : 0;
    unwind = libunwind ? (library ? (int (*)(void **, int))dlsym(library, "unw_backtrace") : 0) : backtrace;
    if (!unwind || threads > MOST)
        return 1;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(35, &action, 0);
    sem_init(&never, 0, 0);
    sem_init(&ready, 0, 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, run, &tids[i]) != 0)
            return 1;
    }
    for (int i = 0; i < threads; i++)
        sem_wait(&ready);
    usleep(200000);
    for (int i = 0; i < 5; i++)
        ask(threads);
    fflush(stdout);
    _exit(0);
}
