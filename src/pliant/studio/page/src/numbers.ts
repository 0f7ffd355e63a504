/** Numbers for people: four digits, prefixes, units. */

const PREFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
];

/** Four significant digits, without trailing zeros. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/** A quantity with a prefix where its unit takes one: 3 MPa, 20 mm. */
export function quantity(value: number, unit: string): string {
  if (!["Pa", "N", "m", "J", "W", "s"].includes(unit) || value === 0 || !Number.isFinite(value))
    return unit ? `${short(value)} ${unit}` : short(value);
  const size = Math.abs(value) * (1 + 1e-12);
  const [factor, prefix] = PREFIXES.find(([least]) => size >= least) ?? [1e-6, "µ"];
  return `${short(value / factor)} ${prefix}${unit}`;
}

/** A volume [m³] in the unit that suits it. */
export function volume(value: number): string {
  const units: [number, number, string][] = [[0.1, 1, "m³"], [1e-3, 1e-3, "l"], [1e-7, 1e-6, "cm³"], [0, 1e-9, "mm³"]];
  const [, factor, unit] = units.find(([least]) => Math.abs(value) >= least)!;
  return `${short(value / factor)} ${unit}`;
}

/** Labels for the ticks of an axis that are `step` apart, and the power of ten that they leave out. */
export function tickLabels(ticks: number[], step: number): { labels: string[]; power: number } {
  const largest = Math.max(...ticks.map(Math.abs), step);
  const order = Math.floor(Math.log10(largest) + 1e-9);
  const power = order >= 4 || order < -2 ? 3 * Math.floor(order / 3) : 0;
  const digits = Math.max(0, Math.min(6, power - Math.floor(Math.log10(step) + 1e-9)));
  return { labels: ticks.map((tick) => (tick / 10 ** power).toFixed(digits)), power };
}

/** A whole number with thin spaces. */
export function count(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** What a text field holds as a scene file says it: a number, or a text with a unit. */
export function read(text: string): number | string | null {
  const trimmed = text.trim();
  if (!trimmed) return null;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : trimmed;
}

/** A number from a scene value; units such as "6 mm" are understood where they are plain. */
export function si(value: unknown, fallback = NaN): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return fallback;
  const match = /^\s*([-+\d.eE]+)\s*([a-zA-Zµ%]*)/.exec(value);
  if (!match) return fallback;
  const scale: Record<string, number> = {
    "": 1, m: 1, cm: 1e-2, mm: 1e-3, km: 1e3, Pa: 1, kPa: 1e3, MPa: 1e6, GPa: 1e9, s: 1, ms: 1e-3, N: 1, kN: 1e3,
    kg: 1, g: 1e-3, Hz: 1, "%": 1e-2,
  };
  return Number(match[1]) * (scale[match[2] ?? ""] ?? NaN);
}

/** The p-th percentile (0 to 100) of finite values; NaN for none. */
export function percentile(values: ArrayLike<number>, p: number): number {
  const finite = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!finite.length) return NaN;
  const place = (p / 100) * (finite.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, finite.length - 1);
  return finite[low]! + (place - low) * (finite[high]! - finite[low]!);
}
