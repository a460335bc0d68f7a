// The network as it was at one time, put together from events. The events are those of package view's recording.

/**
 * @typedef {{n: number, name: string, id: string, group?: string, class?: string, rate?: number, self?: boolean}} Peer
 * @typedef {{n: number, t: number, keys: number, links: number, origins: number, parts: number, bytes: number,
 *   false: number, sent: number, received: number, announced: number, pubsub: number, direct: number, delta: number,
 *   epoch: number, line_out: number, line_in: number}} Status
 * @typedef {{to: number, kind: string, share: number, rtt: number, sent: number, received: number}} Link
 * @typedef {{peer: number, why: string, probability: number, result: string, names?: number, at?: number,
 *   took?: number, bytes?: number}} Step
 * @typedef {{t: number, n: number, key: string, all: boolean, found: number[], end: string, ms: number,
 *   probes: number, false: number, messages: number, steps: Step[]}} Query
 * @typedef {{n: number, sequence: number, number: number, t: number, keys: number, bytes: number, added: number,
 *   removed: number, reached: Map<number, number>}} Update what a peer has published of its collection: a summary
 *   (number 0), or a tail of it
 */

/** levels is how many steps a bit of false-positive rate has in a cell of the matrix. */
export const levels = 8;

const keptUpdates = 20; // of every peer

/** Model keeps every event of the run, so that any time can be sought: its memory grows with the run. */
export class Model {
  constructor() {
    /** @type {any[]} */ this.log = [];
    this.header = /** @type {any} */ (null);
    this.live = true; // the state follows the log
    this.version = 0; // grows with every change of the state
    this.topology = 0; // grows when peers or links change
    this.over = false; // no more events come
    this.clear();
  }

  clear() {
    this.applied = 0;
    this.now = 0;
    /** @type {Peer[]} */ this.peers = [];
    /** @type {Status[]} */ this.status = [];
    /** @type {Status[][]} */ this.history = [];
    /** @type {Link[][]} */ this.links = [];
    /** @type {{t: number, links: any[][]}[][]} */ this.linkHistory = []; // the lines of links, as they came
    /** @type {Row[]} */ this.rows = []; // what each peer holds of others
    /** @type {number[]} */ this.known = []; // how many hold something of each peer
    /** @type {Query[]} */ this.queries = [];
    /** @type {Map<number, Update[]>} */ this.updates = new Map();
    this.phase = /** @type {any} */ (null);
    this.report = /** @type {any} */ (null);
    this.version++;
    this.topology++;
  }

  /** end is the time of the last event, in ms. */
  get end() {
    return this.log.length ? this.log[this.log.length - 1].t : 0;
  }

  /** add takes events in. A header replaces all before it. @param {any[]} events */
  add(events) {
    for (const e of events) {
      if (e.venn_view) {
        this.log = [];
        this.header = e;
        this.clear();
        continue;
      }
      this.log.push(e);
    }
    if (this.live) this.advance(Infinity);
  }

  /** seek puts the state to a time. @param {number} t ms; Infinity: follow the log */
  seek(t) {
    this.live = t === Infinity;
    if (t < this.now) this.clear();
    this.advance(t);
    if (t !== Infinity) this.now = t;
  }

  /** @param {number} t */
  advance(t) {
    const before = this.applied;
    while (this.applied < this.log.length && this.log[this.applied].t <= t) this.apply(this.log[this.applied++]);
    if (this.applied > before) this.version++;
  }

  /** @param {any} e */
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
        const l = e.links.map((/** @type {any[]} */ [to, kind, share, rtt, sent, received]) => ({
          to,
          kind,
          share,
          rtt,
          sent,
          received,
        }));
        const old = this.links[e.n];
        if (
          !old ||
          old.length !== l.length ||
          l.some((/** @type {Link} */ x, /** @type {number} */ i) => x.to !== old[i].to || x.kind !== old[i].kind)
        )
          this.topology++;
        this.links[e.n] = l;
        (this.linkHistory[e.n] ??= []).push(e);
        break;
      }
      case "held":
        this.applyHeld(e);
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

  /** @param {any} e */
  applyHeld(e) {
    const row = (this.rows[e.n] ??= new Row());
    row.change(e.held, (of, by) => {
      this.known[of] = (this.known[of] ?? 0) + by;
    });
  }

  /**
   * at is the level of what a peer holds of another: 0: nothing, else 1 + bits × levels.
   * @param {number} n
   * @param {number} of
   */
  at(n, of) {
    return this.rows[n]?.level(of) ?? 0;
  }

  /** watched are the peers that have a status. */
  get watched() {
    return this.peers.filter((p) => p.self);
  }

  /** groups are the names of the groups, or of the lines' classes where there are no groups. */
  get groups() {
    const by = (/** @type {(p: Peer) => string|undefined} */ f) =>
      [...new Set(this.peers.map((p) => f(p) || ""))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    return by((p) => p.group).length > 1 ? by((p) => p.group) : by((p) => p.class);
  }

  /** group is the group of a peer, as in groups. @param {Peer} p */
  group(p) {
    return this.grouped() ? p.group || "" : p.class || "";
  }

  grouped() {
    if (this.groupedFor !== this.topology) {
      this.groupedFor = this.topology;
      this.isGrouped = new Set(this.peers.map((p) => p.group || "")).size > 1;
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
  constructor() {
    this.of = new Uint32Array(0);
    this.levels = new Uint8Array(0);
    this.bytes = new Uint32Array(0);
  }

  /**
   * change takes cells in: of, parts, bytes, bits.
   * @param {[number, number, number, number][]} cells
   * @param {(of: number, by: number) => void} count takes whose summary is held now, or no longer
   */
  change(cells, count) {
    const now = new Map();
    this.of.forEach((of, i) => now.set(of, [this.levels[i], this.bytes[i]]));
    for (const [of, parts, bytes, bits] of cells) {
      if (parts && !now.has(of)) count(of, 1);
      if (!parts && now.has(of)) count(of, -1);
      if (parts) now.set(of, [Math.min(255, 1 + Math.round(Math.max(0, bits) * levels)), bytes]);
      else now.delete(of);
    }
    const order = Uint32Array.from(now.keys()).sort();
    this.of = order;
    this.levels = new Uint8Array(order.length);
    this.bytes = new Uint32Array(order.length);
    order.forEach((of, i) => {
      [this.levels[i], this.bytes[i]] = now.get(of);
    });
  }

  /** find is the place of a peer; -1: nothing of it is held. @param {number} of */
  find(of) {
    let low = 0,
      high = this.of.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.of[mid] < of) low = mid + 1;
      else high = mid;
    }
    return this.of[low] === of ? low : -1;
  }

  /** @param {number} of */
  level(of) {
    const i = this.find(of);
    return i < 0 ? 0 : this.levels[i];
  }
}
