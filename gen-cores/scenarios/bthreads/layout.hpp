// The structures of bRPC's bthreads, laid out as the release that BRPC names has them (16 is 1.16; 18 is the
// state after 1.17): apache/brpc, src/bthread/{task_meta.h,stack.h,types.h,butex.cpp}, src/butil/resource_pool_inl.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

typedef uint64_t bthread_t;

struct bthread_attr_t {
	uint32_t stack_type;
	uint32_t flags;
	void *keytable_pool;
#if BRPC >= 8
	int32_t tag;
#endif
#if BRPC >= 16
	char name[32];
#endif
};

namespace butil
{

template <typename T> class ResourcePool
{
  public:
	static constexpr size_t BLOCK_ITEMS = 65536 / sizeof(T) > 256 ? 256 : 65536 / sizeof(T);

	struct alignas(64) Block {
		char items[sizeof(T) * BLOCK_ITEMS];
		size_t nitem;
	};

	struct BlockGroup {
		std::atomic<size_t> nblock{0};
		std::atomic<Block *> blocks[65536] = {};
	};

	// The item of a new slot, or of one that was given back. Each maker has blocks of its own.
	static T *get_resource(Block *&own, uint32_t *slot);

	static std::atomic<size_t> _ngroup;
	static std::atomic<BlockGroup *> _block_groups[65536];
};

} // namespace butil

namespace bthread
{

struct TaskMeta;

struct StackStorage {
	uint32_t stacksize;
	uint32_t guardsize;
	void *bottom;
	unsigned valgrind_stack_id;
};

enum StackType { STACK_TYPE_MAIN, STACK_TYPE_PTHREAD, STACK_TYPE_SMALL, STACK_TYPE_NORMAL, STACK_TYPE_LARGE };

struct ContextualStack {
#if BRPC >= 13
	virtual ~ContextualStack() = default;
#endif
	void *context;
	StackType stacktype;
	StackStorage storage;
};

struct ButexWaiter {
	ButexWaiter *prev;
	ButexWaiter *next;
	bthread_t tid;
	std::atomic<void *> container;
};

struct ButexBthreadWaiter : ButexWaiter {
	TaskMeta *task_meta;
	uint64_t sleep_id;
	int waiter_state;
	int expected_value;
	void *initial_butex;
	void *control;
	const timespec *abstime;
};

struct TaskStatistics {
	int64_t cputime_ns;
	int64_t nswitch;
#if BRPC >= 12
	int64_t cpu_usage_ns;
#endif
};

struct LocalStorage {
	void *keytable;
	void *assigned_data;
	void *rpcz_parent_span;
};

struct TaskMeta {
	std::atomic<ButexWaiter *> current_waiter;
	uint64_t current_sleep;
#if BRPC >= 8
	bool sleep_failed;
#endif
	bool stop;
	bool interrupted;
	bool about_to_quit;
	pthread_spinlock_t version_lock;
	uint32_t *version_butex;
	bthread_t tid;
#if BRPC >= 18
	int priority_index;
#endif
	void *(*fn)(void *);
	void *arg;
	ContextualStack *stack;
	bthread_attr_t attr;
	int64_t cpuwide_start_ns;
	TaskStatistics stat;
	LocalStorage local_storage;
#if BRPC >= 12
	int status;
	bool traced;
#endif
#if BRPC >= 16
	pthread_mutex_t trace_lock;
#endif
#if BRPC >= 12
	pthread_t worker_tid;
#endif
};

constexpr size_t SIZE = BRPC >= 18 ? 240 : BRPC >= 16 ? 232 : BRPC >= 12 ? 160 : BRPC >= 8 ? 136 : 128;
// A mutex takes 40 bytes on x86-64, 48 on aarch64.
constexpr size_t MUTEX = BRPC >= 16 ? sizeof(pthread_mutex_t) - 40 : 0;
static_assert(sizeof(TaskMeta) == SIZE + MUTEX, "as in the releases");
static_assert(offsetof(TaskMeta, fn) == (BRPC >= 18 ? 48 : 40), "as in the releases");

} // namespace bthread
