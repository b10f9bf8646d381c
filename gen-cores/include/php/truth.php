<?php
// The account of a PHP program: what it says of its own stacks before it dies.
//
// The account is a file of JSON Lines, named by $KCORE_TRUTH. Stacks are those of debug_backtrace(), whose entries have
// the place of the call: the place of a frame is that of the entry inside of it.

final class Truth
{
    private const GAP = '{"gap":"runtime"}';

    private static function text(string $string): string
    {
        return '"' . preg_replace_callback('/[\x00-\x1f"\\\\]/', function (array $found): string {
            return sprintf('\\u%04x', ord($found[0]));
        }, $string) . '"';
    }

    private static function append(string $path, string $line): void
    {
        file_put_contents($path, $line . "\n", FILE_APPEND);
    }

    private static function account(): string
    {
        return getenv('KCORE_TRUTH') ?: '/dev/stdout';
    }

    // Tells what is no stack: a line of a file beside the core.
    public static function note(string $file, string $line): void
    {
        self::append(preg_replace('~[^/]*$~', '', self::account()) . $file, $line);
    }

    private static function frame(string $function, ?array $place): string
    {
        $where = '';
        if (isset($place['file'])) {
            $where = ',"file":' . self::text(basename($place['file'])) . ',"line":' . $place['line'];
        }
        return '{"function":' . self::text($function) . ',"match":"exact"' . $where . '}';
    }

    // The frames of a trace whose first entry is the call that asks for it.
    private static function frames(array $trace): array
    {
        $frames = [];
        for ($index = 1; $index < count($trace); $index++) {
            $entry = $trace[$index];
            $function = ($entry['class'] ?? '') . ($entry['type'] ?? '') . $entry['function'];
            $function = preg_replace('/\x00.*?(?=->|::)/', '', $function);
            $frames[] = self::frame($function, $trace[$index - 1]);
        }
        $frames[] = self::frame('{main}', end($trace));
        return $frames;
    }

    // Tells the stack; what follows in the line of the caller is where the program stops, in a call of the function `last`.
    public static function tell(string $last): void
    {
        $frames = self::frames(debug_backtrace());
        array_unshift($frames, self::frame($last, null));
        $pid = getmypid();
        $path = self::account();
        $told = self::GAP . ',' . implode(',' . self::GAP . ',', $frames) . ',' . self::GAP;
        self::append($path, '{"thread":{"tid":' . $pid . ',"role":"main","crashed":true,"end":"outermost","frames":[' . $told . ']}}');
        self::append($path, '{"pid":' . $pid . '}');
        $words = explode("\0", rtrim(file_get_contents('/proc/self/cmdline'), "\0"));
        self::append($path, '{"argv":[' . implode(',', array_map([self::class, 'text'], $words)) . ']}');
        self::append($path, '{"fact":{"thread_count":1}}');
        self::append($path, '{"done":true}');
    }

    // A value as a program would write it.
    private static function spell($value): string
    {
        if (is_string($value)) {
            $escapes = ["\n" => '\\n', '"' => '\\"', '\\' => '\\\\', '$' => '\\$'];
            return '"' . strtr($value, $escapes) . '"';
        } elseif ($value === null) {
            return 'null';
        } elseif (is_array($value)) {
            $parts = [];
            $expected = 0;
            foreach ($value as $key => $element) {
                $spelled = self::spell($element);
                $parts[] = $key === $expected ? $spelled : self::spell($key) . ' => ' . $spelled;
                $expected += $key === $expected ? 1 : 0;
            }
            return '[' . implode(', ', $parts) . ']';
        } elseif (is_object($value)) {
            $parts = [];
            foreach ((array) $value as $name => $member) {
                $parts[] = preg_replace('/^.*\x00/', '', $name) . ': ' . self::spell($member);
            }
            return get_class($value) . ' {' . implode(', ', $parts) . '}';
        }
        return var_export($value, true);
    }

    // Tells the variables of a function, as `get_defined_vars` gives them.
    public static function locals(string $function, array $variables): void
    {
        $told = [];
        foreach ($variables as $name => $value) {
            if (!is_resource($value)) {
                $told[] = self::text('$' . $name) . ':' . self::text(self::spell($value));
            }
        }
        self::note('locals.jsonl', '{"function":' . self::text($function) . ',"locals":{' . implode(',', $told) . '}}');
    }

    // Tells a generator or a fiber: what it does, and where; by the frame that it told itself.
    public static function task(string $kind, string $state, array $frames): void
    {
        self::note('tasks.jsonl', '{"kind":' . self::text($kind) . ',"state":' . self::text($state) . ',"frames":[' . implode(',', $frames) . ']}');
    }

    // The frames of the caller, which is about to suspend itself in a call of the function `last`, up to a bottom.
    public static function until(?string $last, int $count): array
    {
        $frames = array_slice(self::frames(debug_backtrace()), 0, $count);
        return $last === null ? $frames : array_merge([self::frame($last, null)], $frames);
    }
}
