# A busy program whose calls only lead from sub to sub as `busy.rs` lists them.
use strict;
use warnings;

sub leaf {
    my $sum = 0;
    $sum += $_ % 3 for 1 .. 1 + int rand 200;
    return $sum;
}

sub gamma { my $sum = leaf(); return $sum }

sub delta {
    my $sum = rand() < 0.5 ? gamma() : leaf();
    return $sum;
}

sub by_leaf { my $sum = leaf(); return $sum <=> $a + $b }

sub each_one {
    my @list = sort by_leaf 1 .. 3;
    return $list[0];
}

sub fiber {
    my $sum = eval { my $part = leaf(); $part };
    return $sum;
}

sub alpha {
    my $sum = rand() < 0.5 ? gamma() : delta();
    return $sum;
}

sub beta {
    my $choice = int rand 3;
    my $sum = $choice == 0 ? delta() : $choice == 1 ? each_one() : fiber();
    return $sum;
}

sub root {
    my $sum = rand() < 0.5 ? alpha() : beta();
    return $sum;
}

$| = 1;
print "runs\n";
root() while 1;
