<?php
// SPDX-License-Identifier: MIT
// Calls of a known depth, closures, regular expressions, JSON, until it is ended.
function deeper($left) {
	return $left ? deeper($left - 1) . 'x' : str_repeat('y', 100);
}
echo "ready\n";
while (true) {
	$all = [];
	for ($i = 0; $i < 300; $i++) {
		$all[] = preg_replace_callback('/(\w+) (\w+)/', fn($found) => $found[2] . $found[1], "abc $i");
		deeper(20);
	}
	json_decode(json_encode($all));
}
