// A process that asks itself while processors are kept busy, by itself and by others, and whose threads know their
// stacks. It says how many stacks were right, frame for frame.
//
//   loaded REQUESTS        each answer must be right
//   loaded REQUESTS lie    the first thread says that it stands below one call more: that must be noticed
//
// Four kinds of threads know their stacks:
//
//   waiters    wait in a semaphore, each below so many calls
//   spinners   never leave the processor, each below so many calls
//   climbers   call two functions in turn, up to a depth and back: wherever they are, every other frame is the same
//   takers     take memory and give it back in a function below others: functions of the C library stand within
//
// Besides, threads fork, start programs, and start threads; and children of the process do the same, spin, and are
// no threads of it.

#define _GNU_SOURCE
#include <kcore_agent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
// What follows a call keeps it from becoming a jump.
#define AFTER __asm__ volatile("" ::: "memory")

enum { CLIMB = 40, MOST_FRAMES = 128 };

static sem_t never;
static volatile unsigned long turns;
// Threads that have come to the innermost function of their own. No function of the C library counts them: a thread
// that spins would stand in it still.
static int ready;
#define READY __atomic_add_fetch(&ready, 1, __ATOMIC_RELEASE)

static NOINLINE void known_wait(void) {
    READY;
    while (sem_wait(&never) != 0) {
    }
    AFTER;
}

static NOINLINE void known_spin(void) {
    READY;
    for (;;)
        turns++;
}

static NOINLINE void known_take(void) {
    void *kept[64] = {0};
    READY;
    for (unsigned long i = 0;; i++) {
        size_t bytes = 1 + i * 7919 % 100000;
        free(kept[i % 64]);
        kept[i % 64] = malloc(bytes);
        if (kept[i % 64])
            memset(kept[i % 64], 1, bytes);
    }
}

static NOINLINE void known_below(int calls, void (*last)(void)) {
    // A frame whose size only the machine knows: its CFA hangs on the frame pointer.
    volatile char *room = __builtin_alloca(16 * (size_t)(calls + 1));
    room[0] = 1;
    if (calls > 0)
        known_below(calls - 1, last);
    else
        last();
    AFTER;
}

static NOINLINE void known_odd(int depth);

static NOINLINE void known_even(int depth) {
    turns++;
    if (depth > 0)
        known_odd(depth - 1);
    turns++;
}

static NOINLINE void known_odd(int depth) {
    volatile int kept[8] = {depth};
    if (depth > 0)
        known_even(depth - 1);
    turns += (unsigned long)kept[0];
}

static NOINLINE void known_climb(void) {
    READY;
    for (;;) {
        known_even(CLIMB);
        AFTER;
    }
}

// A thread that knows its stack.
struct known {
    void (*last)(void);
    const char *innermost;
    int calls;
    pid_t tid;
};

static void *begin_known(void *argument) {
    struct known *known = argument;
    known->tid = gettid();
    known_below(known->calls, known->last);
    return argument;
}

static void *fork_children(void *argument) {
    for (;;) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (child > 0)
            waitpid(child, 0, 0);
    }
    return argument;
}

static void *start_programs(void *argument) {
    char *const arguments[] = {(char *)"true", 0}, *const environment[] = {0};
    for (;;) {
        pid_t child;
        if (posix_spawn(&child, "/bin/true", 0, 0, arguments, environment) == 0)
            waitpid(child, 0, 0);
    }
    return argument;
}

static void *nothing(void *argument) {
    return argument;
}

static void *start_threads(void *argument) {
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, 0, nothing, 0) == 0)
            pthread_join(thread, 0);
    }
    return argument;
}

static void *spin(void *argument) {
    for (;;)
        turns++;
    return argument;
}

static void begin(void *(*run)(void *), void *argument) {
    pthread_t thread;
    if (pthread_create(&thread, 0, run, argument) != 0)
        abort();
}

// A process that keeps processors busy until this one ends.
static void burden(void *(*run)(void *)) {
    pid_t parent = getpid();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            run(0);
        _exit(0);
    }
}

static int is(const struct kcore_agent_frame *frame, const char *function) {
    return frame->function && !strcmp(frame->function, function);
}

// Whether these are the frames of a climber, outermost last: the two functions in turn, from the even one on.
static int climbs(const struct kcore_agent_frame *frames, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is(&frames[count - 1 - i], i % 2 ? "known_odd" : "known_even"))
            return 0;
    return count <= CLIMB + 1;
}

// Whether these are frames of other functions: of the C library, and of jumps to it.
static int is_foreign(const struct kcore_agent_frame *frames, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (frames[i].function && strstr(frames[i].function, "known"))
            return 0;
    return 1;
}

// Whether these are the frames within the thread's innermost function of its own.
static int is_inner(const struct known *known, const struct kcore_agent_frame *frames, size_t count) {
    if (known->last == known_spin)
        return count == 0;
    if (known->last == known_climb)
        return climbs(frames, count);
    return is_foreign(frames, count);
}

// Whether these are the frames from which that one was called, up to those with which the C library begins a thread.
static int is_outer(const struct known *known, const struct kcore_agent_frame *frames, size_t count) {
    size_t below = (size_t)known->calls + 1;
    for (size_t i = 0; i < below; i++)
        if (i >= count || !is(&frames[i], "known_below"))
            return 0;
    return below < count && is(&frames[below], "begin_known") && is_foreign(frames + below + 1, count - below - 1) &&
           count - below <= 3 && frames[count - 1].function && strstr(frames[count - 1].function, "clone");
}

// Whether the stack is the one that the thread knows, frame for frame.
static int is_right(const struct known *known, const struct kcore_agent_frame *frames, size_t count) {
    size_t own = 0;
    while (own < count && !is(&frames[own], known->innermost))
        own++;
    return own < count && is_inner(known, frames, own) && is_outer(known, frames + own + 1, count - own - 1);
}

static void show(const struct known *known, const struct kcore_agent_frame *frames, size_t count, const char *end) {
    fprintf(stderr, "thread %d below %d calls of %s:\n", (int)known->tid, known->calls, known->innermost);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %#llx %s (%s)\n", (unsigned long long)frames[i].pc,
                frames[i].function ? frames[i].function : "?", frames[i].trust);
    fprintf(stderr, "  -- %s\n", end);
}

// Leaves the frames of a thread, and tells why there are no more; NULL when the thread is not there.
static const char *find(const kcore_agent_collection *all, pid_t tid, struct kcore_agent_frame *frames, size_t *count) {
    for (size_t group = 0; group < kcore_agent_groups(all); group++)
        for (size_t i = 0; i < kcore_agent_group_threads(all, group); i++) {
            if (kcore_agent_group_thread(all, group, i) != tid)
                continue;
            for (*count = 0; *count < MOST_FRAMES; ++*count)
                if (kcore_agent_group_frame(all, group, *count, &frames[*count], sizeof *frames) != 0)
                    break;
            return kcore_agent_group_end(all, group);
        }
    return 0;
}

// Whether an answer has the thread, and its stack is right.
static int has(const kcore_agent_collection *all, const struct known *known) {
    struct kcore_agent_frame frames[MOST_FRAMES];
    size_t count = 0;
    const char *end = find(all, known->tid, frames, &count);
    if (end && is_right(known, frames, count))
        return 1;
    show(known, frames, count, end ? end : "it is not there");
    return 0;
}

static struct known threads[] = {
#define KNOWN(last, calls) {last, #last, calls, 0}
    KNOWN(known_wait, 0),  KNOWN(known_wait, 1),  KNOWN(known_wait, 30), KNOWN(known_spin, 0), KNOWN(known_spin, 1),
    KNOWN(known_spin, 30), KNOWN(known_climb, 0), KNOWN(known_climb, 5), KNOWN(known_take, 0), KNOWN(known_take, 20),
};

enum { KNOWN_THREADS = sizeof threads / sizeof *threads };

static unsigned long right, wrong, missing;

static void ask(void) {
    kcore_agent_collection *all = 0;
    int error = kcore_agent_collect(&all);
    if (error) {
        fprintf(stderr, "%s\n", strerror(error));
        exit(1);
    }
    for (size_t i = 0; i < kcore_agent_missing(all); i++, missing++)
        fprintf(stderr, "thread %d %s\n", kcore_agent_missing_thread(all, i), kcore_agent_missing_why(all, i));
    for (int i = 0; i < KNOWN_THREADS; i++)
        *(has(all, &threads[i]) ? &right : &wrong) += 1;
    kcore_agent_release(all);
}

// Before there are threads: as many processes that spin as there are processors, and others.
static void burden_machine(void) {
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
        burden(spin);
    burden(fork_children);
    burden(start_programs);
}

int main(int count, char **arguments) {
    int requests = count > 1 ? atoi(arguments[1]) : 100;
    burden_machine();
    int error = kcore_agent_install();
    if (error) {
        fprintf(stderr, "%s\n", strerror(error));
        return 1;
    }
    sem_init(&never, 0, 0);
    for (int i = 0; i < KNOWN_THREADS; i++)
        begin(begin_known, &threads[i]);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < KNOWN_THREADS)
        usleep(1000);
    begin(fork_children, 0);
    begin(start_programs, 0);
    begin(start_threads, 0);
    if (count > 2 && !strcmp(arguments[2], "lie"))
        threads[0].calls++;
    for (int request = 0; request < requests; request++)
        ask();
    printf("right %lu wrong %lu missing %lu\n", right, wrong, missing);
    return 0;
}
