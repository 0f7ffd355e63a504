/** What the parts of the page share: the store, the server, the viewer, and a few deeds. */

import type { Json, Table } from "./protocol";
import type { Store } from "./store";
import { selectTable } from "./viewer/hands";
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

/** Adds an action: to the scene, or to the take while a simulation is under way. */
export function addAction(app: App, table: Table): void {
  const { catalogue, table: scene } = app.store.state;
  const live = underWay(app) && catalogue?.actions[String(table["type"])]?.live;
  if (live) app.say({ do: "add", table });
  else edit(app, ["actions", scene.actions.length], table);
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

/** What can be done with the selected particles. */
export const DEEDS: { name: string; icon: string; hint: string; table: (select: Table) => Table }[] = [
  { name: "Fix", icon: "pin", hint: "Hold them where they are", table: (select) => ({ type: "fix", select }) },
  { name: "Force", icon: "pull", hint: "Pull them with a steady force", table: (select) => ({ type: "force", select, value: [0, 0, 1] }) },
  { name: "Kick", icon: "play", hint: "Give them an impulse now", table: (select) => ({ type: "impulse", select, value: [0, 0, 0.01] }) },
  { name: "Move", icon: "orbit", hint: "Move them at a velocity", table: (select) => ({ type: "move", select, velocity: [0, 0, 0.1] }) },
];

export function actOnSelection(app: App, name: string): void {
  const { selection } = app.store.state;
  const deed = DEEDS.find((each) => each.name === name);
  if (selection && deed) addAction(app, deed.table(selectTable(selection.body, selection.ids)));
}

/** Ends what holds the selected particles: removes scene actions, or ends them from now on. */
export function freeSelection(app: App): number {
  const { selection, table, live } = app.store.state;
  if (!selection) return 0;
  const holds = (action: Table): boolean => {
    const select = action["select"] as Table | undefined;
    if (action["type"] !== "fix" || !select) return false;
    if (select["body"] !== undefined && select["body"] !== selection.body) return false;
    const ids = select["ids"];
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
