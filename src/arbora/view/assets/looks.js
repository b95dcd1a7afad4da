// Theme, and what the views need to paint text and colors.
import { brightness, clipText, fitText } from "./text.js";
import { short } from "./format.js";

const FONT_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';
const LABEL_FONT = `11.5px ${FONT_FAMILY}`;

export class Looks {
  constructor(body, coloring, store, names) {
    this.body = body;
    this.coloring = coloring;
    this.store = store;
    this.names = names;
    this.measure = document.createElement("canvas").getContext("2d");
    this.measure.font = LABEL_FONT;
  }

  setTheme(theme) {
    this.theme = theme === "dark" ? "dark" : "light";
    this.body.dataset.theme = this.theme;
    this.coloring.setTheme(this.theme === "dark");
    const style = getComputedStyle(this.body);
    const color = (name) => style.getPropertyValue(name).trim();
    // text on a color painted over the background with this opacity
    const onColor = (index, alpha = 1) => {
      const below = this.theme === "dark" ? 0.08 : 1;
      const own = brightness(index < 0 ? color("--neutral") : this.coloring.css[index % this.coloring.css.length]);
      return alpha * own + (1 - alpha) * below < 0.5 ? color("--on-dark") : color("--on-light");
    };
    this.current = {
      css: this.coloring.css, background: color("--background"), surface: color("--surface"), neutral: color("--neutral"),
      text: color("--text"), border: color("--border"), accent: color("--accent"), line: 1.1, font: LABEL_FONT,
      fontOf: (size) => `${size}px ${FONT_FAMILY}`,
      name: (node) => this.names.of(node),
      title: (slot) => this.titleOf(slot),
      inner: (slot) => (this.store.size[slot] > 1 ? this.names.of(this.store.id[slot]) : ""),
      textOn: onColor,
      width: (text) => this.measure.measureText(text).width,
      fitted: (text, room) => fitText(this.measure, text, room),
    };
  }

  // A node whose children are not drawn: its name and how many leaves it holds.
  titleOf(slot) {
    const size = this.store.size[slot], name = this.names.of(this.store.id[slot]);
    if (size === 1) return name;
    return name ? `${clipText(name, 40)} (${short(size)})` : short(size);
  }

  refresh() {
    if (this.current) this.current.css = this.coloring.css;
    return this.current;
  }
}
