// What a check of pages is made of: claims that are counted, and pages whose errors are kept.

let passed = 0, failed = 0;

/** check counts a claim. */
export function check(claim, holds, seen = "") {
  if (holds) passed++;
  else failed++;
  console.log(`${holds ? "ok  " : "FAIL"} ${claim}${holds || seen === "" ? "" : `: ${seen}`}`);
}

/** end prints how many claims held, and ends this program: exit code 1 when one did not. */
export function end() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

/**
 * near checks a figure against the one that is wanted. Machines are shared: it fails only beyond three times of that.
 * @param {string} claim @param {number} seen @param {number} wanted @param {string} unit
 */
export function near(claim, seen, wanted, unit) {
  check(`${claim}: ${seen.toFixed(seen < 100 ? 1 : 0)} ${unit}, wanted at most ${wanted}`, seen <= 3 * wanted, "more than three times that");
}

/** open opens a page of a browser and collects its errors. */
export async function open(browser, url, options = {}, init = null) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
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
export async function comes(claim, page, condition, arg = null, timeout = 30_000) {
  const holds = await page.waitForFunction(condition, arg, { timeout, polling: 100 }).then(() => true, () => false);
  check(claim, holds, holds ? "" : `not within ${timeout / 1000} s; the page says: ${(await page.locator("#page").innerText()).slice(0, 1500)}`);
}
