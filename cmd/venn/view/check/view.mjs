// Looks at a view in a real browser: node view.mjs VENN FOLDER. It runs small testnets with the program VENN, checks that every
// page shows their peers and the report's figures without an error on the console, and keeps screenshots in FOLDER.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { browser, pages } from "./browser.mjs";

const [venn, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
let passed = 0, failed = 0;

/** check counts a claim. */
function check(claim, holds, seen = "") {
  if (holds) passed++;
  else failed++;
  console.log(`${holds ? "ok  " : "FAIL"} ${claim}${holds || seen === "" ? "" : `: ${seen}`}`);
}

/** start starts venn and waits for where it serves. */
async function start(...args) {
  const p = spawn(venn, args, { stdio: ["ignore", "pipe", "pipe"] });
  const out = [];
  p.stdout.on("data", (d) => out.push(d));
  const lines = createInterface({ input: p.stderr });
  const url = await new Promise((found, gone) => {
    lines.on("line", (l) => { const m = /look at (http:\S+)/.exec(l); if (m) found(m[1]); });
    p.on("exit", (code) => gone(new Error(`venn ${args.join(" ")} ended with ${code}`)));
  });
  const stop = async () => { p.kill("SIGINT"); if (p.exitCode === null) await once(p, "exit"); return Buffer.concat(out).toString(); };
  return { url, stop };
}

/** simulate runs an experiment to its end. */
async function simulate(...args) {
  const [code] = await once(spawn(venn, ["experiment", "run", ...args], { stdio: "ignore" }), "exit");
  check(`${args[0]} is simulated and recorded`, code === 0, `exit code ${code}`);
}

const b = await browser();

/** open opens a page and collects its errors. */
async function open(url, options = {}, init = null) {
  const page = await b.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  const errors = [];
  page.on("console", (m) => { if (m.type() === "error") errors.push(m.text()); });
  page.on("pageerror", (e) => errors.push(String(e)));
  if (init) await page.addInitScript(init);
  await page.goto(url);
  return { page, errors };
}

/**
 * comes waits until a condition holds in a page, however busy the machine is, and counts it as a check.
 * @param {string} claim what is checked @param {any} page @param {(arg: any) => any} condition runs in the page
 */
async function comes(claim, page, condition, arg = null, timeout = 30_000) {
  const holds = await page.waitForFunction(condition, arg, { timeout, polling: 100 }).then(() => true, () => false);
  check(claim, holds, holds ? "" : `not within ${timeout / 1000} s; the page says: ${(await page.locator("#page").innerText()).slice(0, 300)}`);
}

const state = (page) => page.evaluate(() => ({ peers: window.venn.model.peers.length, over: window.venn.model.over, queries: window.venn.model.queries.length, report: window.venn.model.report }));

// A testnet that runs.
const recording = `${folder}/run.ndjson`;
const live = await start("testnet", "--peers", "24", "--queries", "100", "--warmup", "8s", "--json", "--view", "--record", recording);
const { page, errors } = await open(`${live.url}/?theme=light`);
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
await comes("probes a query are the report's", page, () => Math.abs(Number(document.querySelectorAll(".figures .v")[2]?.innerText) - window.venn.model.report.probes_per_query) < 0.006);
await page.getByRole("button", { name: "Any key" }).click();
await page.locator("#ask").click();
await comes("a key can be asked for", page, (n) => window.venn.model.queries.length > n, s.queries);
await page.evaluate(() => { window.venn.go("change"); window.venn.select(3); });
const before = await page.evaluate(() => window.venn.model.updates.get(3)?.length ?? 0);
await page.locator("#change").click();
await comes("a small change is published as a tail", page, (n) => window.venn.model.updates.get(3)?.length > n && window.venn.model.updates.get(3).at(-1).number > 0, before);
await comes("all others hear of the tail", page, () => window.venn.model.updates.get(3).at(-1).reached.size === 23);
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
const plain = await open(live.url, {}, () => { const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return kind.startsWith("webgl") ? null : get.call(this, kind, ...more); }; });
await comes("without WebGL there is a table of links", plain.page, () => window.venn.model.report && document.querySelectorAll("#stage tbody tr").length > 20, null, 60_000);
check("and no error on the console", plain.errors.length === 0, plain.errors.join("; "));
await plain.page.close();

const report = JSON.parse(await live.stop());
check("the report on standard output is the one that was shown", report.find_one.recall === s.report.find_one.recall);

// The recording, in pictures.
const replay = await start("view", recording);
for (const [width, height] of [[1280, 800], [390, 844]]) {
  for (const theme of ["light", "dark"]) {
    const { page, errors } = await open(`${replay.url}/?theme=${theme}`, { viewport: { width, height } });
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
const simulated = `${folder}/simulated.ndjson`;
await simulate("scale", "--peers", "1000", "--keys", "20", "--queries", "200", "--asking", "10s", "--record", simulated);
const thousand = await start("view", simulated);
const clock = Date.now();
const thousands = await open(`${thousand.url}/#matrix`);
await comes("a simulated network's matrix has a row for every peer", thousands.page, () => window.venn.model.over && document.querySelector("#run").innerText.includes("recorded") && document.querySelector("#matrix")?.width === 1000, null, 60_000);
console.log(`1,000 simulated peers: ${Date.now() - clock} ms until the matrix is drawn`);
check("its queries are there", (await state(thousands.page)).queries === 200);
await thousands.page.screenshot({ path: `${folder}/simulated-matrix.png` });
await thousands.page.evaluate(() => { window.venn.go("graph"); window.venn.select(window.venn.model.queries[0].n); });
await comes("its graph is drawn and settles", thousands.page, () => document.querySelector("#stage[data-settled=true] canvas"), null, 60_000);
await thousands.page.screenshot({ path: `${folder}/simulated-graph.png` });
await thousands.page.evaluate(() => { window.venn.select(null); window.venn.go("queries"); });
await thousands.page.locator("tbody tr").first().click();
await comes("a simulated query has a path", thousands.page, () => document.querySelector("#path svg circle")?.getBoundingClientRect().width > 0);
await thousands.page.screenshot({ path: `${folder}/simulated-queries.png` });
check("no error on the console, a simulated network", thousands.errors.length === 0, thousands.errors.join("; "));
await thousands.page.close();
await thousand.stop();

// A recording of 10,000 peers, made up: to simulate so many takes minutes.
const many = `${folder}/many.ndjson`;
writeFileSync(many, madeUp(10_000));
const big = await start("view", many);
const began = Date.now();
const large = await open(`${big.url}/#matrix`);
await large.page.waitForFunction(() => window.venn.model.over && document.querySelector("#matrix")?.width === 1000, null, { timeout: 60_000 });
const took = Date.now() - began;
console.log(`10,000 peers: ${took} ms until the matrix is drawn`);
await large.page.evaluate(() => { window.venn.go("graph"); window.venn.select(77); });
await large.page.waitForSelector("#stage[data-settled=true]", { timeout: 60_000 });
const cdp = await large.page.context().newCDPSession(large.page);
await cdp.send("Performance.enable");
const busy = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
const box = await large.page.locator("#stage").boundingBox();
const painted = () => large.page.evaluate(() => new Promise((done) => { window.frames60 = 0; const f = () => { window.frames60++; window.stopFrames ? 0 : requestAnimationFrame(f); }; f(); done(0); }));
await painted();
const busyBefore = await busy();
await large.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
await large.page.mouse.down();
for (let i = 0; i < 60; i++) await large.page.mouse.move(box.x + box.width / 2 + 80 * Math.sin(i / 8), box.y + box.height / 2 + 40 * Math.sin(i / 5));
await large.page.mouse.up();
const spent = (await busy()) - busyBefore, drawn = await large.page.evaluate(() => { window.stopFrames = true; return window.frames60; });
console.log(`10,000 peers, 150 around one: panning keeps the main thread busy for ${(spent / drawn).toFixed(1)} ms a frame, ${drawn} frames; no GPU`);
check("10,000 peers are shown", (await large.page.evaluate(() => window.venn.model.peers.length)) === 10_000);
check("no error on the console, 10,000 peers", large.errors.length === 0, large.errors.join("; "));
await large.page.screenshot({ path: `${folder}/many-graph.png` });
await large.page.evaluate(() => window.venn.go("matrix"));
await large.page.waitForFunction(() => document.querySelector("#matrix")?.width === 1000, null, { timeout: 60_000 });
await large.page.screenshot({ path: `${folder}/many-matrix.png` });
await big.stop();

await b.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

/** madeUp is a recording of a network that never was: each peer has 12 links and knows 128 others. */
function madeUp(n) {
  let seed = 1;
  const random = (k) => { seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; return Math.floor((seed / 2 ** 32) * k); };
  const classes = [["256kbit", 256e3], ["2mbit", 2e6], ["10mbit", 10e6]];
  const out = [{ venn_view: 1, source: "testnet", network: "made up", began: "2026-01-01T00:00:00Z" }];
  for (let i = 0; i < n; i++) out.push({ type: "peer", t: i, n: i, name: `role${i % 9}-${i}`, id: `id${i}`, group: `role${i % 9}`, class: classes[i % 3][0], rate: classes[i % 3][1], self: true });
  for (let i = 0; i < n; i++) {
    const t = n + i, held = [], links = [];
    for (let k = 0; k < 128; k++) held.push([random(n), 1 + random(9), 1000 + random(30_000), random(130) / 10]);
    for (let k = 0; k < 12; k++) links.push([random(n), ["overlap", "random", "near", "inbound"][k % 4], random(100) / 100, random(300) / 10, random(1e6), random(1e6)]);
    out.push({ type: "status", t, n: i, keys: 1000 + random(90_000), links: 12, origins: 128, parts: 500, bytes: 2e6, false: random(100) / 10, sent: 1e6, received: 2e6, pubsub: 1e6, direct: 1e5, delta: 0, epoch: 1, line_out: 1e4, line_in: 1e4 });
    out.push({ type: "held", t, n: i, held }, { type: "links", t, n: i, links });
  }
  return out.map((e) => JSON.stringify(e) + "\n").join("");
}
