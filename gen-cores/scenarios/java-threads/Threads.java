// java-threads: threads in every state, and frames of every kind: interpreted, compiled by both compilers, inlined,
// native, no longer valid. The program tells what Java says of all threads in trace.txt, then it waits to be dumped.

import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public class Threads {
    static final CountDownLatch started = new CountDownLatch(16);
    static final Object monitor = new Object();
    static final Object waited = new Object();
    static final Object first = new Object();
    static final Object second = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    static final ReentrantReadWriteLock shared = new ReentrantReadWriteLock();
    static volatile long sink;

    interface Work {
        int run(int depth) throws Exception;
    }

    abstract static class Base {
        abstract int call(boolean waits) throws Exception;
    }

    static class Only extends Base {
        int call(boolean waits) throws Exception {
            if (waits) {
                begun();
                Thread.sleep(1000000);
            }
            return 1;
        }
    }

    static class Late extends Base {
        int call(boolean waits) {
            return 2;
        }
    }

    static int throughBase(Base base, boolean waits) throws Exception {
        return base.call(waits) + 1;
    }

    static int recurse(int depth, Work last) throws Exception {
        if (depth == 0) {
            return last.run(depth);
        }
        return recurse(depth - 1, last) + 1;
    }

    static int outer(int x, Work work) throws Exception {
        return middle(x + 1, work) + 1;
    }

    static int middle(int x, Work work) throws Exception {
        return inner(x + 1, work)
            + 1;
    }

    static int inner(int x, Work work) throws Exception {
        return work.run(x) + x;
    }

    static void begun() {
        started.countDown();
    }

    static int sleep() throws Exception {
        begun();
        Thread.sleep(1000000);
        return 1;
    }

    static int spin() {
        begun();
        long number = 0;
        while (true) {
            number += number * 31 + 7;
            sink = number;
        }
    }

    static int compiled(Work work) throws Exception {
        for (int i = 0; i < 30000; i++) {
            sink += outer(i, x -> x);
        }
        return outer(1, work);
    }

    static int invalid() throws Exception {
        Base base = new Only();
        for (int i = 0; i < 30000; i++) {
            sink += throughBase(base, false);
        }
        return throughBase(base, true);
    }

    static int deadlock(Object own, Object other, CountDownLatch held) throws Exception {
        synchronized (own) {
            held.countDown();
            held.await();
            begun();
            synchronized (other) {
                return 1;
            }
        }
    }

    static void start(String name, boolean daemon, Work work) {
        Thread thread = new Thread(() -> {
            try {
                recurse(3, work);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }, name);
        thread.setDaemon(daemon);
        thread.setPriority(daemon ? 3 : 7);
        thread.start();
    }

    static int await(Object on, long millis) throws Exception {
        synchronized (on) {
            begun();
            on.wait(millis);
            return 1;
        }
    }

    static void startAll() {
        CountDownLatch held = new CountDownLatch(2);
        start("sleeper", false, depth -> sleep());
        start("waiter", true, depth -> await(waited, 0));
        start("timed waiter", true, depth -> await(waited, 1000000));
        start("blocked", false, depth -> {
            begun();
            synchronized (monitor) {
                return 2;
            }
        });
        start("parked", false, depth -> {
            begun();
            LockSupport.park(monitor);
            return 1;
        });
        start("locker", false, depth -> {
            begun();
            lock.lock();
            return 1;
        });
        start("reader of a lock", false, depth -> {
            begun();
            both.readLock().lock();
            return 1;
        });
        start("also reads", true, depth -> {
            shared.readLock().lock();
            return sleep();
        });
        start("writer", true, depth -> {
            begun();
            shared.writeLock().lock();
            return 1;
        });
        start("spinner", true, depth -> spin());
        start("inlined \u00e4\u4e2d\ud83d\ude00", true, depth -> compiled(x -> sleep()));
        start("invalid", true, depth -> invalid());
        start("input", true, depth -> {
            begun();
            LockSupport.parkNanos(1000000000000000L);
            return 1;
        });
        start("dead 1", true, depth -> deadlock(first, second, held));
        start("dead 2", true, depth -> deadlock(second, first, held));
        start("thrower", true, depth -> {
            try {
                throw new IllegalStateException("not told");
            } catch (IllegalStateException e) {
                return sleep();
            } finally {
                sink++;
            }
        });
    }

    /** What Java says of all threads. */
    static void tell() throws Exception {
        try (PrintWriter out = new PrintWriter("trace.txt", "UTF-8")) {
            for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
                Thread thread = entry.getKey();
                ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
                String waits = info == null || info.getLockInfo() == null ? "" : info.getLockInfo().getClassName();
                long owner = info == null ? -1 : info.getLockOwnerId();
                out.println("T " + thread.getId() + "|" + thread.getName() + "|" + thread.getState() + "|"
                    + thread.isDaemon() + "|" + thread.getPriority() + "|" + waits + "|" + owner);
                for (StackTraceElement frame : entry.getValue()) {
                    out.println("  " + frame.getClassName() + "." + frame.getMethodName() + " "
                        + frame.getFileName() + ":" + frame.getLineNumber());
                }
            }
        }
        String account = "{\"pid\":" + ProcessHandle.current().pid() + "}\n{\"argv\":[]}\n{\"done\":true}\n";
        Files.write(Paths.get(System.getenv("KCORE_TRUTH")), account.getBytes("UTF-8"));
    }

    public static void main(String[] args) throws Exception {
        synchronized (monitor) {
            lock.lock();
            both.writeLock().lock();
            shared.readLock().lock();
            shared.readLock().lock();
            startAll();
            started.await();
            // From now on a call through the base class may lead elsewhere.
            sink += throughBase(new Late(), false);
            Thread.sleep(500);
            tell();
            Thread.sleep(1000000);
        }
    }
}
