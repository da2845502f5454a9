// SPDX-License-Identifier: MIT
// Buffers, JSON, promises, and calls of a known depth, until it is ended.
function deeper(left) {
	return left ? deeper(left - 1) : Buffer.alloc(9000, 1);
}
async function work() {
	for (let i = 0;; i++) {
		deeper(20);
		JSON.parse(JSON.stringify({all: new Array(i % 100).fill('text')}));
		await new Promise((resolve) => setImmediate(resolve));
	}
}
console.log('ready');
work();
