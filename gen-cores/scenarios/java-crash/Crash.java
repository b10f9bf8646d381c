// java-crash: a process of Java that ends by a fault in compiled code, in native code that Java called, because that gives
// up, because nobody catches an exception, or because memory ran out. The program tells its own stack right before in trace.txt.

import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

public class Crash {
    static sun.misc.Unsafe unsafe;
    static volatile long sink;

    static native void fault(long at);

    static native void giveUp(String why);

    static void poke(long at, long value) {
        unsafe.putLong(at, value);
    }

    static void work(String how) throws Exception {
        tell();
        switch (how) {
            case "fault":
                poke(16, 1);
                break;
            case "native":
                fault(32);
                break;
            case "uncaught":
                Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> giveUp("not told"));
                thrown();
                break;
            case "memory":
                fill();
                break;
            default:
                giveUp("told by native code");
        }
    }

    static void thrown() {
        IllegalArgumentException thrown = new IllegalArgumentException("nobody catches it");
        tell(thrown);
        throw thrown;
    }

    static void tell(Throwable thrown) {
        try (PrintWriter out = new PrintWriter("thrown.txt", "UTF-8")) {
            for (StackTraceElement frame : thrown.getStackTrace()) {
                out.println(frame.getClassName() + "." + frame.getMethodName() + "(" + frame.getFileName() + ":"
                    + frame.getLineNumber() + ")");
            }
        } catch (java.io.IOException e) {
            throw new RuntimeException(e);
        }
    }

    static void fill() {
        List<Object> kept = new ArrayList<>();
        while (true) {
            kept.add(new long[10000]);
        }
    }

    /** The stack of the caller, as Java says. */
    static void tell() throws Exception {
        try (PrintWriter out = new PrintWriter("trace.txt", "UTF-8")) {
            out.println("T " + Thread.currentThread().getId() + "|" + Thread.currentThread().getName() + "|RUNNABLE|"
                + Thread.currentThread().isDaemon() + "|" + Thread.currentThread().getPriority() + "||-1");
            StackTraceElement[] frames = new Throwable().getStackTrace();
            for (int i = 1; i < frames.length; i++) {
                out.println("  " + frames[i].getClassName() + "." + frames[i].getMethodName() + " "
                    + frames[i].getFileName() + ":" + frames[i].getLineNumber());
            }
        }
        String account = "{\"pid\":" + ProcessHandle.current().pid() + "}\n{\"argv\":[]}\n{\"done\":true}\n";
        Files.write(Paths.get(System.getenv("KCORE_TRUTH")), account.getBytes("UTF-8"));
    }

    public static void main(String[] args) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        unsafe = (sun.misc.Unsafe) field.get(null);
        System.load(Paths.get("libnative.so").toAbsolutePath().toString());
        long room = unsafe.allocateMemory(8);
        for (int i = 0; i < 30000; i++) {
            poke(room, i);
        }
        work(System.getProperty("how"));
    }
}
