// A process to be looked at, in the way that its first argument says. It prints what a test must know
// of it in one line, and then goes on until it is killed.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RING = 8 };
static _Atomic(atomic_long *) cells[RING];
static atomic_long count;

static void ready(void) {
    printf("ready %p\n", (void *)&count);
    fflush(stdout);
}

// Thread i takes the values i, i + RING, ...: once its cell, on its own stack, has one, it writes the next
// value into the cell of the next thread. So the values of all cells follow each other at every instant.
static void *ring(void *argument) {
    long index = (long)argument;
    atomic_long cell = index - RING;
    cells[index] = &cell;
    while (!cells[(index + 1) % RING]) sched_yield();
    if (index == RING - 1) {
        printf("cells");
        for (int i = 0; i < RING; i++) {
            while (!cells[i]) sched_yield();
            printf(" %p", (void *)cells[i]);
        }
        printf("\n");
        fflush(stdout);
        *cells[0] = 0;
    }
    for (long next = index;; next += RING) {
        while (cell != next) sched_yield();
        *cells[(index + 1) % RING] = next + 1;
    }
    return NULL;
}

static void *wait_forever(void *argument) {
    for (;;) pause();
    return argument;
}

static void *counting(void *argument) {
    for (;;) count++;
    return argument;
}

static void *nothing(void *argument) {
    count++;
    return argument;
}

static void start(void *(*body)(void *), long argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, (void *)argument)) abort();
}

// Counts for a while, and then leaves its place to a thread that it makes: so there are always as many.
static void *relay(void *argument) {
    for (int i = 0; i < 3000; i++) count++;
    pthread_detach(pthread_self());
    start(relay, (long)argument);
    return NULL;
}

static char beside[1 << 20];

// Memory whose pages only this process itself could give, and never does.
static void never_filled(void) {
    char *pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int filler = syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {
        .range = {(unsigned long)pages, 1 << 20}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    int made = filler >= 0 && !ioctl(filler, UFFDIO_API, &api) && !ioctl(filler, UFFDIO_REGISTER, &range);
    start(counting, 0);
    printf("%s %p %p\n", made ? "ready" : "refused", (void *)&count, pages);
    fflush(stdout);
}

static void *execute(void *turn) {
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)turn);
    execl("/proc/self/exe", "target", "execs", text, NULL);
    return NULL;
}

static void on_signal(int number) {
    (void)number;
    count++;
}

static void child(void) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid(pid, NULL, 0);
    count++;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    if (!strcmp(way, "ring")) {
        for (long i = 0; i < RING; i++) start(ring, i);
    } else if (!strcmp(way, "threads")) {
        for (int i = 0; i < 20; i++) start(wait_forever, 0);
        start(counting, 0);
        ready();
    } else if (!strcmp(way, "relay")) {
        memset(beside, 1, sizeof beside);
        for (int i = 0; i < 4; i++) start(relay, i);
        printf("ready %p %p\n", (void *)&count, beside);
        fflush(stdout);
    } else if (!strcmp(way, "never-filled")) {
        never_filled();
    } else if (!strcmp(way, "churn")) {
        ready();
        for (;;) {
            pthread_t threads[4];
            for (int i = 0; i < 4; i++)
                if (pthread_create(&threads[i], NULL, nothing, NULL)) abort();
            for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        }
    } else if (!strcmp(way, "forks")) {
        ready();
        for (;;) child();
    } else if (!strcmp(way, "execs")) {
        // By turns the first thread and another one starts the program again.
        int turn = argc < 3 ? 0 : atoi(argv[2]);
        for (int i = 0; i < 5; i++) start(wait_forever, 0);
        if (argc < 3) ready();
        if (turn % 2) start(execute, turn + 1);
        else execute((void *)(long)(turn + 1));
    } else if (!strcmp(way, "led-by-none")) {
        // Its first thread ends.
        for (int i = 0; i < 3; i++) start(wait_forever, 0);
        start(counting, 0);
        ready();
        pthread_exit(NULL);
    } else if (!strcmp(way, "big")) {
        // More than kcore keeps of what it could not write yet.
        size_t size = 1200UL << 20;
        char *volatile memory = malloc(size);
        if (!memory) abort();
        memset(memory, 'b', size);
        printf("ready %p %p\n", (void *)&way, (void *)(memory + size - 4096));
        fflush(stdout);
        for (;;) pause();
    } else if (!strcmp(way, "undumpable")) {
        // Who gives up the rights of root must not be dumped, and nor must who says so.
        if (!getuid() && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))) abort();
        prctl(PR_SET_DUMPABLE, 0);
        ready();
        for (;;) pause();
    } else if (!strcmp(way, "signals")) {
        signal(SIGRTMIN, on_signal);
        // The more threads, the longer one of them holds a signal back while the others stop.
        for (int i = 0; i < 40; i++) start(wait_forever, 0);
        ready();
    } else if (!strcmp(way, "leaderless")) {
        start(counting, 0);
        ready();
        pthread_exit(NULL);
    } else if (!strcmp(way, "vfork")) {
        start(wait_forever, 0);
        ready();
        if (vfork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            sleep(600);
            _exit(0);
        }
    } else if (!strcmp(way, "exit")) {
        ready();
        return 0;
    }
    for (;;) pause();
}
