/* More memory than can be copied within the time that a test gives for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not on its stack, so that it has to be there. */
char *memory;

__attribute__((noinline)) int wait_for_good(void)
{
    for (;;)
        pause();
    return puts("never");
}

int main(void)
{
    size_t size = 1200UL << 20;
    memory = malloc(size);
    if (!memory)
        abort();
    memset(memory, 'b', size);
    printf("ready\n");
    fflush(stdout);
    return wait_for_good();
}
