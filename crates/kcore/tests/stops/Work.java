/** Works for ever: calls of many kinds, garbage, sorting, strings. */
class Work {
    interface Shape { double area(double x); }

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    public static void main(String[] args) {
        Shape[] shapes = {x -> x * x, x -> Math.sin(x) * 3, Math::sqrt};
        double sum = 0;
        for (int i = 0; ; i++) {
            int[] numbers = new java.util.Random(i).ints(500).toArray();
            java.util.Arrays.sort(numbers);
            var map = new java.util.HashMap<String, Integer>();
            for (int number : numbers) map.merge("x" + number % 99, 1, Integer::sum);
            for (Shape shape : shapes) sum += shape.area(i) + map.size() + fib(12);
            if (sum == -1) System.out.println(map);
        }
    }
}
