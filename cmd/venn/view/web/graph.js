// Who is connected with whom, and why? The graph of peers and their links; a table where there is no WebGL.

import { colours, count, css, h, hint, kindColour, kinds, mix, percent, Table } from "./dom.js";
import { buttons, escape, svg } from "./export.js";
import { at, levelsPerBit } from "./model.js";
import { Spotlight } from "./spotlight.js";

const whole = 1000; // peers that are shown all at once
const around = 150; // that are shown around one
const named = 12; // groups whose colour is listed
const strongest = 4; // ties that are shown of each group
const order = [...kinds.keys()];
const covered = 0.05; // the share of the stage that all discs cover together
const largest = 8; // pixels of a disc's radius, on average

/** @type {Promise<any>|undefined} */ let loaded;

/** libraries loads what draws graphs, once, and only where there is WebGL: without it they fail as they load. */
function libraries() {
  const load = (/** @type {string} */ src) =>
    new Promise((done, fail) => {
      document.head.append(h("script", { src, onload: done, onerror: fail }));
    });
  return (loaded ??= Promise.all(["vendor/graphology.umd.min.js", "vendor/sigma.min.js"].map(load)));
}

export class GraphPage {
  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    this.hidden = new Set(); // kinds of links that are not shown
    this.colour = "group";
    this.hovered = null;
    this.built = "";
    this.positions = new Map();
    this.stage = h("div", { class: "stage", id: "stage" });
    this.legend = h("span", { class: "bar", style: "margin:0" });
    this.kindBar = h("span", { class: "bar", style: "margin:0" });
    this.scope = h("span", { class: "key" });
    this.colourBy = h(
      "select",
      {
        onchange: (/** @type {any} */ e) => {
          this.colour = e.target.value;
          this.dress();
        },
      },
      ...[
        ["group", "role or group"],
        ["class", "line"],
        ["knows", "what it knows"],
      ].map(([value, text]) => h("option", { value }, text)),
    );
    at.append(
      h(
        "p",
        { class: "lead" },
        "Each dot is a peer, the larger the more keys it holds. A line is a link, the thicker the more the " +
          "two have in common; ",
        "its colour says why one of them chose the other. ",
        "Rest the mouse on a peer for its figures; click for its page. Drag to move, scroll to zoom.",
      ),
      h(
        "div",
        { class: "bar" },
        h("label", {}, "Colour by ", this.colourBy),
        this.kindBar,
        h("button", { onclick: () => this.arrange(1) }, "Lay out again"),
        this.scope,
        buttons("venn-graph", { svg: () => this.svg(), csv: () => this.table().csv() }),
      ),
      this.stage,
      h("div", { class: "bar", style: "margin-top:8px" }, this.legend),
    );
    this.gl = !!document.createElement("canvas").getContext("webgl2");
    if (!this.gl) this.asTable();
    else {
      this.worker = new Worker("layout.js");
      this.worker.onmessage = ({ data }) => this.moved(data);
      libraries().then(() => {
        this.ready = true;
        if (!this.closed) this.draw();
      });
    }
  }

  close() {
    this.closed = true;
    this.worker?.terminate();
    this.sigma?.kill();
    hint("");
  }

  theme() {
    if (this.sigma) {
      this.sigma.setSetting("labelColor", { color: css("--ink") });
      this.dress();
    }
  }

  asTable() {
    this.list = this.table();
    const note = h("p", { class: "note" }, "This browser has no WebGL, so the links are shown as a table.");
    this.stage.replaceChildren(note, this.list.element);
    this.list.element.style.maxHeight = "none";
    this.stage.style.overflow = "auto";
  }

  /** table lists the links. */
  table() {
    const m = this.app.model;
    const t = new Table(
      [
        { title: "Peer", text: true, value: (l) => m.name(l.from) },
        { title: "Linked with", text: true, value: (l) => m.name(l.to) },
        { title: "Why", text: true, value: (l) => l.kind },
        { title: "Share of its keys", value: (l) => l.share, show: (l) => (l.share < 0 ? "–" : percent(l.share)) },
        { title: "RTT, ms", value: (l) => l.rtt },
      ],
      { sort: 3, down: true, key: (l) => l.from, pick: (l) => this.app.select(l.from) },
    );
    t.set(
      m.links.flatMap((all, from) => (all ?? []).map((l) => ({ from, ...l }))),
      this.app.selected,
    );
    return t;
  }

  draw() {
    const m = this.app.model;
    if (!this.gl) {
      this.list?.set(
        m.links.flatMap((all, from) => (all ?? []).map((l) => ({ from, ...l }))),
        this.app.selected,
      );
      return;
    }
    if (!this.ready) return;
    if (!m.peers.length) {
      if (!this.sigma) this.stage.replaceChildren(h("p", { class: "empty" }, "No peer has started yet."));
      return;
    }
    const scope = this.scopeOf();
    const key = `${m.topology} ${scope.key}`;
    if (this.built !== key) {
      this.built = key;
      this.build(scope);
    } else this.dress();
  }

  /** focus brings a peer into the middle. @param {number} n */
  focus(n) {
    const at = this.sigma?.getNodeDisplayData(String(n));
    if (at) this.sigma.getCamera().animate({ x: at.x, y: at.y, ratio: 0.5 }, { duration: 400 });
  }

  /** scopeOf says what is shown: all peers, or one's surroundings, or groups. */
  scopeOf() {
    const m = this.app.model,
      n = this.app.selected;
    if (m.peers.length <= whole) return { kind: "all", key: "all" };
    if (n !== null && m.links[n]?.length) return { kind: "around", of: n, key: `around ${n}` };
    return { kind: "groups", of: n, key: `groups ${n}` };
  }

  /** scopeText says what is shown where not all peers are. @param {any} scope @param {number} shown */
  scopeText(scope, shown) {
    if (scope.kind === "all") return "";
    if (scope.kind === "around") return `${count(shown)} peers around ${this.app.model.name(scope.of)}`;
    return scope.of === null
      ? "Groups and their strongest ties: select a peer to see those around it"
      : `Groups: ${this.app.model.name(scope.of)} has no links now`;
  }

  /**
   * edges are the links between peers, one for each pair, with the more telling of the two ends' reasons.
   * @returns {{a: number, b: number, kind: string, share: number}[]}
   */
  edges() {
    /** @type {Map<number, {a: number, b: number, kind: string, share: number}>} */ const all = new Map();
    this.app.model.links.forEach((links, from) => {
      for (const l of links ?? []) {
        const a = Math.min(from, l.to),
          b = Math.max(from, l.to),
          key = a * 2 ** 26 + b; // a and b are below 2^26, so keys are whole numbers below 2^52
        const e = all.get(key);
        if (!e) all.set(key, { a, b, kind: l.kind, share: l.share });
        else {
          if (order.indexOf(l.kind) < order.indexOf(e.kind)) e.kind = l.kind;
          e.share = Math.max(e.share, l.share);
        }
      }
    });
    return [...all.values()];
  }

  /** content is the nodes and edges of a scope. @param {any} scope */
  content(scope) {
    if (scope.kind === "groups") return this.grouped();
    const m = this.app.model;
    let edges = this.edges();
    let keep = m.all.map((p) => p.n);
    if (scope.kind === "around") {
      const near = new Set([scope.of]);
      for (const e of edges) if (e.a === scope.of || e.b === scope.of) near.add(e.a === scope.of ? e.b : e.a);
      for (const e of edges)
        if (near.size < around && near.has(e.a) !== near.has(e.b)) {
          near.add(e.a);
          near.add(e.b);
        }
      keep = [...near];
      edges = edges.filter((e) => near.has(e.a) && near.has(e.b));
    }
    return {
      nodes: keep.map((n) => ({ id: String(n), n, label: m.name(n), group: m.group(m.peers[n]), size: 1 })),
      edges: edges.map((e) => ({ ...e, a: String(e.a), b: String(e.b) })),
    };
  }

  /** grouped is the groups, the larger the more peers they have, and their strongest ties. */
  grouped() {
    const m = this.app.model,
      groups = m.groups,
      places = new Map(groups.map((g, i) => [g, i]));
    const of = (/** @type {number} */ n) => places.get(m.group(m.peers[n])) ?? 0;
    const peers = groups.map((g) => m.all.filter((p) => m.group(p) === g).length);
    const sums = new Map();
    for (const e of this.edges()) {
      const a = of(e.a),
        b = of(e.b),
        key = `${Math.min(a, b)} ${Math.max(a, b)}`;
      if (a !== b) sums.set(key, (sums.get(key) ?? 0) + 1);
    }
    const most = Math.max(1, ...sums.values());
    return {
      nodes: groups.map((group, i) => {
        const n = at(peers, i);
        return {
          id: `g${i}`,
          label: `${group || "others"} (${count(n)})`,
          group,
          size: 6 + (20 * Math.sqrt(n)) / Math.sqrt(m.all.length),
        };
      }),
      edges: strongTies(sums).map(({ a, b, links }) => ({ a: `g${a}`, b: `g${b}`, kind: "link", share: links / most })),
    };
  }

  /** build makes the graph, with the positions that peers had. @param {any} scope */
  build(scope) {
    const { Graph } = /** @type {any} */ (window).graphology;
    const content = this.content(scope);
    const old = this.graph;
    this.scopeShown = scope;
    const graph = new Graph({ type: "undirected" });
    const spread = 40 * Math.sqrt(content.nodes.length);
    let fresh = 0;
    content.nodes.forEach((/** @type {any} */ x, i) => {
      let at = this.positions.get(x.id);
      if (!at) {
        fresh++;
        const angle = i * 2.399963,
          r = spread * Math.sqrt((i + 0.5) / content.nodes.length); // a sunflower
        at = { x: r * Math.cos(angle), y: r * Math.sin(angle) };
      }
      graph.addNode(x.id, { ...at, size: x.size, label: x.label, group: x.group, n: x.n });
    });
    for (const e of content.edges) {
      if (graph.hasNode(e.a) && graph.hasNode(e.b))
        graph.addEdge(e.a, e.b, { kind: e.kind, share: e.share, zIndex: -order.indexOf(e.kind) });
    }
    let changed = Math.abs(graph.size - (old?.size ?? 0));
    old?.forEachEdge(
      (/** @type {string} */ _e, /** @type {any} */ _x, /** @type {string} */ a, /** @type {string} */ b) => {
        if (!graph.hasNode(a) || !graph.hasNode(b) || !graph.hasEdge(a, b)) changed++;
      },
    );
    this.graph = graph;
    if (this.hovered !== null && !graph.hasNode(this.hovered)) this.hovered = null;
    this.scope.textContent = this.scopeText(scope, graph.order);
    if (!this.sigma) this.start(graph);
    else this.sigma.setGraph(graph);
    this.dress();
    this.drift = (this.drift ?? 0) + changed;
    if (!old || fresh > 0) this.arrange(1);
    else if (this.drift > 0.1 * graph.size) this.arrange(0.3);
  }

  /** @param {any} graph */
  start(graph) {
    this.stage.replaceChildren();
    const Sigma = /** @type {any} */ (window).Sigma;
    this.sigma = new Sigma(graph, this.stage, {
      allowInvalidContainer: true,
      labelRenderedSizeThreshold: 7,
      labelDensity: 0.6,
      labelSize: 12,
      labelColor: { color: css("--ink") },
      zIndex: true,
      minEdgeThickness: 0.9,
      hideEdgesOnMove: false,
      hideLabelsOnMove: true,
      defaultDrawNodeHover: () => {},
      defaultDrawNodeLabel: (/** @type {any} */ c, /** @type {any} */ node, /** @type {any} */ set) => {
        if (!node.label) return;
        c.fillStyle = set.labelColor.color;
        c.font = `${set.labelWeight} ${set.labelSize}px ${set.labelFont}`;
        const gap = node.size + 3,
          fits = node.x + gap + c.measureText(node.label).width <= this.sigma.getDimensions().width;
        c.textAlign = fits ? "left" : "right"; // no name ends beyond the edge
        c.fillText(node.label, fits ? node.x + gap : node.x - gap, node.y + set.labelSize / 3);
      },
    });
    this.spotlight = new Spotlight(this.sigma, () => this.centre);
    this.sigma.on("enterNode", ({ node, event }) => {
      this.hover(node);
      hint(this.figures(node), event.original);
    });
    this.sigma.on("leaveNode", () => {
      this.hover(null);
      hint("");
    });
    this.sigma.on("clickNode", ({ node }) => {
      const n = graphNumber(this.graph, node);
      if (n !== undefined) this.app.select(n);
    });
    this.sigma.on("clickStage", () => this.app.select(null));
    this.sigma.on("resize", () => this.resized());
  }

  /** resized gives discs the size that suits the stage, once sigma has taken that in. */
  resized() {
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => {
      if (!this.closed) this.dress();
    }, 100);
  }

  /** figures are those of a node, for a hint. @param {string} id */
  figures(id) {
    const m = this.app.model,
      n = graphNumber(this.graph, id);
    if (n === undefined) return this.graph.getNodeAttribute(id, "label");
    const s = m.status[n],
      p = m.peers[n];
    return [
      m.name(n),
      [p?.group, p?.class].filter(Boolean).join(" · "),
      s && `${count(s.keys)} keys, ${s.links} links`,
      s && `knows of ${s.origins}, asks ${s.false.toFixed(1)} in vain`,
    ]
      .filter(Boolean)
      .join("\n");
  }

  /** @param {string|null} id */
  hover(id) {
    this.hovered = id;
    this.spotlight?.draw();
  }

  /** the node that all attention goes to, if there is one */
  get centre() {
    if (this.hovered !== null && this.graph.hasNode(this.hovered)) return this.hovered;
    const s = this.app.selected === null ? null : String(this.app.selected);
    return s !== null && this.graph.hasNode(s) ? s : null;
  }

  /**
   * sizes gives radii in pixels: a disc's area is proportional to the peer's keys, and all together cover a share of
   * the stage.
   * @returns {(n: number) => number}
   */
  sizes() {
    const m = this.app.model,
      { width, height } = this.sigma.getDimensions();
    const keys = this.graph.mapNodes((/** @type {string} */ _id, /** @type {any} */ a) => m.status[a.n]?.keys ?? 0);
    const mean = keys.reduce((/** @type {number} */ x, /** @type {number} */ y) => x + y, 0) / Math.max(1, keys.length);
    const base = Math.min(largest, Math.sqrt((covered * width * height) / Math.PI / Math.max(1, this.graph.order)));
    return (n) => base * Math.min(2.2, Math.max(0.6, Math.sqrt((m.status[n]?.keys ?? 0) / Math.max(1, mean))));
  }

  /** dress gives nodes and edges their colours and sizes. */
  dress() {
    const m = this.app.model,
      graph = this.graph;
    if (!graph || !this.sigma) return;
    const by = (/** @type {any} */ a) =>
      a.n !== undefined && this.colour === "class" ? m.peers[a.n]?.class || "" : a.group;
    const names = this.colour === "class" ? m.classes : m.groups;
    const colour = colours(names);
    const size = this.sizes();
    graph.updateEachNodeAttributes(
      (/** @type {string} */ _id, /** @type {any} */ a) => {
        if (a.n !== undefined) a.size = size(a.n);
        a.color = this.colour === "knows" && a.n !== undefined ? knowledge(m, a.n) : (colour.get(by(a)) ?? "#8d97a3");
        return a;
      },
      { attributes: ["size", "color"] },
    );
    const used = new Map(),
      all = this.scopeShown.kind === "groups";
    const few = Math.min(1, 300 / graph.size), // many thick lines would hide each other
      strength = 0.5 + 0.3 * few,
      ground = css("--panel");
    const thick = Math.min(3, this.sigma.getDimensions().width / 300); // pixels of a link between equals
    graph.updateEachEdgeAttributes(
      (/** @type {string} */ _id, /** @type {any} */ a) => {
        used.set(a.kind, (used.get(a.kind) ?? 0) + 1);
        a.full = kindColour(a.kind);
        a.color = mix(a.full, ground, strength);
        a.size = 0.3 + 0.7 * few + thick * Math.max(0, a.share) ** 2;
        a.hidden = !all && this.hidden.has(a.kind);
        return a;
      },
      { attributes: ["size", "color", "hidden"] },
    );
    this.sigma.refresh();
    this.legends(used, this.colour === "knows" ? null : colour);
  }

  /** @param {Map<string, number>} used @param {Map<string, string>|null} colour */
  legends(used, colour) {
    const text = JSON.stringify([[...used].sort(), [...this.hidden], colour && [...colour]]);
    if (text === this.legendText) return;
    this.legendText = text;
    const toggle = (/** @type {string} */ k) => {
      this.hidden.has(k) ? this.hidden.delete(k) : this.hidden.add(k);
      this.legendText = "";
      this.dress();
    };
    this.kindBar.replaceChildren(
      ...order
        .filter((k) => used.has(k))
        .map((k) =>
          h(
            "label",
            { class: "key" },
            h("input", { type: "checkbox", checked: !this.hidden.has(k), onchange: () => toggle(k) }),
            h("i", { class: "dash", style: `background:${kindColour(k)}` }),
            `${k} ${count(used.get(k) ?? 0)}`,
          ),
        ),
    );
    if (!colour)
      this.legend.replaceChildren(
        h("span", { class: "key" }, "the stronger the blue, the more of the others it knows"),
      );
    else {
      const keys = [...colour]
        .slice(0, named)
        .map(([g, c]) => h("span", { class: "key" }, h("i", { style: `background:${c}` }), g || "others"));
      const more = colour.size > named ? [h("span", { class: "key" }, `and ${count(colour.size - named)} more`)] : [];
      this.legend.replaceChildren(...keys, ...more);
    }
  }

  /** arrange lays the graph out. @param {number} alpha how much things may move: 1: as much as it takes */
  arrange(alpha) {
    if (!this.graph || !this.worker) return;
    this.drift = 0;
    this.stage.dataset.settled = "false";
    const ids = this.graph.nodes(),
      index = new Map(ids.map((/** @type {string} */ id, /** @type {number} */ i) => [id, i]));
    this.laid = ids;
    this.round = (this.round ?? 0) + 1;
    const pull = /** @type {Record<string, number>} */ ({
      overlap: 0.4,
      complementary: 0.2,
      near: 0.02,
      range: 0.002,
      random: 0.004,
      inbound: 0.01,
      link: 0.001,
    });
    const { width, height } = this.sigma.getDimensions();
    this.worker.postMessage({
      id: this.round,
      alpha,
      aspect: width / height,
      nodes: this.graph.mapNodes((/** @type {string} */ _id, /** @type {any} */ a) => ({ x: a.x, y: a.y })),
      links: this.graph.mapEdges(
        (/** @type {string} */ _e, /** @type {any} */ a, /** @type {string} */ s, /** @type {string} */ t) => ({
          source: index.get(s),
          target: index.get(t),
          pull: (pull[a.kind] ?? 0.02) * (0.4 + Math.max(0, a.share)),
        }),
      ),
    });
  }

  /** @param {{id: number, at: Float32Array, settled: boolean}} data */
  moved(data) {
    if (data.id !== this.round || !this.laid) return;
    this.laid.forEach((/** @type {string} */ id, /** @type {number} */ i) => {
      const at = { x: data.at[2 * i], y: data.at[2 * i + 1] };
      this.positions.set(id, at);
      if (this.graph.hasNode(id)) this.graph.mergeNodeAttributes(id, at);
    });
    this.stage.dataset.settled = String(data.settled);
  }

  /** svg is the graph as it is seen. */
  svg() {
    if (!this.sigma)
      return svg(400, 60, `<text x="16" y="34" fill="${css("--ink")}">no graph: this browser has no WebGL</text>`);
    const { width, height } = this.sigma.getDimensions(),
      c = this.centre,
      n1 = (/** @type {number} */ v) => v.toFixed(1);
    const near = new Set(c === null ? [] : [c, ...this.graph.neighbors(c)]);
    const at = (/** @type {string} */ id) => this.sigma.framedGraphToViewport(this.sigma.getNodeDisplayData(id));
    let body = "";
    this.graph.forEachEdge(
      (/** @type {string} */ id, /** @type {any} */ d, /** @type {string} */ s, /** @type {string} */ t) => {
        if (d.hidden || (c !== null && !this.graph.hasExtremity(id, c))) return;
        const a = at(s),
          b = at(t);
        body +=
          `<line x1="${n1(a.x)}" y1="${n1(a.y)}" x2="${n1(b.x)}" y2="${n1(b.y)}" stroke="${d.full}" ` +
          `stroke-opacity="${c ? 0.9 : 0.45}" stroke-width="${d.size.toFixed(2)}"/>`;
      },
    );
    this.graph.forEachNode((/** @type {string} */ id, /** @type {any} */ d) => {
      const a = at(id),
        faded = c !== null && !near.has(id);
      body +=
        `<circle cx="${n1(a.x)}" cy="${n1(a.y)}" r="${n1(d.size)}" fill="${faded ? css("--line") : d.color}">` +
        `<title>${escape(d.label)}</title></circle>`;
      if (!faded && (near.size || d.size >= 7 || this.graph.order <= 60)) {
        body += `<text x="${n1(a.x + d.size + 3)}" y="${n1(a.y + 4)}" fill="${css("--ink")}">${escape(d.label)}</text>`;
      }
    });
    return svg(width, height, body);
  }
}

/**
 * strongTies are the ties between groups that are among the strongest of either: all of them would be a black disc.
 * @param {Map<string, number>} links how many links there are between each two groups
 * @returns {{a: string, b: string, links: number}[]}
 */
function strongTies(links) {
  /** @type {Map<string, number>} */ const ties = new Map();
  const all = [...links]
    .sort(([, x], [, y]) => y - x)
    .map(([key, links]) => {
      const [a = "", b = ""] = key.split(" ");
      return { a, b, links };
    });
  return all.filter(({ a, b }) => {
    const [x, y] = [ties.get(a) ?? 0, ties.get(b) ?? 0];
    if (x >= strongest && y >= strongest) return false;
    ties.set(a, x + 1).set(b, y + 1);
    return true;
  });
}

/** @param {any} graph @param {string} id @returns {number|undefined} */
const graphNumber = (graph, id) => graph.getNodeAttribute(id, "n");

/**
 * knowledge returns a colour for how much a peer knows of the others.
 * @param {import("./model.js").Model} m
 * @param {number} n
 */
function knowledge(m, n) {
  let sum = 0;
  for (const v of m.rows[n]?.levels ?? []) sum += Math.min(1, v / (1 + 8 * levelsPerBit));
  const x = sum / Math.max(1, m.peers.length - 1);
  return `rgb(${Math.round(214 - 180 * x)}, ${Math.round(222 - 120 * x)}, ${Math.round(230 - 50 * x)})`;
}
