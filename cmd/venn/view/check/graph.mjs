// What of the graph is drawn, and what panning in it costs.

/**
 * painted gives the shares of the stage, in percent, that show links, that discs cover, and that the selected peer's links cover.
 * @param {any} page whose graph is shown
 */
export const painted = (page) => page.evaluate(() => {
  const sigma = window.venn.page.sigma;
  sigma.refresh({ schedule: false });
  const layers = sigma.getCanvases(), pixels = (id) => {
    const c = new OffscreenCanvas(layers[id].width, layers[id].height).getContext("2d");
    c.drawImage(layers[id], 0, 0);
    return c.getImageData(0, 0, layers[id].width, layers[id].height).data.filter((_, i) => i % 4 === 3);
  };
  const [edges, nodes, spotlight] = ["edges", "nodes", "spotlight"].map(pixels);
  const share = (covers) => (100 * edges.reduce((n, _, i) => n + (covers(i) ? 1 : 0), 0)) / edges.length;
  return { links: share((i) => edges[i] > 40 && nodes[i] < 40), discs: share((i) => nodes[i] >= 40), selected: share((i) => spotlight[i] > 40) };
});

/**
 * panning drags the graph for some seconds. It gives the milliseconds that the main thread computes for each frame that is drawn,
 * the frames a second, and the links that are shown. In software, it waits for the renderer
 * whenever sigma asks which peer is below the mouse.
 * @param {any} page whose graph is shown @param {number} [seconds]
 */
export async function panning(page, seconds = 4) {
  const meter = async (timeDomain) => {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain });
    return async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
  };
  const busy = await meter("threadTicks");
  const links = await page.evaluate(() => {
    const { sigma, graph } = window.venn.page;
    window.drawn = 0;
    sigma.on("afterRender", () => window.drawn++);
    return graph.reduceEdges((n, _e, a) => n + (a.hidden ? 0 : 1), 0);
  });
  const box = await page.locator("#stage").boundingBox(), x = box.x + box.width - 12, y = box.y + box.height - 12; // where no peer is
  await page.mouse.move(x, y);
  await page.mouse.down();
  const before = await busy(), frames = await page.evaluate(() => window.drawn), began = Date.now();
  for (let i = 0; Date.now() < began + 1000 * seconds; i++) await page.mouse.move(x - 150 + 150 * Math.cos(i / 8), y - 60 + 60 * Math.cos(i / 5));
  const took = Date.now() - began, spent = (await busy()) - before, drawn = (await page.evaluate(() => window.drawn)) - frames;
  await page.mouse.up();
  return { frame: spent / Math.max(1, drawn), rate: (1000 * drawn) / took, links };
}
