// SPDX-License-Identifier: MIT
package main

// #include <stdlib.h>
// #include <string.h>
// void *held[96];
// void hold_in_c(int i, size_t size) { held[i] = memset(malloc(size), 1, size); }
import "C"

var count C.int

func hold(size int) {
	C.hold_in_c(count, C.size_t(size))
	count++
}
