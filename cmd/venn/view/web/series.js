// Counters over time: what they grew by, however often they began from 0 again.

/** @typedef {{t: number}} At a time in ms */

/** Grid is a row of times, equally far apart, that values are given for: at the end of each step. */
export class Grid {
  /**
   * @param {number} from ms
   * @param {number} to ms
   * @param {number} grain ms between points, at least
   * @param {number} most points
   */
  constructor(from, to, grain, most) {
    this.from = from;
    this.step = Math.max(grain, Math.ceil((to - from) / most / 1000) * 1000);
    this.points = Math.max(1, Math.floor((to - from) / this.step));
  }

  /** seconds are the times of the points. */
  get seconds() {
    return Array.from({ length: this.points }, (_, k) => (this.from + (k + 1) * this.step) / 1000);
  }

  /**
   * rates are how fast a counter grew in each step, a second; null where that is not known. What it showed first only
   * begins the sum. A value below the one before says that it began from 0 again.
   * @template {At} T @param {T[]} history @param {(s: T) => number} f @returns {(number|null)[]}
   */
  rates(history, f) {
    let sum = 0;
    const grown = history.map((s, i) => {
      const v = f(s),
        last = history[i - 1],
        before = last ? f(last) : v;
      sum += v < before ? v : v - before;
      return { t: s.t, v: sum };
    });
    const at = this.values(grown, (g) => g.v);
    return at.map((v, k) => {
      const before = at[k - 1] ?? null;
      return v === null || before === null ? null : ((v - before) / this.step) * 1000;
    });
  }

  /**
   * values are a figure at the points, on the straight line between those before and after; null before the first.
   * @template {At} T @param {T[]} history @param {(s: T) => number} f @returns {(number|null)[]}
   */
  values(history, f) {
    let i = 0;
    return Array.from({ length: this.points }, (_, k) => {
      const t = this.from + (k + 1) * this.step;
      while ((history[i]?.t ?? Infinity) <= t) i++;
      const a = history[i - 1],
        b = history[i];
      if (!a) return null;
      return b ? f(a) + ((f(b) - f(a)) * (t - a.t)) / (b.t - a.t) : f(a);
    });
  }
}

/**
 * mean is the mean of rows of values, point by point, of those that are known.
 * @param {(number|null)[][]} rows
 * @param {number} points
 */
export function mean(rows, points) {
  return Array.from({ length: points }, (_, k) => {
    const known = rows.map((r) => r[k] ?? null).filter((v) => v !== null);
    return known.length ? known.reduce((s, v) => s + v, 0) / known.length : null;
  });
}
