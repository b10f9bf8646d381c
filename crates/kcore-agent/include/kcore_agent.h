/*
 * kcore-agent: a process shows the stacks of its own threads, and profiles itself, without a tracer.
 *
 * Link with -lkcore_agent (see kcore-agent.pc), or preload libkcore_agent.so and change nothing.
 * docs/agent.md says what it does to the process.
 */
#ifndef KCORE_AGENT_H
#define KCORE_AGENT_H

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
 *   KCORE_AGENT_TIMEOUT_MS       how long threads are waited for that do not answer (1000)
 *
 * Handlers that the program has are left alone. Call it once, from any thread, before signals are needed;
 * not from a signal handler. Children of a fork have it too.
 *
 * Returns 0, or an error number: EALREADY when it was installed before (so also when it is preloaded), EBUSY
 * when the program handles the signal for stacks itself, EINVAL when that is no real-time signal, or what the
 * system said.
 */
int kcore_agent_install(void);

/*
 * The unique stacks of all threads, also of the one that calls, as text for people: what the signal writes.
 * Waits until they are there. Several threads may call it at the same time, and get them one after the other.
 * Not from a signal handler.
 *
 * Returns a string that ends with a NUL, to be given to kcore_agent_free; NULL when the agent is not
 * installed, the program has taken the signal since, or the stacks could not be collected.
 */
char *kcore_agent_stacks_text(void);

/*
 * The same as JSON Lines: the objects of type "stack_group" that `kcore --json -c ::stacks` writes, as
 * docs/json.md describes them.
 *
 * Returns as kcore_agent_stacks_text does.
 */
char *kcore_agent_stacks_json(void);

/*
 * Frees a string that one of the functions above returned. NULL is allowed.
 */
void kcore_agent_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
