// A process that spends 70, 20 and 10 parts of its time in three functions, in short turns. The turns are of many
// lengths: the kernel looks at timers of used time every few milliseconds, and who works in step with that is seen
// at the same places again and again.

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

// Each has a counter of its own: equal functions would be made one.
#define SPEND(name)                                                                                              \
    static volatile unsigned long turns_of_##name;                                                               \
    static NOINLINE double name(double seconds) {                                                                \
        double begun = now(), at = begun;                                                                        \
        while (at - begun < seconds) {                                                                           \
            for (int i = 0; i < 20000; i++)                                                                      \
                turns_of_##name++;                                                                                \
            at = now();                                                                                          \
        }                                                                                                        \
        return at - begun;                                                                                       \
    }

SPEND(spend_seventy)
SPEND(spend_twenty)
SPEND(spend_ten)

int main(void) {
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    // Each takes what it owes: what one took too much is not taken from the others.
    double due = 0, spent[3] = {0, 0, 0};
    for (unsigned random = 1;; random = random * 1103515245 + 12345) {
        due += .0005 + .0095 * (random >> 16) / 65536;
        if (spent[0] < due * .7)
            spent[0] += spend_seventy(due * .7 - spent[0]);
        if (spent[1] < due * .2)
            spent[1] += spend_twenty(due * .2 - spent[1]);
        if (spent[2] < due * .1)
            spent[2] += spend_ten(due * .1 - spent[2]);
    }
}
