/** Open: examples, files of the workspace, a mesh from this computer with its health report. */

import type { App } from "../app";
import { button, fill, h } from "../dom";
import { count, quantity } from "../numbers";
import { dialog } from "./dialogs";
import { notify } from "./notices";

export function openDialog(app: App): void {
  const { examples, files, folder } = app.store.state;
  app.say({ do: "list" });
  const open = (kind: string, name: string): void => {
    app.store.set({ live: new Map(), selection: null, following: true, replaying: false, activeAction: null });
    app.say({ do: "open", kind, name });
    close();
  };
  const row = (kind: string, name: string, about: string): HTMLElement =>
    h("button", { class: "row", type: "button", "data-name": name, onclick: () => open(kind, name) }, h("b", {}, name), h("span", { class: "faint" }, about));
  const listed = (title: string, rows: HTMLElement[], empty: string): HTMLElement =>
    h("section", {}, h("h3", {}, title), rows.length ? h("div", { class: "rows" }, ...rows) : h("p", { class: "faint" }, empty));
  const input = h("input", { type: "file", id: "mesh-file", class: "hidden", onchange: () => { if (input.files?.[0]) { void upload(app, input.files[0]); close(); } } });
  const close = dialog(
    "Open",
    "open-dialog",
    h(
      "div",
      { class: "columns" },
      listed("Examples", examples.map(({ name, title }) => row("example", name, title)), ""),
      h(
        "div",
        {},
        h("section", {}, h("h3", {}, "A mesh from this computer"),
          h("p", { class: "faint" }, "OBJ, STL, PLY, GLB, OFF, MSH, VTU ... Drop a file anywhere in the window, or"),
          button({ text: "Choose a file", hint: "Choose a mesh file", click: () => input.click() }), input),
        listed(`Scenes in ${folder}`, files.scenes.map((name) => row("scene", name, "")), "No scenes here yet."),
        listed("Recorded runs", files.runs.map((name) => row("run", name, "")), "No runs here yet."),
        listed("Meshes", files.meshes.map((name) => h("button", { class: "row", type: "button", onclick: () => { addMesh(app, name); close(); } }, h("b", {}, name))), "No meshes here yet."),
        h("section", {}, button({ text: "Empty scene", hint: "Start with an empty scene", click: () => open("new", "") })),
      ),
    ),
    true,
  );
}

/** A new body of a mesh of the workspace. */
export function addMesh(app: App, name: string): void {
  const bodies = app.store.state.table.bodies;
  const stem = name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z]+/, "") || "body";
  let body = stem;
  for (let number = 2; bodies.some((each) => each["name"] === body); number++) body = `${stem}-${number}`;
  app.say({ do: "edit", path: ["bodies", bodies.length], value: { name: body, mesh: name, model: "mass-spring", material: "rubber" } });
}

/** Sends a mesh file and shows what it is like. */
export async function upload(app: App, file: File): Promise<void> {
  app.store.set({ progress: { share: null, text: `reading ${file.name}` } });
  try {
    const answer = await fetch(`upload?token=${encodeURIComponent(app.token)}&name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const found = (await answer.json().catch(() => ({ message: "The server did not answer." }))) as { name?: string; health?: Health; message?: string; hint?: string };
    if (answer.ok && found.name && found.health) healthDialog(app, found.name, found.health);
    else notify("error", found.message ?? "The file could not be read.", found.hint ?? null);
  } catch {
    notify("error", "The file could not be sent.", "Is the studio still running?");
  } finally {
    app.store.set({ progress: null });
  }
}

export interface Health {
  volume_mesh: boolean;
  vertices: number;
  triangles?: number;
  tets?: number;
  box_min: number[];
  box_max: number[];
  volume?: number | null;
  components?: number;
  closed?: boolean;
  problems: string[];
}

/** What a mesh is like, and the way to make it a body. */
function healthDialog(app: App, name: string, health: Health): void {
  const size = health.box_max.map((high, c) => quantity(high - health.box_min[c]!, "m")).join(" × ");
  const fact = (label: string, value: string): HTMLElement => h("div", { class: "fact" }, h("span", { class: "faint" }, label), h("span", {}, value));
  const body = h("div", { class: "health" });
  fill(
    body,
    h("p", { class: health.problems.length ? "warn" : "good" }, health.problems.length ? "It can be used; these were found and are repaired while filling:" : "Healthy: closed, and nothing to repair."),
    health.problems.length ? h("ul", {}, ...health.problems.map((text) => h("li", {}, text))) : null,
    fact("Size", size),
    fact("Vertices", count(health.vertices)),
    health.triangles !== undefined ? fact("Triangles", count(health.triangles)) : fact("Tets", count(health.tets ?? 0)),
    health.volume ? fact("Volume", `${(1e6 * health.volume).toPrecision(4)} cm³`) : null,
    health.components ? fact("Parts", count(health.components)) : null,
    h("footer", {}, button({ text: "Add as a body", hint: "Add the mesh to the scene", id: "add-body", kind: "primary", click: () => { addMesh(app, name); close(); } })),
  );
  const close = dialog(`Mesh: ${name}`, "health-dialog", body);
}
