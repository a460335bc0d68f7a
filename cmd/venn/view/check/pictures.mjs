// Takes pictures of a recorded run: node pictures.mjs VENN RECORDING FOLDER. FOLDER gets a sheet with the five pages for each of
// light and dark, wide and narrow; narrow pages have their full size.

import { mkdirSync } from "node:fs";
import { browser, pages } from "./browser.mjs";
import { start } from "./program.mjs";

const [venn, recording, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const program = await start(venn, "view", recording);
const b = await browser();
for (const [name, width, height, shown] of [["wide", 1280, 800, 690], ["narrow", 390, 844, 390]]) {
  for (const theme of ["light", "dark"]) {
    const page = await b.newPage({ viewport: { width, height } });
    await page.goto(`${program.url}/?theme=${theme}`);
    await page.waitForFunction(() => document.querySelector("#run").innerText.includes("recorded"), null, { timeout: 60_000 });
    const pictures = [];
    for (const id of pages) {
      await page.evaluate((x) => window.venn.go(x), id);
      if (id === "graph") await page.waitForSelector("#stage[data-settled=true]", { timeout: 60_000 });
      if (id === "queries") await page.locator("tbody tr").nth(2).click();
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      pictures.push((await page.screenshot()).toString("base64"));
    }
    await page.setViewportSize({ width: (name === "wide" ? 2 : 5) * (shown + 8) + 8, height: 400 });
    const sheet = await b.newPage({ viewport: page.viewportSize() });
    await sheet.setContent(`<body style="margin:8px 0 0 8px;background:#888;display:flex;flex-wrap:wrap;gap:8px">${pictures.map((p) => `<img width="${shown}" src="data:image/png;base64,${p}">`).join("")}</body>`);
    await sheet.waitForFunction(() => [...document.images].every((i) => i.complete));
    await sheet.screenshot({ path: `${folder}/${name}-${theme}.png`, fullPage: true });
    await sheet.close();
    await page.close();
  }
}
await b.close();
await program.stop();
