// A process whose threads may not take memory or a lock: functions that do end it when one of these threads
// calls them. The threads themselves only compute, so whoever calls is a handler on them.
//
//   poisoned           threads compute and are asked
//   poisoned control   one of them takes memory, which must end the process

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread int poisoned;
static volatile unsigned long calls;

static void check(const char *name) {
    calls++;
    if (poisoned) {
        ssize_t ignored = write(2, "poisoned: ", 10);
        ignored = write(2, name, strlen(name));
        ignored = write(2, "\n", 1);
        (void)ignored;
        abort();
    }
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
    check("malloc");
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    check("calloc");
    return __libc_calloc(count, size);
}

void *realloc(void *at, size_t size) {
    check("realloc");
    return __libc_realloc(at, size);
}

void free(void *at) {
    check("free");
    __libc_free(at);
}

void *memalign(size_t alignment, size_t size) {
    check("memalign");
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    check("aligned_alloc");
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **to, size_t alignment, size_t size) {
    check("posix_memalign");
    *to = __libc_memalign(alignment, size);
    return *to ? 0 : ENOMEM;
}

// Of what locks, looks names up or is not safe in a handler for another reason: the next function of that name.
#define POISON(answer, name, parameters, arguments)                                                              \
    answer name parameters {                                                                                     \
        static answer(*next) parameters;                                                                         \
        check(#name);                                                                                            \
        if (!next)                                                                                               \
            next = (answer(*) parameters)dlvsym(RTLD_NEXT, #name, "GLIBC_2.2.5");                                \
        return next arguments;                                                                                   \
    }

POISON(int, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
POISON(int, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
POISON(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
POISON(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
POISON(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
POISON(char *, getenv, (const char *name), (name))
POISON(int, sigaction, (int signal, const struct sigaction *now, struct sigaction *old), (signal, now, old))

static volatile unsigned long turns;

static __attribute__((noinline, noclone)) void compute(int depth, volatile int *ready) {
    if (depth > 0) {
        compute(depth - 1, ready);
    } else {
        *ready = 1;
        for (;;)
            turns++;
    }
    __asm__ volatile("" ::: "memory");
}

static void *run(void *argument) {
    poisoned = 1;
    compute(20, argument);
    return argument;
}

static void *take_memory(void *argument) {
    poisoned = 1;
    *(void *volatile *)argument = malloc(10);
    return argument;
}

int main(int count, char **arguments) {
    (void)arguments;
    static volatile int ready[3];
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, run, (void *)&ready[i]);
    }
    for (int i = 0; i < 3; i++)
        while (!ready[i])
            usleep(1000);
    if (count > 1) {
        static void *taken;
        pthread_t thread;
        pthread_create(&thread, 0, take_memory, &taken);
        pthread_join(thread, 0);
        return 0;
    }
    char *(*stacks)(void) = (char *(*)(void))dlsym(RTLD_DEFAULT, "kcore_agent_stacks_text");
    unsigned long before = calls;
    for (int i = 0; i < 20; i++) {
        char *text = stacks ? stacks() : 0;
        if (!text || !strstr(text, "compute"))
            return 1;
        if (i == 19)
            printf("%s", text);
    }
    // Samples, and requests by a signal, too.
    kill(getpid(), 12);
    sleep(2);
    kill(getpid(), 12);
    sleep(1);
    printf("calls %lu\n", calls - before);
    return 0;
}
