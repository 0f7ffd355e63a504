/** What the parts of the page share: the store, the server, the viewer, and a few deeds. */

import type { Json, SelectionTool, Table, Vec3 } from "./protocol";
import type { Store } from "./store";
import { sizedKeys, youngOfBody } from "./sizing";
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
  else {
    app.store.set({ activeAction: scene.actions.length, activeKey: null });
    edit(app, ["actions", scene.actions.length], table);
  }
}

/** Keys of a new action of a type that move the body visibly. */
export function sized(app: App, type: string, name: string | undefined): Table {
  const { scene, table, catalogue } = app.store.state;
  const body = scene?.bodies.find((each) => each.name === name) ?? scene?.bodies[0];
  const own = table.bodies.find((each, number) => (each["name"] ?? (number ? `body-${number + 1}` : "body")) === body?.name);
  const held = table.actions.some((action) => catalogue?.actions[String(action["type"])]?.holds);
  const young = youngOfBody(own, catalogue?.materials ?? {}, catalogue?.body.material ?? "");
  return sizedKeys(type, body, young, "xyz".indexOf(table.up ?? "z"), held);
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

export interface Deed extends SelectionTool {
  action: string;
}

/** What can be done with the selected particles of a body, with the actions that are installed. */
export function deedsFor(app: App, body: string): Deed[] {
  const { scene, catalogue } = app.store.state;
  const info = scene?.bodies.find((each) => each.name === body);
  const all = Object.entries(catalogue?.actions ?? {}).flatMap(([action, { tools }]) => tools.map((tool) => ({ ...tool, action })));
  return all.filter((deed) => (deed.target === "nearest" ? (scene?.bodies.length ?? 0) > 1 : !deed.needs || Boolean(info?.can.includes(deed.action))));
}

/** The body whose particles are nearest to the selection, and a reach a little farther than they are away. */
function nearestBody(app: App): Table | null {
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
  return best.name ? { to: best.name, reach: Number(Math.max(1.5 * best.distance, 1.2 * own.spacing).toPrecision(3)) } : null;
}

/** The keys of a deed whose table has them, sized for the body. */
function sizedFor(app: App, deed: Deed, body: string): Table {
  const keys = sized(app, deed.action, body);
  return Object.fromEntries(Object.entries(keys).filter(([key]) => key in deed.table));
}

export function actOnSelection(app: App, name: string): void {
  const { selection } = app.store.state;
  const deed = selection && deedsFor(app, selection.body).find((each) => each.name === name);
  if (!deed) return;
  const target: Table = deed.target === "body" ? { body: selection.body } : { select: selectTable(app, selection.body, selection.ids) };
  const other = deed.target === "nearest" ? nearestBody(app) : {};
  if (other) addAction(app, { type: deed.action, ...target, ...deed.table, ...sizedFor(app, deed, selection.body), ...other });
}

/** Ends what holds the selected particles: removes scene actions, or ends them from now on. */
export function freeSelection(app: App): number {
  const { selection, table, live, catalogue } = app.store.state;
  if (!selection) return 0;
  const holds = (action: Table): boolean => {
    const select = action["select"] as Table | undefined;
    if (!catalogue?.actions[String(action["type"])]?.holds || !select) return false;
    if (select["body"] !== undefined && select["body"] !== selection.body) return false;
    const ids = select["group"] ? app.store.state.scene?.bodies.find((body) => body.name === selection.body)?.groups[String(select["group"])] : select["ids"];
    return !Array.isArray(ids) || ids.some((id) => selection.ids.has(Number(id)));
  };
  const scene = table.actions.map((action, number) => ({ action, number })).filter(({ action }) => holds(action));
  if (underWay(app)) {
    const taken = [...live.entries()].filter(([, action]) => holds(action.table)).map(([number]) => number);
    for (const number of [...scene.map((each) => each.number), ...taken]) app.say({ do: "end", id: number });
    return scene.length + taken.length;
  }
  for (const { number } of scene.reverse()) edit(app, ["actions", number], null);
  return scene.length;
}
