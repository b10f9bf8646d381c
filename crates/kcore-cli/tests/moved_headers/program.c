/* Ends, or waits, below the functions of its library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cold(void (*then)(void));

static void wait_for_nothing(void)
{
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    cold(argc > 1 && strcmp(argv[1], "abort") == 0 ? abort : wait_for_nothing);
    return 0;
}
