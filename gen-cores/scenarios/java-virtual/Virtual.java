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
        for (int i = 0; i < 100; i++) {
            start("many " + i, 4, depth -> park());
        }
        Thread.sleep(1000);
        tell();
        Thread.sleep(1000000);
    }
}
