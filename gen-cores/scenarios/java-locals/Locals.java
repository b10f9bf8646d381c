// java-locals: threads that stand still in compiled methods with arguments and locals of every type. The program tells in
// values.txt what each variable is, then it waits to be dumped.

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

public class Locals {
    static class Pair {
        final int left;
        final long right;
        final String name;

        Pair(int left, long right, String name) {
            this.left = left;
            this.right = right;
            this.name = name;
        }
    }

    static final int WAYS = 3;
    static final Object never = new Object();
    static final Object taken = new Object();
    static final AtomicInteger started = new AtomicInteger();
    static long millis = 1;
    static volatile long sink;

    /** Stands still, in one of some ways; before threads are to stay so it goes on at once, by the same way. */
    static void stop(int how) throws Exception {
        if (how == WAYS) {
            return;
        }
        started.incrementAndGet();
        if (how == 0) {
            synchronized (never) {
                never.wait(millis);
            }
        } else if (how == 1) {
            LockSupport.parkNanos(millis * 1000000L);
        } else {
            Thread.sleep(millis);
        }
    }

    static long all(boolean flag, byte small, char letter, short number, int count, long big, float part, double real,
            String text, int[] numbers, Pair pair, int how) throws Exception {
        long total = big + count;
        double ratio = real * 2 + part;
        String label = text + "!";
        int[] copy = numbers.clone();
        stop(how);
        return total + (long) ratio + label.length() + copy.length + small + letter + number + (flag ? 1 : 0)
            + numbers.length + pair.left + pair.right + text.length() + (long) part + (long) real + count + big;
    }

    static long outer(int x, String text, int how) throws Exception {
        long doubled = x * 2L;
        long result = middle(x + 1, text, how);
        return result + doubled + text.length();
    }

    static long middle(int x, String text, int how) throws Exception {
        String longer = text + x;
        long inner = inner(x + 1, x * 3, longer, how);
        return inner + longer.length() + x;
    }

    static long inner(int x, int y, String text, int how) throws Exception {
        stop(how);
        return x + y + text.length();
    }

    /** Objects that a compiler need not make. */
    static long apart(int x, int how) throws Exception {
        Pair pair = new Pair(x, x * 5L, "apart");
        int[] three = {x, x + 1, x + 2};
        long[] two = {x, x * 7L};
        stop(how);
        return pair.left + pair.right + pair.name.length() + three[0] + three[1] + three[2] + two[0] + two[1];
    }

    static long constants(int how) throws Exception {
        int seven = 7;
        long big = 1L << 40;
        double real = 2.5;
        float part = 0.5f;
        String word = "constant";
        Object nothing = null;
        stop(how);
        return seven + big + (long) (real + part) + word.length() + (nothing == null ? 1 : 0);
    }

    static long blocked(int a, long b, double c, String d, Object lock) {
        long sum = a + b;
        started.incrementAndGet();
        synchronized (lock) {
            sink++;
        }
        return sum + a + b + (long) c + d.length();
    }

    /** Lets compilers take all of it: most calls stand still nowhere. */
    static void warm() throws Exception {
        Pair pair = new Pair(1, 2, "pair");
        int[] numbers = {1, 2, 3};
        Object free = new Object();
        for (int i = 0; i < 30000; i++) {
            int how = i % 200 == 0 ? i / 200 % WAYS : WAYS;
            sink += all(true, (byte) -5, 'k', (short) -300, 12345, 1L << 40, 1.5f, 2.25, "text", numbers, pair, how);
            sink += outer(10, "t", how) + apart(7, how) + constants(how) + blocked(6, 7L, 8.5, "nine", free);
        }
    }

    interface Work {
        void run(int how) throws Exception;
    }

    static void start(String name, int how, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run(how);
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** What is in the variables, in the order of the code. */
    static final String[] TOLD = {
        "all flag=true", "all small=-5", "all letter=k", "all number=-300", "all count=12345", "all big=1099511627776",
        "all part=1.5", "all real=2.25", "all text=text", "all numbers=[1,2,3]", "all pair={1,2,pair}",
        "all total=1099511640121", "all ratio=6", "all label=text!", "all copy=[1,2,3]",
        "outer x=10", "outer text=t", "outer doubled=20", "middle x=11", "middle text=t", "middle longer=t11",
        "inner x=12", "inner y=33", "inner text=t11",
        "apart x=7", "apart pair={7,35,apart}", "apart three=[7,8,9]", "apart two=[7,49]",
        "constants seven=7", "constants big=1099511627776", "constants real=2.5", "constants part=0.5",
        "constants word=constant", "constants nothing=null",
        "blocked a=6", "blocked b=7", "blocked c=8.5", "blocked d=nine", "blocked sum=13",
    };

    static void tell() throws Exception {
        try (PrintWriter out = new PrintWriter("values.txt", "UTF-8")) {
            for (String line : TOLD) {
                out.println(line);
            }
        }
        String account = "{\"pid\":" + ProcessHandle.current().pid() + "}\n{\"argv\":[]}\n{\"done\":true}\n";
        Files.write(Paths.get(System.getenv("KCORE_TRUTH")), account.getBytes("UTF-8"));
    }

    public static void main(String[] args) throws Exception {
        warm();
        millis = 1000000;
        int before = started.get();
        Pair pair = new Pair(1, 2, "pair");
        int[] numbers = {1, 2, 3};
        synchronized (taken) {
            for (int i = 0; i < WAYS; i++) {
                start("all " + i, i, how ->
                    sink += all(true, (byte) -5, 'k', (short) -300, 12345, 1L << 40, 1.5f, 2.25, "text", numbers, pair, how));
                start("outer " + i, i, how -> sink += outer(10, "t", how));
                start("apart " + i, i, how -> sink += apart(7, how));
                start("constants " + i, i, how -> sink += constants(how));
            }
            start("blocked", 0, how -> sink += blocked(6, 7L, 8.5, "nine", taken));
            while (started.get() - before < WAYS * 4 + 1) {
                Thread.sleep(10);
            }
            Thread.sleep(500);
            tell();
            Thread.sleep(1000000);
        }
    }
}
