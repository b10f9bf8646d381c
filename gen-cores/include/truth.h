/*
 * A program's own account of its stacks.
 *
 * Every thread keeps a shadow stack: CALL() notes function, file and line before the call and takes the note back after
 * it, DIE() notes the statement that dies and writes the account of all threads to the file named by $KCORE_TRUTH. Code
 * that a note would disturb (leaves, tail calls) is declared by its caller: LINE_OF() gives the line, truth_note() the
 * frame. The account is JSON Lines, `gen-cores` makes truth.json of it.
 */
#ifndef KCORE_TRUTH_H
#define KCORE_TRUTH_H

#ifdef __cplusplus
extern "C" {
#define TRUTH_AUTO auto
#else
#define TRUTH_AUTO __auto_type
#endif

/* A function that stays one: never inlined, cloned or analysed from outside. */
#ifdef __clang__
#define FN __attribute__((noinline))
#else
#define FN __attribute__((noipa))
#endif
/* A function that is always a part of its caller, at -O0 too. */
#define INLINED static inline __attribute__((always_inline))
/* Nothing moves across this, and a call before it is no tail call. */
#define BARRIER() __asm__ volatile("" ::: "memory")
/* `leaf_line` becomes the line DOWN lines below this one. */
#define LINE_OF(name, down) enum { name##_line = __LINE__ + (down) }

/* How a test compares a function's name, see gen-cores/README.md. */
#define EXACT "exact"
#define CONTAINS "contains"
#define DEMANGLED "demangled"

/* One frame as it is noted; absent facts are 0. */
struct truth_frame {
	const char *function;
	const char *match;
	const char *file;
	const char *module;
	const char *gap;
	const char *mark; /* optional, tail_call, deleted, replaced */
	unsigned long pc;
	long repeat;
	long slack;
	int line;
	int inlined; /* 1 yes, 0 no, -1 may go either way */
	int unnamed; /* a frame in no function: `pc` tells it */
};

/* The calling thread joins the account; ROLE says what it is for. */
void truth_thread(const char *role);
/* Notes a frame; truth_pop() takes the newest note back. */
void truth_push(const char *function, const char *file, int line);
void truth_pop(void);
void truth_frame(struct truth_frame frame);
/* Zero or more frames that are not the program's own. */
void truth_gap(const char *what);
/* A frame with a pc that is in no function. */
void truth_pc(unsigned long pc);
/* The newest note: not checked to be there, deleted, in which module, repeated. */
void truth_mark(const char *mark);
void truth_module(const char *module);
void truth_repeat(long times, long slack);
void truth_match(const char *match);
void truth_inlined(int inlined);
/* The stack is damaged outside of here: forgets the outer frames, no others may be shown. */
void truth_damaged(void);
/* A fact of the process. */
void truth_fact(const char *key, const char *value);
void truth_fact_hex(const char *key, unsigned long value);
void truth_fact_number(const char *key, unsigned long value);
/* The calling thread is about to wait, or to run for ever. */
void truth_ready(int will_sleep);
/* Waits until THREADS others are ready, and asleep if they said so. */
void truth_wait_ready(int threads);
/* Writes the account; the calling thread is the one that dies. */
void truth_write(void);
/* Writes the account of a process that waits to be dumped. */
void truth_write_waiting(void);
/* A counter that outlives the process, for depths that nobody knows before. */
volatile unsigned long *truth_counter(void);
/* Returns its argument in a way that no optimizer looks through. */
void *truth_launder(void *pointer);

#define truth_note(function, line) truth_push(function, __FILE__, line)

/* Calls EXPR as function NAME does; CALL takes the name from the compiler, the V forms are for void calls. */
#define CALL_AS(name, expr)                                                                                            \
	({                                                                                                             \
		truth_push(name, __FILE__, __LINE__);                                                                  \
		TRUTH_AUTO truth_result = (expr);                                                                      \
		truth_pop();                                                                                           \
		truth_result;                                                                                          \
	})
#define CALLV_AS(name, expr)                                                                                           \
	({                                                                                                             \
		truth_push(name, __FILE__, __LINE__);                                                                  \
		(void)(expr);                                                                                          \
		truth_pop();                                                                                           \
		BARRIER();                                                                                             \
	})
#define CALL(expr) CALL_AS(__func__, expr)
#define CALLV(expr) CALLV_AS(__func__, expr)

/* The statement that dies, here or (DIE_IN) somewhere below. */
#define DIE_AS(name, statement)                                                                                        \
	do {                                                                                                           \
		truth_push(name, __FILE__, __LINE__);                                                                  \
		truth_write();                                                                                         \
		statement;                                                                                             \
		BARRIER();                                                                                             \
	} while (0)
#define DIE_IN_AS(name, gap, statement)                                                                                \
	do {                                                                                                           \
		truth_push(name, __FILE__, __LINE__);                                                                  \
		truth_gap(gap);                                                                                        \
		truth_write();                                                                                         \
		statement;                                                                                             \
		BARRIER();                                                                                             \
	} while (0)
#define DIE(statement) DIE_AS(__func__, statement)
#define DIE_IN(gap, statement) DIE_IN_AS(__func__, gap, statement)

/* The call in which a thread waits until the process is dumped. */
#define WAIT(statement)                                                                                                \
	do {                                                                                                           \
		truth_push(__func__, __FILE__, __LINE__);                                                              \
		truth_gap("libc");                                                                                     \
		truth_ready(1);                                                                                        \
		for (;;)                                                                                               \
			statement;                                                                                     \
	} while (0)

#ifdef __cplusplus
}
#endif
#endif
