// Looks at a view in a real browser: node view.mjs VENN FOLDER. It runs small testnets with the program VENN. It checks
// that every page shows their peers and the report's figures without an error on the console. Screenshots go to FOLDER.

import { mkdirSync, readFileSync } from "node:fs";
import { browser, pages } from "./browser.mjs";
import { check, comes, end, open } from "./checks.mjs";
import { painted } from "./graph.mjs";
import { simulate, start } from "./program.mjs";

const [venn, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const b = await browser();

const state = (page) => page.evaluate(() => ({ peers: window.venn.model.peers.length, over: window.venn.model.over, queries: window.venn.model.queries.length, report: window.venn.model.report }));

// What is looked at last is simulated meanwhile.
const simulated = `${folder}/simulated.ndjson`;
const simulation = simulate(venn, "scale", "--peers", "1000", "--keys", "20", "--queries", "200", "--asking", "10s", "--record", simulated);

// A testnet that runs.
const recording = `${folder}/run.ndjson`;
const live = await start(venn, "testnet", "--peers", "24", "--queries", "100", "--warmup", "8s", "--json", "--view", "--record", recording);
const { page, errors } = await open(b, `${live.url}/?theme=light`);
await comes("all peers are there while the run goes", page, () => window.venn.model.peers.length === 24, null, 60_000);
await comes("the report comes", page, () => window.venn.model.report, null, 180_000);
const heads = { graph: "Colour by", matrix: "Knows of", bytes: "Use of the budget", queries: "Asked by", change: "Summaries and tails published" };
for (const id of pages) {
  await page.evaluate((x) => { window.venn.select(null); window.venn.go(x); }, id);
  await comes(`page ${id} is there`, page, (has) => document.querySelector("#page").innerText.toLowerCase().includes(has.toLowerCase()), heads[id]);
}
await page.evaluate(() => window.venn.go("matrix"));
await comes("the table has every peer", page, () => {
  const listed = [...document.querySelectorAll("tbody tr[data-row]")].map((r) => r.innerText);
  return window.venn.model.peers.every((p) => listed.some((l) => l.startsWith(p.name)));
});
await comes("the matrix has a row for every peer", page, () => { const c = document.querySelector("#matrix"); return c?.width === 24 && c.height === 24; });
await page.evaluate(() => window.venn.go("graph"));
await comes("the graph is drawn and settles", page, () => document.querySelector("#stage[data-settled=true] canvas"), null, 60_000);
await comes("the head has the report's recall", page, () => {
  const shown = (id) => document.getElementById(id)?.innerText, r = window.venn.model.report;
  return shown("recall-one") === r.find_one.recall.toFixed(4) && shown("recall-all") === r.find_all.recall.toFixed(4);
});
await comes("every query of the report is there", page, () => window.venn.model.queries.length === window.venn.model.report.queries);
const s = await state(page);
await page.evaluate(() => window.venn.go("queries"));
await page.locator("tbody tr").first().click();
await comes("a query has a path", page, () => document.querySelector("#path svg circle")?.getBoundingClientRect().width > 0);
await comes("every step has its time and bytes", page, () => /[\d.]+ \+ [\d.]+ ms\s+\d+ B/.test(document.querySelector("#path .when")?.innerText));
await comes("probes a query are the report's", page, () => Math.abs(Number(document.querySelectorAll(".figures .v")[2]?.innerText) - window.venn.model.report.probes_per_query) < 0.006);
await page.getByRole("button", { name: "Any key" }).click();
await page.locator("#ask").click();
await comes("a key can be asked for", page, (n) => window.venn.model.queries.length > n, s.queries);
await page.evaluate(() => { window.venn.go("change"); window.venn.select(3); });
const before = await page.evaluate(() => window.venn.model.updates.get(3)?.length ?? 0);
await page.locator("#change").click();
await comes("a small change is published as a tail", page, (n) => window.venn.model.updates.get(3)?.length > n && window.venn.model.updates.get(3).at(-1).number > 0, before);
await comes("all others hear of the tail", page, () => window.venn.model.updates.get(3).at(-1).reached.size === 23);
await page.locator("tbody tr", { hasText: "Tail" }).first().click(); // a summary may follow
await comes("the page says after how long", page, () => /Tail \d+\.\d+ of/.test(document.querySelector("#page").innerText) && /all after\s+[\d.]+ s/i.test(document.querySelector(".figures").innerText));
await page.locator("#add").fill("500");
const summary = await page.evaluate(() => window.venn.model.updates.get(3).findLast((x) => x.number === 0)?.sequence ?? 0);
await page.locator("#change").click();
await comes("a large one as a summary, which all others hear of", page, (last) => { const u = window.venn.model.updates.get(3).findLast((x) => x.number === 0); return u?.sequence > last && u.reached.size === 23; }, summary, 60_000);
for (const kind of ["SVG", "PNG", "CSV"]) {
  for (const id of pages) {
    await page.evaluate((x) => window.venn.go(x), id);
    if (id === "queries") await page.locator("tbody tr").first().click();
    const [file] = await Promise.all([page.waitForEvent("download", { timeout: 10_000 }), page.getByRole("button", { name: kind, exact: true }).click()]);
    const bytes = readFileSync(await file.path());
    const right = kind === "PNG" ? bytes.subarray(1, 4).toString() === "PNG" : kind === "SVG" ? bytes.toString().startsWith("<svg") && bytes.toString().endsWith("</svg>") : bytes.toString().includes(",");
    check(`${id} saves ${kind}`, right && bytes.length > 60, `${bytes.length} bytes`);
  }
}
// Time: back, and forth again.
await page.evaluate(() => { const t = document.getElementById("time"); t.value = "1"; t.dispatchEvent(new Event("input")); });
await comes("the time line leads back", page, () => window.venn.model.queries.length === 0);
await page.locator("#live").click();
await comes("and to the end", page, () => window.venn.model.queries.length > 0);
check("no error on the console", errors.length === 0, errors.join("; "));
await page.close();

// A browser without WebGL.
const plain = await open(b, live.url, {}, () => { const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return kind.startsWith("webgl") ? null : get.call(this, kind, ...more); }; });
await comes("without WebGL there is a table of links", plain.page, () => window.venn.model.report && document.querySelectorAll("#stage tbody tr").length > 20, null, 60_000);
check("and no error on the console", plain.errors.length === 0, plain.errors.join("; "));
await plain.page.close();

const report = JSON.parse(await live.stop());
check("the report on standard output is the one that was shown", report.find_one.recall === s.report.find_one.recall);

// The recording, in pictures.
const replay = await start(venn, "view", recording);
for (const [width, height] of [[1280, 800], [390, 844]]) {
  for (const theme of ["light", "dark"]) {
    const { page, errors } = await open(b, `${replay.url}/?theme=${theme}`, { viewport: { width, height } });
    await page.waitForFunction(() => window.venn.model.over, null, { timeout: 60_000 });
    for (const id of pages) {
      await page.evaluate((x) => window.venn.go(x), id);
      if (id === "graph") await page.waitForSelector("#stage[data-settled=true]", { timeout: 60_000 });
      if (id === "queries") await page.locator("tbody tr").nth(2).click();
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${id} ${theme} fits ${width} pixels`, wide <= width, `${wide}`);
      await page.screenshot({ path: `${folder}/${id}-${theme}-${width}.png` });
    }
    check(`no error on the console, ${theme} ${width}`, errors.length === 0, errors.join("; "));
    await page.close();
  }
}
await replay.stop();

// A simulated network of 1,000 peers, recorded by the simulator.
const code = await simulation;
check("1,000 peers are simulated and recorded", code === 0, `exit code ${code}`);
const thousand = await start(venn, "view", simulated);
const clock = Date.now();
const thousands = await open(b, `${thousand.url}/#matrix`);
await comes("a simulated network's matrix has a row for every peer", thousands.page, () => window.venn.model.over && document.querySelector("#run").innerText.includes("recorded") && document.querySelector("#matrix")?.width === 1000, null, 60_000);
console.log(`1,000 simulated peers: ${Date.now() - clock} ms until the matrix is drawn`);
check("its queries are there", (await state(thousands.page)).queries === 200);
await thousands.page.screenshot({ path: `${folder}/simulated-matrix.png` });
await thousands.page.evaluate(() => window.venn.go("graph"));
await comes("its graph is drawn and settles", thousands.page, () => document.querySelector("#stage[data-settled=true] canvas"), null, 120_000);
const drawn = await painted(thousands.page);
check("its links are seen between the discs", drawn.links > 5 && drawn.discs < 10 && drawn.selected === 0, JSON.stringify(drawn));
await thousands.page.screenshot({ path: `${folder}/simulated-graph.png` });
await thousands.page.evaluate(() => window.venn.select(window.venn.model.links.findIndex((l) => l?.length > 5)));
const lit = await painted(thousands.page);
check("a selected peer's links are drawn above the others", lit.selected > 0.2, JSON.stringify(lit));
await thousands.page.screenshot({ path: `${folder}/simulated-selected.png` });
await thousands.page.evaluate(() => { window.venn.select(null); window.venn.go("queries"); });
await thousands.page.locator("tbody tr").first().click();
await comes("a simulated query has a path", thousands.page, () => document.querySelector("#path svg circle")?.getBoundingClientRect().width > 0);
check("its steps have times and bytes", await thousands.page.evaluate(() => window.venn.model.queries.every((q) =>
  q.steps.every((s) => s.result === "pending" || (s.took > 0 && s.at + s.took < q.ms + 0.2 && (s.bytes > 0 || s.result === "failed"))))));
await thousands.page.screenshot({ path: `${folder}/simulated-queries.png` });
check("no error on the console, a simulated network", thousands.errors.length === 0, thousands.errors.join("; "));
await thousands.page.close();
await thousand.stop();

await b.close();
end();
