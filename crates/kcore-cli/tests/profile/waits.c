/* A process whose only thread cannot stop, since it waits for its child to end or to start another program. */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(void)
{
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return 0;
}
