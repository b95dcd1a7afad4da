// Values as text: numbers, dates, durations, counts.
const DAY = 86400;

export function short(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  if (Math.abs(value) >= 1000 && Math.abs(value) < 1e9) return Math.round(value).toLocaleString("en");
  return Math.abs(value) >= 1e9 || Math.abs(value) < 1e-3 ? value.toExponential(2) : value.toPrecision(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

export function counted(n, one, many = `${one}s`) {
  return `${short(n)} ${n === 1 ? one : many}`;
}

export function leavesText(n) {
  return counted(n, "leaf", "leaves");
}

// Seconds since 1970 as a date, with the time of day where the column has any.
export function dateText(seconds, wholeDays) {
  if (!Number.isFinite(seconds) || Math.abs(seconds) > 8.6e12) return "–";
  const text = new Date(seconds * 1000).toISOString();
  return wholeDays ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

export function durationText(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const size = Math.abs(seconds);
  if (size >= 2 * DAY) return `${short(seconds / DAY)} days`;
  if (size >= 7200) return `${short(seconds / 3600)} h`;
  if (size >= 120) return `${short(seconds / 60)} min`;
  return `${short(seconds)} s`;
}

// A value of a column on a scale.
export function valueText(column, value, digits = 3) {
  if (column.kind === "time") return dateText(value, column.wholeDays);
  if (column.kind === "duration") return durationText(value);
  return short(value, digits);
}

export function categoryText(column, code) {
  return column.categories[code] || "(empty)";
}
