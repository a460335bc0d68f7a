// The frame of the page: it takes events in, switches between pages, and keeps the time and the one selection that all
// share.

import { bytes, count, h, percent, seconds, speed, Table } from "./dom.js";
import { levelsPerBit, Model } from "./model.js";
import { GraphPage } from "./graph.js";
import { MatrixPage } from "./matrix.js";
import { BytesPage } from "./bytes.js";
import { QueriesPage } from "./queries.js";
import { ChangePage } from "./change.js";
import { MirrorPage } from "./mirror.js";

const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

/** app is what pages share. */
const app = {
  model: new Model(),
  can: { ask: false, change: false, recorded: false },
  /** @type {number|null} the selected peer */ selected: null,
  /** select makes a peer the selected one, on all pages. @param {number|null} n */
  select(n) {
    app.selected = n;
    drawer();
    page?.draw();
    remember();
  },
  /** go shows another page. @param {string} id */
  go(id) {
    show(id);
  },
  /** page is the page that is shown. */
  get page() {
    return page;
  },
  /** dark says whether the page is dark. */
  dark: () => document.documentElement.dataset.theme === "dark",
};

/** @typedef {typeof app} App */
/**
 * @typedef {{draw(): void, close?(): void, theme?(): void, focus?(n: number): void}} Page a page: draw shows the model
 *   as it is now, close ends all that the page has begun, theme follows the colours, focus brings a peer into view
 */

const pages = [
  { id: "graph", short: "Links", long: "Who is connected with whom, and why?", make: GraphPage },
  { id: "matrix", short: "Who knows", long: "Who knows what of whom?", make: MatrixPage },
  { id: "bytes", short: "Bytes", long: "Where do the bytes go?", make: BytesPage },
  { id: "queries", short: "Queries", long: "How was this query answered?", make: QueriesPage },
  { id: "change", short: "Changes", long: "How does a change travel?", make: ChangePage },
  { id: "mirror", short: "Mirror", long: "What came from where?", make: MirrorPage },
];

/** @type {Page|null} */ let page = null;
let shown = "";

/** @param {string} id */
function show(id) {
  const p = pages.find((x) => x.id === id) ?? pages[0];
  if (!p || shown === p.id) return;
  page?.close?.();
  shown = p.id;
  for (const b of $("tabs").children)
    b.id === `tab-${p.id}` ? b.setAttribute("aria-current", "page") : b.removeAttribute("aria-current");
  $("page").replaceChildren(h("h2", { class: "question" }, p.long));
  $(`tab-${p.id}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  $("page").scrollTop = 0;
  page = new p.make(app, $("page"));
  page?.draw();
  document.title = `venn: ${p.short}`;
  remember();
}

$("tabs").append(
  ...pages.map((p) => h("button", { id: `tab-${p.id}`, title: p.long, onclick: () => show(p.id) }, p.short)),
);

/** remember keeps the page and the selection in the address, so that a reload and a link lead back. */
function remember() {
  const hash = `#${shown}${app.selected === null ? "" : `/${app.selected}`}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

// Time.

function clock() {
  const m = app.model;
  $("time").max = Math.max(m.end, 1);
  if (m.live) $("time").value = m.end;
  $("clock").textContent = seconds(m.live ? m.end : m.now);
  $("live").hidden = m.live;
  $("play").textContent = m.live || playing ? "❚❚" : "▶";
}

const listed = 3000; // names that the search field proposes at most
let playing = 0;
function stopPlaying() {
  clearInterval(playing);
  playing = 0;
}

/** play goes on from a pause, at ten times the speed of the run, until the end is reached. */
function play() {
  stopPlaying();
  if (app.model.now >= app.model.end) app.model.seek(0);
  playing = window.setInterval(() => {
    const t = app.model.now + 1000;
    if (t >= app.model.end) {
      stopPlaying();
      app.model.seek(Infinity);
    } else {
      app.model.seek(t);
      $("time").value = t;
    }
    clock();
  }, 100);
}

$("time").addEventListener("input", () => {
  stopPlaying();
  app.model.seek(Number($("time").value));
  clock();
});
$("live").addEventListener("click", () => {
  stopPlaying();
  app.model.seek(Infinity);
  clock();
});
$("play").addEventListener("click", () => {
  if (playing) stopPlaying();
  else if (app.model.live && !app.model.over) app.model.seek(app.model.end);
  else play();
  clock();
});
addEventListener("keydown", (e) => {
  if (
    e.target instanceof HTMLInputElement ||
    e.target instanceof HTMLButtonElement ||
    e.target instanceof HTMLSelectElement
  )
    return;
  if (e.key === " ") {
    e.preventDefault();
    $("play").click();
  }
  if (e.key === "Escape") app.select(null);
});

// The head.

function head() {
  const m = app.model;
  $("tab-mirror").hidden = !m.mirror && shown !== "mirror";
  if (!m.header) return;
  $("source").textContent =
    m.header.source === "testnet" || m.header.source === "simulation" ? m.header.source : `network ${m.header.network}`;
  const parts = [h("b", {}, count(m.all.length)), " peers"];
  if (m.report) {
    const r = m.report;
    parts.push(
      " · recall ",
      h("b", { id: "recall-one" }, (r.find_one.recall ?? 0).toFixed(4)),
      " one, ",
      h("b", { id: "recall-all" }, (r.find_all.recall ?? 0).toFixed(4)),
      " all · ",
      h("b", {}, (r.messages_per_query ?? 0).toFixed(2)),
      " messages a query · most of a link's budget used ",
      h("b", {}, r.link_budget_use_max.toFixed(2)),
    );
  } else if (m.phase) {
    parts.push(" · ", m.phase.phase, " ", h("b", {}, count(m.phase.done)), ` of ${count(m.phase.total)}`);
  }
  if (m.over) parts.push(app.can.recorded ? " · recorded" : " · ended");
  $("run").replaceChildren(...parts);
  const known = $("names").children.length;
  if (known !== Math.min(listed, m.all.length))
    $("names").replaceChildren(...m.all.slice(0, listed).map((p) => h("option", { value: p.name })));
}

$("search").addEventListener("change", () => {
  const text = $("search").value.trim().toLowerCase();
  if (!text) return;
  const p =
    app.model.all.find((x) => x.name.toLowerCase() === text || x.id === $("search").value.trim()) ??
    app.model.all.find((x) => x.name.toLowerCase().includes(text));
  $("search").setAttribute("aria-invalid", String(!p));
  if (p) {
    app.select(p.n);
    page?.focus?.(p.n);
  }
});

// The selected peer.

const linkTable = new Table(
  [
    { title: "Link", text: true, value: (l) => app.model.name(l.to) },
    { title: "Why", text: true, value: (l) => l.kind },
    {
      title: "Share",
      value: (l) => l.share,
      show: (l) => (l.share < 0 ? "–" : percent(l.share)),
      hint: "of this peer's keys that the other holds, as estimated",
    },
    {
      title: "ms",
      value: (l) => l.rtt,
      show: (l) => (l.rtt ? l.rtt.toFixed(1) : "–"),
      hint: "round trip, in milliseconds",
    },
  ],
  { sort: 2, down: true, pick: (l) => app.select(l.to) },
);

function drawer() {
  const n = app.selected,
    m = app.model,
    p = n === null ? null : m.peers[n];
  $("drawer").hidden = !p;
  if (!p || n === null) {
    $("drawer").dataset.of = "";
    return;
  }
  const s = m.status[n];
  const figure = (/** @type {string} */ l, /** @type {any} */ v, /** @type {string} */ hint = "") =>
    h("div", { title: hint }, h("div", { class: "l" }, l), h("div", { class: "v" }, v));
  linkTable.set(m.links[n] ?? []);
  const deep = m.rows[n]?.levels.reduce((d, v) => d + (v > 1 + 4 * levelsPerBit ? 1 : 0), 0) ?? 0;
  $("drawer").replaceChildren(
    h("button", { class: "close", title: "Close (Esc)", onclick: () => app.select(null) }, "✕"),
    h("h2", {}, p.name),
    h("p", { class: "mono" }, p.id),
    h(
      "p",
      { class: "lead" },
      [p.group, p.class && `line ${p.class}`, p.rate && speed(p.rate)].filter(Boolean).join(" · "),
    ),
    s
      ? h(
          "div",
          { class: "figures" },
          figure("keys", count(s.keys)),
          figure("links", s.links),
          figure("knows of", count(s.origins), "others whose summary it holds"),
          figure("knows well", count(deep), "of these, with a false-positive rate below 1 in 16"),
          figure("known by", count(m.known[n] ?? 0)),
          figure("asks in vain", s.false.toFixed(1), "peers that a query would ask in vain if it asked all that match"),
          figure("holds", bytes(s.bytes), "of others' summaries"),
          figure("received", bytes(s.received)),
          figure("sent", bytes(s.sent)),
        )
      : h("p", { class: "lead" }, "Only seen from outside: what it holds is not known here."),
    s ? h("h2", {}, "Links") : null,
    s ? linkTable.element : null,
  );
}

// Events.

let drawnVersion = -1;
let next = 0;
/**
 * tick draws what has changed: four times a second at most, and not more than a fifth of the time.
 * @param {number} at
 */
function tick(at) {
  requestAnimationFrame(tick);
  if (app.model.version === drawnVersion || at < next) return;
  const began = performance.now();
  drawnVersion = app.model.version;
  head();
  clock();
  if (app.selected !== null) drawer();
  page?.draw();
  next = at + Math.max(250, 5 * (performance.now() - began));
}

function listen() {
  const source = new EventSource("events");
  source.onmessage = (e) => {
    const events = JSON.parse(e.data);
    if (events[0]?.venn_view > 1) {
      source.close();
      $("run").textContent =
        `This comes from a newer venn (version ${events[0].venn_view} of the format). Reload the page.`;
      return;
    }
    app.model.add(events);
  };
  source.addEventListener("end", () => {
    source.close();
    app.model.over = true;
    app.model.version++;
  });
  source.onerror = () => {
    $("run").textContent = "No connection: the program that serves this page has ended, or too many watch it.";
  };
}

// Dark and light.

function theme(/** @type {string} */ t) {
  document.documentElement.dataset.theme = t;
  page?.theme?.();
  page?.draw();
}
const stored = new URLSearchParams(location.search).get("theme") ?? localStorage.getItem("theme");
theme(stored ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => {
  if (!localStorage.getItem("theme")) theme(e.matches ? "dark" : "light");
});
$("theme").addEventListener("click", () => {
  const t = app.dark() ? "light" : "dark";
  localStorage.setItem("theme", t);
  theme(t);
});

/** @type {any} */ (window).venn = app; // for tests, and for those who are curious
/** come shows the page and selects the peer of the address. */
function come() {
  const [first = "", of] = location.hash.slice(1).split("/");
  show(first);
  if (of) app.select(Number(of));
}
addEventListener("hashchange", come);
fetch("can")
  .then((r) => r.json())
  .then((can) => {
    app.can = can;
    app.model.version++;
  })
  .catch(() => {});
listen();
come();
requestAnimationFrame(tick);
