<?php
// An application that writes where it stands and then waits.
final class Shop
{
    public function order(int $id)
    {
        return array_map(function ($item) use ($id) {
            return $this->slow($item + $id);
        }, [1]);
    }

    private function slow(int $item)
    {
        // A frame has the place that it was called from.
        $lines = [];
        foreach (debug_backtrace() as $frame) {
            $lines[] = isset($frame['file']) ? $frame['file'] . ':' . $frame['line'] : '';
        }
        $lines = array_merge([__FILE__ . ':' . (__LINE__ + 1)], $lines);
        file_put_contents($_SERVER['TRACE'], implode("\n", $lines)); sleep(1000);
        return $item;
    }
}

$shop = new Shop();
$shop->order((int) $_GET['id']);
