// SPDX-License-Identifier: MIT
// inspect_table.js - a table that is sorted by a click on a heading, of rows that may have rows below them: those stay below them. It knows nothing of what
// the rows are. Before it stands format.js of the page of reports.
"use strict";

const AS_BYTES = { isBytes: true }, AS_COUNT = { isBytes: false }, TABLE_ROWS_AT_FIRST = 100;

// A cell with a figure. The figure itself is there, too, as data-value.
function makeFigureCell(value, text, className) {
	const cell = make("td", { className: "number " + (className || ""), textContent: text });
	cell.dataset.value = value;
	return cell;
}

function makeShareCell(value, whole) {
	const cell = makeShare(value, whole, AS_BYTES);
	cell.dataset.value = value;
	return cell;
}

class InspectTable {
	// columns: { key, label, isText, of(row), cell(row) }; of: what is sorted by; the first cell is the row's heading. rows: with .below, or without
	constructor(label, columns, rows, sortKey) {
		Object.assign(this, { columns, rows, sortKey, shown: TABLE_ROWS_AT_FIRST });
		this.isDescending = !columns.find((column) => column.key === sortKey).isText;
		this.headings = columns.map((column) => this.makeHeading(column));
		this.body = make("tbody", {});
		this.more = make("button", { type: "button", className: "more", onclick: () => this.showAll() });
		const table = make("table", {}, make("thead", {}, make("tr", {}, ...this.headings)), this.body);
		table.setAttribute("aria-label", label);
		this.element = make("div", { className: "inspected" }, make("div", { className: "scroll" }, table), this.more);
		this.draw();
	}

	makeHeading(column) {
		const sort = () => {
			this.isDescending = this.sortKey === column.key ? !this.isDescending : !column.isText;
			this.sortKey = column.key;
			this.draw();
		};
		return make("th", { scope: "col", className: column.isText ? "" : "number" }, make("button", { type: "button", textContent: column.label, onclick: sort }));
	}

	showAll() {
		this.shown = Infinity;
		this.draw();
	}

	// Each with its depth; equal ones stay in the order that they came in.
	sorted(rows, depth) {
		const { of } = this.columns.find((column) => column.key === this.sortKey), sign = this.isDescending ? -1 : 1;
		const compare = (a, b) => sign * (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0);
		return rows.slice().sort(compare).flatMap((row) => [{ row, depth }, ...this.sorted(row.below || [], depth + 1)]);
	}

	draw() {
		const rows = this.sorted(this.rows, 0);
		this.headings.forEach((heading, index) => {
			const isSorted = this.columns[index].key === this.sortKey;
			heading.setAttribute("aria-sort", isSorted ? (this.isDescending ? "descending" : "ascending") : "none");
		});
		this.body.replaceChildren(...rows.slice(0, this.shown).map(({ row, depth }) => this.makeRow(row, depth)));
		this.more.hidden = rows.length <= this.shown;
		this.more.textContent = "Show all " + formatCount(rows.length) + " rows";
	}

	makeRow(row, depth) {
		const [first, ...others] = this.columns, heading = make("th", { scope: "row" }, ...first.cell(row));
		heading.style.setProperty("--depth", depth);
		return make("tr", {}, heading, ...others.map((column) => column.cell(row)));
	}
}
