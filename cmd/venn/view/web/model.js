// The network as it was at one time, put together from the lines of package view's recording.

/**
 * @typedef {{n: number, name: string, id: string, group?: string, class?: string, rate?: number, self?: boolean}} Peer
 * @typedef {{n: number, t: number, keys: number, links: number, origins: number, parts: number, bytes: number,
 *   false: number, sent: number, received: number, announced?: number, pubsub: number, direct: number, delta: number,
 *   epoch: number, line_out: number, line_in: number}} Status
 * @typedef {{to: number, kind: string, share: number, rtt: number, sent: number, received: number}} Link
 * @typedef {[to: number, kind: string, share: number, rtt: number, sent: number, received: number]} LinkCells
 * @typedef {{n: number, t: number, links: LinkCells[]}} LinksLine
 * @typedef {[of: number, parts: number, bytes: number, bits: number]} Cell
 * @typedef {{peer: number, why: string, probability: number, result: string, names?: number, at?: number,
 *   took?: number, bytes?: number}} Step
 * @typedef {{t: number, n: number, key: string, all: boolean, found: number[], end: string, ms: number,
 *   probes: number, false: number, messages: number, steps: Step[]}} Query
 * @typedef {{n: number, sequence: number, number: number, t: number, keys: number, bytes: number, added: number,
 *   removed: number, reached: Map<number, number>}} Update what a peer has published of its collection: a summary
 *   (number 0), or a tail of it; reached has the times when other peers learned of it
 * @typedef {{name: string, sum: string, ended: string, took_ms: number, from_peers: number, from_origin: number,
 *   tried?: string[], error?: string}} Fetch
 * @typedef {{n: number, listen: string, files: number, bytes: number, limit: number, fetching: number,
 *   from_peers: number, from_origin: number, from_cache: number, to_peers: number, to_clients: number,
 *   recent: Fetch[]}} Mirror
 * @typedef {{phase: string, done: number, total: number}} Phase
 * @typedef {{recall: number|null}} Found
 * @typedef {{find_one: Found, find_all: Found, messages_per_query: number|null, probes_per_query: number|null,
 *   link_budget_use_max: number, queries: number}} Report
 * @typedef {{venn_view: number, source: string, network: string, venn?: string, began: string}} Header
 * @typedef {{t: number} & ({type: "peer"} & Peer | {type: "status"} & Status | {type: "links"} & LinksLine |
 *   {type: "held", n: number, held: Cell[]} |
 *   {type: "epoch", n: number, sequence: number, keys: number, parts: number, bytes: number} |
 *   {type: "tail", n: number, sequence: number, number: number, added: number, removed: number} |
 *   {type: "learned", n: number, learned: [of: number, sequence: number, t: number, number?: number][]} |
 *   {type: "query"} & Query | {type: "mirror"} & Mirror | {type: "phase"} & Phase | {type: "report", report: Report})} Line a line of a recording
 * @typedef {{applied: number, now: number, peers: (Peer|undefined)[], status: (Status|undefined)[],
 *   links: (Link[]|undefined)[], histories: number[], linkHistories: number[], rows: (Row|undefined)[],
 *   known: number[], queries: number, updates: [n: number, all: [update: Update, reached: number][]][],
 *   mirror: Mirror|null, phase: Phase|null,
 *   report: Report|null}} Checkpoint the state after a number of lines; of lists that only grow, their lengths
 */

/** levelsPerBit is the number of steps that a bit of false-positive rate has in a cell of the matrix. */
export const levelsPerBit = 8;

const keptUpdates = 20; // of every peer

const mostCheckpoints = 64;
const checkpointBytes = 128e6; // of what checkpoints hold of summaries, about as much as a log of 10,000 peers
const firstSpacing = 1024; // lines between checkpoints, which doubles when they are too many or too large

/** Model keeps every line of the run, so that any time can be sought: its memory grows with the run. */
export class Model {
  /** @type {Line[]} */ log = [];
  /** @type {Header|null} */ header = null;
  live = true; // the state follows the log
  over = false; // no more lines come
  version = 0; // grows with every change of the state
  topology = 0; // grows when peers or links change
  /** @type {Checkpoint[]} */ checkpoints = [];
  spacing = firstSpacing;

  // The state: what the lines applied so far add up to.
  applied = 0;
  now = 0;
  /** @type {(Peer|undefined)[]} */ peers = [];
  /** @type {(Status|undefined)[]} */ status = [];
  /** @type {Status[][]} */ history = [];
  /** @type {(Link[]|undefined)[]} */ links = [];
  /** @type {LinksLine[][]} */ linkHistory = []; // the lines of links, as they came
  /** @type {(Row|undefined)[]} */ rows = []; // what each peer holds of others
  /** @type {number[]} */ known = []; // how many hold something of each peer
  /** @type {Query[]} */ queries = [];
  /** @type {Map<number, Update[]>} */ updates = new Map();
  /** @type {Mirror|null} */ mirror = null;
  /** @type {Phase|null} */ phase = null;
  /** @type {Report|null} */ report = null;

  /** clear puts the state to that before the first line. */
  clear() {
    this.applied = this.now = 0;
    this.peers = [];
    this.status = [];
    this.history = [];
    this.links = [];
    this.linkHistory = [];
    this.rows = [];
    this.known = [];
    this.queries = [];
    this.updates = new Map();
    this.mirror = this.phase = this.report = null;
    this.version++;
    this.topology++;
  }

  /** end returns the time of the last line, in ms. */
  get end() {
    return this.log.at(-1)?.t ?? 0;
  }

  /** add takes lines in. A header replaces all before it. @param {(Line|Header)[]} lines */
  add(lines) {
    for (const l of lines) {
      if ("venn_view" in l) {
        this.log = [];
        this.checkpoints = [];
        this.spacing = firstSpacing;
        this.header = l;
        this.clear();
        continue;
      }
      this.log.push(l);
    }
    if (this.live) this.advance(Infinity);
  }

  /** seek puts the state to a time. @param {number} t ms; Infinity: follow the log */
  seek(t) {
    this.live = t === Infinity;
    if (t < this.now) this.rewind(t);
    this.advance(t);
    if (t !== Infinity) this.now = t;
  }

  /** advance applies lines up to a time. @param {number} t */
  advance(t) {
    const before = this.applied;
    for (let l; (l = this.log[this.applied]) && l.t <= t;) {
      this.apply(l);
      this.applied++;
      if (this.applied % this.spacing === 0) this.checkpoint();
    }
    if (this.applied > before) this.version++;
  }

  /** checkpoint keeps the state, so that a time soon after it can be sought quickly. */
  checkpoint() {
    if (this.applied <= (this.checkpoints.at(-1)?.applied ?? 0)) return;
    this.checkpoints.push({
      applied: this.applied,
      now: this.now,
      peers: this.peers.slice(),
      status: this.status.slice(),
      links: this.links.slice(),
      histories: this.history.map((all) => all.length),
      linkHistories: this.linkHistory.map((all) => all.length),
      rows: this.rows.map((row) => row?.copy()),
      known: this.known.slice(),
      queries: this.queries.length,
      updates: [...this.updates].map(([n, all]) => [n, all.map((u) => [u, u.reached.size])]),
      mirror: this.mirror,
      phase: this.phase,
      report: this.report,
    });
    while (
      this.checkpoints.length > 1 &&
      (this.checkpoints.length > mostCheckpoints || this.weight() > checkpointBytes)
    ) {
      this.spacing *= 2;
      this.checkpoints = this.checkpoints.filter((c) => c.applied % this.spacing === 0);
    }
  }

  /** weight returns about how many bytes the rows of all checkpoints have. Equal ones are shared. */
  weight() {
    let sum = 0;
    this.checkpoints.forEach((c, i) => {
      const before = this.checkpoints[i - 1]?.rows;
      c.rows.forEach((row, n) => {
        if (row && row.of !== before?.[n]?.of) sum += row.weight;
      });
    });
    return sum;
  }

  /** rewind puts the state to the last checkpoint up to a time, or to the begin. @param {number} t */
  rewind(t) {
    // Lists are cut to their lengths at the checkpoint, so it has to lie behind what was applied.
    const c = this.checkpoints.findLast((c) => c.now <= t && c.applied <= this.applied);
    if (!c) return this.clear();
    this.applied = c.applied;
    this.now = c.now;
    this.peers = c.peers.slice();
    this.status = c.status.slice();
    this.links = c.links.slice();
    this.history.forEach((all, n) => (all.length = c.histories[n] ?? 0));
    this.linkHistory.forEach((all, n) => (all.length = c.linkHistories[n] ?? 0));
    this.rows = c.rows.map((row) => row?.copy());
    this.known = c.known.slice();
    this.queries.length = c.queries;
    this.updates = new Map(c.updates.map(([n, all]) => [n, all.map(([u, reached]) => cut(u, reached))]));
    this.mirror = c.mirror;
    this.phase = c.phase;
    this.report = c.report;
    this.version++;
    this.topology++;
  }

  /** apply takes a line in. @param {Line} e */
  apply(e) {
    if (e.t > this.now) this.now = e.t;
    switch (e.type) {
      case "peer":
        this.peers[e.n] = e;
        this.topology++;
        break;
      case "status":
        this.status[e.n] = e;
        (this.history[e.n] ??= []).push(e);
        break;
      case "links": {
        const l = e.links.map(([to, kind, share, rtt, sent, received]) => ({ to, kind, share, rtt, sent, received }));
        const old = this.links[e.n];
        const moved = l.some((x, i) => x.to !== old?.[i]?.to || x.kind !== old?.[i]?.kind);
        if (moved || old?.length !== l.length) this.topology++;
        this.links[e.n] = l;
        (this.linkHistory[e.n] ??= []).push(e);
        break;
      }
      case "held":
        (this.rows[e.n] ??= new Row()).change(e.held, (of, by) => {
          this.known[of] = (this.known[of] ?? 0) + by;
        });
        break;
      case "epoch":
      case "tail":
        this.update({ number: 0, keys: 0, bytes: 0, added: 0, removed: 0, ...e, reached: new Map() });
        break;
      case "learned":
        for (const [of, sequence, t, number = 0] of e.learned) {
          for (const x of this.updates.get(of) ?? []) {
            if ((x.sequence < sequence || (x.sequence === sequence && x.number <= number)) && !x.reached.has(e.n))
              x.reached.set(e.n, t);
          }
        }
        break;
      case "query":
        this.queries.push(e);
        break;
      case "mirror":
        this.mirror = e;
        break;
      case "phase":
        this.phase = e;
        break;
      case "report":
        this.report = e.report;
    }
  }

  /** update keeps the latest updates of a peer. @param {Update} u */
  update(u) {
    const all = this.updates.get(u.n) ?? [];
    all.push(u);
    this.updates.set(u.n, all.slice(-keptUpdates));
  }

  /**
   * at is the level of what a peer holds of another: 0: nothing, else 1 + bits × levelsPerBit.
   * @param {number} n
   * @param {number} of
   */
  at(n, of) {
    return this.rows[n]?.level(of) ?? 0;
  }

  /** all returns the peers that are known: a number may come before its peer. */
  get all() {
    return this.peers.filter((p) => p !== undefined);
  }

  /** held returns the bytes that a peer holds of another's summary. @param {number} n @param {number} of */
  held(n, of) {
    const row = this.rows[n];
    return row?.bytes[row.find(of)] ?? 0;
  }

  /** watched returns the peers that have a status. */
  get watched() {
    return this.all.filter((p) => p.self);
  }

  /** groups are the names of the groups, or of the lines' classes where there are no groups. */
  get groups() {
    const by = (/** @type {(p: Peer) => string|undefined} */ f) =>
      [...new Set(this.all.map((p) => f(p) || ""))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    return by((p) => p.group).length > 1 ? by((p) => p.group) : by((p) => p.class);
  }

  /** group returns the group of a peer, as in groups. @param {Peer|undefined} p */
  group(p) {
    return (this.grouped() ? p?.group : p?.class) || "";
  }

  grouped() {
    if (this.groupedFor !== this.topology) {
      this.groupedFor = this.topology;
      this.isGrouped = new Set(this.all.map((p) => p.group || "")).size > 1;
    }
    return this.isGrouped;
  }

  /** classes are the classes of lines, the slowest first. */
  get classes() {
    const rate = new Map(this.watched.map((p) => [p.class || "", p.rate || 0]));
    return [...rate.keys()].sort((a, b) => (rate.get(a) ?? 0) - (rate.get(b) ?? 0));
  }

  /** name is what a peer is called. @param {number} n */
  name(n) {
    return this.peers[n]?.name ?? "a stranger";
  }
}

/**
 * Row is what one peer holds of others, in the order of their numbers: most rows of a large network are nearly empty.
 */
export class Row {
  of = new Uint32Array(0);
  levels = new Uint8Array(0);
  bytes = new Uint32Array(0);

  /** weight returns about how many bytes the row's arrays have. */
  get weight() {
    return 600 + 9 * this.of.length;
  }

  /** copy returns a row that stays as this one is now. */
  copy() {
    const row = new Row();
    row.of = this.of; // change makes new arrays
    row.levels = this.levels;
    row.bytes = this.bytes;
    return row;
  }

  /**
   * change takes cells in.
   * @param {Cell[]} cells each of another peer
   * @param {(of: number, by: number) => void} count takes whose summary is held now, or no longer
   */
  change(cells, count) {
    const changed = [...cells].sort((a, b) => a[0] - b[0]);
    const room = this.of.length + changed.length;
    const [of, levels, bytes] = [new Uint32Array(room), new Uint8Array(room), new Uint32Array(room)];
    let n = 0,
      i = 0;
    const keep = (/** @type {number} */ until) => {
      const from = i;
      while (i < this.of.length && at(this.of, i) < until) i++;
      of.set(this.of.subarray(from, i), n);
      levels.set(this.levels.subarray(from, i), n);
      bytes.set(this.bytes.subarray(from, i), n);
      n += i - from;
    };
    for (const [peer, parts, size, bits] of changed) {
      keep(peer);
      const held = this.of[i] === peer;
      if (held) i++;
      if (held !== parts > 0) count(peer, held ? -1 : 1);
      if (!parts) continue;
      of[n] = peer;
      levels[n] = Math.min(255, 1 + Math.round(Math.max(0, bits) * levelsPerBit));
      bytes[n++] = size;
    }
    keep(Infinity);
    this.of = of.slice(0, n);
    this.levels = levels.slice(0, n);
    this.bytes = bytes.slice(0, n);
  }

  /** find is the place of a peer; -1: nothing of it is held. @param {number} of */
  find(of) {
    let low = 0,
      high = this.of.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (at(this.of, mid) < of) low = mid + 1;
      else high = mid;
    }
    return this.of[low] === of ? low : -1;
  }

  /**
   * each calls f with every peer that something is held of, and the level.
   * @param {(of: number, level: number) => void} f
   */
  each(f) {
    for (let i = 0; i < this.of.length; i++) f(at(this.of, i), at(this.levels, i));
  }

  /** @param {number} of */
  level(of) {
    const i = this.find(of);
    return i < 0 ? 0 : at(this.levels, i);
  }
}

/** at returns an element of an array that has it. @param {ArrayLike<number>} all @param {number} i */
export const at = (all, i) => /** @type {number} */ (all[i]);

/**
 * cut returns an update as it was when it had reached fewer. The update itself stays: later checkpoints refer to it.
 * @param {Update} u
 * @param {number} reached
 * @returns {Update}
 */
const cut = (u, reached) => ({ ...u, reached: new Map([...u.reached].slice(0, reached)) });
