/** What the parts of the page share: the store, the server, the viewer, and a few deeds. */

import type { Json, Table, Vec3 } from "./protocol";
import type { Store } from "./store";
import type { Viewer } from "./viewer/viewer";

export interface App {
  store: Store;
  viewer: Viewer;
  say: (message: Record<string, unknown>) => void;
  token: string;
}

/** Changes one place of the scene document. */
export function edit(app: App, path: (string | number)[], value: Json | null): void {
  app.say({ do: "edit", path, value });
}

/** Whether the simulation has moved on from its first frame, so that changes are live ones. */
export function underWay(app: App): boolean {
  const { status } = app.store.state;
  return status.built && (status.playing || status.frame > 0);
}

/** Makes particles of the bodies that were just changed, unless a simulation is under way. */
export function startBuilding(app: App): void {
  if (!underWay(app)) app.say({ do: "build", open_end: app.store.state.openEnd });
}

/** Adds an action: to the scene, or to the take while a simulation is under way. */
export function addAction(app: App, table: Table): void {
  const { catalogue, table: scene } = app.store.state;
  const live = underWay(app) && catalogue?.actions[String(table["type"])]?.live;
  if (live) app.say({ do: "add", table });
  else edit(app, ["actions", scene.actions.length], table);
}

/** A body of the same kind as another, that sticks to it from the start where asked. */
export function addBodyLike(app: App, like: string, shape: Table, position: Vec3, stick: boolean): void {
  const { table, scene } = app.store.state;
  const model = table.bodies.find((body) => body["name"] === like);
  const spacing = scene?.bodies.find((body) => body.name === like)?.spacing;
  if (!model || !spacing) return;
  let number = 1;
  while (table.bodies.some((body) => body["name"] === `${like}-lump-${number}`)) number++;
  const name = `${like}-lump-${number}`;
  const kept = Object.fromEntries(["model", "material"].filter((key) => key in model).map((key) => [key, model[key]!]));
  edit(app, ["bodies", table.bodies.length], { ...kept, name, shape, position, edge: Number(spacing.toPrecision(6)) });
  if (stick) edit(app, ["actions", table.actions.length], { type: "fuse", bodies: [like, name], reach: Number((2.5 * spacing).toPrecision(4)) });
  startBuilding(app);
}

/** Runs or pauses; builds first where that is needed. */
export function toggleRun(app: App): void {
  const { status, built, version, openEnd } = app.store.state;
  app.store.set({ replaying: false, following: true });
  if (status.playing) app.say({ do: "pause" });
  else {
    if (!status.built || (built !== version && status.frame === 0)) app.say({ do: "build", open_end: openEnd });
    app.say({ do: "play" });
  }
}

/** A selection as scenes write it: a group of that very content, or the particles' numbers. */
export function selectTable(app: App, body: string, ids: Set<number>): Table {
  const groups = app.store.state.scene?.bodies.find((each) => each.name === body)?.groups ?? {};
  const fits = Object.entries(groups).find(([, members]) => members.length === ids.size && members.every((id) => ids.has(id)));
  return fits && !app.store.state.frame?.topology ? { body, group: fits[0] } : { body, ids: [...ids].sort((a, b) => a - b) };
}

export interface Deed {
  name: string;
  kind: "hold" | "shape";
  icon: string;
  hint: string;
  needs?: string; // an ability of the body's model
  table: (select: Table, app: App) => Table | null;
}

/** What can be done with the selected particles. */
export const DEEDS: Deed[] = [
  { name: "Fix", kind: "hold", icon: "pin", hint: "Hold them where they are (H)", table: (select) => ({ type: "fix", select }) },
  { name: "Force", kind: "hold", icon: "pull", hint: "Pull them with a steady force", table: (select) => ({ type: "force", select, value: [0, 0, 1] }) },
  { name: "Kick", kind: "hold", icon: "play", hint: "Give them an impulse now", table: (select) => ({ type: "impulse", select, value: [0, 0, 0.01] }) },
  { name: "Move", kind: "hold", icon: "orbit", hint: "Move them at a velocity", table: (select) => ({ type: "move", select, velocity: [0, 0, 0.1] }) },
  { name: "Keep shape", kind: "shape", icon: "body", needs: "renormalise", hint: "Renormalise: the present shape becomes the rest shape", table: (select) => ({ type: "renormalise", select }) },
  { name: "Stiffen", kind: "shape", icon: "stiff", needs: "attributes", hint: "Make their connections twice as stiff", table: (select) => ({ type: "attributes", select, stiffness: 2 }) },
  { name: "Soften", kind: "shape", icon: "soft", needs: "attributes", hint: "Make their connections half as stiff", table: (select) => ({ type: "attributes", select, stiffness: 0.5 }) },
  { name: "Remove", kind: "shape", icon: "remove", needs: "remove", hint: "Take this material away", table: (select) => ({ type: "remove", select }) },
  { name: "Remove body", kind: "shape", icon: "remove", hint: "Take the whole body away", table: (select) => ({ type: "remove", body: select["body"]! }) },
  { name: "Glue", kind: "shape", icon: "glue", hint: "Glue them to the nearest other body", table: glueTable },
];

/** What the model of a body can take, with the actions that are installed. */
export function deedsFor(app: App, body: string): Deed[] {
  const { scene, catalogue } = app.store.state;
  const info = scene?.bodies.find((each) => each.name === body);
  return DEEDS.filter((deed) => {
    if (deed.name === "Glue") return Boolean(catalogue?.actions["glue"]) && (scene?.bodies.length ?? 0) > 1;
    return !deed.needs || Boolean(info?.can.includes(deed.needs));
  });
}

/** Glue to the body whose particles are nearest to the selection, reaching a little farther than they are away. */
function glueTable(select: Table, app: App): Table | null {
  const { selection } = app.store.state;
  const own = selection && app.viewer.body(selection.body);
  if (!own) return null;
  let best = { name: "", distance: Infinity };
  for (const body of app.viewer.bodies) {
    if (body === own) continue;
    for (const id of selection.ids)
      for (let k = 0; k < body.particles.length; k += 3) {
        const distance = Math.hypot(body.particles[k]! - own.particles[3 * id]!, body.particles[k + 1]! - own.particles[3 * id + 1]!, body.particles[k + 2]! - own.particles[3 * id + 2]!);
        if (distance < best.distance) best = { name: body.name, distance };
      }
  }
  return best.name ? { type: "glue", select, to: best.name, reach: Number(Math.max(1.5 * best.distance, 1.2 * own.spacing).toPrecision(3)) } : null;
}

export function actOnSelection(app: App, name: string): void {
  const { selection } = app.store.state;
  const deed = DEEDS.find((each) => each.name === name);
  const table = selection && deed?.table(selectTable(app, selection.body, selection.ids), app);
  if (table) addAction(app, table);
}

/** Ends what holds the selected particles: removes scene actions, or ends them from now on. */
export function freeSelection(app: App): number {
  const { selection, table, live } = app.store.state;
  if (!selection) return 0;
  const holds = (action: Table): boolean => {
    const select = action["select"] as Table | undefined;
    if (action["type"] !== "fix" || !select) return false;
    if (select["body"] !== undefined && select["body"] !== selection.body) return false;
    const ids = select["group"] ? app.store.state.scene?.bodies.find((body) => body.name === selection.body)?.groups[String(select["group"])] : select["ids"];
    return !Array.isArray(ids) || ids.some((id) => selection.ids.has(Number(id)));
  };
  const scene = table.actions.map((action, number) => ({ action, number })).filter(({ action }) => holds(action));
  if (underWay(app)) {
    const taken = [...live.entries()].filter(([, action]) => holds(action)).map(([number]) => number);
    for (const number of [...scene.map((each) => each.number), ...taken]) app.say({ do: "end", id: number });
    return scene.length + taken.length;
  }
  for (const { number } of scene.reverse()) edit(app, ["actions", number], null);
  return scene.length;
}
