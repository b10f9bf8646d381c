// A process that does not rest: threads are born and die, memory is taken and given back, libraries are loaded
// and unloaded, children are forked off and become other programs, and all the while it asks itself for its
// stacks, 20 times a second. It ends with 0 when every thread that must be there was there each time.
//
//   restless SECONDS [preloaded]

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

extern "C" {
int kcore_agent_install(void);
char *kcore_agent_stacks_text(void);
void kcore_agent_free(char *text);
}

static std::atomic<bool> over{false};
static std::atomic<unsigned long> born{0}, taken{0}, loaded{0}, forked{0};

static NOINLINE unsigned long deep(int depth, unsigned long value) {
    volatile unsigned long kept = value;
    unsigned long sum = depth > 0 ? deep(depth - 1, value * 3 + 1) : value;
    return sum + kept;
}

static NOINLINE void be_born() {
    while (!over) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; i++)
            threads.emplace_back([i] { deep(i * 5, i); });
        for (auto &thread : threads)
            thread.join();
        born += 8;
    }
}

static NOINLINE void take_memory() {
    std::vector<std::string> kept(64);
    for (unsigned long i = 0; !over; i++) {
        kept[i % 64] = std::string(1 + i * 7919 % 100000, 'x');
        taken++;
    }
}

static NOINLINE void load_libraries() {
    static const char *names[] = {"libm.so.6", "librt.so.1", "libutil.so.1", "libanl.so.1", "libresolv.so.2",
                                  "libBrokenLocale.so.1", "libnss_dns.so.2", "libthread_db.so.1"};
    for (unsigned long i = 0; !over; i++) {
        void *library = dlopen(names[i % 8], RTLD_NOW);
        if (library) {
            dlsym(library, "no_such_function");
            dlclose(library);
            loaded++;
        }
    }
}

static NOINLINE void fork_children() {
    while (!over) {
        pid_t child = fork();
        if (child == 0)
            _exit(7);
        int status = 0;
        if (child > 0 && waitpid(child, &status, 0) == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 7))
            abort();
        char *const arguments[] = {(char *)"true", nullptr};
        char *const environment[] = {nullptr};
        if (posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environment) == 0)
            waitpid(child, &status, 0);
        forked += 2;
        usleep(2000);
    }
}

static NOINLINE void throw_exceptions() {
    while (!over) {
        try {
            throw std::string("thrown");
        } catch (const std::string &) {
        }
    }
}

// Whether it says of a thread that it is missing, or that its stack is not whole: in a library that was loaded
// a moment ago.
static bool is_reported(const char *text) {
    for (const char *word : {"did not answer", "blocks the signal", "-- return address", "-- no way to unwind"})
        if (strstr(text, word))
            return true;
    return false;
}

// Whether a thread is told. Where libgcc leaves its own frame for the one that catches, its unwind information is
// that of before: that frame alone is certain.
static bool is_told(const char *text, const char *name) {
    bool throws = !strcmp(name, "throw_exceptions");
    return strstr(text, name) || (throws && strstr(text, "`_Unwind_"));
}

static NOINLINE bool ask() {
    char *text = kcore_agent_stacks_text();
    if (!text)
        return false;
    bool all = true;
    for (const char *name : {"be_born", "take_memory", "load_libraries", "fork_children", "throw_exceptions", "main"})
        if (!is_told(text, name) && !is_reported(text)) {
            fprintf(stderr, "no %s in\n%s\n", name, text);
            all = false;
        }
    kcore_agent_free(text);
    return all;
}

int main(int count, char **arguments) {
    int seconds = count > 1 ? atoi(arguments[1]) : 60;
    if (count < 3 && kcore_agent_install() != 0) {
        fprintf(stderr, "not installed\n");
        return 1;
    }
    std::vector<std::thread> threads;
    for (auto run : {be_born, take_memory, load_libraries, fork_children, throw_exceptions})
        threads.emplace_back(run);
    usleep(100000);
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    int asked = 0, failed = 0;
    while (std::chrono::steady_clock::now() < end) {
        auto begun = std::chrono::steady_clock::now();
        asked++;
        failed += !ask();
        std::this_thread::sleep_until(begun + std::chrono::milliseconds(50));
    }
    over = true;
    for (auto &thread : threads)
        thread.join();
    printf("asked %d failed %d born %lu taken %lu loaded %lu forked %lu\n", asked, failed, born.load(), taken.load(),
           loaded.load(), forked.load());
    return failed != 0;
}
