// Takes pictures of the five pages of a view, dark and light, in two widths: node shots.mjs URL FOLDER [PEER].

import { mkdirSync } from "node:fs";
import { browser, pages } from "./browser.mjs";

const [url, folder, peer = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const b = await browser();
for (const [width, height] of [[1280, 800], [390, 844]]) {
  for (const theme of ["light", "dark"]) {
    const page = await b.newPage({ viewport: { width, height } });
    page.on("console", (m) => { if (m.type() === "error") console.error(m.text()); });
    page.on("pageerror", (e) => console.error(e));
    for (const id of pages) {
      await page.goto(`${url}/?theme=${theme}#${id}${peer && id !== "queries" ? `/${peer}` : ""}`);
      await page.reload();
      await page.waitForFunction(() => window.venn.model.peers.length > 0);
      if (id === "graph") await page.waitForSelector("#stage[data-settled=true]", { timeout: 60_000 });
      if (id === "queries") await page.locator("tbody tr").first().click({ timeout: 5000 }).catch(() => {});
      await page.waitForTimeout(700);
      await page.screenshot({ path: `${folder}/${id}-${theme}-${width}.png` });
    }
    await page.close();
  }
}
await b.close();
