// A random run, for tests.

/** random returns a source of numbers from 0 to below n, the same for a seed. */
export function random(seed) {
  let x = seed;
  return (n) => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return Math.floor((x / 2 ** 32) * n);
  };
}

/** run makes the lines of a random run: peers that link, learn of each other, publish and ask. */
export function run(peers, lines, seed = 1) {
  const draw = random(seed), log = [], sequences = new Map(), held = Array.from({ length: peers }, () => new Set());
  for (let n = 0; n < peers; n++) {
    log.push({ type: "peer", t: n, n, name: `peer-${n}`, id: `id-${n}`, class: n % 2 ? "1mbit" : "10mbit", rate: n % 2 ? 1e6 : 1e7, self: true });
  }
  for (let t = peers; log.length < lines; t += draw(3)) {
    const n = draw(peers), of = draw(peers), sequence = sequences.get(n) ?? 0;
    switch (draw(8)) {
      case 0:
        log.push({ type: "status", t, n, keys: draw(1000), links: 3, origins: held[n].size, parts: 1, bytes: draw(1e6), false: 0, sent: t * 10, received: t * 20, announced: t, pubsub: t, direct: t, delta: t, epoch: sequence, line_out: 1e5, line_in: 1e5 });
        break;
      case 1:
        log.push({ type: "links", t, n, links: [of, (of + 1) % peers].filter((x) => x !== n).map((to) => [to, "near", draw(100) / 100, 5, t, t]) });
        break;
      case 2:
        if (held[n].has(of) && draw(2)) {
          held[n].delete(of);
          log.push({ type: "held", t, n, held: [[of, 0, 0, 0]] });
        } else {
          held[n].add(of);
          log.push({ type: "held", t, n, held: [[of, 1 + draw(9), draw(9999), draw(120) / 10]] });
        }
        break;
      case 3:
        sequences.set(n, sequence + 1);
        log.push({ type: "epoch", t, n, sequence: sequence + 1, keys: 10, parts: 1, bytes: 99 });
        break;
      case 4:
        log.push({ type: "tail", t, n, sequence, number: 1 + draw(5), added: 1, removed: 2 });
        break;
      case 5:
        log.push({ type: "learned", t, n, learned: [[of, sequences.get(of) ?? 0, t - draw(3)]] });
        break;
      case 6:
        log.push({ type: "query", t, n, key: `k${t}`, all: false, found: [of], end: "enough", ms: 5, probes: 1, false: 0, messages: 2, steps: [] });
        break;
      case 7:
        log.push({ type: "phase", t, phase: "asking", done: log.length, total: lines });
    }
  }
  log.push({ ...log.at(-1), type: "report", report: { queries: 1 } });
  return log;
}
