/** Mesh files: sent, looked over, and made bodies that stand upright beside the others. */

import { type App, edit, startBuilding } from "../app";
import { button, fill, h } from "../dom";
import { count, quantity, volume } from "../numbers";
import type { BodyInfo, Health, Table, Vec3 } from "../protocol";
import { dialog } from "./dialogs";
import { choose, row } from "./fields";
import { groundLevel } from "../viewer/obstacles";
import { notify } from "./notices";

type Axis = "x" | "y" | "z";
const UNITS: Record<string, number> = { m: 1, cm: 1e-2, mm: 1e-3, inch: 0.0254 };
const DIRECTIONS: Record<Axis, Vec3> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const TALL = [".obj", ".glb", ".gltf", ".off", ".ply"]; // files whose up is y by habit

/** Asks for a mesh file of this computer. */
export function chooseFile(app: App): void {
  const input = h("input", { type: "file", onchange: () => { if (input.files?.[0]) void upload(app, input.files[0]); } });
  input.click();
}

/** Asks what a mesh of the workspace is like. */
export function lookOver(app: App, name: string): void {
  app.store.set({ progress: { share: null, text: `looking over ${name}` } });
  app.say({ do: "look-over", name });
}

/** Sends a mesh file and shows what it is like. */
export async function upload(app: App, file: File): Promise<void> {
  app.store.set({ progress: { share: null, text: `reading ${file.name}` } });
  try {
    const answer = await fetch(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file, headers: { "X-Pliant-Token": app.token } });
    const found = (await answer.json().catch(() => ({ message: "The server did not answer." }))) as { name?: string; health?: Health; message?: string; hint?: string };
    if (answer.ok && found.name && found.health) healthDialog(app, found.name, found.health);
    else notify("error", found.message ?? "The file could not be read.", found.hint ?? null);
  } catch {
    notify("error", "The file could not be sent.", "Is the studio still running?");
  } finally {
    app.store.set({ progress: null });
  }
}

/** The corners of a box that is scaled by `scale` and turned from the file's up to the scene's. */
export function turned(low: number[], high: number[], fileUp: Axis, up: Axis, scale: number): { low: Vec3; high: Vec3; turn: Table | null } {
  const scaled = [low, high].map((corner) => corner.map((part) => part * scale) as Vec3);
  if (fileUp === up) return { low: scaled[0]!, high: scaled[1]!, turn: null };
  const [a, b] = [DIRECTIONS[fileUp], DIRECTIONS[up]];
  const axis: Vec3 = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const around = (v: Vec3): Vec3 => {
    const along = axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2];
    return [axis[1] * v[2] - axis[2] * v[1] + along * axis[0], axis[2] * v[0] - axis[0] * v[2] + along * axis[1], axis[0] * v[1] - axis[1] * v[0] + along * axis[2]];
  };
  const [p, q] = scaled.map(around) as [Vec3, Vec3];
  return { low: p.map((part, c) => Math.min(part, q[c]!)) as Vec3, high: p.map((part, c) => Math.max(part, q[c]!)) as Vec3, turn: { axis, degrees: 90 } };
}

/** Where a body with these corners goes: on the level of the ground, beside the bodies that are there. */
export function beside(low: Vec3, high: Vec3, up: Axis, level: number, others: Pick<BodyInfo, "high">[]): Vec3 {
  const side = up === "x" ? 1 : 0;
  const gap = 0.1 * (high[side]! - low[side]!);
  const start = others.length ? Math.max(...others.map((body) => body.high[side]!)) + gap : -(high[side]! - low[side]!) / 2;
  return low.map((part, c) => {
    const wanted = c === "xyz".indexOf(up) ? level : c === side ? start : -(high[c]! - part) / 2;
    return Number((wanted - part).toPrecision(4));
  }) as Vec3;
}

/** Whether a mesh can be used, in a sentence. */
function verdict(health: Health): HTMLElement[] {
  if (health.unfillable) return [h("p", { class: "bad", id: "unfillable" }, h("b", {}, "This mesh cannot be filled: "), health.unfillable), h("p", { class: "faint" }, "A body needs a surface that encloses a volume. Close or thicken the model in the program that made it, then upload it again.")];
  if (health.problems.length) return [h("p", { class: "warn" }, "It can be used; these were found and are repaired while filling:")];
  return [h("p", { class: "good" }, "Healthy: closed, and nothing to repair.")];
}

/** What a mesh is like, which way is up and how large it is, and the way to make it a body. */
export function healthDialog(app: App, name: string, health: Health): void {
  const fact = (label: string, value: string): HTMLElement => h("div", { class: "fact" }, h("span", { class: "faint" }, label), h("span", {}, value));
  const { table } = app.store.state;
  const up = table.up ?? "z";
  let fileUp: Axis = TALL.some((suffix) => name.toLowerCase().endsWith(suffix)) ? "y" : "z";
  let unit = "m";
  const size = h("div", { class: "fact" });
  const place = (): ReturnType<typeof turned> => turned(health.box_min, health.box_max, fileUp, up, UNITS[unit]!);
  const tell = (): void => {
    const { low, high } = place();
    fill(size, h("span", { class: "faint" }, "Size"), h("span", {}, high.map((part, c) => quantity(part - low[c]!, "m")).join(" × ")));
  };
  tell();
  const add = button({ text: "Add as a body", hint: "Add the mesh to the scene", id: "add-body", kind: "primary", click: () => {
    const { low, high, turn } = place();
    const level = groundLevel(app.store.state.scenery, "xyz".indexOf(up)) ?? 0;
    const position = beside(low, high, up, level, table.bodies.length ? (app.store.state.scene?.bodies ?? []) : []);
    addMesh(app, name, { ...(UNITS[unit] === 1 ? {} : { scale: UNITS[unit]! }), ...(turn ? { rotation: turn } : {}), position });
    close();
  } });
  const body = h("div", { class: "health" },
    ...verdict(health),
    health.problems.length ? h("ul", {}, ...health.problems.map((text) => h("li", {}, text))) : null,
    fact("Vertices", count(health.vertices)),
    health.triangles !== undefined ? fact("Triangles", count(health.triangles)) : fact("Tets", count(health.tets ?? 0)),
    health.volume ? fact("Volume", volume(health.volume)) : null,
    health.components ? fact("Parts", count(health.components)) : null,
    size,
    row("its unit is", choose(unit, Object.keys(UNITS), "unit of the file", (next) => { unit = next; tell(); }), "What one unit of the file stands for"),
    row("its up is", choose(fileUp, ["x", "y", "z"], "up in the file", (next) => { fileUp = next as Axis; tell(); }), "Which axis of the file points up"),
    h("footer", {}, add));
  const close = dialog(`Mesh: ${name}`, "health-dialog", body);
  add.disabled = Boolean(health.unfillable);
  if (!health.unfillable) add.focus();
}

/** A new body of a mesh of the workspace, built at once. */
function addMesh(app: App, name: string, place: Table): void {
  const bodies = app.store.state.table.bodies;
  const stem = name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z]+/, "") || "body";
  let body = stem;
  for (let number = 2; bodies.some((each) => each["name"] === body); number++) body = `${stem}-${number}`;
  app.store.set({ activeBody: bodies.length });
  edit(app, ["bodies", bodies.length], { name: body, mesh: name, ...app.store.state.catalogue?.body, ...place });
  startBuilding(app);
}
