// A chart over time, by uPlot.

import { css, h, seconds } from "./dom.js";
import { escape } from "./export.js";

export class Plot {
  /** @param {string} title @param {(v: number) => string} show writes a value @param {number} [height] */
  constructor(title, show, height = 230) {
    this.title = title;
    this.show = show;
    this.height = height;
    this.element = h("div", { class: "chart" });
    /** @type {any} */ this.u = null;
    this.x = /** @type {number[]} */ ([]);
    this.series = /** @type {any[]} */ ([]);
    this.watcher = new ResizeObserver(() => this.u?.setSize({ width: this.element.clientWidth, height: this.height }));
    this.watcher.observe(this.element);
  }

  /**
   * @param {number[]} x seconds
   * @param {{label: string, stroke: string, values: (number|null)[], dash?: number[]}[]} series
   */
  set(x, series) {
    this.x = x;
    this.series = series;
    const look = JSON.stringify([series.map((s) => [s.label, s.stroke]), document.documentElement.dataset.theme]);
    const data = [x, ...series.map((s) => s.values)];
    if (this.u && this.look === look) {
      this.u.setData(data);
      return;
    }
    this.look = look;
    this.u?.destroy();
    const axis = {
      stroke: css("--soft"),
      grid: { stroke: css("--line"), width: 1 },
      ticks: { stroke: css("--line"), width: 1 },
      font: "11px system-ui, DejaVu Sans, sans-serif",
    };
    const uPlot = /** @type {any} */ (window).uPlot;
    this.u = new uPlot(
      {
        width: Math.max(200, this.element.clientWidth),
        height: this.height,
        scales: {
          x: { time: false },
          y: {
            range: (/** @type {any} */ _u, /** @type {number} */ _min, /** @type {number} */ max) => [
              0,
              (max || 1) * 1.06,
            ],
          },
        },
        axes: [
          { ...axis, values: (/** @type {any} */ _u, /** @type {number[]} */ v) => v.map((t) => (t < 600 ? `${t} s` : seconds(1000 * t))) },
          { ...axis, size: 74, values: (/** @type {any} */ _u, /** @type {number[]} */ v) => v.map(this.show) },
        ],
        series: [
          {
            label: "at",
            value: (/** @type {any} */ _u, /** @type {number} */ v) =>
              v === null || v === undefined ? "–" : seconds(1000 * v),
          },
          ...series.map((s) => ({
            label: s.label,
            stroke: s.stroke,
            width: 2,
            dash: s.dash,
            points: { show: false },
            value: (/** @type {any} */ _u, /** @type {number} */ v) =>
              v === null || v === undefined ? "–" : this.show(v),
          })),
        ],
        cursor: { drag: { x: false, y: false } },
      },
      data,
      this.element,
    );
  }

  close() {
    this.watcher.disconnect();
    this.u?.destroy();
  }

  /**
   * drawing returns the chart as uPlot has drawn it, with its title and the names of its lines.
   * @returns {import("./export.js").Drawing}
   */
  drawing() {
    const width = this.u?.width ?? 200,
      ink = css("--ink"),
      soft = css("--soft");
    let body = `<text x="16" y="22" fill="${ink}" font-weight="600">${escape(this.title)}</text>`;
    if (this.u)
      body += `<image y="30" width="${width}" height="${this.height}" xlink:href="${this.u.ctx.canvas.toDataURL()}"/>`;
    let x = 16,
      y = this.height + 48;
    for (const s of this.series) {
      const room = 34 + 7 * s.label.length;
      if (x > 16 && x + room > width) [x, y] = [16, y + 18];
      body +=
        `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${s.stroke}"/>` +
        `<text x="${x + 14}" y="${y}" fill="${soft}">${escape(s.label)}</text>`;
      x += room;
    }
    return { width, height: y + 14, body };
  }

  /** rows are the chart's values, for CSV. */
  rows() {
    return [
      ["seconds", ...this.series.map((s) => s.label)],
      ...this.x.map((t, i) => [t, ...this.series.map((s) => s.values[i] ?? "")]),
    ];
  }
}
