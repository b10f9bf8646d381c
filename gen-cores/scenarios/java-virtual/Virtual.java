// java-virtual: virtual threads that are parked, sleep, wait for a lock or for each other, and ones that run, in code that
// is interpreted and compiled. The program tells what Java says of each in trace.txt, then it waits to be dumped.

import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Virtual {
    static final ReentrantLock lock = new ReentrantLock();
    static final CountDownLatch never = new CountDownLatch(1);
    static final List<Thread> all = new ArrayList<>();
    static volatile long sink;

    interface Work {
        int run(int depth) throws Exception;
    }

    static int recurse(int depth, Work last) throws Exception {
        long kept = depth * 3L;
        int below = depth == 0 ? last.run(depth) : recurse(depth - 1, last);
        return below + (int) kept;
    }

    static int park() {
        while (true) {
            LockSupport.park(never);
        }
    }

    static int spin() {
        long number = 0;
        while (true) {
            number += number * 31 + 7;
            sink = number;
        }
    }

    static void start(String name, int depth, Work work) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
        type.getMethod("name", String.class).invoke(builder, name);
        Runnable run = () -> {
            try {
                recurse(depth, work);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        };
        all.add((Thread) type.getMethod("start", Runnable.class).invoke(builder, run));
    }

    /** Monitors, for which virtual threads give up the threads that run them since Java 24. */
    static void startWithMonitors() throws Exception {
        Object held = new Object();
        Object waited = new Object();
        Object first = new Object();
        Object second = new Object();
        CountDownLatch holds = new CountDownLatch(1);
        CountDownLatch both = new CountDownLatch(2);
        start("holds a monitor", 2, depth -> {
            synchronized (held) {
                holds.countDown();
                return park();
            }
        });
        holds.await();
        start("wants a monitor", 2, depth -> enter(held));
        start("is to be notified", 2, depth -> {
            synchronized (waited) {
                waited.wait();
                return 1;
            }
        });
        start("is to be notified in time", 2, depth -> {
            synchronized (waited) {
                waited.wait(1000000);
                return 1;
            }
        });
        start("dead 1", 2, depth -> enterBoth(first, second, both));
        start("dead 2", 2, depth -> enterBoth(second, first, both));
        Thread thread = new Thread(() -> enter(held), "wants it too");
        thread.setDaemon(true);
        thread.start();
    }

    static int enter(Object monitor) {
        synchronized (monitor) {
            return 1;
        }
    }

    static int enterBoth(Object own, Object other, CountDownLatch both) throws Exception {
        synchronized (own) {
            both.countDown();
            both.await();
            return enter(other);
        }
    }

    /** What Java says of each. */
    static void tell() throws Exception {
        Method id = Thread.class.getMethod("threadId");
        try (PrintWriter out = new PrintWriter("trace.txt", "UTF-8")) {
            for (Thread thread : all) {
                out.println("T " + id.invoke(thread) + "|" + thread.getName() + "|" + thread.getState() + "|"
                    + thread.isDaemon() + "|" + thread.getPriority() + "||-1");
                for (StackTraceElement frame : thread.getStackTrace()) {
                    out.println("  " + frame.getClassName() + "." + frame.getMethodName() + " "
                        + frame.getFileName() + ":" + frame.getLineNumber());
                }
            }
        }
        String account = "{\"pid\":" + ProcessHandle.current().pid() + "}\n{\"argv\":[]}\n{\"done\":true}\n";
        Files.write(Paths.get(System.getenv("KCORE_TRUTH")), account.getBytes("UTF-8"));
    }

    public static void main(String[] args) throws Exception {
        lock.lock();
        for (int i = 0; i < 30000; i++) {
            sink += recurse(3, depth -> depth);
        }
        start("parked", 3, depth -> park());
        start("sleeps", 2, depth -> {
            Thread.sleep(1000000);
            return 1;
        });
        start("locks", 2, depth -> {
            lock.lock();
            return 1;
        });
        start("awaits", 2, depth -> {
            never.await();
            return 1;
        });
        start("deep", 400, depth -> park());
        start("runs", 2, depth -> spin());
        if (Runtime.version().feature() >= 24) {
            startWithMonitors();
        }
        for (int i = 0; i < 100; i++) {
            start("many " + i, 4, depth -> park());
        }
        Thread.sleep(1000);
        tell();
        Thread.sleep(1000000);
    }
}
