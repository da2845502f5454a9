# SPDX-License-Identifier: MIT
# Strings, closures, eval, regular expressions, and calls of a known depth, until it is ended.
use strict;
use warnings;

my (%kept, $number);

sub keep {
	my ($key) = @_;
	$kept{$key} = join ',', map { $_ * 3 } 1 .. 20 + $key % 30;
	delete $kept{$key - 500};
}
sub deeper { my ($left) = @_; return $left ? deeper($left - 1) . 'x' : 'y' x 100 }
sub sorted { return join ',', sort { $a <=> $b } map { $_ * 7 % 101 } 1 .. 200 }
sub replaced { (my $text = 'abc def ' x 20) =~ s/(\w+) (\w+)/$2 . uc $1/ge; return $text }

$| = 1;
print "ready\n";
while (1) {
	keep(++$number);
	deeper(20);
	sorted() if $number % 10 == 0;
	replaced() if $number % 5 == 0;
	eval { die "over\n" } if $number % 50 == 0;
	eval "sub { $number }" if $number % 100 == 0;
}
