// Small helpers for making and filling elements, and for writing numbers.

/**
 * h makes an element. Attributes that begin with "on" are listeners; null children are left out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|number|null|undefined)} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "style") e.style.cssText = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined).map((c) => (c instanceof Node ? c : String(c))));
  return e;
}

/** bytes writes a number of bytes. @param {number} n */
export function bytes(n) {
  if (!(n >= 1000)) return `${Math.round(n || 0)} B`;
  for (const unit of ["kB", "MB", "GB"]) {
    n /= 1000;
    if (n < 999.5 || unit === "GB")
      return `${n < 9.95 ? n.toFixed(2) : n < 99.5 ? n.toFixed(1) : Math.round(n)} ${unit}`;
  }
  return "";
}

/** count writes a whole number with thousands apart. @param {number} n */
export const count = (n) => Math.round(n || 0).toLocaleString("en-US");

/** percent writes a share, a small one with two digits. @param {number} x */
export const percent = (x) => {
  const p = 100 * x;
  const places = p >= 9.95 || !(p > 1e-6) ? 0 : p >= 0.0995 ? 1 : 1 - Math.floor(Math.log10(p));
  return `${p.toFixed(places)} %`;
};

/** rate writes a false-positive rate that is given in bits. @param {number} bits */
export const rate = (bits) => {
  const r = 2 ** -bits;
  return r >= 0.01 ? r.toFixed(2) : r.toExponential(0);
};

/** seconds writes milliseconds as seconds, and ten minutes or more as people say them. @param {number} ms */
export const seconds = (ms) => {
  const s = Math.round(ms / 1000),
    min = Math.floor(s / 60);
  if (min < 10) return `${(ms / 1000).toFixed(1)} s`;
  return min < 60 ? `${min} min ${s % 60} s` : `${Math.floor(min / 60)} h ${min % 60} min`;
};

/** speed writes bit/s. @param {number} bps */
export const speed = (bps) =>
  bps >= 1e9 ? `${bps / 1e9} Gbit/s` : bps >= 1e6 ? `${bps / 1e6} Mbit/s` : `${Math.round(bps / 1e3)} kbit/s`;

/**
 * @typedef {{title: string, text?: boolean, value: (row: any) => any, show?: (row: any) => any, hint?: string}} Column
 */

/**
 * Table shows rows in columns that can be sorted. It keeps its element, order and place when its rows change.
 */
export class Table {
  /**
   * @param {Column[]} columns
   * @param {{sort?: number, down?: boolean, key?: (row: any) => any, pick?: (row: any) => void,
   *   limit?: number}} [options]
   */
  constructor(columns, options = {}) {
    this.columns = columns;
    this.options = options;
    this.sort = options.sort ?? -1;
    this.down = options.down ?? false;
    this.rows = [];
    this.on = null;
    this.body = h("tbody");
    this.heads = columns.map((c, i) =>
      h(
        "th",
        { class: c.text ? "text" : null, title: c.hint },
        h(
          "button",
          {
            onclick: () => {
              this.down = this.sort === i ? !this.down : !c.text;
              this.sort = i;
              this.draw();
            },
          },
          c.title,
        ),
      ),
    );
    this.more = h("p", { class: "lead", hidden: true });
    this.element = h(
      "div",
      { class: "scroll" },
      h("table", {}, h("thead", {}, h("tr", {}, ...this.heads)), this.body),
      this.more,
    );
  }

  /** @param {any[]} rows @param {any} [on] key of the selected row */
  set(rows, on = this.on) {
    this.rows = rows;
    this.on = on;
    this.draw();
  }

  sorted() {
    const of = this.columns[this.sort]?.value;
    if (!of) return this.rows;
    const order = (/** @type {any} */ a, /** @type {any} */ b) => (a < b ? -1 : a > b ? 1 : 0);
    return [...this.rows].sort((a, b) => (this.down ? -1 : 1) * order(of(a), of(b)));
  }

  draw() {
    const limit = this.options.limit ?? 500;
    this.heads.forEach((e, i) =>
      i === this.sort
        ? e.setAttribute("aria-sort", this.down ? "descending" : "ascending")
        : e.removeAttribute("aria-sort"),
    );
    const rows = this.sorted();
    this.body.replaceChildren(
      ...rows.slice(0, limit).map((row) => {
        const key = this.options.key?.(row);
        const pick = this.options.pick;
        return h(
          "tr",
          {
            class: key !== undefined && key === this.on ? "on" : null,
            "data-row": pick ? true : null,
            onclick: pick ? () => pick(row) : null,
          },
          ...this.columns.map((c) => h("td", { class: c.text ? "text cut" : null }, (c.show ?? c.value)(row))),
        );
      }),
    );
    this.more.hidden = rows.length <= limit;
    this.more.textContent = rows.length > limit ? `${count(rows.length - limit)} more` : "";
  }

  /** csv is the table as text. */
  csv() {
    return csv([this.columns.map((c) => c.title), ...this.sorted().map((r) => this.columns.map((c) => c.value(r)))]);
  }
}

/** csv writes rows as RFC 4180 has them. @param {any[][]} rows */
export function csv(rows) {
  const field = (/** @type {any} */ v) => {
    const s = String(v ?? "");
    return /[",\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  };
  return rows.map((r) => r.map(field).join(",") + "\r\n").join("");
}

const tip = h("div", { class: "tip", hidden: true });
/** hint shows text beside the mouse; "" hides it. @param {string} text @param {MouseEvent} [at] */
export function hint(text, at) {
  if (!tip.parentNode) document.body.append(tip);
  tip.hidden = !text;
  if (!text || !at) return;
  tip.replaceChildren(...text.split("\n").flatMap((l, i) => (i ? [h("br"), l] : [l])));
  const r = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(at.clientX + 14, innerWidth - r.width - 6))}px`;
  tip.style.top = `${Math.max(4, Math.min(at.clientY + 14, innerHeight - r.height - 6))}px`;
}

/** css is a colour of the page. @param {string} name */
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const palette = [
  "#3b82c4",
  "#e08a3c",
  "#4aa564",
  "#c8566b",
  "#8a6fc2",
  "#b58a2b",
  "#3aa6a6",
  "#d36fb0",
  "#7f8fa3",
  "#94a83a",
  "#c4703b",
  "#5a6fd0",
];
/** colours gives each of some names a colour. @param {string[]} names @returns {Map<string, string>} */
export const colours = (names) =>
  new Map(names.map((n, i) => [n, (names.length <= palette.length && palette[i]) || wheel(i, names.length)]));

/** wheel is one of many colours, neighbours unlike each other. @param {number} i @param {number} n */
function wheel(i, n) {
  const hue = (360 * ((i * 7) % n)) / n,
    s = [62, 45, 70][i % 3] ?? 0,
    l = [50, 38, 62][i % 3] ?? 0;
  const c = (/** @type {number} */ k) => {
    const a = (s / 100) * Math.min(l / 100, 1 - l / 100),
      x = (k + hue / 30) % 12;
    return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(x - 3, 9 - x, 1))));
  };
  return `#${[c(0), c(8), c(4)].map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * mix is a colour between two, both written #rrggbb.
 * @param {string} a
 * @param {string} b
 * @param {number} x share of a
 */
export function mix(a, b, x) {
  if (b.length === 4) b = `#${[...b.slice(1)].map((d) => d + d).join("")}`;
  return `#${[1, 3, 5]
    .map((i) =>
      Math.round(x * parseInt(a.slice(i, i + 2), 16) + (1 - x) * parseInt(b.slice(i, i + 2), 16))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** kinds are the kinds of links with their colours, the most telling first. */
export const kinds = new Map([
  ["overlap", "#e0702c"],
  ["complementary", "#b58a2b"],
  ["near", "#3aa65c"],
  ["random", "#3b82c4"],
  ["range", "#8a6fc2"],
  ["spread", "#c06aa8"],
  ["inbound", "#717c88"],
  ["link", "#8d97a3"],
]);
/** kindColour is the colour of a kind of link. @param {string} k */
export const kindColour = (k) => kinds.get(k) ?? "#8d97a3";
