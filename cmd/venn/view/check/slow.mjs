// Looks at a live network through a slow line: node slow.mjs URL PEERS. It prints the seconds from the first request until
// the graph is drawn with all peers and links.

import { browser } from "./browser.mjs";
import { check, end } from "./checks.mjs";
import { painted } from "./graph.mjs";

const [url, peers] = process.argv.slice(2);
const b = await browser();
const page = await b.newPage();
const errors = [];
page.on("pageerror", (e) => errors.push(e.message));
const began = Date.now();
await page.goto(`${url}#graph`, { waitUntil: "commit", timeout: 60_000 });
await page.waitForFunction((n) => {
  const { model } = window.venn ?? {};
  return model?.peers.length === n && Array.from({ length: n }, (_, i) => model.links[i]?.length > 0).every(Boolean);
}, Number(peers), { timeout: 120_000, polling: 200 });
const seconds = () => (Date.now() - began) / 1000, known = seconds();
check(`${peers} peers and their links are known after ${known.toFixed(1)} s`, known <= 20, "wanted at most 20 s");
await page.waitForFunction(() => window.venn.page?.sigma && document.querySelector("#stage canvas"), null, { timeout: 120_000 });
const shown = await painted(page), drawn = seconds();
check(`the graph is drawn after ${drawn.toFixed(1)} s`, drawn <= 20 && shown.links > 1, JSON.stringify(shown));
check("no error on the page", errors.length === 0, errors.join("; "));
await b.close();
end();
