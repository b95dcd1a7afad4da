// Small things about colors and text.
export function brightness(color) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

// As many characters as fit, with an ellipsis; nothing if even three do not.
export function fitText(measure, text, room) {
  if (!text || measure.measureText(text).width <= room) return text;
  // part of a number would be another number
  if (/^[\d,]+$/.test(text)) return "";
  let length = Math.floor((text.length * room) / measure.measureText(text).width);
  while (length > 1 && measure.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return length < 2 ? "" : `${text.slice(0, length)}…`;
}

export function clipText(text, most = 60) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

// Pixels that the longest leaf name needs (names of a large tree are not known beforehand).
export function labelSpace(facts) {
  if (!facts.hasNames) return facts.nLeaves <= 500 ? 34 : 0;
  if (!facts.names || facts.nLeaves > 2000) return 90;
  const longest = facts.names.reduce((most, name) => Math.max(most, Math.min(name.length, 60)), 0);
  return Math.min(Math.max(14 + 6.3 * longest, 34), 190);
}
