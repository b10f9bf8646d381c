/*
 * What the threads of a program do, from structures: a line for each group of threads, and one for each frame
 * of the largest group.
 *
 *   cc -O2 busy.c -o busy $(pkg-config --cflags --libs kcore-agent) -pthread
 *   ./busy
 */
#include <kcore_agent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 4 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;

static __attribute__((noinline)) void wait_for_turn(void) {
    pthread_mutex_lock(&turn);
    pthread_mutex_unlock(&turn);
}

static void *work(void *argument) {
    pthread_barrier_wait(&begun);
    wait_for_turn();
    return argument;
}

/* The first function of a stack that is none of the C library: what the threads wait for. */
static const char *own_function(const kcore_agent_collection *all, size_t group) {
    struct kcore_agent_frame frame;
    for (size_t i = 0; kcore_agent_group_frame(all, group, i, &frame, sizeof frame) == 0; i++)
        if (frame.function && frame.module && !strstr(frame.module, "libc"))
            return frame.function;
    return "?";
}

static void show_group(const kcore_agent_collection *all, size_t group) {
    const char *waits_in = kcore_agent_group_waits_in(all, group);
    printf("%zu threads in %s, waiting in %s: %d", kcore_agent_group_threads(all, group), own_function(all, group),
           waits_in ? waits_in : "nothing", kcore_agent_group_thread(all, group, 0));
    for (size_t i = 1; i < kcore_agent_group_threads(all, group); i++)
        printf(" %d", kcore_agent_group_thread(all, group, i));
    printf("\n");
}

static void show_frames(const kcore_agent_collection *all, size_t group) {
    struct kcore_agent_frame frame;
    for (size_t i = 0; kcore_agent_group_frame(all, group, i, &frame, sizeof frame) == 0; i++) {
        printf("  %#llx %s", (unsigned long long)frame.pc, frame.function ? frame.function : "?");
        if (frame.line)
            printf(" at %s:%u", frame.file, frame.line);
        printf("%s (%s)\n", frame.flags & KCORE_AGENT_FRAME_INLINE ? ", inlined" : "", frame.trust);
    }
    printf("  -- %s\n", kcore_agent_group_end(all, group));
}

/* How many threads the largest group has that waits for a lock. */
static size_t that_wait(const kcore_agent_collection *all) {
    const char *waits_in = kcore_agent_group_waits_in(all, 0);
    return waits_in && !strcmp(waits_in, "futex") ? kcore_agent_group_threads(all, 0) : 0;
}

static int show(void) {
    kcore_agent_collection *all = NULL;
    struct kcore_agent_costs costs;
    do {
        kcore_agent_release(all);
        int error = kcore_agent_collect(&all);
        if (error) {
            fprintf(stderr, "kcore-agent: %s\n", strerror(error));
            return 1;
        }
        /* Some may be on their way to the lock still. */
    } while (that_wait(all) < WORKERS);
    for (size_t i = 0; i < kcore_agent_groups(all); i++)
        show_group(all, i);
    show_frames(all, 0);
    for (size_t i = 0; i < kcore_agent_missing(all); i++)
        printf("thread %d %s\n", kcore_agent_missing_thread(all, i), kcore_agent_missing_why(all, i));
    if (kcore_agent_collection_costs(all, &costs, sizeof costs) == 0)
        printf("%llu threads answered within %llu ns\n", (unsigned long long)costs.threads,
               (unsigned long long)costs.collected_ns);
    kcore_agent_release(all);
    return 0;
}

int main(void) {
    pthread_t threads[WORKERS];
    int failed, error = kcore_agent_install();
    if (error) {
        fprintf(stderr, "kcore-agent: %s\n", strerror(error));
        return 1;
    }
    pthread_mutex_lock(&turn);
    pthread_barrier_init(&begun, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    pthread_barrier_wait(&begun);
    failed = show();
    pthread_mutex_unlock(&turn);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return failed;
}
