// SPDX-License-Identifier: MIT
// model.js - the profile as the page works with it: call trees with a figure for each sample type, and how sure each figure is.
//
// Figures are kept as columns by sample type, as there are many nodes. Nothing here knows of the page.
"use strict";

const ROOT = -1, OTHER = -2; // functions that are none

// A call tree: parents stand before their children, node 0 is the root. Figures of a node are with all that lies below.
class CallTree {
	constructor(types) {
		this.functionOf = [];
		this.parent = [];
		this.depth = [];
		const columns = () => Array.from({ length: types }, () => []);
		this.line = [];
		this.image = null; // by node of the data: the node here that has its figures
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
		this.line.push(0);
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
