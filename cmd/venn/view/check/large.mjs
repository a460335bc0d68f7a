// Looks at a recording of a large network: node large.mjs VENN RECORDING FOLDER. It prints how long the page takes to
// load, and how busy panning keeps the main thread. It pans over all peers where there are up to 1,000, else around the
// one with the most links. FOLDER gets pictures. Without a GPU the rate of frames is that of rendering in software,
// which the main thread does not wait for.

import { mkdirSync } from "node:fs";
import { browser } from "./browser.mjs";
import { check, end, near, open } from "./checks.mjs";
import { painted, panning } from "./graph.mjs";
import { start } from "./program.mjs";

const [venn, recording, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const program = await start(venn, "view", recording);
const b = await browser();
const began = Date.now();
const { page, errors } = await open(b, `${program.url}/#matrix`);
await page.waitForFunction(() => window.venn.model.over && document.querySelector("#matrix")?.width > 0, null, { timeout: 120_000 });
const loaded = Date.now() - began, peers = await page.evaluate(() => window.venn.model.peers.length);
near(`${peers} peers: until all is read and the matrix is drawn`, loaded / 1000, 5, "s");
await page.screenshot({ path: `${folder}/large-matrix.png` });

await page.evaluate(() => {
  const { links, peers } = window.venn.model, all = Array.from(links, (l) => l?.length ?? 0);
  window.venn.go("graph");
  if (peers.length > 1000) window.venn.select(all.indexOf(Math.max(...all)));
});
await page.waitForSelector("#stage[data-settled=true]", { timeout: 120_000 });
const shown = await painted(page);
check("links are drawn", shown.links + shown.selected > 1, JSON.stringify(shown));
const { frame, rate, links } = await panning(page);
near(`panning ${peers > 1000 ? "around one peer" : "all peers"}, ${links} links: the main thread computes for each frame`, frame, 20, "ms");
console.log(`${rate.toFixed(0)} frames a second; the renderer is ${await page.evaluate(() => {
  const gl = document.createElement("canvas").getContext("webgl2"), info = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
})}`);
await page.screenshot({ path: `${folder}/large-graph.png` });
check("no error on the console", errors.length === 0, errors.join("; "));
await b.close();
await program.stop();
end();
