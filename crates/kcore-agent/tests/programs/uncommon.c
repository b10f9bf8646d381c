// Processes that do what few do, and ask for their stacks: one for each word. All but `storage` and the library are
// compiled alike; a process that hangs is ended after some time.
//
//   uncommon WORD [LIBRARY]

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <kcore_agent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define AFTER __asm__ volatile("" ::: "memory")

#ifdef LIBRARY
// A library whose constructor does what the program wants.
extern void constructed(void);

__attribute__((constructor)) static void constructor(void) {
    constructed();
    AFTER;
}
#else

static const char *word;
static sem_t there, go_on;

static void say(const char *text) {
    printf("%s\n", text);
    fflush(stdout);
}

static KEEP void ask(void) {
    char *text = kcore_agent_stacks_text();
    say(text ? text : "no answer");
    kcore_agent_free(text);
    AFTER;
}

static void *sleeper(void *argument) {
    for (;;)
        pause();
    return argument;
}

static void in_thread(void *(*run)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, 0, run, argument) != 0)
        exit(2);
}

static void install(void) {
    printf("install %d\n", kcore_agent_install());
    fflush(stdout);
}

KEEP void constructed(void) {
    if (strcmp(word, "constructor") == 0) {
        install();
        ask();
    } else {
        sem_post(&there);
        sem_wait(&go_on);
    }
    AFTER;
}

static KEEP void *load(void *library) {
    if (!dlopen(library, RTLD_NOW))
        say(dlerror());
    AFTER;
    return 0;
}

// A library is loaded, and does not let go on who loads it.
static KEEP void loading(char *library) {
    pthread_t thread;
    install();
    if (pthread_create(&thread, 0, load, library) != 0)
        exit(2);
    sem_wait(&there);
    ask();
    ask();
    sem_post(&go_on);
    pthread_join(thread, 0);
}

static volatile int over;

static void *ask_often(void *argument) {
    for (int i = 0; i < 40; i++)
        kcore_agent_free(kcore_agent_stacks_text());
    over = 1;
    return argument;
}

// All threads change their user again and again, while one asks.
static KEEP void credentials(void) {
    unsigned long calls = 0;
    install();
    in_thread(sleeper, 0);
    in_thread(ask_often, 0);
    for (; !over; calls++)
        if (seteuid(geteuid()) != 0)
            exit(2);
    for (int i = 0; i < 100; i++)
        if (seteuid(geteuid()) != 0)
            exit(2);
    say(calls > 0 ? "all changed" : "none changed");
}

static void at_exit(void) { say("exit ran"); }

static void *last(void *argument) {
    pthread_t first = *(pthread_t *)argument;
    pthread_join(first, 0);
    if (strcmp(word, "first-ended") == 0)
        ask();
    return argument;
}

// The first thread ends before others.
static KEEP void first_ends(void) {
    static pthread_t self;
    self = pthread_self();
    atexit(at_exit);
    install();
    if (strcmp(word, "asked-before") == 0)
        ask();
    in_thread(last, &self);
    pthread_exit(0);
}

static unsigned long mapped(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        exit(2);
    fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes) {
    struct rlimit limit = {bytes, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        exit(2);
}

// Children are forked off in the first request and in later ones, and ask.
static KEEP void forks(void) {
    install();
    in_thread(ask_often, 0);
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            char *text = kcore_agent_stacks_text();
            _exit(text && strstr(text, ": 1 unique stack of 1 thread\n") && strstr(text, "forks") ? 0 : 1);
        }
        int status;
        waitpid(child, &status, 0);
        if (status != 0)
            say("a child without its stack");
    }
    AFTER;
}

// There is no memory for a request.
static KEEP void memory(void) {
    install();
    for (unsigned long more = 0; more < 24 << 20; more += 3 << 20) {
        pid_t child = fork();
        if (child == 0) {
            alarm(120);
            limit(mapped() + more);
            kcore_agent_free(kcore_agent_stacks_text());
            kcore_agent_free(kcore_agent_stacks_text());
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        say(status == 0 ? "went on" : "ended");
    }
}

// What is missing at first is there later.
static KEEP void again(void) {
    limit(mapped() + (200 << 10));
    install();
    limit(RLIM_INFINITY);
    install();
    install();
    ask();
    AFTER;
}

// The system refuses a call, with an error, where its first argument is this one (or whatever it is).
static void refuse(int call, int argument, int error) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, argument < 0 ? 0 : 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, 2, &program) != 0)
        exit(2);
}

static void collect(void) {
    kcore_agent_collection *collection;
    printf("collect %d\n", kcore_agent_collect(&collection));
    fflush(stdout);
}

// A program that gives up what it was started with is one that may not be looked at.
static KEEP void lesser_user(void) {
    install();
    if (setgid(65534) != 0 || setuid(65534) != 0)
        exit(2);
    ask();
    AFTER;
}

static KEEP void unload(char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    int (*install)(void) = handle ? (int (*)(void))dlsym(handle, "kcore_agent_install") : 0;
    if (!install || install() != 0 || dlclose(handle) != 0)
        exit(2);
    raise(35);
    say("went on");
}

// Nobody reads what is written to standard error.
static KEEP void full(void) {
    int ends[2];
    char bytes[4096] = {0};
    install();
    if (pipe(ends) != 0 || dup2(ends[1], 2) != 2 || fcntl(2, F_SETFL, O_NONBLOCK) != 0)
        exit(2);
    while (write(2, bytes, sizeof bytes) > 0)
        ;
    fcntl(2, F_SETFL, 0);
    raise(35);
    ask();
    AFTER;
}

#ifdef STORAGE
static __thread char storage[STORAGE];
#endif

#ifdef REFUSING
// Memory of the program's threads is theirs; others get none while it is refused.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
static __thread int ours;
static volatile int refused;

void *malloc(size_t size) { return refused && !ours ? 0 : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return refused && !ours ? 0 : __libc_calloc(count, size); }
void *realloc(void *at, size_t size) { return refused && !ours ? 0 : __libc_realloc(at, size); }
void *aligned_alloc(size_t to, size_t size) { return refused && !ours ? 0 : __libc_memalign(to, size); }
int posix_memalign(void **at, size_t to, size_t size) { return (*at = aligned_alloc(to, size)) ? 0 : ENOMEM; }

static KEEP void refusing(void) {
    ours = 1;
    install();
    if (strcmp(word, "asked-before") == 0)
        ask();
    refused = 1;
    ask();
    refused = 0;
    ask();
    collect();
    raise(35);
    raise(SIGUSR2);
    say("went on");
    AFTER;
}
#endif

int main(int count, char **arguments) {
    word = arguments[1];
    char *library = count > 2 ? arguments[2] : 0;
    sem_init(&there, 0, 0);
    sem_init(&go_on, 0, 0);
    alarm(120);
#ifdef STORAGE
    memset(storage, 1, sizeof storage);
    install();
    ask();
#elif defined(REFUSING)
    refusing();
#else
    if (strcmp(word, "constructor") == 0) {
        load(library);
    } else if (strcmp(word, "loading") == 0) {
        loading(library);
    } else if (strcmp(word, "credentials") == 0) {
        credentials();
    } else if (strcmp(word, "last") == 0 || strcmp(word, "first-ended") == 0 || strcmp(word, "asked-before") == 0) {
        first_ends();
    } else if (strcmp(word, "forks") == 0) {
        forks();
    } else if (strcmp(word, "memory") == 0) {
        memory();
    } else if (strcmp(word, "again") == 0) {
        again();
    } else if (strcmp(word, "no-questions") == 0) {
        install();
        refuse(SYS_rt_tgsigqueueinfo, -1, EPERM);
        ask();
    } else if (strcmp(word, "no-thread") == 0) {
        install();
        refuse(SYS_clone, -1, EPERM);
        collect();
    } else if (strcmp(word, "no-id") == 0) {
        refuse(SYS_prctl, PR_GET_TID_ADDRESS, EINVAL);
        install();
        ask();
    } else if (strcmp(word, "lesser-user") == 0) {
        lesser_user();
    } else if (strcmp(word, "unload") == 0) {
        unload(library);
    } else if (strcmp(word, "full") == 0) {
        full();
    } else {
        return 2;
    }
#endif
    return 0;
}
#endif
