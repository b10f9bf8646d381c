/* Programs of C++ that give up without an exception, by their names. */
#include <cstring>
#include <exception>
#include <thread>

struct Shape {
    Shape() { measure(); }
    __attribute__((noinline)) void measure() { area(); }
    virtual void area() = 0;
};

struct Circle : Shape {
    void area() override {}
};

__attribute__((noinline)) void make_circle() {
    Circle circle;
    (void)circle;
}

static void idle() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

__attribute__((noinline)) void forget_thread() { std::thread worker(idle); }

__attribute__((noinline)) void replace_thread() {
    std::thread worker(idle);
    worker = std::thread();
    worker.detach();
}

__attribute__((noinline)) void give_up() { std::terminate(); }

__attribute__((noinline)) void throw_nothing() { throw; }

int main(int count, char **words) {
    const char *bug = count > 1 ? words[1] : "";
    if (!strcmp(bug, "pure")) make_circle();
    if (!strcmp(bug, "thread")) forget_thread();
    if (!strcmp(bug, "assign")) replace_thread();
    if (!strcmp(bug, "plain")) give_up();
    if (!strcmp(bug, "nothing")) throw_nothing();
    return 0;
}
