// Measures what a view costs: node cost.mjs VENN [ROUNDS [ARGS of testnet…]]. In turns it runs a testnet without a view, and one with
// 10 viewers that read all. It prints time, recall and budget of both, and what 20 viewers take once the report is there: twice what
// 10 more than 10 take. With 0 ROUNDS it leaves that out. From a last run with a browser it prints how long after the start of the first peer the graph is visible.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { browser } from "./browser.mjs";

const [venn, rounds = "1", ...args] = process.argv.slice(2);
const viewers = 20, seconds = 10;

/** run runs a testnet. With a view, use is called with its address, and then with the report and the process once that is there. */
async function run(use) {
  const p = spawn(venn, ["testnet", "--json", ...args, ...(use ? ["--view"] : [])], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "", url = "";
  const reported = new Promise((done) => p.stdout.on("data", (d) => { out += d; try { done(JSON.parse(out)); } catch { /* not whole */ } }));
  createInterface({ input: p.stderr }).on("line", (l) => { const m = /look at (http:\S+)/.exec(l); if (m) { url = m[1]; use?.open(url); } });
  const report = await Promise.race([reported, once(p, "exit").then(([code]) => { throw new Error(`venn ended with ${code}`); })]);
  await use?.after?.(p, url, report);
  p.kill("SIGINT");
  if (p.exitCode === null) await once(p, "exit");
  return report;
}

/** busy is the time that a process has computed, in seconds. */
function busy(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const pause = (s) => new Promise((done) => setTimeout(done, 1000 * s));
const look = (url) => get(`${url}/events`, (r) => r.resume()).on("error", () => {});
const rows = { without: [], with: [] }, shares = [];
for (let i = 0; i < Number(rounds); i++) {
  rows.without.push(await run());
  rows.with.push(await run({
    open: (url) => { for (let k = 0; k < viewers / 2; k++) look(url); },
    // The peers run on, with less and less to do: what they compute with half of the viewers, with all, and with half again.
    after: async (p, url) => {
      const used = [];
      for (let more = [], k = 0; k < 3; k++) {
        if (k === 1) more = Array.from({ length: viewers / 2 }, () => look(url));
        else for (const viewer of more) viewer.destroy();
        await pause(5);
        const from = busy(p.pid);
        await pause(seconds);
        used.push((busy(p.pid) - from) / seconds);
      }
      shares.push(2 * (used[1] - (used[0] + used[2]) / 2));
    },
  }));
}
const mean = (all, of) => all.reduce((sum, r) => sum + of(r), 0) / all.length;
if (Number(rounds) > 0) {
  for (const [name, all] of Object.entries(rows)) {
    console.log(`${name.padEnd(8)} ${mean(all, (r) => r.wall_seconds).toFixed(1)} s, recall ${mean(all, (r) => r.find_one.recall).toFixed(4)} one, ${mean(all, (r) => r.find_all.recall).toFixed(4)} all, most of a link's budget used ${mean(all, (r) => r.link_budget_use_max).toFixed(2)}`);
  }
  const longer = mean(rows.with, (r) => r.wall_seconds) / mean(rows.without, (r) => r.wall_seconds) - 1;
  console.log(`with ${viewers / 2} viewers: ${(100 * longer).toFixed(1)} % longer; ${viewers} viewers take ${(100 * mean(shares, (x) => x)).toFixed(1)} % of a core`);
}

const b = await browser();
let visible = 0;
await run({
  open: async (url) => {
    const page = await b.newPage();
    await page.goto(url);
    await page.waitForSelector("#stage canvas", { timeout: 60_000 });
    const seen = Date.now(), first = await page.evaluate(() => {
      const { header, log } = window.venn.model;
      return Date.parse(header.began) + log.find((e) => e.type === "peer").t; // as it is recorded
    });
    visible = seen - first;
  },
});
console.log(`the graph is visible ${visible} ms after the first peer's start`);
await b.close();
