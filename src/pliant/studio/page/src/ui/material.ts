/** A body's material: a preset, then sliders in real units, or plain softness and strength. */

import { type App, edit } from "../app";
import { button, h } from "../dom";
import { quantity, read, si } from "../numbers";
import type { Json, Table } from "../protocol";
import { choose, field, row } from "./fields";

const SLIDERS: { key: string; label: string; unit: string; low: number; high: number; log: boolean }[] = [
  { key: "young", label: "stiffness (E)", unit: "Pa", low: 3, high: 11, log: true },
  { key: "poisson", label: "Poisson's ratio", unit: "", low: 0, high: 0.49, log: false },
  { key: "density", label: "density kg/m³", unit: "", low: 50, high: 8000, log: false },
];
const MORE = ["damping", "yield", "strength"];
const SOFTEST = 3; // powers of ten of Young's modulus [Pa]
const HARDEST = 10;
const WEAKEST = 2; // and of the strength [Pa]
const STRONGEST = 9;

/** Young's modulus [Pa] for a softness of 0 (hard) to 100 (very soft), and back. */
export const youngOf = (softness: number): number => 10 ** (HARDEST - ((HARDEST - SOFTEST) * softness) / 100);
export const softnessOf = (young: number): number => (100 * (HARDEST - Math.log10(young))) / (HARDEST - SOFTEST);
/** Strength [Pa] for 0 (breaks at a touch) to 99; 100 never breaks, which is no strength at all. */
export const strengthOf = (share: number): number | null => (share >= 100 ? null : 10 ** (WEAKEST + ((STRONGEST - WEAKEST) * share) / 100));
export const shareOf = (strength: number | null): number => (strength === null ? 100 : (100 * (Math.log10(strength) - WEAKEST)) / (STRONGEST - WEAKEST));

const round = (value: number): number => Number(value.toPrecision(3));

export function material(app: App, body: Table, number: number): HTMLElement {
  const { catalogue, plain } = app.store.state;
  const value = (body["material"] as Json | undefined) ?? "rubber";
  const own: Table = typeof value === "object" && value ? (value as Table) : { preset: value };
  const preset = typeof own["preset"] === "string" ? own["preset"] : "";
  const info = catalogue!.materials[preset];
  const known = info?.values ?? {};
  const put = (next: Table): void => edit(app, ["bodies", number, "material"], next);
  const chooser = choose(preset, Object.keys(catalogue!.materials), "material", (name) => put({ preset: name }), !preset);
  if (!preset) chooser.options[0]!.text = "own values";
  const way = (on: boolean, text: string, hint: string): HTMLElement => button({ text, hint, kind: "small", pressed: plain === on, id: `${on ? "plain" : "units"}-${number}`, click: () => app.store.set({ plain: on }) });
  return h(
    "div",
    { class: "material" },
    row("material", chooser, info?.note),
    h("div", { class: "segments two", role: "group", "aria-label": "how to say it" }, way(true, "plain", "Softness and strength in plain words"), way(false, "real units", "Young's modulus and others in real units")),
    ...(plain ? plainSliders(own, known, put) : unitSliders(own, known, put)),
  );
}

function slider(label: string, now: number, low: number, high: number, step: number, tell: (at: number) => string, done: (at: number) => void): HTMLElement {
  const words = h("span", { class: "faint words" }, tell(now));
  const input = h("input", { type: "range", min: String(low), max: String(high), step: String(step), "aria-label": label });
  input.value = String(now);
  const say = (): void => {
    words.textContent = tell(Number(input.value));
    input.setAttribute("aria-valuetext", words.textContent);
  };
  say();
  input.addEventListener("input", say);
  input.addEventListener("change", () => done(Number(input.value)));
  return h("div", { class: "slider plain" }, h("label", {}, label), input, words);
}

function plainSliders(own: Table, known: Record<string, number>, put: (next: Table) => void): HTMLElement[] {
  const young = si(own["young"], known["young"] ?? 1e6);
  const strong = own["strength"] ?? known["strength"];
  const without = Object.fromEntries(Object.entries(own).filter(([key]) => key !== "strength"));
  return [
    slider("softness", Math.min(Math.max(softnessOf(young), 0), 100), 0, 100, 1, (at) => feel(youngOf(at)), (at) => put({ ...own, young: round(youngOf(at)) })),
    slider("strength", Math.min(Math.max(shareOf(strong === undefined ? null : si(strong)), 0), 100), 0, 100, 1, (at) => toughness(strengthOf(at)), (at) => {
      const next = strengthOf(at);
      put(next === null ? without : { ...own, strength: round(next) });
    }),
  ];
}

function unitSliders(own: Table, known: Record<string, number>, put: (next: Table) => void): (HTMLElement | null)[] {
  const sliders = SLIDERS.map(({ key, label, unit, low, high, log }) => {
    const now = si(own[key], known[key] ?? NaN);
    const readout = h("input", { type: "text", class: "readout", "aria-label": label });
    readout.value = quantity(now, unit);
    const input = h("input", { type: "range", min: String(low), max: String(high), step: log ? "0.02" : String((high - low) / 200), "aria-label": `${label} slider` });
    input.value = String(log ? Math.log10(now) : now);
    const at = (): number => round(log ? 10 ** Number(input.value) : Number(input.value));
    input.addEventListener("input", () => (readout.value = quantity(at(), unit)));
    input.addEventListener("change", () => put({ ...own, [key]: at() }));
    readout.addEventListener("change", () => put({ ...own, [key]: read(readout.value.replace("µ", "u")) }));
    return h("div", { class: "slider" }, h("label", {}, label), input, readout);
  });
  const more = MORE.map((key) => field({ name: key, kind: "number", unit: key === "damping" ? "" : "Pa", default: known[key] ?? null, keyed: false }, own, { bodies: [], time: 0, change: (name, next) => put({ ...own, [name]: next }) }));
  return [h("div", { class: "faint estimate" }, feel(si(own["young"], known["young"] ?? NaN))), ...sliders, h("details", {}, h("summary", {}, "damping, yield, strength"), ...more)];
}

/** Young's modulus in plain words. */
export function feel(young: number): string {
  const words: [number, string][] = [[5e3, "like jelly"], [1e5, "like gummy or flesh"], [2e6, "soft rubber"], [2e7, "firm rubber"], [1e9, "plastic"], [3e10, "like wood or glass"]];
  if (!Number.isFinite(young)) return "";
  return words.find(([most]) => young < most)?.[1] ?? "like metal";
}

/** A strength in plain words. */
export function toughness(strength: number | null): string {
  if (strength === null) return "never breaks";
  const words: [number, string][] = [[3e3, "crumbles at a touch"], [1e5, "tears by hand"], [3e6, "tears with effort"], [3e7, "breaks when hit"]];
  return words.find(([most]) => strength < most)?.[1] ?? "hardly breaks";
}
