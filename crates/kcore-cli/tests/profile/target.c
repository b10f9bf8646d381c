/* Spends 70, 20 and 10 of 100 parts of its time in three functions, by the clock, and counts how much it
 * was: whatever else the machine does. Another thread sleeps. At each line that it reads it writes the three
 * sums in nanoseconds. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long sums[3];

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((noinline)) long spin_until(long end)
{
    long time;
    do
        for (volatile int i = 0; i < 2000; i++)
            ;
    while ((time = now()) < end);
    return time;
}

__attribute__((noinline)) long seventy(long start)
{
    long end = spin_until(start + 700000);
    sums[0] += end - start;
    return end;
}

__attribute__((noinline)) long twenty(long start)
{
    long end = spin_until(start + 200000);
    sums[1] += end - start;
    return end;
}

__attribute__((noinline)) long ten(long start)
{
    long end = spin_until(start + 100000);
    sums[2] += end - start;
    return end;
}

__attribute__((noinline)) void sleep_for_good(void)
{
    for (;;)
        pause();
}

static void *sleeper(void *unused)
{
    sleep_for_good();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleeper, NULL);
    struct pollfd input = { .fd = 0, .events = POLLIN };
    for (long time = now();;) {
        time = seventy(time);
        time = twenty(time);
        time = ten(time);
        if (poll(&input, 1, 0) > 0) {
            char line[64];
            if (read(0, line, sizeof line) <= 0)
                return 0;
            printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
            fflush(stdout);
            time = now();
        }
    }
}
