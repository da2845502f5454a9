// SPDX-License-Identifier: MIT
// speedscope_totals.cjs PACKAGE FILE: FILE as speedscope imports it, one line a profile: name, unit, total, sum of what the functions have themselves.
//
// The package holds nothing but the bundle of its page, so the importer is taken out of that: what the page would call, and nothing of the page.
'use strict';

const fs = require('fs');
const path = require('path');
const vm = require('vm');

const release = path.join(process.argv[2], 'dist', 'release');
const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
let source = fs.readFileSync(path.join(release, bundle), 'utf8');
const json = source.match(/Importing as speedscope json file"\),([\w$]+)\(/);
const collapsed = source.match(/Importing as collapsed stack format"\),[\w$]+\(([\w$]+)\(/);
const mount = source.lastIndexOf('console.log(`speedscope v');
if (!json || !collapsed || mount < 0) throw new Error('this version of speedscope looks different: its importers were not found');
source = `${source.slice(0, mount)}globalThis.importers={json:${json[1]},collapsed:${collapsed[1]}};return;${source.slice(mount)}`;

const anything = new Proxy(function () {}, {
	get: (target, key) => (key === Symbol.toPrimitive ? () => '' : key === 'length' ? 0 : anything),
	set: () => true,
	apply: () => anything,
	construct: () => anything,
});
const page = vm.createContext({
	console: { log() {}, assert() {}, warn: console.warn, error: console.error },
	document: anything, window: anything, navigator: anything, location: anything, localStorage: anything,
	performance, TextDecoder, TextEncoder, setTimeout, requestAnimationFrame() {}, URLSearchParams,
});
page.self = page;
try {
	vm.runInContext(source, page, { filename: bundle });
} catch (error) {
	console.error(String(error)); // without the line of the bundle, which is all of it
	process.exit(1);
}

const text = fs.readFileSync(process.argv[3], 'utf8');
let profiles;
if (process.argv[3].endsWith('.collapsed')) {
	const content = { splitLines: () => text.split('\n'), parseAsJSON: () => JSON.parse(text) };
	profiles = [page.importers.collapsed(content)];
} else {
	const group = page.importers.json(JSON.parse(text));
	profiles = group.profiles;
	console.error(`shown first: ${profiles[group.indexToView].getName()}`);
}
for (const profile of profiles) {
	let self = 0;
	profile.forEachFrame((frame) => { self += frame.getSelfWeight(); });
	console.log(profile.getName().replace(/ /g, '_') || '-', profile.getWeightUnit(), profile.getTotalWeight(), self);
}
