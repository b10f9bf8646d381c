# Every plain way in which Perl calls Perl, one inside the other, down to a read that never ends: subs, methods, closures,
# recursion, sort, evals of blocks and of text, files that are required, BEGIN, overloaded operators, tied variables,
# destructors, handlers of signals and of die, functions of C that call back, code in patterns, formats. Where Perl has
# threads, another one waits in an interpreter of its own.
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Truth;
use List::Util qw(first reduce);

my $kept = 42;
our $limit = 3;
our @pairs = map { Pair->new($_) } 1 .. 1000;
my $threads = 1;

package Pair;

sub new {
    my ($class, $number) = @_;
    return bless { number => $number, text => "text $number" }, $class;
}

package Account;

sub new {
    my ($class, %fields) = @_;
    return bless {%fields}, $class;
}

sub deposit {
    my ($self, $value, @rest) = @_;
    $self->{total} += $value;
    my $sorted = main::sorted($self, @rest);
    return $sorted;
}

package Number;
use overload '+' => \&add, '""' => sub { "a number" };

sub add {
    my ($self, $other) = @_;
    tie my $tied, "Slot";
    my $value = $tied;
    return $value;
}

package Slot;

sub TIESCALAR { return bless [], shift }

sub FETCH {
    my ($self) = @_;
    my $value = main::destroyed($self);
    return $value;
}

package Kept;

sub TIEHASH { return bless {}, shift }
sub TIEARRAY { return bless [], shift }

package Guard;

sub DESTROY {
    my ($self) = @_;
    local $@;
    main::signalled("guard");
}

package main;

sub sorted {
    my ($account, @list) = @_;
    my $done = 0;
    my @sorted = sort {
        deep($limit, $account) unless $done++;
        $a <=> $b
    } @list;
    return @sorted;
}

sub deep {
    my ($depth, $account) = @_;
    return closure("kept")->($account) if $depth == 0;
    my $result = deep($depth - 1, $account);
    return $result;
}

sub closure {
    my ($name) = @_;
    return sub {
        my ($account) = @_;
        my $found = first { searched($_, $name) } 1 .. 3;
        return $found;
    };
}

sub searched {
    my ($number, $name) = @_;
    my $result = eval {
        my $inner = text($number);
        $inner;
    };
    return $result;
}

sub text {
    my ($number) = @_;
    my $value = eval "my \$part = \$number;\nmy \$result = compared(\$part);\n\$result";
    return $value;
}

sub by_value {
    plus($a, "left") if $a == 2 or $b == 2;
    return $a <=> $b;
}

sub compared {
    my ($part) = @_;
    my @list = sort by_value 1 .. 3;
    return $list[0];
}

sub plus {
    my $value = shift;
    my $number = bless {}, "Number";
    my $sum = $number + $value;
    return $sum;
}

sub destroyed {
    my ($slot) = @_;
    my $guard = bless {}, "Guard";
    undef $guard;
    return 1;
}

sub signalled {
    my ($name) = @_;
    local $SIG{USR1} = sub {
        my ($signal) = @_;
        my $reduced = reduce { conditions($signal, $b) } 1, 2;
        return $reduced;
    };
    kill USR1 => $$;
    return 1;
}

# The lines of conditions behind the first have no statements of their own.
sub conditions {
    my ($signal, $second) = @_;
    if (!defined $signal) {
        return 0;
    }
    elsif ($second == 5) {
        return 1;
    }
    elsif (required($signal)) {
        return 2;
    }
    return 3;
}

sub required {
    my ($signal) = @_;
    my @sorted = sort { loaded($signal) } 1, 2;
    return $sorted[0];
}

# What a block calls last returns to nothing.
sub loaded {
    my ($signal) = @_;
    my $result = require Late;
    return $result;
}

sub matched {
    my ($value) = @_;
    "abc" =~ /b(?{ died($value) })/;
    return 1;
}

sub died {
    my ($value) = @_;
    local $SIG{__DIE__} = sub {
        my ($message) = @_;
        finish($value, undef, $message);
    };
    eval { die "it went wrong\n" };
    return 1;
}

sub finish {
    my ($value, $missing, $message) = @_;
    my ($text, $whole, $part, $large) = ("a \"b\"\n\\\$x", -7, 2.5, 18446744073709551615);
    my @list = (1, "two", [3, undef]);
    my %member = (name => "x", "not plain" => 1, list => [2.5, "three"]);
    my ($empty, $scalar, $code) = ([], \"deep", \&finish);
    my $account = bless { total => 7 }, "Account";
    { my $gone = 1; }
    tie my %tied, "Kept";
    tie my @slots, "Kept";
    my %around = (inside => \%tied);
    my ($part_of, $place) = (\substr($text, 1, 1), \pos($text));
    Truth::variables("main::finish", '$value' => \$value, '$missing' => \$missing, '$message' => \$message,
        '$text' => \$text, '$whole' => \$whole, '$part' => \$part, '$large' => \$large, '@list' => \@list,
        '%member' => \%member, '$empty' => \$empty, '$scalar' => \$scalar, '$account' => \$account);
    # A terminal that nobody writes to.
    open my $pipe, "<", "/dev/ptmx" or die "ptmx: $!";
    Truth::tell($threads); my $count = sysread $pipe, my $buffer, 1;
    return $count;
}

sub waiting {
    my ($name) = @_;
    open my $pipe, "<", "/dev/ptmx" or die "ptmx: $!";
    Truth::tell_thread(); my $count = sysread $pipe, my $buffer, 1;
    return $count;
}

if (eval { require threads; 1 }) {
    $threads = 2;
    threads->create(sub { my $result = waiting(@_); return $result }, "other")->detach;
    select undef, undef, undef, 0.01 until -s ($ENV{KCORE_TRUTH} // $0);
}
my $account = Account->new(name => "savings", total => 0);
my $result = $account->deposit(7, 3, 1, 2);
