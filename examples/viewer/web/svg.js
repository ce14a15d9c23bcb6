// Helpers to draw with SVG. All text goes in as textContent.

// el returns an SVG element.
export function el(name, attributes = {}, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

// ticks returns about n round numbers from low to high. If no round number is there, it returns low and, if n has room
// for two, high.
export function ticks(low, high, n) {
  if ([low, high].every(Number.isFinite) && high - low === Infinity) return ticks(low / 4, high / 4, n).map((x) => x * 4);
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const ends = n < 2 ? [low] : [low, high];
  const raw = Math.max(span / Math.max(n, 1), Math.max(-low, high) * 2 ** -52); // i below must count exactly
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  if (!(last >= first && last - first <= 2 * Math.max(n, 1))) return ends; // or step is no number, for tiny spans
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

// portion returns the portion of the range from low to high that is below v. The difference of finite numbers may
// be infinite.
export function portion(v, low, high) {
  if (!Number.isFinite(high - low)) [v, low, high] = [v / 2, low / 2, high / 2];
  return (v - low) / (high - low || 1);
}

// integerTicks is ticks without fractions.
export const integerTicks = (low, high, n) => [...new Set(ticks(low, high, n).map(Math.round))].filter((x) => x >= low && x <= high);

// logTicks returns powers of ten from low to high, and the numbers 2 and 5 between them if there are few.
export function logTicks(low, high) {
  const list = [];
  const decades = Math.log10(high / low);
  const every = Math.ceil(decades / 8);
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += every) {
    for (const k of decades < 3 ? [1, 2, 5] : [1]) list.push(k * 10 ** e);
  }
  const inside = list.filter((x) => x >= low * 0.999 && x <= high * 1.001);
  return inside.length > 1 ? inside : [low, high];
}

// label returns a number as short text, with the digits that tell it apart from numbers at a distance of step.
export function label(x, step = Infinity) {
  if (x === 0) return "0";
  const a = Math.abs(x);
  const digits = step > 0 && step < a ? Math.min(17, Math.floor(Math.log10(a)) - Math.floor(Math.log10(step) + 1e-9) + 1) : 1;
  if (a >= 1e6 || a < 1e-4) return x.toExponential(Math.max(3, digits - 1)).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(+x.toPrecision(Math.max(6, digits)));
}

// labels returns the labels of ticks.
export const labels = (list) => list.map((t, i) => label(t, Math.min(t - (list[i - 1] ?? -Infinity), (list[i + 1] ?? Infinity) - t)));

// endLabels returns the labels of the ends of a range.
export const endLabels = (low, high) => [low, high].map((x) => label(x, (high - low) / 10));

// textWidth returns the pixels of the longest label of a list, about.
export const textWidth = (list) => 6.5 * Math.max(0, ...list.map((t) => t.length));

// count returns a whole number with narrow spaces between thousands.
export const count = (n) => n.toLocaleString("en-US").replace(/,/g, "\u202f");

// bytes returns a number of bytes.
export function bytes(n) {
  if (n < 1024) return `${n} bytes`;
  const e = Math.min(Math.floor(Math.log2(n) / 10), 5);
  return `${(n / 1024 ** e).toFixed(1)} ${"KMGTP"[e - 1]}iB`;
}
