/** The list of bodies: shape or mesh, model, material, edge length, with an estimate of the cost. */

import { type App, edit } from "../app";
import { button, fill, h } from "../dom";
import { count, quantity, read, short, si } from "../numbers";
import type { Json, Table } from "../protocol";
import { choose, field } from "./fields";

const SLIDERS: { key: string; label: string; unit: string; low: number; high: number; log: boolean }[] = [
  { key: "young", label: "stiffness (E)", unit: "Pa", low: 3, high: 11, log: true },
  { key: "poisson", label: "Poisson's ratio", unit: "", low: 0, high: 0.49, log: false },
  { key: "density", label: "density kg/m³", unit: "", low: 50, high: 8000, log: false },
];
const MORE = ["damping", "yield", "strength"];

export function bodiesPanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "bodies" });
  app.store.on(["table", "catalogue", "scene"], () => draw(app, panel));
  return panel;
}

function draw(app: App, panel: HTMLElement): void {
  const { table, catalogue } = app.store.state;
  if (!catalogue) return;
  const shapes = Object.keys(catalogue.shapes);
  const add = choose("", shapes, "Add a shape", (shape) => addShape(app, shape), true);
  add.classList.add("adder");
  add.options[0]!.text = "+ shape";
  fill(
    panel,
    h("h2", {}, "Bodies", add),
    table.bodies.length ? null : h("p", { class: "faint" }, "Open an example, drop a mesh file here, or add a shape."),
    ...table.bodies.map((body, number) => bodyCard(app, body, number)),
  );
}

const SIZES: Record<string, Table> = {
  box: { size: [0.4, 0.1, 0.1] }, "beam-with-hole": { size: [0.4, 0.05, 0.1] }, mattress: { size: [0.4, 0.3, 0.05] }, support: { size: [0.2, 0.1, 0.2] },
  cylinder: { radius: 0.05, height: 0.2 }, prism: { radius: 0.05, height: 0.2 }, sphere: { radius: 0.1 }, icosphere: { radius: 0.1 }, torus: { major: 0.1, minor: 0.03 }, gummy: { height: 0.1 },
};

function addShape(app: App, shape: string): void {
  const bodies = app.store.state.table.bodies;
  let name = shape.replace(/[^a-z]/g, "");
  for (let number = 2; bodies.some((body) => body["name"] === name); number++) name = `${shape}-${number}`;
  edit(app, ["bodies", bodies.length], { name, shape: { [shape]: SIZES[shape] ?? {} }, model: "mass-spring", material: "rubber", position: [0, 0, 0.1] });
}

function bodyCard(app: App, body: Table, number: number): HTMLElement {
  const { catalogue, scene } = app.store.state;
  const put = (key: string) => (value: Json | null) => edit(app, ["bodies", number, key], value);
  const name = String(body["name"] ?? "body");
  const info = scene?.bodies.find((each) => each.name === name);
  const model = body["model"] as Json | undefined;
  const kind = typeof model === "string" ? model : String((model as Table | undefined)?.["type"] ?? "mass-spring");
  const modelTable: Table = typeof model === "object" && model ? (model as Table) : { type: kind };
  const modelKeys = catalogue!.models[kind]?.keys ?? [];
  const edge = h("input", { type: "text", "aria-label": "edge length", id: `edge-${number}`, placeholder: "automatic" });
  edge.value = body["edge"] === undefined ? "" : String(body["edge"]);
  const estimate = h("div", { class: "faint estimate" });
  const tellCost = (): void => {
    const wanted = si(read(edge.value), info?.spacing ?? NaN);
    if (!info || !Number.isFinite(wanted)) fill(estimate, info ? built(info.particles, info.cells) : "");
    else {
      const ratio = (info.spacing / wanted) ** 3;
      const same = Math.abs(ratio - 1) < 0.02 || !edge.value || edge.value === String(body["edge"]);
      fill(estimate, same ? built(info.particles, info.cells) : `about ${count(info.particles * ratio)} particles, ${short(ratio * (info.spacing / wanted))}× the work`);
    }
  };
  edge.addEventListener("input", tellCost);
  edge.addEventListener("change", () => put("edge")(read(edge.value)));
  tellCost();
  const source = body["mesh"] ? String(body["mesh"]) : Object.keys((body["shape"] as Table | undefined) ?? { "?": 0 })[0]!;
  const context = { bodies: [], time: 0, change: (key: string, value: Json | null) => put("model")({ ...modelTable, [key]: value }) };
  return h(
    "article",
    { class: "card" },
    h("header", {}, h("b", {}, name), h("span", { class: "faint" }, source), button({ icon: "remove", hint: `Remove ${name}`, kind: "ghost small", click: () => edit(app, ["bodies", number], null) })),
    row("model", choose(kind, Object.keys(catalogue!.models), "model", (next) => put("model")(next)), catalogue!.models[kind]?.about),
    modelKeys.length ? h("details", {}, h("summary", {}, "model options"), ...modelKeys.map((key) => field(key, modelTable, context))) : null,
    row("edge length", edge, "Target distance between neighbours; empty: automatic"),
    estimate,
    material(app, body, number),
    shapeFields(app, body, number),
  );
}

const built = (particles: number, cells: number): string => `${count(particles)} particles, ${count(cells)} cells`;

function row(label: string, control: HTMLElement, hint = ""): HTMLElement {
  return h("div", { class: "field", title: hint }, h("label", {}, label), h("div", { class: "control" }, control));
}

/** Where it is and how large. */
function shapeFields(app: App, body: Table, number: number): HTMLElement {
  const shape = body["shape"] as Table | undefined;
  const kind = shape ? Object.keys(shape)[0] : undefined;
  const inner = kind ? (shape![kind] as Table) : {};
  const keys = kind ? (app.store.state.catalogue!.shapes[kind]?.keys ?? []) : [];
  const put = (key: string, value: Json | null): void => edit(app, ["bodies", number, "shape"], { [kind!]: { ...inner, [key]: value } });
  const place = (name: string, unit: string) =>
    field({ name, kind: "vector", unit, default: [0, 0, 0], keyed: false }, body, { bodies: [], time: 0, change: (key, value) => edit(app, ["bodies", number, key], value) });
  const scale = field({ name: "scale", kind: "number", unit: "", default: 1, keyed: false }, body, { bodies: [], time: 0, change: (key, value) => edit(app, ["bodies", number, key], value) });
  return h("details", {}, h("summary", {}, "shape and place"), ...keys.map((key) => field(key, inner, { bodies: [], time: 0, change: put })), place("position", "m"), place("velocity", "m/s"), scale);
}

/** A preset, and sliders in real units for what differs from it. */
function material(app: App, body: Table, number: number): HTMLElement {
  const catalogue = app.store.state.catalogue!;
  const value = (body["material"] as Json | undefined) ?? "rubber";
  const own: Table = typeof value === "object" && value ? (value as Table) : { preset: value };
  const preset = typeof own["preset"] === "string" ? own["preset"] : "";
  const known = catalogue.materials[preset]?.values ?? {};
  const put = (next: Table): void => edit(app, ["bodies", number, "material"], next);
  const sliders = SLIDERS.map(({ key, label, unit, low, high, log }) => {
    const now = si(own[key], known[key] ?? NaN);
    const readout = h("input", { type: "text", class: "readout", "aria-label": label });
    readout.value = quantity(now, unit);
    const slider = h("input", { type: "range", min: String(low), max: String(high), step: log ? "0.02" : String((high - low) / 200), "aria-label": `${label} slider` });
    slider.value = String(log ? Math.log10(now) : now);
    const at = (): number => Number((log ? 10 ** Number(slider.value) : Number(slider.value)).toPrecision(3));
    slider.addEventListener("input", () => (readout.value = quantity(at(), unit)));
    slider.addEventListener("change", () => put({ ...own, [key]: at() }));
    readout.addEventListener("change", () => put({ ...own, [key]: read(readout.value.replace("µ", "u")) }));
    return h("div", { class: "slider" }, h("label", {}, label), slider, readout);
  });
  const more = MORE.map((key) => field({ name: key, kind: "number", unit: key === "damping" ? "" : "Pa", default: known[key] ?? null, keyed: false }, own, { bodies: [], time: 0, change: (name, next) => put({ ...own, [name]: next }) }));
  const chooser = choose(preset, Object.keys(catalogue.materials), "material", (name) => put({ preset: name }), !preset);
  if (!preset) chooser.options[0]!.text = "own values";
  return h("div", { class: "material" }, row("material", chooser, catalogue.materials[preset]?.note), h("div", { class: "faint estimate" }, feel(si(own["young"], known["young"] ?? NaN))), ...sliders, h("details", {}, h("summary", {}, "damping, yield, strength"), ...more));
}

/** Young's modulus in plain words. */
export function feel(young: number): string {
  const words: [number, string][] = [[5e3, "very soft, like jelly"], [1e5, "soft, like gummy or flesh"], [2e6, "soft rubber"], [2e7, "firm rubber"], [1e9, "plastic"], [3e10, "hard, like wood or glass"]];
  if (!Number.isFinite(young)) return "";
  return words.find(([most]) => young < most)?.[1] ?? "very hard, like metal";
}
