/** The list of bodies: shape or mesh, model, material, edge length, with an estimate of the cost. */

import { type App, edit, startBuilding } from "../app";
import { button, fill, h } from "../dom";
import { count, read, short, si } from "../numbers";
import type { BodyInfo, Estimate, Json, Pace, Table } from "../protocol";
import { PALETTE } from "../viewer/body";
import { choose, field, row } from "./fields";
import { groupList } from "./groups";
import { material } from "./material";
import { chooseFile, lookOver } from "./mesh";

export function bodiesPanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "bodies" });
  app.store.on(["table", "catalogue", "scene", "estimates", "pace", "plain", "activeBody", "files"], () => {
    if (!panel.contains(document.activeElement) || document.activeElement?.tagName !== "INPUT") draw(app, panel);
    else panel.addEventListener("focusout", () => draw(app, panel), { once: true });
  });
  return panel;
}

function draw(app: App, panel: HTMLElement): void {
  const { table, catalogue } = app.store.state;
  if (!catalogue) return;
  const meshes = app.store.state.files.meshes.map((name) => `mesh ${name}`);
  const add = choose("", [...Object.keys(catalogue.shapes), ...meshes, FILE], "Add a body", (what) => {
    if (what === FILE) chooseFile(app);
    else if (what.startsWith("mesh ")) lookOver(app, what.slice(5));
    else addShape(app, what);
    add.value = "";
  }, true);
  add.classList.add("adder");
  add.id = "add-body-menu";
  add.options[0]!.text = "+ body";
  fill(
    panel,
    h("h2", {}, "Bodies", add),
    table.bodies.length ? null : h("p", { class: "faint" }, "Open an example, drop a mesh file here, or add a shape."),
    ...table.bodies.map((body, number) => bodyCard(app, body, number)),
  );
}

const FILE = "a mesh file …";
const SIZES: Record<string, Table> = {
  box: { size: [0.4, 0.1, 0.1] }, "beam-with-hole": { size: [0.4, 0.05, 0.1] }, mattress: { size: [0.4, 0.3, 0.05] }, support: { size: [0.2, 0.1, 0.2] },
  cylinder: { radius: 0.05, height: 0.2 }, prism: { radius: 0.05, height: 0.2 }, sphere: { radius: 0.1 }, icosphere: { radius: 0.1 }, torus: { major: 0.1, minor: 0.03 }, gummy: { height: 0.1 },
};

/** A new body of a shape, a little above the ground and beside the others. */
function addShape(app: App, shape: string): void {
  const { table, scene } = app.store.state;
  let name = shape.replace(/[^a-z]/g, "");
  for (let number = 2; table.bodies.some((body) => body["name"] === name); number++) name = `${shape}-${number}`;
  const up = "xyz".indexOf(table.up ?? "z");
  const place = [0, 0, 0];
  place[up] = 0.1;
  const others = table.bodies.length ? (scene?.bodies ?? []) : [];
  if (others.length) place[up === 0 ? 1 : 0] = Number((Math.max(...others.map((body) => body.high[up === 0 ? 1 : 0])) + 0.15).toPrecision(3));
  app.store.set({ activeBody: table.bodies.length });
  edit(app, ["bodies", table.bodies.length], { name, shape: { [shape]: SIZES[shape] ?? {} }, ...app.store.state.catalogue?.body, position: place });
  startBuilding(app);
}

function bodyCard(app: App, body: Table, number: number): HTMLElement {
  const { catalogue, scene, activeBody } = app.store.state;
  const open = activeBody === number;
  const put = (key: string) => (value: Json | null) => edit(app, ["bodies", number, key], value);
  const name = String(body["name"] ?? "body");
  const info = scene?.bodies.find((each) => each.name === name);
  const model = body["model"] as Json | undefined;
  const kind = typeof model === "string" ? model : String((model as Table | undefined)?.["type"] ?? catalogue!.body.model);
  const modelTable: Table = typeof model === "object" && model ? (model as Table) : { type: kind };
  const modelKeys = catalogue!.models[kind]?.keys ?? [];
  const edge = h("input", { type: "text", "aria-label": "edge length", id: `edge-${number}`, placeholder: "automatic" });
  edge.value = body["edge"] === undefined ? "" : String(body["edge"]);
  const estimate = h("div", { class: "faint estimate" });
  const { estimates, table, built, version } = app.store.state;
  const guess = estimates.find((each) => each.name === name);
  const known = built === version || app.store.state.status.frame > 0 ? app.store.state.pace : null;
  const tellCost = (): void => fill(estimate, ...costTexts(edge.value === "" ? NaN : si(read(edge.value)), info, guess, known, table.bodies.length === 1).map((text) => h("span", {}, text)));
  edge.addEventListener("input", tellCost);
  edge.addEventListener("change", () => put("edge")(read(edge.value)));
  tellCost();
  const source = body["mesh"] ? String(body["mesh"]) : Object.keys((body["shape"] as Table | undefined) ?? { "?": 0 })[0]!;
  const context = { bodies: [], time: 0, change: (key: string, value: Json | null) => put("model")({ ...modelTable, [key]: value }) };
  const dot = h("span", { class: "swatch" });
  dot.style.background = `#${PALETTE[number % PALETTE.length]!.toString(16)}`;
  const toggle = h("button", { class: "title", type: "button", "aria-expanded": String(open), onclick: () => app.store.set({ activeBody: open ? null : number }) }, h("b", {}, dot, name), h("span", { class: "faint" }, open ? source : `${source} · ${kind}`));
  const header = h("header", {}, toggle, button({ icon: "remove", hint: `Remove ${name}`, kind: "ghost small", click: () => edit(app, ["bodies", number], null) }));
  if (!open) return h("article", { class: "card body" }, header);
  return h(
    "article",
    { class: "card body open" },
    header,
    row("model", choose(kind, Object.keys(catalogue!.models), "model", (next) => put("model")(next)), catalogue!.models[kind]?.about),
    modelKeys.length ? h("details", {}, h("summary", {}, "model options"), ...modelKeys.map((key) => field(key, modelTable, context))) : null,
    row("edge length m", edge, "Target distance between neighbouring particles in metres (or write 6 mm); empty: automatic"),
    estimate,
    material(app, body, number),
    shapeFields(app, body, number),
    appearance(app, name),
    groupList(app, body, number),
  );
}

/**
 * Particles and pace of the scene: as built and measured, or about what the edge length that is typed (NaN: none) will
 * come to. The pace of another edge is told where the body is the only one: particles grow with its third power, and so
 * do explicit steps with the first.
 */
export function costTexts(edge: number, info: BodyInfo | undefined, guess: Estimate | undefined, pace: Pace | null, alone: boolean): string[] {
  if (!guess) return info ? [`${count(info.particles)} particles`] : [];
  const ratio = Number.isFinite(edge) ? guess.edge / edge : 1;
  const same = info && Math.abs(ratio - 1) < 0.005;
  const particles = same ? `${count(info.particles)} particles` : `about ${count(Number((guess.particles * ratio ** 3).toPrecision(2)))} particles`;
  if (!pace || !(same || alone)) return [particles];
  return [particles, paceWords(same ? pace.ratio : pace.ratio * ratio ** (pace.explicit ? 4 : 3))];
}

/** Computing time over simulated time in words. */
export function paceWords(ratio: number): string {
  const times = (value: number): string => `${short(Number(value.toPrecision(value < 10 ? 2 : 1)))}×`;
  if (ratio > 0.8 && ratio < 1.25) return "about real time";
  return ratio < 1 ? `${times(1 / ratio)} faster than real time` : `${times(ratio)} slower than real time`;
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
  return row("appears at s", input, "Seconds after the start; empty: it is there from the start");
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
