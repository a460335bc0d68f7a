// Saving what is seen, as SVG, PNG or CSV.

import { css, h } from "./dom.js";

/** save hands a file to the browser. @param {string} name @param {Blob} blob */
function save(name, blob) {
  const a = h("a", { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

/**
 * buttons are those that save a picture, if there is one, and its figures.
 * @param {string} name of the files
 * @param {{svg?: () => string, csv: () => string}} what
 */
export function buttons(name, what) {
  const button = (/** @type {string} */ text, /** @type {() => void} */ f) =>
    h("button", { onclick: f, title: `Save what is seen as ${text}` }, text);
  const picture = what.svg;
  return h(
    "span",
    { class: "push" },
    ...(picture
      ? [
          button("SVG", () => save(`${name}.svg`, new Blob([picture()], { type: "image/svg+xml" }))),
          button("PNG", async () => save(`${name}.png`, await png(picture()))),
        ]
      : []),
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

/** @typedef {{width: number, height: number, body: string}} Drawing elements of an SVG, and the room that they take */

/** stack wraps drawings below each other. @param {Drawing[]} all */
export function stack(all) {
  let height = 0,
    body = "";
  for (const d of all) {
    body += `<g transform="translate(0 ${height})">${d.body}</g>`;
    height += d.height;
  }
  return svg(Math.max(...all.map((d) => d.width)), height, body);
}

/** svg wraps a drawing in the page's background. @param {number} width @param {number} height @param {string} body */
export function svg(width, height, body) {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
    `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, DejaVu Sans, sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="${css("--panel")}"/>${body}</svg>`
  );
}
