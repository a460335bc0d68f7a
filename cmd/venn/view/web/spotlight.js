// The peer that all attention goes to: its links and those at their other ends, drawn above a faded graph.

import { css } from "./dom.js";

const faded = { edges: "0.1", nodes: "0.35", labels: "0" }; // opacity of sigma's layers

export class Spotlight {
  /** @param {any} sigma @param {() => string|null} centre is the node that attention goes to, if there is one */
  constructor(sigma, centre) {
    this.sigma = sigma;
    this.centre = centre;
    sigma.createCanvasContext("spotlight", { afterLayer: "hoverNodes", style: { pointerEvents: "none" } });
    sigma.resize(true);
    sigma.on("afterRender", () => this.draw());
  }

  draw() {
    const layers = this.sigma.getCanvases(),
      { width, height } = this.sigma.getDimensions();
    const c = layers.spotlight.getContext("2d"),
      centre = this.centre();
    c.clearRect(0, 0, width, height);
    for (const [id, opacity] of Object.entries(faded)) layers[id].style.opacity = centre === null ? "1" : opacity;
    if (centre === null) return;
    const links = this.links(centre),
      at = this.place(centre);
    for (const l of links) {
      c.beginPath();
      c.moveTo(at.x, at.y);
      c.lineTo(l.x, l.y);
      c.strokeStyle = l.edge;
      c.lineWidth = l.width;
      c.stroke();
    }
    for (const l of links) disc(c, l);
    disc(c, at);
    c.beginPath();
    c.arc(at.x, at.y, at.size + 3, 0, 2 * Math.PI);
    c.strokeStyle = css("--ink");
    c.lineWidth = 2;
    c.stroke();
    this.labels(c, at, links);
  }

  /** place is where a node is on the screen, and how it looks. @param {string} id */
  place(id) {
    const d = this.sigma.getNodeDisplayData(id);
    return {
      ...this.sigma.framedGraphToViewport(d),
      size: Math.max(2.5, this.sigma.scaleSize(d.size)),
      color: d.color,
      label: d.label,
    };
  }

  /**
   * links are the ends of a node's links that are shown, those with the strongest link first.
   * @param {string} centre
   */
  links(centre) {
    const graph = this.sigma.getGraph();
    return graph
      .mapEdges(
        centre,
        (/** @type {string} */ _e, /** @type {any} */ a, /** @type {string} */ s, /** @type {string} */ t) => ({
          ...this.place(s === centre ? t : s),
          edge: a.full,
          width: a.size + 0.8,
          share: a.share,
          hidden: a.hidden,
        }),
      )
      .filter((/** @type {any} */ l) => !l.hidden)
      .sort((/** @type {any} */ a, /** @type {any} */ b) => b.share - a.share);
  }

  /**
   * labels writes the names that have room, that of the centre first.
   * @param {CanvasRenderingContext2D} c
   * @param {any} at
   * @param {any[]} links
   */
  labels(c, at, links) {
    const ground = css("--panel"),
      ink = css("--ink"),
      taken = /** @type {{x: number, y: number, w: number}[]} */ ([]);
    [at, ...links].forEach((n, i) => {
      c.font = `${i ? 400 : 600} 12px system-ui, DejaVu Sans, sans-serif`;
      const x = n.x + n.size + 4,
        y = n.y,
        w = c.measureText(n.label).width + 6;
      if (taken.some((b) => Math.abs(b.y - y) < 16 && x < b.x + b.w && b.x < x + w)) return;
      taken.push({ x, y, w });
      c.fillStyle = ground;
      c.globalAlpha = 0.8;
      c.fillRect(x, y - 8, w, 16);
      c.globalAlpha = 1;
      c.fillStyle = ink;
      c.fillText(n.label, x + 3, y + 4);
    });
  }
}

/** @param {CanvasRenderingContext2D} c @param {{x: number, y: number, size: number, color: string}} n */
function disc(c, n) {
  c.beginPath();
  c.arc(n.x, n.y, n.size, 0, 2 * Math.PI);
  c.fillStyle = n.color;
  c.fill();
}
