// Looks at a recording of a large network: node large.mjs VENN RECORDING FOLDER. It prints how long the page takes to load, and how
// busy panning keeps the main thread; FOLDER gets pictures.

import { mkdirSync } from "node:fs";
import { browser } from "./browser.mjs";
import { check, end, open } from "./checks.mjs";
import { start } from "./program.mjs";

const [venn, recording, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const program = await start(venn, "view", recording);
const b = await browser();
const began = Date.now();
const { page, errors } = await open(b, `${program.url}/#matrix`);
await page.waitForFunction(() => window.venn.model.over && document.querySelector("#matrix")?.width > 0, null, { timeout: 120_000 });
const peers = await page.evaluate(() => window.venn.model.peers.length);
console.log(`${peers} peers: ${Date.now() - began} ms until all is read and the matrix is drawn`);
await page.screenshot({ path: `${folder}/large-matrix.png` });

const linked = await page.evaluate(() => {
  const links = Array.from(window.venn.model.links, (l) => l?.length ?? 0), most = Math.max(...links);
  window.venn.go("graph");
  window.venn.select(links.indexOf(most));
  return most;
});
check("a peer has links", linked > 0);
await page.waitForSelector("#stage[data-settled=true]", { timeout: 120_000 });
const cdp = await page.context().newCDPSession(page);
await cdp.send("Performance.enable");
const busy = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
await page.evaluate(() => { window.drawn = 0; const frame = () => { window.drawn++; requestAnimationFrame(frame); }; frame(); });
const box = await page.locator("#stage").boundingBox();
const before = await busy();
await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
await page.mouse.down();
for (let i = 0; i < 60; i++) await page.mouse.move(box.x + box.width / 2 + 80 * Math.sin(i / 8), box.y + box.height / 2 + 40 * Math.sin(i / 5));
await page.mouse.up();
const spent = (await busy()) - before, drawn = await page.evaluate(() => window.drawn);
console.log(`around the one with the most links: panning keeps the main thread busy for ${(spent / drawn).toFixed(1)} ms a frame, ${drawn} frames; no GPU`);
await page.screenshot({ path: `${folder}/large-graph.png` });
check("its peers are shown", peers > 0);
check("no error on the console", errors.length === 0, errors.join("; "));
await b.close();
await program.stop();
end();
