/** The list of bodies: shape or mesh, model, material, edge length, with an estimate of the cost. */

import { type App, edit } from "../app";
import { button, fill, h } from "../dom";
import { count, read, short, si } from "../numbers";
import type { BodyInfo, Estimate, Json, Table } from "../protocol";
import { choose, field, row } from "./fields";
import { groupList } from "./groups";
import { material } from "./material";

export function bodiesPanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "bodies" });
  app.store.on(["table", "catalogue", "scene", "estimates", "plain"], () => {
    if (!panel.contains(document.activeElement) || document.activeElement?.tagName !== "INPUT") draw(app, panel);
    else panel.addEventListener("focusout", () => draw(app, panel), { once: true });
  });
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
  const guess = app.store.state.estimates.find((each) => each.name === name);
  const tellCost = (): void => fill(estimate, ...costTexts(edge.value === "" ? NaN : si(read(edge.value)), info, guess).map((text) => h("span", {}, text)));
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
    appearance(app, name),
    groupList(app, body, number),
  );
}

/** Particles and pace: as built, or about what the edge length that is typed (NaN: none) will come to. */
export function costTexts(edge: number, info: BodyInfo | undefined, guess: Estimate | undefined): string[] {
  if (!guess) return info ? [`${count(info.particles)} particles`] : [];
  const ratio = Number.isFinite(edge) ? guess.edge / edge : 1;
  const same = info && Math.abs(ratio - 1) < 0.005;
  const particles = same ? `${count(info.particles)} particles` : `about ${count(Number((guess.particles * ratio ** 3).toPrecision(2)))} particles`;
  return [particles, pace(guess.seconds * ratio ** 4)];
}

/** Seconds of computing per simulated second in words. */
function pace(seconds: number): string {
  if (seconds < 0.5) return "beats real time";
  return seconds < 2 ? "about real time" : `about ${short(Number(seconds.toPrecision(1)))}× slower`;
}

/** When a body comes into the scene, for material that is added while it runs. */
function appearance(app: App, name: string): HTMLElement | null {
  const { catalogue, table } = app.store.state;
  if (!catalogue?.actions["create"]) return null;
  const place = table.actions.findIndex((action) => action["type"] === "create" && action["body"] === name);
  const input = h("input", { type: "text", "aria-label": `${name} appears at`, placeholder: "from the start" });
  input.value = place < 0 ? "" : String(table.actions[place]!["at"] ?? 0);
  input.addEventListener("change", () => {
    const at = read(input.value);
    if (at !== null) edit(app, ["actions", place < 0 ? table.actions.length : place], { type: "create", body: name, at });
    else if (place >= 0) edit(app, ["actions", place], null);
  });
  return row("appears at", input, "Seconds after the start; empty: it is there from the start");
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
