using System;
using System.Collections.Generic;

/// Works for ever: calls of many kinds, garbage, sorting, strings.
class Work {
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

    static void Main() {
        for (int i = 0; ; i++) {
            var names = new List<string>();
            for (int j = 0; j < 99; j++) names.Add((i * j % 77).ToString() + "x");
            names.Sort((a, b) => string.CompareOrdinal(a, b));
            if (Fib(12) + Math.Sin(i) < 0) Console.WriteLine(names[0]);
        }
    }
}
