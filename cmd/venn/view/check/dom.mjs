// As much of a browser's document as the page's classes need to be made and drawn under node.

class FakeNode {
  constructor(tag = "") {
    this.tag = tag;
    this.children = [];
    this.attributes = new Map();
    this.listeners = new Map();
    this.style = { setProperty() {} };
    this.dataset = {};
    this.hidden = false;
    this.text = "";
    this.value = "";
    this.clientWidth = 600;
    this.clientHeight = 300;
  }
  get textContent() { return this.text + this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join(""); }
  set textContent(t) { this.children = []; this.text = t; }
  get firstChild() { return this.children[0]; }
  get parentNode() { return this; }
  set innerHTML(html) { this.html = html; this.children = [new FakeNode("svg")]; }
  append(...all) { this.children.push(...all); }
  replaceChildren(...all) { this.text = ""; this.children = all; }
  setAttribute(k, v) { this.attributes.set(k, v); if (k === "value") this.value = v; if (k === "width" || k === "height") this[k] = v; }
  removeAttribute(k) { this.attributes.delete(k); }
  addEventListener(k, f) { this.listeners.set(k, f); }
  querySelector() { return null; }
  getBoundingClientRect() { return { left: 0, top: 0, width: 100, height: 100 }; }
  getContext(kind) {
    if (kind !== "2d") return null;
    return { createImageData: (w, h) => ({ data: new Uint8ClampedArray(4 * w * h) }), putImageData() {}, fillRect() {} };
  }
  click() { this.listeners.get("click")?.({ preventDefault() {} }); }
  /** all returns the elements of a tag within. */
  all(tag) { return this.children.flatMap((c) => (c instanceof FakeNode ? [...(c.tag === tag ? [c] : []), ...c.all(tag)] : [])); }
}

globalThis.Node = FakeNode;
globalThis.document = { createElement: (tag) => new FakeNode(tag), documentElement: new FakeNode("html"), body: new FakeNode("body") };
globalThis.window = globalThis;
globalThis.innerWidth = globalThis.innerHeight = 1000;
globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#123456" });
globalThis.ResizeObserver = class { observe() {} disconnect() {} };
globalThis.uPlot = class {
  constructor(_options, data) { this.setData(data); }
  setData(data) { this.data = data; }
  destroy() {}
};

export const element = () => new FakeNode("div");
