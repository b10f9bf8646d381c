#include "scheduler.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

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
	static void usleep(TaskGroup **group, uint64_t microseconds);
	static bool join(bthread_t id);

	TaskMeta *cur_meta = nullptr;
	ContextualStack *main_stack = nullptr;
};

static thread_local TaskGroup group;
static thread_local TaskGroup *tls_task_group = &group;
static thread_local Pool::Block *own_block;
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
	stack->context = make_fcontext(stack->storage.bottom, size, entry);
	return stack;
}

static void run(TaskMeta *meta)
{
	if (tls_task_group->main_stack == nullptr)
		tls_task_group->main_stack = new ContextualStack();
	if (meta->stack == nullptr)
		meta->stack = get_stack();
	meta->stat.nswitch++;
	tls_task_group->cur_meta = meta;
	jump_stack(tls_task_group->main_stack, meta->stack);
}

void TaskGroup::sched_to(TaskGroup **group, TaskMeta *)
{
	TaskMeta *meta = (*group)->cur_meta;
	(*group)->cur_meta = nullptr;
	jump_stack(meta->stack, (*group)->main_stack);
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
	TaskMeta *meta = tls_task_group->cur_meta;
	meta->fn(meta->arg);
	++*meta->version_butex;
	std::lock_guard<std::mutex> guard(freed_lock);
	freed.push_back(meta);
	freed_lock.unlock();
	ending_sched(&tls_task_group);
	abort();
}

void TaskGroup::usleep(TaskGroup **group, uint64_t microseconds)
{
	(*group)->cur_meta->current_sleep = microseconds << 32 | 1;
	sched();
	__asm__ volatile("");
}

int butex_wait(void *butex, int expected)
{
	TaskMeta *meta = tls_task_group->cur_meta;
	ButexBthreadWaiter waiter = {};
	waiter.tid = meta->tid;
	waiter.task_meta = meta;
	waiter.container = butex;
	waiter.initial_butex = butex;
	waiter.expected_value = expected;
	waiter.prev = waiter.next = &waiter;
	meta->current_waiter = &waiter;
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
