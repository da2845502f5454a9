// SPDX-License-Identifier: MIT
// model.js - the profile as the page works with it: call trees with a figure for each sample type, and how sure each figure is.
//
// The data come from html_data.c, which describes them. Figures are kept as columns by sample type, as there are many nodes. Nothing here knows of the page.
"use strict";

const ROOT = -1, OTHER = -2; // functions that are none

// A call tree: parents stand before their children, node 0 is the root. Figures of a node are with all that lies below.
class CallTree {
	constructor(types) {
		this.functionOf = [];
		this.parent = [];
		this.depth = [];
		const columns = () => Array.from({ length: types }, () => []);
		this.now = columns(); // of the new side
		this.old = columns(); // of the base
		this.variance = columns();
		this.unit = columns();
	}

	get count() {
		return this.functionOf.length;
	}

	add(functionIndex, parent) {
		const index = this.count;
		this.functionOf.push(functionIndex);
		this.parent.push(parent);
		this.depth.push(index ? this.depth[parent] + 1 : 0);
		for (let type = 0; type < this.now.length; type++) {
			this.now[type].push(0);
			this.old[type].push(0);
			this.variance[type].push(0);
			this.unit[type].push(0);
		}
		return index;
	}

	// Adds the figures of another tree's node to those of node `at`.
	include(at, tree, node) {
		for (let type = 0; type < this.now.length; type++) {
			this.now[type][at] += tree.now[type][node];
			this.old[type][at] += tree.old[type][node];
			this.variance[type][at] += tree.variance[type][node];
			this.unit[type][at] = Math.max(this.unit[type][at], tree.unit[type][node]);
		}
	}

	figure(node, type) {
		return {
			now: this.now[type][node],
			old: this.old[type][node],
			variance: this.variance[type][node],
			unit: this.unit[type][node],
		};
	}

	// By node, its children; made once.
	get children() {
		if (!this.childLists) {
			this.childLists = this.functionOf.map(() => []);
			for (let node = 1; node < this.count; node++)
				this.childLists[this.parent[node]].push(node);
		}
		return this.childLists;
	}
}

function addFigures(to, from) {
	to.now += from.now;
	to.old += from.old;
	to.variance += from.variance;
	to.unit = Math.max(to.unit, from.unit);
}

// ---- how sure a figure is: as in estimate.c, where it is explained ----

// Complementary error function, to 1e-7.
function erfc(x) {
	const z = Math.abs(x), t = 1 / (1 + z / 2);
	const coefficients = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223];
	const sum = coefficients.reduce((value, coefficient) => value * t + coefficient, 0);
	const result = t * Math.exp(-z * z + sum);
	return x >= 0 ? result : 2 - result;
}

function gammaBelow(x, mean, variance) {
	if (variance <= 0 || mean <= 0)
		return x >= mean ? 1 : 0;
	const spread = variance / (9 * mean * mean);
	return 0.5 * erfc(-(Math.cbrt(Math.max(x, 0) / mean) - (1 - spread)) / Math.sqrt(2 * spread));
}

function quantile(figure, share) {
	const value = figure.now, moreValue = value + figure.unit, moreVariance = figure.variance + figure.unit * figure.unit;
	let low = 0, high = moreValue + 20 * Math.sqrt(moreVariance);
	for (let i = 0; i < 36; i++) {
		const x = (low + high) / 2, seen = gammaBelow(x, value, figure.variance);
		if (seen + Math.min(seen, gammaBelow(x, moreValue, moreVariance)) < 2 * share)
			low = x;
		else
			high = x;
	}
	return high;
}

// The 95 % interval of a figure or, where it has a base, of the difference; null where it is exact.
function intervalOf(figure) {
	if (figure.variance <= 0 && figure.unit <= 0)
		return null;
	const value = figure.now - figure.old;
	if (figure.old > 0) {
		const spread = 1.959964 * Math.sqrt(figure.variance + figure.unit * figure.unit);
		return { low: value - spread, high: value + spread };
	}
	return { low: Math.min(value, quantile(figure, 0.025)), high: Math.max(value, quantile(figure, 0.975)) };
}

// Relative change, -1 (gone) to 1 (new).
function changeOf(figure) {
	const larger = Math.max(figure.now, figure.old);
	return larger > 0 ? (figure.now - figure.old) / larger : 0;
}

function isCertain(figure) {
	const interval = intervalOf(figure);
	return !interval || interval.low > 0 || interval.high < 0;
}

// ---- the profile ----

class Profile {
	constructor(data) {
		this.meta = data;
		this.types = data.types;
		this.isComparison = data.isComparison;
		this.isExact = !data.nodes.deviation;
		this.name = data.functions.name.map((index) => data.names[index]);
		this.module = data.functions.module.map((index) => data.names[index]);
		this.file = data.functions.file.map((index) => data.names[index]);
		this.tree = this.readTree(data.nodes);
		this.selves = this.types.map((_, type) => this.readSelves(data.nodes, type));
		this.merged = new Map();
	}

	readTree(nodes) {
		const tree = new CallTree(this.types.length), path = [];
		nodes.function.forEach((functionIndex, node) => {
			const depth = nodes.depth[node];
			tree.add(functionIndex, depth ? path[depth - 1] : 0);
			path[depth] = node;
		});
		const square = (value) => value * value;
		for (let type = 0; type < this.types.length; type++) {
			tree.now[type] = nodes.self[type].slice();
			if (nodes.base)
				tree.old[type] = nodes.base[type].slice();
			if (nodes.deviation) {
				tree.variance[type] = nodes.deviation[type].map(square);
				tree.unit[type] = nodes.unit[type].slice();
			}
		}
		for (let node = tree.count - 1; node > 0; node--)
			tree.include(tree.parent[node], tree, node);
		return tree;
	}

	// By node: the figures of the function itself, without what it calls.
	readSelves(nodes, type) {
		return (node) => ({
			now: nodes.self[type][node],
			old: nodes.base ? nodes.base[type][node] : 0,
			variance: nodes.deviation ? nodes.deviation[type][node] ** 2 : 0,
			unit: nodes.unit ? nodes.unit[type][node] : 0,
		});
	}

	nameOf(functionIndex) {
		return functionIndex === ROOT ? "all" : functionIndex === OTHER ? "(other)" : this.name[functionIndex];
	}

	moduleOf(functionIndex) {
		return functionIndex < 0 ? "" : this.module[functionIndex];
	}

	fileOf(functionIndex) {
		return functionIndex < 0 ? "" : this.file[functionIndex];
	}

	// Nodes of a function that lie below no other one of it: what they hold counts once. wanted: of a function, whether it counts.
	topmost(wanted) {
		const tree = this.tree, isBelow = new Uint8Array(tree.count), found = [];
		for (let node = 0; node < tree.count; node++) {
			const isWanted = wanted(tree.functionOf[node]);
			if (node > 0)
				isBelow[node] = isBelow[tree.parent[node]];
			if (isWanted && !isBelow[node]) {
				found.push(node);
				isBelow[node] = 1;
			}
		}
		return found;
	}

	// What matches, in all. As above.
	sumOf(wanted, type) {
		const sum = { now: 0, old: 0, variance: 0, unit: 0 };
		for (const node of this.topmost(wanted))
			addFigures(sum, this.tree.figure(node, type));
		return sum;
	}

	// Two trees with the function as root: who calls it, and what it calls. Made when they are asked for.
	around(functionIndex) {
		if (!this.merged.has(functionIndex)) {
			const nodes = this.topmost((candidate) => candidate === functionIndex);
			this.merged.set(functionIndex, { callers: this.callersOf(functionIndex, nodes), callees: this.calleesOf(functionIndex, nodes) });
		}
		return this.merged.get(functionIndex);
	}

	merger(functionIndex) {
		const tree = new CallTree(this.types.length), steps = new Map();
		tree.add(functionIndex, 0);
		const step = (at, next) => {
			const key = at * (this.name.length + 2) + next + 2;
			if (!steps.has(key))
				steps.set(key, tree.add(next, at));
			return steps.get(key);
		};
		return { tree, step };
	}

	callersOf(functionIndex, nodes) {
		const { tree, step } = this.merger(functionIndex), source = this.tree;
		for (const node of nodes) {
			let at = 0;
			tree.include(0, source, node);
			for (let caller = source.parent[node]; caller > 0; caller = source.parent[caller]) {
				at = step(at, source.functionOf[caller]);
				tree.include(at, source, node);
			}
		}
		return tree;
	}

	calleesOf(functionIndex, nodes) {
		const { tree, step } = this.merger(functionIndex), source = this.tree;
		const pending = nodes.map((node) => ({ node, at: 0 }));
		while (pending.length) {
			const { node, at } = pending.pop();
			tree.include(at, source, node);
			for (const child of source.children[node])
				pending.push({ node: child, at: step(at, source.functionOf[child]) });
		}
		return tree;
	}

	// The table: each function once, as in a report of functions. A row: function, self, total.
	functionRows(type) {
		const tree = this.tree, rows = new Map(), onPath = new Set(), path = [];
		const rowOf = (functionIndex) => {
			if (!rows.has(functionIndex)) {
				const nothing = () => ({ now: 0, old: 0, variance: 0, unit: 0 });
				rows.set(functionIndex, { functionIndex, self: nothing(), total: nothing() });
			}
			return rows.get(functionIndex);
		};
		for (let node = 0; node < tree.count; node++) {
			const functionIndex = tree.functionOf[node];
			while (path.length > tree.depth[node])
				onPath.delete(path.pop());
			const isRecursive = onPath.has(functionIndex);
			path.push(isRecursive ? null : functionIndex);
			onPath.add(functionIndex);
			const self = this.selves[type](node);
			if (functionIndex === ROOT && !self.now && !self.old)
				continue;
			const row = rowOf(functionIndex);
			addFigures(row.self, self);
			if (!isRecursive)
				addFigures(row.total, functionIndex === ROOT ? self : tree.figure(node, type));
		}
		return Array.from(rows.values()).filter((row) => row.total.now > 0 || row.total.old > 0);
	}
}

// ---- figures as text ----

// As in hi_units.h, with a thin space.
function formatBytes(bytes) {
	const units = ["B", "kB", "MB", "GB", "TB", "PB"];
	let unit = 0, value = bytes;
	while (unit + 1 < units.length && Math.abs(value) >= 1024) {
		value /= 1024;
		unit++;
	}
	const text = value.toFixed(2).replace(/\.00$/, "");
	return text === "0" || text === "-0" ? "0\u202fB" : text.replace("-", "\u2212") + "\u202f" + units[unit];
}

function formatCount(count) {
	return Math.round(count).toLocaleString("en-US").replace("-", "\u2212").replace(/^\u22120$/, "0");
}

function formatValue(value, type) {
	return type.isBytes ? formatBytes(value) : formatCount(value);
}

function formatSigned(value, type) {
	return (value > 0 ? "+" : "") + formatValue(value, type);
}

function formatShare(value, whole) {
	const percent = whole > 0 ? 100 * value / whole : 0;
	return (percent === 0 || percent >= 1 ? percent.toFixed(1).replace(/\.0$/, "") : percent.toPrecision(2)) + "%";
}

// In words where percent would say nothing.
function formatChange(figure) {
	if (figure.old <= 0)
		return figure.now > 0 ? "new" : "";
	if (figure.now <= 0)
		return "gone";
	const percent = 100 * (figure.now - figure.old) / figure.old;
	return (percent > 0 ? "+" : percent < 0 ? "\u2212" : "\u00b1") + Math.abs(percent).toFixed(Math.abs(percent) < 9.95 ? 1 : 0) + "%";
}

function formatInterval(figure, type) {
	const interval = intervalOf(figure);
	if (type.isUnsure)
		return "?";
	if (!interval)
		return "exact";
	const text = figure.old > 0 ? formatSigned : formatValue;
	return text(interval.low, type) + " \u2026 " + text(interval.high, type);
}
