// Saving what is seen, as SVG, PNG or CSV.

import { css, h } from "./dom.js";

/** save hands a file to the browser. @param {string} name @param {Blob} blob */
function save(name, blob) {
  const a = h("a", { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

/**
 * buttons are those that save a picture and its figures.
 * @param {string} name of the files
 * @param {{svg: () => string, csv: () => string}} what
 */
export function buttons(name, what) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ f) =>
    h("button", { onclick: f, title: `Save what is seen as ${text}` }, text);
  return h(
    "span",
    { class: "push" },
    button("SVG", () => save(`${name}.svg`, new Blob([what.svg()], { type: "image/svg+xml" }))),
    button("PNG", async () => save(`${name}.png`, await png(what.svg()))),
    button("CSV", () => save(`${name}.csv`, new Blob([what.csv()], { type: "text/csv" }))),
  );
}

/** png draws an SVG at twice its size. @param {string} svg @returns {Promise<Blob>} */
async function png(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
  const c = canvas.getContext("2d");
  c.scale(2, 2);
  c.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** escape makes text fit for SVG. @param {any} s */
export const escape = (s) => String(s).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** svg wraps a drawing in the page's background. @param {number} width @param {number} height @param {string} body */
export function svg(width, height, body) {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
    `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, DejaVu Sans, sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="${css("--panel")}"/>${body}</svg>`
  );
}

/**
 * chart draws lines over time as SVG.
 * @param {string} title
 * @param {number[]} x seconds
 * @param {{label: string, stroke: string, values: (number|null)[]}[]} series
 * @param {(v: number) => string} show
 */
export function chart(title, x, series, show) {
  const width = 760,
    height = 300,
    left = 78,
    right = 16,
    top = 34,
    bottom = 46;
  const most = Math.max(1e-9, ...series.flatMap((s) => s.values.map((v) => v ?? 0)));
  const x0 = x[0] ?? 0,
    x1 = Math.max(x0 + 1e-9, x[x.length - 1] ?? 1);
  const px = (/** @type {number} */ v) => left + ((v - x0) / (x1 - x0)) * (width - left - right);
  const py = (/** @type {number} */ v) => height - bottom - (v / most) * (height - top - bottom);
  const ink = css("--ink"),
    soft = css("--soft"),
    line = css("--line");
  let body = `<text x="${left}" y="20" fill="${ink}" font-weight="600">${escape(title)}</text>`;
  for (let i = 0; i <= 4; i++) {
    const v = (most * i) / 4,
      t = x0 + ((x1 - x0) * i) / 4;
    body +=
      `<line x1="${left}" x2="${width - right}" y1="${py(v)}" y2="${py(v)}" stroke="${line}"/>` +
      `<text x="${left - 6}" y="${py(v) + 4}" text-anchor="end" fill="${soft}">${escape(show(v))}</text>` +
      `<text x="${px(t)}" y="${height - bottom + 16}" text-anchor="middle" fill="${soft}">${t.toFixed(0)} s</text>`;
  }
  let at = left;
  for (const s of series) {
    let d = "",
      pen = "M";
    s.values.forEach((v, i) => {
      if (v === null) pen = "M";
      else {
        d += `${pen}${px(x[i]).toFixed(1)},${py(v).toFixed(1)}`;
        pen = "L";
      }
    });
    body +=
      `<path d="${d}" fill="none" stroke="${s.stroke}" stroke-width="2"/>` +
      `<rect x="${at}" y="${height - 18}" width="10" height="10" fill="${s.stroke}"/>` +
      `<text x="${at + 14}" y="${height - 9}" fill="${soft}">${escape(s.label)}</text>`;
    at += 34 + 7 * s.label.length;
  }
  return svg(width, height, body);
}
