// The program that is looked at: venn with a view, or an experiment that records one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** start starts venn and waits for the address where it serves its view. stop ends it and gives what it printed. */
export async function start(venn, ...args) {
  const process = spawn(venn, args, { stdio: ["ignore", "pipe", "pipe"] });
  const out = [];
  process.stdout.on("data", (d) => out.push(d));
  const url = await new Promise((found, gone) => {
    createInterface({ input: process.stderr }).on("line", (l) => { const m = /look at (http:\S+)/.exec(l); if (m) found(m[1]); });
    process.on("exit", (code) => gone(new Error(`venn ${args.join(" ")} ended with ${code}`)));
  });
  const stop = async () => { process.kill("SIGINT"); if (process.exitCode === null) await once(process, "exit"); return Buffer.concat(out).toString(); };
  return { url, stop, process };
}

/** simulate runs an experiment to its end; it gives the exit code. */
export async function simulate(venn, ...args) {
  const [code] = await once(spawn(venn, ["experiment", "run", ...args], { stdio: "ignore" }), "exit");
  return code;
}
