// java-heap: objects of every kind: numbers, texts, arrays, collections, chains of references, and garbage. The program
// tells in values.txt what Java itself says of each field, and in histogram.txt how many objects of its own classes it
// made and keeps; then it waits to be dumped.

import java.io.File;
import java.io.PrintWriter;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Heap {
    enum Color { RED, GREEN { }, BLUE }

    static class Base {
        int hidden = 1;
        String inherited = "from the base";
    }

    static class Shown extends Base {
        boolean truth = true;
        byte small = -7;
        short brief = -30000;
        char letter = 'x';
        int number = 123456789;
        long big = -9007199254740993L;
        float half = 0.1f;
        double quarter = -0.25;
        int hidden = 2;
        Object nothing = null;
        String latin = "caf\u00e9";
        String wide = "\u65e5\u672c \ud83d\ude00";
        String empty = "";
        Color color = Color.GREEN;
        Integer boxed = 42;
        Long boxedLong = Long.MIN_VALUE;
        Character boxedCharacter = 'q';
        Boolean boxedTruth = false;
        Double boxedDouble = 2.5;
        int[] ints = {1, -2, 3};
        long[] longs = {1L << 40, -1};
        byte[] bytes = {1, -1, 127};
        char[] chars = {'a', 'b'};
        boolean[] truths = {true, false};
        double[] doubles = {1.5, -2.5};
        short[] shorts = {5, -6};
        float[] floats = {0.5f};
        String[] strings = {"one", null, "three"};
        List<String> list = new ArrayList<>(Arrays.asList("a", "b", "c"));
        List<String> fixed = Arrays.asList("x", "y");
        List<Integer> linked = new LinkedList<>(Arrays.asList(1, 2, 3));
        List<Integer> one = List.of(1);
        List<Integer> two = List.of(1, 2);
        List<Integer> many = List.of(1, 2, 3, 4, 5);
        List<String> written = new CopyOnWriteArrayList<>(Arrays.asList("p", "q"));
        List<String> unmodifiable = Collections.unmodifiableList(list);
        List<String> synced = Collections.synchronizedList(new ArrayList<>(list));
        List<String> none = Collections.emptyList();
        List<String> single = Collections.singletonList("only");
        Vector<String> vector = new Vector<>(Arrays.asList("v", "w"));
        Map<String, Integer> map = new HashMap<>();
        Map<String, Integer> ordered = new LinkedHashMap<>();
        Map<Integer, String> sorted = new TreeMap<>();
        Map<String, Integer> concurrent = new ConcurrentHashMap<>();
        Map<String, String> table = new Hashtable<>();
        Map<String, Integer> pair = Map.of("k", 1);
        Map<String, Integer> immutable = Map.of("k", 1, "l", 2, "m", 3);
        Map<Color, String> byColor = new EnumMap<>(Color.class);
        Map<String, Integer> readOnly = Collections.unmodifiableMap(ordered);
        Map<Integer, Integer> collided = new HashMap<>();
        Set<String> set = new HashSet<>(Arrays.asList("s", "t", "u"));
        Set<String> orderedSet = new LinkedHashSet<>(Arrays.asList("z", "y", "x"));
        Set<Integer> sortedSet = new TreeSet<>(Arrays.asList(3, 1, 2));
        Set<String> ofTwo = Set.of("e", "f");
        Set<String> ofMany = Set.of("e", "f", "g", "h");
        Set<String> concurrentSet = ConcurrentHashMap.newKeySet();
        Deque<Integer> deque = new ArrayDeque<>();
        Queue<Integer> queue = new ArrayBlockingQueue<>(4);
        Queue<Integer> linkedQueue = new LinkedBlockingQueue<>();
        Queue<Integer> freeQueue = new ConcurrentLinkedQueue<>();
        Queue<Integer> priority = new PriorityQueue<>(Arrays.asList(5, 1, 3));
        StringBuilder built = new StringBuilder("built").append(1);
        StringBuffer builtWide = new StringBuffer("\u65e5");
        BigInteger large = new BigInteger("-123456789012345678901234567890");
        BigInteger zero = BigInteger.ZERO;
        BigDecimal exact = new BigDecimal("-12345678901234567890.123456");
        BigDecimal price = new BigDecimal("1.50");
        BigDecimal tiny = new BigDecimal("1E-9");
        AtomicInteger atomic = new AtomicInteger(-5);
        AtomicLong atomicLong = new AtomicLong(1L << 40);
        AtomicBoolean atomicTruth = new AtomicBoolean(true);
        AtomicReferenceArray<String> atomicStrings = new AtomicReferenceArray<>(new String[] {"a", "b"});
        LongAdder adder = new LongAdder();
        Optional<String> optional = Optional.of("there");
        Optional<String> noOptional = Optional.empty();
        OptionalInt optionalNumber = OptionalInt.of(7);
        OptionalLong noOptionalNumber = OptionalLong.empty();
        UUID uuid = new UUID(0x0123456789abcdefL, 0xfedcba9876543210L);
        Instant instant = Instant.ofEpochSecond(1700000000L, 123000000);
        Duration duration = Duration.ofMillis(-1500);
        Period period = Period.of(1, 0, 3);
        LocalDate date = LocalDate.of(2024, 2, 29);
        LocalTime time = LocalTime.of(1, 2, 3, 4000);
        LocalDateTime dateTime = LocalDateTime.of(2024, 2, 29, 23, 59);
        OffsetDateTime offset = OffsetDateTime.of(dateTime, ZoneOffset.ofHoursMinutes(-5, -30));
        ZonedDateTime zoned = ZonedDateTime.of(dateTime, ZoneId.of("Europe/Paris"));
        Year year = Year.of(2024);
        YearMonth month = YearMonth.of(2024, 5);
        MonthDay day = MonthDay.of(5, 6);
        DayOfWeek weekday = DayOfWeek.MONDAY;
        File file = new File("/tmp/a file");
        Path path = Paths.get("/tmp/other");
        URI uri = URI.create("http://host:1/path?query");
        InetAddress host = address("host", 10, 0, 0, 1);
        InetSocketAddress socket = new InetSocketAddress(host, 80);
        InetAddress longHost = address("", 32, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
        BitSet bits = new BitSet();
        Set<Color> someColors = EnumSet.of(Color.RED, Color.BLUE);
        Set<Color> noColors = EnumSet.noneOf(Color.class);
        Set<Character.UnicodeScript> scripts =
            EnumSet.of(Character.UnicodeScript.LATIN, Character.UnicodeScript.YI, Character.UnicodeScript.LISU);
        Map<String, Integer> skipping = new ConcurrentSkipListMap<>();
        Set<String> skippingSet = new ConcurrentSkipListSet<>(Arrays.asList("b", "a", "c"));
        Deque<Integer> freeDeque = new ConcurrentLinkedDeque<>(Arrays.asList(1, 2, 3));
        Queue<Integer> transfers = new LinkedTransferQueue<>(Arrays.asList(1, 2));
        List<String> part = new ArrayList<>(Arrays.asList("a", "b", "c", "d")).subList(1, 3);
        List<String> partOfPart = new ArrayList<>(Arrays.asList("a", "b", "c", "d")).subList(1, 4).subList(1, 2);
        List<Integer> partOfFixed = Arrays.asList(1, 2, 3, 4).subList(2, 4);
        List<Integer> partOfMany = List.of(1, 2, 3, 4).subList(1, 3);
        List<String> copies = Collections.nCopies(3, "z");
        Map.Entry<String, Integer> entry = Map.entry("k", 2);
        Collection<Integer> values = ordered.values();
        Set<String> keys = ordered.keySet();
        Set<Map.Entry<String, Integer>> entries = ordered.entrySet();
        Collection<Integer> hashValues = map.values();
        Set<Integer> treeKeys = sorted.keySet();
        Set<String> concurrentKeys = concurrent.keySet();
        Collection<Integer> concurrentValues = concurrent.values();
        Map<String, Integer> checked = Collections.checkedMap(ordered, String.class, Integer.class);

        Shown() {
            bits.set(1);
            bits.set(64);
            bits.set(130);
            adder.add(42);
            freeDeque.addFirst(0);
            freeDeque.pollLast();
            transfers.poll();
            transfers.add(3);
            for (int i = 0; i < 20; i++) {
                map.put("key" + i, i);
                ordered.put("key" + (19 - i), i);
                sorted.put(i * 7 % 20, "value" + i);
                concurrent.put("key" + i, i);
                skipping.put("key" + i * 7 % 20, i);
                table.put("key" + i, "value" + i);
                // All in one bucket, which becomes a tree.
                collided.put(i << 16, i);
            }
            byColor.put(Color.BLUE, "blue");
            byColor.put(Color.RED, "red");
            concurrentSet.add("c");
            skipping.remove("key3");
            for (int i = 0; i < 12; i++) {
                deque.add(i);
                if (i > 4) {
                    deque.poll();
                }
                if (queue.size() == 4) {
                    queue.poll();
                }
                queue.add(i);
                linkedQueue.add(i);
                freeQueue.add(i);
            }
            linkedQueue.poll();
            freeQueue.poll();
        }
    }

    static InetAddress address(String name, int... parts) {
        byte[] bytes = new byte[parts.length];
        for (int i = 0; i < parts.length; i++) {
            bytes[i] = (byte) parts[i];
        }
        try {
            return InetAddress.getByAddress(name, bytes);
        } catch (UnknownHostException e) {
            throw new RuntimeException(e);
        }
    }

    static class Node {
        final int id;
        Node next;

        Node(int id, Node next) {
            this.id = id;
            this.next = next;
        }
    }

    static class Leaf {
        final byte[] held = new byte[1000];
    }

    static class Owner {
        Leaf leaf = new Leaf();
        WeakReference<Leaf> weak = new WeakReference<>(leaf);
        SoftReference<Leaf> soft = new SoftReference<>(new Leaf());
    }

    static class Garbage {
        long filler;
    }

    static class Circle {
        Circle other;
    }

    static Shown shown;
    static Node chain;
    static final List<Owner> owners = new ArrayList<>();
    static int[] huge;
    static Circle circle;
    static ThreadLocal<Leaf> local = new ThreadLocal<>();
    static Object sink;

    static String text(Object value) {
        if (value == null || !value.getClass().isArray()) {
            return String.valueOf(value);
        }
        List<Object> elements = new ArrayList<>();
        for (int i = 0; i < Array.getLength(value); i++) {
            elements.add(Array.get(value, i));
        }
        return elements.toString();
    }

    static void tell() throws Exception {
        try (PrintWriter out = new PrintWriter("values.txt", "UTF-8")) {
            for (Field field : Shown.class.getDeclaredFields()) {
                out.println(field.getName() + "\t" + text(field.get(shown)));
            }
        }
        try (PrintWriter out = new PrintWriter("histogram.txt", "UTF-8")) {
            out.println("Heap$Node\t5000");
            long soft = owners.stream().filter(owner -> owner.soft.get() != null).count();
            out.println("Heap$Leaf\t" + (11 + soft));
            out.println("Heap$Owner\t10");
            out.println("Heap$Shown\t1");
            out.println("Heap$Circle\t2");
            out.println("Heap$Color\t2");
            out.println("Heap$Color$1\t1");
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5000; i++) {
            chain = new Node(i, chain);
        }
        for (int i = 0; i < 10; i++) {
            owners.add(new Owner());
        }
        huge = new int[500000];
        huge[499999] = 77;
        circle = new Circle();
        circle.other = new Circle();
        circle.other.other = circle;
        for (int i = 0; i < 100000; i++) {
            sink = new Garbage();
        }
        shown = new Shown();
        local.set(new Leaf());
        System.gc();
        // What is collected is gone, and objects have moved; more garbage follows.
        for (int i = 0; i < 1000; i++) {
            sink = new Garbage();
        }
        tell();
        String account = "{\"pid\":" + ProcessHandle.current().pid() + "}\n{\"argv\":[]}\n{\"done\":true}\n";
        Files.write(Paths.get(System.getenv("KCORE_TRUTH")), account.getBytes("UTF-8"));
        Thread.sleep(1000000);
    }
}
