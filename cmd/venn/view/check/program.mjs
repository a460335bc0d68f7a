// The program that is looked at: venn with a view, or an experiment that records one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * start starts venn and waits for the address where it serves its view. stop ends it and gives what it printed. A
 * program that ends earlier ends the check, too, with the program's last messages.
 */
export async function start(venn, ...args) {
  const process = spawn(venn, args, { stdio: ["ignore", "pipe", "pipe"] });
  const out = [], messages = [];
  let stopped = false;
  process.stdout.on("data", (d) => out.push(d));
  process.on("exit", (code, signal) => {
    if (!stopped) throw new Error(`venn ${args.join(" ")} ended with ${code ?? signal}:\n${messages.slice(-20).join("\n")}`);
  });
  const url = await new Promise((found) => {
    createInterface({ input: process.stderr }).on("line", (l) => { messages.push(l); const m = /look at (http:\S+)/.exec(l); if (m) found(m[1]); });
  });
  const stop = async () => { stopped = true; process.kill("SIGINT"); if (process.exitCode === null) await once(process, "exit"); return Buffer.concat(out).toString(); };
  return { url, stop, process };
}

/** simulate runs an experiment to its end; it gives the exit code. */
export async function simulate(venn, ...args) {
  const [code] = await once(spawn(venn, ["experiment", "run", ...args], { stdio: "ignore" }), "exit");
  return code;
}
