// SPDX-License-Identifier: MIT
// format.js - figures as text, and how elements are made.
"use strict";

const byId = (id) => document.getElementById(id);

// Names are text: they only ever become text nodes and properties, never markup.
function make(tag, properties, ...children) {
	const element = Object.assign(document.createElement(tag), properties);
	element.append(...children);
	return element;
}

// Headings of columns: their text, and "number" for those of figures.
function makeHeadings(columns) {
	return columns.map(([named, className]) => make("th", { scope: "col", className: className || "", textContent: named }));
}

// A figure with its share of the whole, and a bar as long as that share.
function makeShare(value, whole, type) {
	const cell = make("td", { className: "number figure" }, formatValue(value, type) + " ", make("span", { className: "share", textContent: formatShare(value, whole) }));
	cell.style.setProperty("--part", whole > 0 ? value / whole : 0);
	return cell;
}

function makeSvg(tag, attributes, ...children) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

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

// How densely samples were drawn: the finest and the coarsest, which a budget sets.
function formatSampling({ isScaled, intervals: [finest, coarsest] }) {
	if (coarsest <= 1)
		return isScaled ? "not known" : "every allocation";
	return "one sample per " + (finest === coarsest ? "" : (finest > 1 ? formatBytes(finest) : "allocation") + " to ") + formatBytes(coarsest);
}
