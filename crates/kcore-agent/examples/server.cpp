// A server that shows its own stacks: GET /stacks, or `kill -35 PID`. GET /functions counts the threads in each
// function of the program, from structures.
//
//   c++ -O2 server.cpp -o server $(pkg-config --cflags --libs kcore-agent) -pthread
//   ./server 8080 & curl localhost:8080/stacks

#include <arpa/inet.h>
#include <kcore_agent.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

static void write_all(int client, const std::string &text) {
    for (size_t done = 0; done < text.size();) {
        ssize_t written = write(client, text.data() + done, text.size() - done);
        if (written <= 0)
            return;
        done += written;
    }
}

static std::string stacks() {
    char *text = kcore_agent_stacks_text();
    std::string answer = text ? text : "no stacks\n";
    kcore_agent_free(text);
    return answer;
}

using Collection = std::unique_ptr<kcore_agent_collection, decltype(&kcore_agent_release)>;

static Collection collect() {
    kcore_agent_collection *all = nullptr;
    kcore_agent_collect(&all);
    return {all, kcore_agent_release};
}

static std::string functions() {
    std::map<std::string, size_t> threads;
    Collection all = collect();
    for (size_t group = 0; group < kcore_agent_groups(all.get()); group++) {
        std::set<std::string> names;
        kcore_agent_frame frame;
        for (size_t i = 0; kcore_agent_group_frame(all.get(), group, i, &frame, sizeof frame) == 0; i++)
            if (frame.function)
                names.insert(frame.function);
        for (const std::string &name : names)
            threads[name] += kcore_agent_group_threads(all.get(), group);
    }
    std::string answer;
    for (const auto &[name, count] : threads)
        answer += std::to_string(count) + " " + name + "\n";
    return answer;
}

static std::string body_of(const char *request) {
    if (strncmp(request, "GET /stacks ", 12) == 0)
        return stacks();
    if (strncmp(request, "GET /functions ", 15) == 0)
        return functions();
    return "hello\n";
}

static void serve(int client) {
    char request[4096] = {};
    if (read(client, request, sizeof request - 1) > 0) {
        std::string body = body_of(request);
        write_all(client, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body);
    }
    close(client);
}

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    if (int error = kcore_agent_install()) {
        fprintf(stderr, "kcore-agent: %s\n", strerror(error));
        return 1;
    }
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(count > 1 ? atoi(arguments[1]) : 0);
    socklen_t size = sizeof address;
    if (bind(listener, (sockaddr *)&address, size) != 0 || listen(listener, 64) != 0) {
        perror("listen");
        return 1;
    }
    getsockname(listener, (sockaddr *)&address, &size);
    printf("ready %d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        int client = accept(listener, nullptr, nullptr);
        if (client >= 0)
            std::thread(serve, client).detach();
    }
}
