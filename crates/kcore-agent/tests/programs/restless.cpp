// A process that does not rest: threads are born and die, memory is taken and given back, libraries are loaded
// and unloaded, children are forked off and become other programs, and all the while it takes a profile of itself
// and asks itself for its stacks, 20 times a second. It ends with 0 when every thread that must be there was there each time.
//
//   restless SECONDS PACE
//
// PACE threads are born in a second, and how much else is done follows from that; 0 is as much as the machine can do.
// Requests that come late, as others took too long, come one after the other until they have caught up: there are 20
// for each second.

#include <dlfcn.h>
#include <kcore_agent.h>
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

using Clock = std::chrono::steady_clock;

static const int REQUESTS = 20;

static std::atomic<bool> over{false};
static std::atomic<unsigned long> born{0}, taken{0}, loaded{0}, forked{0}, thrown{0};
// Threads that are born in a second.
static double pace = 100;

// Turns, so many in a second, or one after the other for 0; those that could not be taken in time are left out.
class Turns {
    Clock::duration each{0};
    Clock::time_point next = Clock::now();

  public:
    explicit Turns(double in_a_second) {
        if (in_a_second > 0)
            each = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / in_a_second));
    }

    // Waits for the next turn; says whether there is one.
    bool take() {
        std::this_thread::sleep_until(next);
        next = std::max(next + each, Clock::now());
        return !over;
    }
};

static NOINLINE unsigned long deep(int depth, unsigned long value) {
    volatile unsigned long kept = value;
    unsigned long sum = depth > 0 ? deep(depth - 1, value * 3 + 1) : value;
    return sum + kept;
}

static NOINLINE void be_born() {
    Turns turns(pace / 8);
    while (turns.take()) {
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
    Turns turns(pace);
    while (turns.take())
        for (int i = 0; i < 64; i++, taken++)
            kept[i] = std::string(1 + taken * 7919 % 100000, 'x');
}

static NOINLINE void load_libraries() {
    static const char *names[] = {"libm.so.6", "librt.so.1", "libutil.so.1", "libanl.so.1", "libresolv.so.2",
                                  "libBrokenLocale.so.1", "libnss_dns.so.2", "libthread_db.so.1"};
    Turns turns(2 * pace);
    for (unsigned long i = 0; turns.take(); i++) {
        void *library = dlopen(names[i % 8], RTLD_NOW);
        if (library) {
            dlsym(library, "no_such_function");
            dlclose(library);
            loaded++;
        }
    }
}

static NOINLINE void fork_children() {
    Turns turns(pace / 4);
    while (turns.take()) {
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
    }
}

static NOINLINE void throw_exceptions() {
    Turns turns(pace);
    while (turns.take())
        for (int i = 0; i < 20; i++, thrown++) {
            try {
                throw std::string("thrown");
            } catch (const std::string &) {
            }
        }
}

// A thread that is there all the time, and the function that its stack has.
struct Lasting {
    const char *name;
    void (*run)();
    std::atomic<int> tid{0};
};

static Lasting lasting[] = {
    {"main", nullptr},
    {"be_born", be_born},
    {"take_memory", take_memory},
    {"load_libraries", load_libraries},
    {"fork_children", fork_children},
    {"throw_exceptions", throw_exceptions},
};

// What became of the threads in all answers together.
static unsigned long told = 0, incomplete = 0, late = 0, lost = 0;

// Whether a function of a stack has this in its name.
static bool has_function(const kcore_agent_collection *all, size_t group, const char *name) {
    kcore_agent_frame frame;
    for (size_t i = 0; kcore_agent_group_frame(all, group, i, &frame, sizeof frame) == 0; i++)
        if (frame.function && strstr(frame.function, name))
            return true;
    return false;
}

// Whether a stack says of itself that it is not whole: in a library that was loaded a moment ago. Where libgcc leaves
// its own frame for the one that catches, its unwind information is that of before: that frame alone is certain.
static bool is_incomplete(const kcore_agent_collection *all, size_t group, const Lasting &thread) {
    const char *end = kcore_agent_group_end(all, group);
    return strstr(end, "return address") || strstr(end, "no way to unwind") ||
           (thread.run == throw_exceptions && has_function(all, group, "_Unwind_"));
}

static void count_in_group(const kcore_agent_collection *all, size_t group, const Lasting &thread) {
    if (has_function(all, group, thread.name)) {
        told++;
    } else if (is_incomplete(all, group, thread)) {
        incomplete++;
    } else {
        fprintf(stderr, "%d has no %s in\n%s\n", thread.tid.load(), thread.name, kcore_agent_collection_text(all));
        lost++;
    }
}

static void count(const kcore_agent_collection *all, const Lasting &thread) {
    for (size_t group = 0; group < kcore_agent_groups(all); group++)
        for (size_t i = 0; i < kcore_agent_group_threads(all, group); i++)
            if (kcore_agent_group_thread(all, group, i) == thread.tid)
                return count_in_group(all, group, thread);
    for (size_t i = 0; i < kcore_agent_missing(all); i++)
        if (kcore_agent_missing_thread(all, i) == thread.tid) {
            late++;
            return;
        }
    fprintf(stderr, "no %d, %s, in\n%s\n", thread.tid.load(), thread.name, kcore_agent_collection_text(all));
    lost++;
}

static NOINLINE bool ask() {
    kcore_agent_collection *all = nullptr;
    int error = kcore_agent_collect(&all);
    if (error) {
        fprintf(stderr, "%s\n", strerror(error));
        return false;
    }
    for (const auto &thread : lasting)
        count(all, thread);
    kcore_agent_release(all);
    return true;
}

static std::vector<std::thread> begin() {
    std::vector<std::thread> threads;
    for (auto &thread : lasting)
        if (thread.run)
            threads.emplace_back([&thread] {
                thread.tid = gettid();
                thread.run();
            });
        else
            thread.tid = gettid();
    // A thread that is told of stands in its function from then on.
    while (!(born && taken && loaded && forked && thrown))
        usleep(1000);
    return threads;
}

int main(int count, char **arguments) {
    int seconds = count > 1 ? atoi(arguments[1]) : 60;
    pace = count > 2 ? atof(arguments[2]) : pace;
    if (kcore_agent_install() != 0) {
        fprintf(stderr, "not installed\n");
        return 1;
    }
    std::vector<std::thread> threads = begin();
    raise(SIGUSR2);
    auto begun = Clock::now();
    int asked = 0, answered = 0;
    for (; asked < seconds * REQUESTS; asked++) {
        std::this_thread::sleep_until(begun + asked * std::chrono::milliseconds(1000) / REQUESTS);
        answered += ask();
    }
    std::chrono::duration<double> took = Clock::now() - begun;
    // The profile ends. The first request that follows may be answered before it is written, the second one is not.
    raise(SIGUSR2);
    for (int i = 0; i < 2; i++)
        asked++, answered += ask();
    over = true;
    for (auto &thread : threads)
        thread.join();
    printf("asked %d answered %d in %.1f s; told %lu incomplete %lu late %lu lost %lu ; ", asked, answered, took.count(),
           told, incomplete, late, lost);
    printf("born %lu taken %lu loaded %lu forked %lu thrown %lu\n", born.load(), taken.load(), loaded.load(),
           forked.load(), thrown.load());
    return lost != 0 || answered != asked;
}
