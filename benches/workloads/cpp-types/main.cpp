// A program with many types, which dies with one of them in its hands.

#include <cstdlib>
#include <string>

struct Request {
    unsigned id;
    double weight;
    std::string name;
    Request *next;
    int values[8];
};

Request g_request = {42, 0.5, "the only one", nullptr, {1, 2, 3, 4, 5, 6, 7, 8}};

int main() { std::abort(); }
