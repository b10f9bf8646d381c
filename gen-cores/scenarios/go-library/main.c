/* go-library: a program in C whose threads wait in a library of Go that comes in a package, until one of them hands it a
 * pointer that leads nowhere. What Go then prints of all its goroutines is the truth. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FN __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")

enum { ASKING = 2 };

static char *(*request)(char *);
static char question[512];

/* Go reads the environment that the process began with. */
static void have_go_tell_all(char **argv) {
	if (getenv("GOTRACEBACK"))
		return;
	setenv("GOTRACEBACK", "crash", 1);
	execv("/proc/self/exe", argv);
	exit(3);
}

static void load(void) {
	void *handle = dlopen("./tls-client-x86.so", RTLD_NOW);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	request = dlsym(handle, "request");
}

/* A server that takes what it is asked and never answers. */
static int listen_locally(void) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	bind(listening, (struct sockaddr *)&address, length);
	listen(listening, ASKING);
	getsockname(listening, (struct sockaddr *)&address, &length);
	snprintf(question, sizeof question,
	         "{\"tlsClientIdentifier\":\"chrome_103\",\"requestUrl\":\"http://127.0.0.1:%d/\","
	         "\"requestMethod\":\"GET\",\"timeoutSeconds\":600,\"headers\":{},\"headerOrder\":[],"
	         "\"requestBody\":\"\",\"requestCookies\":[]}",
	         ntohs(address.sin_port));
	return listening;
}

FN static void *c_asks(void *nothing) {
	request(question);
	KEEP();
	return nothing;
}

FN static void c_asks_nonsense(void) {
	request((char *)16);
	KEEP();
}

int main(int argc, char **argv) {
	pthread_t threads[ASKING];
	char asked[4096];
	have_go_tell_all(argv);
	int listening = listen_locally();
	load();
	for (int i = 0; i < ASKING; i++)
		pthread_create(&threads[i], 0, c_asks, 0);
	for (int i = 0; i < ASKING; i++)
		if (read(accept(listening, 0, 0), asked, sizeof asked) <= 0)
			return 3;
	/* Those who asked go to sleep for the answer. */
	usleep(300 * 1000);
	FILE *account = fopen(getenv("KCORE_TRUTH"), "w");
	fprintf(account, "{\"pid\":%d}\n{\"done\":true}\n", (int)getpid());
	fclose(account);
	if (argc > 1 && argv[1][0] == 'w')
		pause();
	dup2(open("trace.txt", O_CREAT | O_TRUNC | O_WRONLY, 0666), 2);
	c_asks_nonsense();
	return 0;
}
