"""A million instances of a class, among other objects."""
import os

import truth


class Item:
    __slots__ = ("number", "next")

    def __init__(self, number, next_item):
        self.number, self.next = number, next_item


ITEMS = []
for number in range(1000000):
    ITEMS.append(Item(number, ITEMS[-1] if ITEMS else None))
truth.tell_line({"class": "Item", "count": len(ITEMS)})
truth.tell(); os.abort()
