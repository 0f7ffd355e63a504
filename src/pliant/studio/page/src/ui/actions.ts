/** The list of actions: what the world does to bodies; edited, timed, keyed, removed. */

import { addAction, type App, edit, selectTable, sized, underWay } from "../app";
import { keysOf } from "../curve";
import { button, fill, h } from "../dom";
import { short } from "../numbers";
import type { Json, Table } from "../protocol";
import { choose, field } from "./fields";

export function actionsPanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "actions" });
  app.store.on(["table", "catalogue", "live", "activeAction", "status"], (state, before) => {
    if (state !== before && state.status !== before.status && state.table === before.table && state.live === before.live && state.activeAction === before.activeAction && state.status.built === before.status.built) return;
    draw(app, panel);
  });
  let seen = app.store.state.selection; // what was selected when the open action's particles were last shown
  app.store.on(["activeAction", "targets", "table"], (state, before) => {
    if (state.activeAction === null) return;
    if (state.activeAction !== before.activeAction) seen = state.selection;
    const [now, then] = [state.targets[state.activeAction]?.[0], before.targets[state.activeAction]?.[0]];
    const opened = state.activeAction !== before.activeAction || (state.table.actions.length > before.table.actions.length && state.activeAction === state.table.actions.length - 1);
    if (opened) panel.querySelector(".card.open")?.scrollIntoView({ block: "nearest" });
    const selects = state.table.actions[state.activeAction]?.["select"] !== undefined;
    const changed = state.activeAction !== before.activeAction || now?.body !== then?.body || now?.ids.join() !== then?.ids.join();
    if (now && selects && !underWay(app) && changed && state.selection === seen) {
      seen = { body: now.body, ids: new Set(now.ids) };
      app.store.set({ selection: seen });
    }
  });
  app.store.on(["frame"], (state, before) => {
    const moved = state.frame?.frame !== before.frame?.frame;
    if (moved && state.activeAction !== null && !state.status.playing && !panel.contains(document.activeElement)) draw(app, panel);
  });
  return panel;
}

/** A first version of each action, so that it is valid at once. */
function starter(app: App, type: string): Table {
  const { selection, table, scene } = app.store.state;
  const body = scene?.bodies[0];
  const select: Table = selection
    ? selectTable(app, selection.body, selection.ids)
    : { ...(table.bodies[0]?.["name"] ? { body: table.bodies[0]["name"] } : {}), plane: { axis: table.up ?? "z", at: type === "fix" ? "min" : "max" } };
  const size = body ? Math.max(...body.high.map((high, c) => high - body.low[c]!)) : 0.1;
  const top = body ? body.high.map((high, c) => (high + body.low[c]!) / 2) : [0, 0, 0];
  const up = "xyz".indexOf(table.up ?? "z");
  if (body) top[up] = body.high[up]! + 0.3 * size;
  const round = (value: number): number => Number(value.toPrecision(3));
  const names = table.actions.map((action) => action["name"]);
  let name = type;
  for (let number = 2; names.includes(name); number++) name = `${type}-${number}`;
  const ball = { name, sphere: { radius: round(0.2 * size) }, position: top.map(round) };
  const starters: Record<string, Table> = {
    fix: { select }, force: { select, value: [0, 0, 1] }, moment: { select, value: 0.1 }, move: { select, velocity: [0, 0, 0.1] },
    rotate: { select, speed: 1 }, sine: { select, amplitude: round(0.05 * size), frequency: 2 }, impulse: { select, value: [0, 0, 0.01] },
    pull: { select, target: top.map(round), stiffness: 10 }, pressure: { value: 100 }, damping: { rate: 2 },
    tabletop: { height: round((body?.low[up] ?? 0) - 0.2 * size), size: [round(2 * size), round(2 * size)] },
    obstacle: ball, tool: ball, ground: { level: round(Math.min(body?.low[up] ?? 0, 0)) },
  };
  return { type, ...(starters[type] ?? {}), ...sized(app, type, selection?.body) };
}

function draw(app: App, panel: HTMLElement): void {
  const { table, catalogue, live, activeAction } = app.store.state;
  if (!catalogue) return;
  const add = choose("", Object.keys(catalogue.actions), "Add an action", (type) => addAction(app, starter(app, type)), true);
  add.classList.add("adder");
  add.id = "add-action";
  add.options[0]!.text = "+ action";
  const taken = [...live.entries()];
  fill(
    panel,
    h("h2", {}, "Actions", add),
    ...table.actions.map((action, number) => card(app, action, number, number === activeAction)),
    taken.length ? h("h3", {}, "In this take") : null,
    ...taken.map(([number, action]) => liveCard(app, action.table, number)),
  );
}

/** An action with its short form `keys = ...` written out under the input that it stands for. */
export function flatAction(app: App, action: Table): Table {
  const main = app.store.state.catalogue?.actions[String(action["type"])]?.main;
  const { keys, ease, ...others } = action;
  return main && keys ? { ...others, [main]: { keys, ...(ease ? { ease } : {}) } } : action;
}

/** Changes one input of an action of the scene. */
export function putAction(app: App, number: number, key: string, value: Json | null): void {
  const flat = flatAction(app, app.store.state.table.actions[number]!);
  const kept = Object.entries(flat).filter(([name]) => name !== key);
  edit(app, ["actions", number], Object.fromEntries(value === null ? kept : [...kept, [key, value]]));
}

function card(app: App, action: Table, number: number, open: boolean): HTMLElement {
  const { catalogue, table } = app.store.state;
  const type = String(action["type"]);
  const info = catalogue!.actions[type];
  const toggle = (): void => app.store.set({ activeAction: open ? null : number, activeKey: null });
  const flat = flatAction(app, action);
  const change = (key: string, value: Json | null): void => putAction(app, number, key, value);
  const now = (): number => app.store.state.frame?.time ?? 0;
  const context = { bodies: table.bodies.map((body) => String(body["name"])), change, keys: true, get time() { return now(); } };
  const remove = (): void => {
    if (underWay(app)) app.say({ do: "end", id: number });
    else edit(app, ["actions", number], null);
    app.store.set({ activeAction: null });
  };
  return h(
    "article",
    { class: `card action ${open ? "open" : ""}`, "data-type": type },
    h("header", {}, h("button", { class: "title", type: "button", "aria-expanded": String(open), onclick: toggle }, h("b", {}, String(action["name"] ?? type)), h("span", { class: "faint" }, summary(action))), button({ icon: "remove", hint: `Remove ${type}`, kind: "ghost small", click: remove })),
    open ? h("div", {}, info ? h("p", { class: "faint" }, info.about) : null, selectLine(app, flat, change), ...(info?.keys ?? []).map((key) => field(key, flat, context))) : null,
  );
}

function liveCard(app: App, action: Table, number: number): HTMLElement {
  return h("article", { class: "card action", "data-type": String(action["type"]) }, h("header", {}, h("b", {}, String(action["type"])), h("span", { class: "faint" }, summary(action)), button({ icon: "remove", hint: "End it now", kind: "ghost small", click: () => app.say({ do: "end", id: number }) })));
}

/** Which particles an action is about, and the way to take over the selection. */
function selectLine(app: App, action: Table, change: (key: string, value: Json | null) => void): HTMLElement | null {
  const select = action["select"] as Table | undefined;
  if (!select) return null;
  const { selection } = app.store.state;
  return h("div", { class: "field" }, h("label", {}, "particles"), h("div", { class: "control wrapping" }, h("span", { class: "faint" }, describe(select)),
    selection && !chosen(select, selection) ? button({ text: "use selection", hint: "Use the selected particles", kind: "small", click: () => change("select", selectTable(app, selection.body, selection.ids)) }) : null,
    groupChoice(app, select, change)));
}

/** Whether an action has the selected particles already. */
function chosen(select: Table, selection: { body: string; ids: Set<number> }): boolean {
  const ids = select["ids"];
  return select["body"] === selection.body && Array.isArray(ids) && ids.length === selection.ids.size && ids.every((id) => selection.ids.has(Number(id)));
}

/** The named groups of the action's body, to choose from. */
function groupChoice(app: App, select: Table, change: (key: string, value: Json | null) => void): HTMLElement | null {
  const bodies = (app.store.state.scene?.bodies ?? []).filter((body) => !select["body"] || body.name === select["body"]);
  const names = bodies.flatMap((body) => Object.keys(body.groups).map((name) => ({ body: body.name, name })));
  if (!names.length) return null;
  const chosen = choose(typeof select["group"] === "string" ? select["group"] : "", names.map((each) => each.name), "group", (name) => change("select", { body: names.find((each) => each.name === name)!.body, group: name }), !select["group"]);
  if (!select["group"]) chosen.options[0]!.text = "group …";
  return chosen;
}

/** A selection in few words. */
export function describe(select: Table): string {
  const body = select["body"] ? `${String(select["body"])}: ` : "";
  if (Array.isArray(select["ids"])) return `${body}${select["ids"].length} chosen`;
  const plane = select["plane"] as Table | undefined;
  if (plane) return `${body}${String(plane["axis"])} = ${String(plane["at"])}`;
  if (select["all"]) return `${body}all`;
  if (typeof select["group"] === "string") return `${body}group ${select["group"]}`;
  const kind = ["box", "sphere", "nearest"].find((each) => select[each] !== undefined);
  return `${body}${kind ?? ""}`;
}

/** An action in few words. */
export function summary(action: Table): string {
  const parts: string[] = [];
  if (action["select"]) parts.push(describe(action["select"] as Table));
  for (const key of ["acceleration", "value", "rate", "level", "speed", "velocity", "frequency"]) {
    const value = action[key];
    if (typeof value === "number") parts.push(`${key} ${short(value)}`);
    else if (typeof value === "string") parts.push(`${key} ${value}`);
  }
  if (action["keys"] || Object.values(action).some((value) => keysOf(value).length)) parts.push("keyed");
  if (action["from"] || action["until"]) parts.push(`${short(Number(action["from"] ?? 0))}–${action["until"] ? short(Number(action["until"])) : "end"} s`);
  return parts.join(" · ");
}
