#include "scheduler.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <vector>

#ifdef OWN_SWITCH
#include "switch.hpp"
#else
#include <boost/context/detail/fcontext.hpp>

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;
#endif

namespace butil
{

template <typename T> std::atomic<size_t> ResourcePool<T>::_ngroup{0};
template <typename T> std::atomic<typename ResourcePool<T>::BlockGroup *> ResourcePool<T>::_block_groups[65536];

static std::mutex pool_lock;

template <typename T> T *ResourcePool<T>::get_resource(Block *&own, uint32_t *slot)
{
	std::lock_guard<std::mutex> guard(pool_lock);
	if (_ngroup == 0) {
		_block_groups[0] = new BlockGroup;
		_ngroup = 1;
	}
	BlockGroup *group = _block_groups[0];
	if (own == nullptr || own->nitem == BLOCK_ITEMS) {
		own = new (std::align_val_t(64)) Block;
		memset(own, 0, sizeof *own);
		group->blocks[group->nblock] = own;
		group->nblock++;
	}
	size_t block = 0;
	while (group->blocks[block] != own)
		block++;
	*slot = block * BLOCK_ITEMS + own->nitem;
	T *item = new (own->items + sizeof(T) * own->nitem) T();
	own->nitem++;
	return item;
}

} // namespace butil

namespace bthread
{

typedef butil::ResourcePool<TaskMeta> Pool;

static std::vector<TaskMeta *> freed;
static std::mutex freed_lock;

class TaskGroup
{
  public:
	static void task_runner(intptr_t);
	static void ending_sched(TaskGroup **);
	static void sched();
	static void sched_to(TaskGroup **group, TaskMeta *next);
	static void sched_to(TaskGroup **group, ContextualStack *from, TaskMeta *next);
	static void usleep(TaskGroup **group, uint64_t microseconds);
	static void _add_sleep_event(void *argument);
	static bool join(bthread_t id);
	// What is to be done for the task that is left once the next one runs.
	void set_remained(void (*function)(void *), void *argument);
	inline __attribute__((always_inline)) void do_remained();

	TaskMeta *cur_meta = nullptr;
	void *control = nullptr;
	void (*last_context_remained)(void *) = nullptr;
	void *last_context_remained_arg = nullptr;
	ContextualStack *main_stack = nullptr;
};

static thread_local TaskGroup group;
// As the release has it, for those who look from outside.
thread_local TaskGroup *tls_task_group = &group;
static thread_local Pool::Block *own_block;

#ifdef OWN_SWITCH
static void jump_stack(ContextualStack *from, ContextualStack *to)
{
	bthread_jump_fcontext(&from->context, to->context, 0, false);
	__asm__ volatile("");
}

static void *new_context(void *top, size_t size)
{
	return bthread_make_fcontext(top, size, TaskGroup::task_runner);
}
#else
// Whose stack is left; the new context stores its stack pointer there.
static thread_local ContextualStack *leaving;

static void entered(transfer_t from)
{
	leaving->context = from.fctx;
}

static void jump_stack(ContextualStack *from, ContextualStack *to)
{
	leaving = from;
	entered(jump_fcontext(to->context, nullptr));
}

static void entry(transfer_t from)
{
	entered(from);
	TaskGroup::task_runner(0);
}

static void *new_context(void *top, size_t size)
{
	return make_fcontext(top, size, entry);
}
#endif

void TaskGroup::set_remained(void (*function)(void *), void *argument)
{
	last_context_remained = function;
	last_context_remained_arg = argument;
}

void TaskGroup::do_remained()
{
	while (last_context_remained != nullptr) {
		void (*function)(void *) = last_context_remained;
		last_context_remained = nullptr;
		function(last_context_remained_arg);
	}
}

TaskMeta *meta_of(bthread_t id)
{
	uint32_t slot = (uint32_t)id;
	Pool::Block *block = Pool::_block_groups[0].load()->blocks[slot / Pool::BLOCK_ITEMS];
	return (TaskMeta *)(block->items + sizeof(TaskMeta) * (slot % Pool::BLOCK_ITEMS));
}

static ContextualStack *get_stack()
{
	const size_t size = 64 << 10, guard = 4096;
	char *memory = (char *)mmap(nullptr, size + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	mprotect(memory, guard, PROT_NONE);
	ContextualStack *stack = new ContextualStack;
	stack->stacktype = STACK_TYPE_NORMAL;
	stack->storage = {(uint32_t)size, (uint32_t)guard, memory + guard + size, 0};
	stack->context = new_context(stack->storage.bottom, size);
	return stack;
}

static void run(TaskMeta *meta)
{
	if (tls_task_group->main_stack == nullptr)
		tls_task_group->main_stack = new ContextualStack();
	if (meta->attr.stack_type == STACK_TYPE_PTHREAD) {
		meta->stack = tls_task_group->main_stack;
		tls_task_group->cur_meta = meta;
		TaskGroup::task_runner(1);
	}
	if (meta->stack == nullptr)
		meta->stack = get_stack();
	TaskGroup::sched_to(&tls_task_group, tls_task_group->main_stack, meta);
}

void TaskGroup::sched_to(TaskGroup **group, TaskMeta *next)
{
	TaskMeta *meta = (*group)->cur_meta;
	meta->stat.nswitch++;
	if (next != nullptr && next->stack == nullptr)
		next->stack = get_stack();
	sched_to(group, meta->stack, next);
	__asm__ volatile("");
}

void TaskGroup::sched_to(TaskGroup **group, ContextualStack *from, TaskMeta *next)
{
	(*group)->cur_meta = next;
	jump_stack(from, next == nullptr ? (*group)->main_stack : next->stack);
	(*group)->do_remained();
}

void TaskGroup::sched()
{
	sched_to(&tls_task_group, nullptr);
	__asm__ volatile("");
}

void TaskGroup::ending_sched(TaskGroup **group)
{
	sched_to(group, nullptr);
}

void TaskGroup::task_runner(intptr_t)
{
	tls_task_group->do_remained();
	TaskMeta *meta = tls_task_group->cur_meta;
	meta->fn(meta->arg);
	++*meta->version_butex;
	std::lock_guard<std::mutex> guard(freed_lock);
	freed.push_back(meta);
	freed_lock.unlock();
	ending_sched(&tls_task_group);
	abort();
}

struct SleepArgs {
	uint64_t timeout_us;
	TaskMeta *meta;
};

void TaskGroup::_add_sleep_event(void *argument)
{
	SleepArgs *sleep = (SleepArgs *)argument;
	sleep->meta->current_sleep = sleep->timeout_us << 32 | 1;
}

void TaskGroup::usleep(TaskGroup **group, uint64_t microseconds)
{
	SleepArgs args = {microseconds, (*group)->cur_meta};
	(*group)->set_remained(_add_sleep_event, &args);
	sched();
	__asm__ volatile("" ::"m"(args));
}

static void wait_for_butex(void *argument)
{
	ButexBthreadWaiter *waiter = (ButexBthreadWaiter *)argument;
	waiter->container = waiter->initial_butex;
	waiter->prev = waiter->next = waiter;
}

int butex_wait(void *butex, int expected)
{
	TaskMeta *meta = tls_task_group->cur_meta;
	ButexBthreadWaiter waiter = {};
	waiter.tid = meta->tid;
	waiter.task_meta = meta;
	waiter.initial_butex = butex;
	waiter.expected_value = expected;
	meta->current_waiter = &waiter;
	tls_task_group->set_remained(wait_for_butex, &waiter);
	TaskGroup::sched();
	meta->current_waiter = nullptr;
	return 0;
}

bool TaskGroup::join(bthread_t id)
{
	uint32_t *butex = meta_of(id)->version_butex;
	while (*butex == id >> 32)
		butex_wait(butex, id >> 32);
	return true;
}

} // namespace bthread

using namespace bthread;

bthread_t bthread_start_background(const char *name, void *(*fn)(void *), void *arg)
{
	uint32_t slot = 0;
	TaskMeta *meta = nullptr;
	freed_lock.lock();
	if (!freed.empty()) {
		meta = freed.back();
		freed.pop_back();
		slot = (uint32_t)meta->tid;
	}
	freed_lock.unlock();
	if (meta == nullptr) {
		meta = Pool::get_resource(own_block, &slot);
		meta->version_butex = (uint32_t *)calloc(1, 64);
		*meta->version_butex = 1;
	}
	meta->stack = nullptr;
	meta->fn = fn;
	meta->arg = arg;
	meta->attr.stack_type = STACK_TYPE_NORMAL;
#if BRPC >= 16
	strncpy(meta->attr.name, name, sizeof meta->attr.name - 1);
#else
	(void)name;
#endif
	meta->tid = (bthread_t)*meta->version_butex << 32 | slot;
	return meta->tid;
}

bthread_t bthread_start_on_worker(const char *name, void *(*fn)(void *), void *arg)
{
	bthread_t id = bthread_start_background(name, fn, arg);
	meta_of(id)->attr.stack_type = STACK_TYPE_PTHREAD;
	return id;
}

void bthread_prepare(bthread_t id)
{
	meta_of(id)->stack = get_stack();
}

void bthread_run(bthread_t id)
{
	run(meta_of(id));
}

int bthread_usleep(uint64_t microseconds)
{
	TaskGroup::usleep(&tls_task_group, microseconds);
	return 0;
}

int bthread_yield()
{
	TaskGroup::sched();
	return 0;
}

static void ready_to_run_in_worker(void *)
{
}

void bthread_yield_to(bthread_t id)
{
	TaskMeta *volatile own = tls_task_group->cur_meta;
	tls_task_group->set_remained(ready_to_run_in_worker, (void *)&own);
	TaskGroup::sched_to(&tls_task_group, meta_of(id));
	__asm__ volatile("");
}

int bthread_join(bthread_t id, void **)
{
	return TaskGroup::join(id) ? 0 : -1;
}

int bthread_mutex_init(bthread_mutex_t *mutex)
{
	mutex->butex = (unsigned *)calloc(1, 64);
	return 0;
}

int bthread_mutex_lock(bthread_mutex_t *mutex)
{
	while (*mutex->butex != 0) {
		*mutex->butex = 257;
		butex_wait(mutex->butex, 257);
	}
	*mutex->butex = 1;
	return 0;
}

int bthread_cond_init(bthread_cond_t *cond)
{
	cond->m = nullptr;
	cond->seq = (int *)calloc(1, 64);
	return 0;
}

int bthread_cond_wait(bthread_cond_t *cond, bthread_mutex_t *mutex)
{
	cond->m = mutex;
	int failed = butex_wait(cond->seq, *cond->seq);
	return failed + bthread_mutex_lock(mutex);
}

bthread_t bthread_self()
{
	return tls_task_group->cur_meta->tid;
}

void *bthread_butex_of(bthread_t id)
{
	return meta_of(id)->version_butex;
}
