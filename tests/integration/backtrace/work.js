// SPDX-License-Identifier: MIT
// work.js FILE: makes FILE once it is in full swing.
// Work of many kinds, each with calls from C++ to JavaScript and back, until stopped: timers, promises, zlib threads, sorting with comparators, JSON, regular expressions, buffers.
const fs = require('fs');
const zlib = require('zlib');
const crypto = require('crypto');
const vm = require('vm');

function grow(depth) {
	return depth === 0 ? Buffer.alloc(9000, depth) : [depth, 1].map(() => grow(depth - 1))[0];
}

function work(round) {
	grow(6);
	[5, 3, 9, 1].sort((a, b) => grow(1).length * 0 + a - b);
	JSON.parse(JSON.stringify({text: 'x'.repeat(3000), list: Array.from({length: 100}, (_, i) => i)}));
	'1 22 333 '.repeat(30).replace(/\d+/g, (m) => String(grow(0).length) + m);
	if (round % 20 === 0)
		vm.runInNewContext(`(function f(n) { return n ? f(n - 1) : new Array(100).fill(${round}) })(5)`);
	crypto.createHash('sha256').update(Buffer.alloc(2000)).digest('hex');
	zlib.deflateSync(Buffer.alloc(3000));
	zlib.gzip(Buffer.alloc(3000), () => {});
	new TextDecoder().decode(new TextEncoder().encode('y'.repeat(5000)));
	Promise.resolve(round).then((n) => grow(2).length + n);
	if (round === 50)
		fs.writeFileSync(process.argv[2], 'ready');
	setImmediate(work, round + 1);
}

work(0);
