// A process whose threads know their stacks: they say so on standard output, and wait there.
//
//   known wait N       N threads wait in a semaphore, one runs, the first one pauses
//   known blocked N    the N threads block all signals
//   known fork         a child of a fork is asked for its stacks, and asks itself
//   known profiled     a profile is taken for a second, and stacks are asked for all the while and after it
//   known together N   N threads ask for stacks at the same time, again and again, and count who waits
//   known own SIGNAL   the program handles SIGNAL itself, and says how often it did
//   known refused N    the system refuses N threads, and all if N is 0, to read memory by process_vm_readv
//   known errno        a thread fails a system call again and again while it is asked, and checks errno

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
// What follows a call keeps it from becoming a jump.
#define AFTER __asm__ volatile("" ::: "memory")

static sem_t never, ready;
static int block_signals, refuse;

// From here on process_vm_readv is refused, as by sandboxes of containers.
static void refuse_reading(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
}

static NOINLINE void known_wait(void) {
    while (sem_wait(&never) != 0) {
    }
    AFTER;
}

static NOINLINE void known_leaf(void) {
    known_wait();
    AFTER;
}

static NOINLINE void known_recursive(int depth) {
    if (depth > 0)
        known_recursive(depth - 1);
    else
        known_leaf();
    AFTER;
}

// A frame whose size only the machine knows: its CFA hangs on the frame pointer.
static NOINLINE void known_alloca(int size) {
    volatile char *room = __builtin_alloca(size);
    room[0] = 1;
    known_recursive(3);
    AFTER;
}

static NOINLINE int known_compare(const void *a, const void *b) {
    static __thread int once;
    if (!once++)
        known_alloca(64);
    return *(const int *)a - *(const int *)b;
}

static void *waiter(void *argument) {
    int numbers[2] = {2, 1};
    if (refuse)
        refuse_reading();
    if (block_signals) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, 0);
    }
    sem_post(&ready);
    // Through a function of the C library.
    qsort(numbers, 2, sizeof *numbers, known_compare);
    return argument;
}

static void *runner(void *argument) {
    volatile unsigned long turns = 0;
    sem_post(&ready);
    for (;;)
        turns++;
    return argument;
}

static void *failing(void *argument) {
    sem_post(&ready);
    for (;;) {
        errno = 0;
        if (close(-1) != -1 || errno != EBADF)
            abort();
        errno = 4711;
        for (volatile int i = 0; i < 1000; i++) {
        }
        if (errno != 4711)
            abort();
    }
    return argument;
}

static void begin(void *(*run)(void *), int count) {
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, run, 0);
    }
    for (int i = 0; i < count; i++)
        sem_wait(&ready);
    usleep(50000);
}

static void say_ready(void) {
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
}

static void say_own_stacks(void) {
    char *(*stacks)(void) = (char *(*)(void))dlsym(RTLD_DEFAULT, "kcore_agent_stacks_text");
    char *text = stacks ? stacks() : 0;
    printf("%s\n", text ? text : "no stacks");
    fflush(stdout);
}

static int answered;

// Each answer is whole, and the asker's own: its thread stands in it, with those that wait.
static void *asker(void *argument) {
    char *(*stacks)(void) = (char *(*)(void))dlsym(RTLD_DEFAULT, "kcore_agent_stacks_text");
    void (*release)(char *) = (void (*)(char *))dlsym(RTLD_DEFAULT, "kcore_agent_free");
    pthread_barrier_wait(argument);
    for (int turn = 0; stacks && release && turn < 20; turn++) {
        char *text = stacks();
        if (!text || !strstr(text, "known_wait") || !strstr(text, "asker") || !strstr(text, "main"))
            abort();
        release(text);
        __atomic_add_fetch(&answered, 1, __ATOMIC_RELAXED);
    }
    return argument;
}

static void ask_together(int number) {
    pthread_t threads[64];
    pthread_barrier_t all;
    number = number < 64 ? number : 64;
    pthread_barrier_init(&all, 0, (unsigned)number);
    for (int i = 0; i < number; i++)
        pthread_create(&threads[i], 0, asker, &all);
    for (int i = 0; i < number; i++)
        pthread_join(threads[i], 0);
    printf("answered %d\n", answered);
}

static volatile sig_atomic_t handled;

static void handle(int signal) {
    (void)signal;
    handled++;
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "wait";
    int number = count > 2 ? atoi(arguments[2]) : 5;
    sem_init(&never, 0, 0);
    sem_init(&ready, 0, 0);
    if (!strcmp(way, "fork")) {
        begin(waiter, 2);
        pid_t child = fork();
        if (child == 0) {
            begin(waiter, number);
            say_own_stacks();
            _exit(0);
        }
        waitpid(child, 0, 0);
        say_own_stacks();
        return 0;
    }
    if (!strcmp(way, "profiled")) {
        char *(*stacks)(void) = (char *(*)(void))dlsym(RTLD_DEFAULT, "kcore_agent_stacks_text");
        begin(runner, 1);
        for (int profile = 0; profile < 2; profile++) {
            time_t end = time(0) + 3;
            kill(getpid(), 12);
            while (time(0) < end)
                if (!strstr(stacks(), "runner"))
                    return 1;
        }
        printf("asked\n");
        return 0;
    }
    if (!strcmp(way, "together")) {
        begin(waiter, 2);
        ask_together(number);
        return 0;
    }
    if (!strcmp(way, "own")) {
        struct sigaction action = {.sa_handler = handle};
        sigaction(number, &action, 0);
        kill(getpid(), number);
        say_own_stacks();
        printf("handled %d\n", (int)handled);
        return 0;
    }
    block_signals = !strcmp(way, "blocked");
    refuse = !strcmp(way, "refused") && number > 0;
    if (!strcmp(way, "refused") && number == 0) {
        // The agent's thread is made of this one when it is asked.
        refuse_reading();
        number = 3;
    }
    begin(waiter, number);
    begin(!strcmp(way, "errno") ? failing : runner, 1);
    say_ready();
    for (;;)
        pause();
}
