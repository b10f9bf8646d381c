<?php
// Every plain way in which PHP calls PHP, one inside the other, down to a read that never ends: functions, methods, static
// methods, magic methods, closures, callbacks of functions of C, files that are included, code that is evaluated,
// generators that delegate, and a fiber where there are any. Beside it generators and fibers that are suspended or never
// began.
require __DIR__ . '/truth.php';
require __DIR__ . '/included.php';

final class Pair
{
    public $left = 1;
    protected $right = [2, 'three' => 3.5];
    private $none;
}

class Above
{
    private $own = 'above';
}

class Below extends Above
{
    private $own = 'below';
}

class Account
{
    private $name;
    public static $count = 42;

    public function __construct(string $name)
    {
        $this->name = $name;
    }

    public function deposit(int $value)
    {
        $results = array_map(function ($sign) use ($value) {
            return sorted($this, $sign . $value);
        }, ['x']);
        return $results[0];
    }

    public static function evaluated($key)
    {
        return eval('return deep(3, $key);');
    }

    public function __call($method, $arguments)
    {
        return self::evaluated($arguments[0]);
    }

    public function __get($member)
    {
        return (fn () => $this->missing($member))();
    }

    public function finish($value, ...$rest)
    {
        $text = "a \"b\"\n\\ \$c";
        [$flag, $no, $none] = [true, false, null];
        [$whole, $negative, $part, $big, $tiny] = [7, -9, 2.5, 1e100, 0.00001];
        $list = [1, 'two', false, [4]];
        $map = ['a' => 1, 5 => 'five', 'nested' => ['b' => null]];
        $sparse = [1 => 'x', 2 => 'y'];
        $empty = [];
        $pair = new Pair();
        $reference = &$list[3];
        // A terminal that nobody writes to.
        $pipe = fopen('/dev/ptmx', 'r');
        Truth::locals('finish', get_defined_vars());
        Truth::note('usage.jsonl', '{"bytes":' . memory_get_usage() . '}');
        Truth::tell('fread'); $first = fread($pipe, 1);
        return $first;
    }
}

function sorted(Account $account, $sign)
{
    $list = [3, 1];
    usort($list, function ($a, $b) use ($account, $sign) {
        $account->touched = $account->absent ?? $account->gone;
        return $a - $b;
    });
    return $list;
}

function deep(int $depth, $value)
{
    if ($depth === 0) {
        return iterated($value);
    }
    return deep($depth - 1, $value);
}

function inner($value)
{
    yield 1;
    yield included($value);
}

function outer($value)
{
    yield 0;
    yield from inner($value);
}

function iterated($value)
{
    [$below, $stored] = [new Below(), new ArrayObject([1])];
    foreach (outer($value) as $step) {
        $last = $step;
    }
    return $last;
}

function switched($value)
{
    $account = new Account('fiber');
    if (!class_exists('Fiber', false)) {
        return $account->finish($value, 'rest', 2);
    }
    $fiber = new Fiber(function ($value) use ($account) {
        return $account->finish($value, 'rest', 2);
    });
    return $fiber->start($value);
}

// What is suspended beside.
function counting($to)
{
    for ($number = 0; $number < $to; $number++) {
        Truth::task('generator', 'suspended', Truth::until(null, 1)); $given = yield $number;
    }
}

function pausing(int $depth)
{
    if ($depth === 0) {
        Truth::task('fiber', 'suspended', Truth::until('Fiber::suspend', 4)); $given = Fiber::suspend(1);
        return $given;
    }
    return pausing($depth - 1);
}

$kept = [];
foreach ([3, 5] as $to) {
    $generator = counting($to);
    $generator->current();
    $kept[] = $generator;
}
$kept[] = counting(1);
if (class_exists('Fiber', false)) {
    $fiber = new Fiber(function () { return pausing(2); });
    $fiber->start();
    $kept[] = $fiber;
    $kept[] = new Fiber(function () { return 1; });
}
for ($number = 0; $number < 1000; $number++) {
    $kept[] = new Pair();
}
(new Account('savings'))->deposit(7);
