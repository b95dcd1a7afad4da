// Small things about colours and text.
export function brightness(color) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

// As many characters as fit, with an ellipsis; nothing if even three do not.
export function fitText(measure, text, room) {
  if (!text || measure.measureText(text).width <= room) return text;
  if (/^[\d,]+$/.test(text)) return ""; // part of a number would be another number
  let length = Math.floor((text.length * room) / measure.measureText(text).width);
  while (length > 1 && measure.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return length < 2 ? "" : `${text.slice(0, length)}…`;
}

export function clipText(text) {
  return text.length > 60 ? `${text.slice(0, 58)}…` : text;
}
