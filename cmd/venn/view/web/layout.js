// A worker that lays out a graph: peers push each other away, links pull, the more the stronger. It sends positions now
// and then. The last ones are "settled": then nothing moves any more.

importScripts(
  "vendor/d3-dispatch.min.js",
  "vendor/d3-quadtree.min.js",
  "vendor/d3-timer.min.js",
  "vendor/d3-force.min.js",
);

let round = 0;

onmessage = ({ data }) => {
  const mine = ++round;
  const nodes = data.nodes; // {x, y}, by index
  const size = Math.sqrt(nodes.length);
  const aspect = Math.min(1.5, Math.max(0.7, data.aspect)); // of the stage, that the graph is to fill
  const simulation = d3
    .forceSimulation(nodes)
    .stop()
    .force(
      "push",
      d3
        .forceManyBody()
        .strength(-130)
        .theta(1)
        .distanceMax(14 * size),
    )
    .force(
      "pull",
      d3
        .forceLink(data.links)
        .distance(36)
        .strength((l) => l.pull),
    )
    .force("x", d3.forceX().strength(0.05 / aspect))
    .force("y", d3.forceY().strength(0.05 * aspect))
    .force("apart", nodes.length <= 1500 ? d3.forceCollide(12) : null)
    .alpha(data.alpha)
    .alphaDecay(0.025)
    .velocityDecay(0.45);
  const step = () => {
    if (mine !== round) return;
    const until = performance.now() + 30;
    do simulation.tick();
    while (performance.now() < until && simulation.alpha() > 0.01);
    const at = new Float32Array(2 * nodes.length);
    nodes.forEach((n, i) => {
      at[2 * i] = n.x;
      at[2 * i + 1] = n.y;
    });
    const settled = simulation.alpha() <= 0.01;
    postMessage({ id: data.id, at, settled }, [at.buffer]);
    if (!settled) setTimeout(step, 15);
  };
  step();
};
