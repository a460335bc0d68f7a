// The browser that checks use: Debian's chromium, with software WebGL, and without what it would ask of the network.

import { chromium } from "playwright-core";

export const pages = ["graph", "matrix", "bytes", "queries", "change"];

export const browser = (more = []) => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", ...more],
});
