/*
 * kcore-agent: a process shows the stacks of its own threads, and profiles itself, without a tracer.
 *
 * Link with -lkcore_agent (see kcore-agent.pc), or preload libkcore_agent.so and change nothing.
 * docs/book/src/agent.md says what it does to the process.
 */
#ifndef KCORE_AGENT_H
#define KCORE_AGENT_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__GLIBC__)
#error "kcore-agent works with glibc alone, not with musl or another C library: see docs/book/src/agent.md"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Installs the agent in this process. From then on it writes the unique stacks of all threads to standard
 * error on signal 35, and SIGUSR2 begins a profile and ends it. Environment variables say otherwise:
 *
 *   KCORE_AGENT_SIGNAL           the real-time signal for stacks, by which threads are asked too (35)
 *   KCORE_AGENT_PROFILE_SIGNAL   the signal for profiles; 0 for none (12, which is SIGUSR2)
 *   KCORE_AGENT_HZ               samples in a second of a thread that runs (100)
 *   KCORE_AGENT_SECONDS          how long a profile takes when nobody ends it (30)
 *   KCORE_AGENT_LANGUAGES        0: no other process takes profiles with functions of languages (1)
 *   KCORE_AGENT_DUMPABLE         1: a process that may not be dumped may be while that is done (0)
 *   KCORE_AGENT_OUTPUT           the file at whose end is written what would go to standard error
 *   KCORE_AGENT_TIMEOUT_MS       how long threads are waited for that do not answer (1000)
 *   KCORE_AGENT_ANSWER_SECONDS   how long a thread waits that calls one of the functions below (60)
 *
 * Handlers that the program has are left alone. Call it once, from any thread, before signals are needed, also from
 * a constructor; not from a signal handler. Children of a fork have it too. When it failed it may be called again.
 *
 * Returns 0, or an error number: EALREADY when it was installed before (so also when it is preloaded), EBUSY when
 * all threads block the signal for stacks, or the program handles it itself (so also when another copy of the agent
 * does: one that is linked in and one that is preloaded), EINVAL when a variable has a value that it cannot have, or
 * what the system said, which is never 0: ENOMEM, EAGAIN; ENOSYS where the system or the C library does not tell of
 * threads what has to be known.
 */
int kcore_agent_install(void);

/*
 * The unique stacks of all threads, also of the one that calls, as text for people: what the signal writes.
 * Waits until they are there, for as long as KCORE_AGENT_ANSWER_SECONDS says: a thread that has the allocator's
 * lock and keeps it would keep everybody waiting. Several threads may call it at the same time, and get them one
 * after the other. Not from a signal handler.
 *
 * Returns a string that ends with a NUL, to be given to kcore_agent_free; NULL when the agent is not
 * installed, the program has taken the signal since, the stacks could not be collected, or no answer came in time.
 */
char *kcore_agent_stacks_text(void);

/*
 * The same as JSON Lines: the objects of type "stack_group" that `kcore --json -c ::stacks` writes, as
 * docs/book/src/json.md describes them.
 *
 * Returns as kcore_agent_stacks_text does.
 */
char *kcore_agent_stacks_json(void);

/*
 * Frees a string that one of the functions above returned. NULL is allowed.
 */
void kcore_agent_free(char *text);

/*
 * Stacks as structures: a collection, which belongs to the caller until it is released. What the functions below
 * give of it belongs to the collection: it is not freed, and ends with it. A collection does not change: several
 * threads may read one at the same time.
 *
 * Groups, threads and frames are numbered from 0. NULL for a collection, or a number that is too large, gives
 * what is said for "none".
 */
typedef struct kcore_agent_collection kcore_agent_collection;

/*
 * Collects the unique stacks of all threads, as kcore_agent_stacks_text does, and leaves the collection in *to.
 *
 * Returns 0, or an error number, and then NULL in *to: ENOSYS when the agent is not installed, EBUSY when the
 * program has taken its signal since, EINVAL when `to` is NULL, EIO when the stacks could not be collected,
 * ETIMEDOUT when no answer came in time, ENOMEM when there is too little memory to begin, ENOTRECOVERABLE when a
 * request ended in the middle (for want of memory, most often), after which none is served any more, or what the
 * system said.
 */
int kcore_agent_collect(kcore_agent_collection **to);

/*
 * Frees a collection and all that it gave. NULL is allowed.
 */
void kcore_agent_release(kcore_agent_collection *collection);

/*
 * How many groups of threads with the same stack there are, the largest one first; 0 for none.
 */
size_t kcore_agent_groups(const kcore_agent_collection *collection);

/*
 * How many threads a group has; 0 for none.
 */
size_t kcore_agent_group_threads(const kcore_agent_collection *collection, size_t group);

/*
 * The id of a thread of a group, as gettid(2) gives it; 0 for none.
 */
int kcore_agent_group_thread(const kcore_agent_collection *collection, size_t group, size_t thread);

/*
 * The name of the system call that the threads of a group wait in; NULL where they wait in none, or for none.
 */
const char *kcore_agent_group_waits_in(const kcore_agent_collection *collection, size_t group);

/*
 * Why the stack of a group has no more frames, in words; NULL for none.
 */
const char *kcore_agent_group_end(const kcore_agent_collection *collection, size_t group);

/*
 * How many frames the stack of a group has; 0 for none.
 */
size_t kcore_agent_group_frames(const kcore_agent_collection *collection, size_t group);

/*
 * A frame. Later versions add fields at the end, and change none of these.
 */
struct kcore_agent_frame {
    /* The address at which it runs, or to which it will return. */
    uint64_t pc;
    /* The function, demangled; NULL where it is not known. */
    const char *function;
    /* The file whose code it is; NULL where it is not known. */
    const char *module;
    /* The source file; NULL where it is not known. */
    const char *file;
    /* How the frame was found: the words of `::stack -v`. */
    const char *trust;
    /* The line, from 1; 0 where it is not known. */
    uint32_t line;
    /* KCORE_AGENT_FRAME_INLINE, or 0. */
    uint32_t flags;
};

/* The call was inlined into the next frame. */
#define KCORE_AGENT_FRAME_INLINE 1u

/*
 * Tells of a frame of a group; frame 0 is the innermost. `size` is `sizeof *to`: a program that was compiled with an
 * older header gets the fields that it knows, and one with a newer header finds zeros in those that the library does
 * not know.
 *
 * Returns 0; ENOENT for none, and zeros in *to; EINVAL when `to` is NULL.
 */
int kcore_agent_group_frame(const kcore_agent_collection *collection, size_t group, size_t frame,
                            struct kcore_agent_frame *to, size_t size);

/*
 * How many threads were asked and did not answer; 0 for none.
 */
size_t kcore_agent_missing(const kcore_agent_collection *collection);

/*
 * The id of a thread that did not answer; 0 for none.
 */
int kcore_agent_missing_thread(const kcore_agent_collection *collection, size_t index);

/*
 * Why it did not answer, in words; NULL for none.
 */
const char *kcore_agent_missing_why(const kcore_agent_collection *collection, size_t index);

/*
 * What a collection cost the process. Times are nanoseconds. Later versions add fields at the end.
 */
struct kcore_agent_costs {
    /* Threads that answered. */
    uint64_t threads;
    /* Threads that ended before they were to answer. */
    uint64_t ended;
    /* Spent on copies of unwind tables, before the first thread was asked. */
    uint64_t prepared_ns;
    /* From the first question to the last answer. */
    uint64_t collected_ns;
    /* From the signal to the answer of a thread: the median, and the longest. */
    uint64_t answer_median_ns;
    uint64_t answer_longest_ns;
    /* How long a thread was held in its handler: the median, and the longest. */
    uint64_t handler_median_ns;
    uint64_t handler_longest_ns;
    /* Spent on names, while all threads ran. */
    uint64_t named_ns;
};

/*
 * Tells what a collection cost. `size` is `sizeof *to`, as for frames.
 *
 * Returns 0; ENOENT for no collection, and zeros in *to; EINVAL when `to` is NULL.
 */
int kcore_agent_collection_costs(const kcore_agent_collection *collection, struct kcore_agent_costs *to, size_t size);

/*
 * The same collection as kcore_agent_stacks_text and kcore_agent_stacks_json would give it; NULL for none.
 */
const char *kcore_agent_collection_text(const kcore_agent_collection *collection);
const char *kcore_agent_collection_json(const kcore_agent_collection *collection);

#ifdef __cplusplus
}
#endif

#endif
