/** What can be done with the selected particles: hold, push, shape, name as a group; and ways to select. */

import { actOnSelection, type App, deedsFor, edit, freeSelection, selectTable } from "../app";
import { button, fill, h } from "../dom";
import { count } from "../numbers";
import { choose } from "./fields";
import { notify } from "./notices";

export function selectionBar(app: App): HTMLElement {
  const bar = h("div", { class: "selection", id: "selection", role: "toolbar", "aria-label": "selection" });
  app.store.on(["selection", "scene", "status", "activeAction", "targets", "table"], (state, before) => {
    if (state !== before && state.selection === before.selection && state.activeAction === before.activeAction && state.targets === before.targets && state.table === before.table && state.scene === before.scene && state.status.built === before.status.built) return;
    const { selection } = state;
    bar.hidden = !selection;
    if (!selection) return;
    const deeds = deedsFor(app, selection.body);
    const line = (kind: string): HTMLElement[] =>
      deeds.filter((deed) => deed.group === kind).map((deed) => button({ icon: deed.icon, text: deed.name, hint: deed.hint, id: `do-${deed.name.toLowerCase().replace(/ /g, "-")}`, kind: "small", click: () => actOnSelection(app, deed.name) }));
    const shape = line("shape");
    fill(
      bar,
      h("div", { class: "deeds" },
        h("b", { class: "chosen" }, `${count(selection.ids.size)} of ${selection.body}`),
        button({ icon: "remove", hint: "Select nothing (Esc)", kind: "ghost small", click: () => app.store.set({ selection: null }) }),
        ...line("hold"),
        button({ text: "Free", hint: "End what holds them (U)", id: "do-free", kind: "small", click: () => { if (!freeSelection(app)) notify("info", "Nothing holds these particles."); } }),
        nameField(app),
        ...changeButtons(app)),
      shape.length ? h("div", { class: "deeds" }, h("span", { class: "faint" }, "shape"), ...shape) : null,
    );
  });
  return bar;
}

/** Inverts and grows the selection, and gives it to the action that is open. */
function changeButtons(app: App): (HTMLElement | null)[] {
  const { selection, activeAction, table, targets } = app.store.state;
  const body = selection && app.viewer.body(selection.body);
  if (!body) return [];
  const put = (ids: Set<number>): void => app.store.set({ selection: ids.size ? { body: body.name, ids } : null });
  const all = [...Array(body.particles.length / 3).keys()];
  const action = activeAction === null ? undefined : table.actions[activeAction];
  const own = activeAction === null ? undefined : targets[activeAction]?.[0];
  const same = own?.body === body.name && own.ids.length === selection.ids.size && own.ids.every((id) => selection.ids.has(id));
  return [
    button({ text: "Invert", hint: "Select the other particles of the body instead", id: "invert", kind: "small", click: () => put(new Set(all.filter((id) => !selection.ids.has(id)))) }),
    button({ text: "Grow", hint: "Select the neighbours too", id: "grow", kind: "small", click: () => put(body.grown(selection.ids)) }),
    action?.["select"] && !same ? button({ text: `Use for ${String(action["name"] ?? action["type"])}`, hint: "Let the open action act on these particles", id: "use-for-action", kind: "small primary", click: () => edit(app, ["actions", activeAction!, "select"], selectTable(app, body.name, selection.ids)) }) : null,
  ];
}

/** Names the selection as a group of its body. */
function nameField(app: App): HTMLElement {
  const input = h("input", { type: "text", id: "group-name", class: "group-name", placeholder: "group name", "aria-label": "name the selection as a group", maxlength: "40" });
  const put = (): void => {
    const { selection, table, frame } = app.store.state;
    const name = input.value.trim();
    const body = table.bodies.findIndex((each, number) => (each["name"] ?? (number ? `body-${number + 1}` : "body")) === selection?.body);
    if (!name || !selection || body < 0) return;
    if (frame?.topology) {
      notify("error", "Particles have changed since the start.", "Reset first, then name the group.");
      return;
    }
    const groups = { ...((table.bodies[body]!["groups"] as Record<string, number[]> | undefined) ?? {}), [name]: [...selection.ids].sort((a, b) => a - b) };
    edit(app, ["bodies", body, "groups"], groups);
    notify("done", `Group “${name}” has ${count(selection.ids.size)} particles.`, "Actions can use it, and so can the scene file.");
    input.value = "";
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && put());
  return h("span", { class: "naming" }, input, button({ icon: "add", hint: "Name the selection as a group", id: "name-group", kind: "small", click: put }));
}

/** Selecting without a pointer: all of a body, one of its ends, a group. */
export function selectMenu(app: App): HTMLElement {
  const host = h("span", { class: "select-menu" });
  let own = false; // whether the selection comes from here
  app.store.on(["selection"], () => {
    const menu = host.querySelector("select");
    if (menu && !own) menu.value = "";
  });
  app.store.on(["scene"], ({ scene }) => {
    const choices = (scene?.bodies ?? []).filter((body) => body.present).flatMap((body) => {
      const label = scene!.bodies.length > 1 ? `${body.name}: ` : "";
      const ends = ["x", "y", "z"].flatMap((axis) => [`${label}${axis} low end`, `${label}${axis} high end`]);
      return [`${label}all`, ...ends, ...Object.keys(body.groups).map((name) => `${label}group ${name}`)].map((text) => ({ text, body: body.name, what: text.slice(label.length) }));
    });
    const menu = choose("", choices.map((each) => each.text), "Select particles by rule", (text) => {
      const chosen = choices.find((each) => each.text === text);
      own = true;
      if (chosen) selectBy(app, chosen.body, chosen.what);
      own = false;
    }, true);
    menu.id = "select-by";
    menu.options[0]!.text = "select …";
    menu.disabled = !choices.length;
    fill(host, menu);
  });
  return host;
}

/** Selects by a rule: "all", "x low end", "group NAME". */
export function selectBy(app: App, name: string, what: string): void {
  const body = app.viewer.body(name);
  const info = app.store.state.scene?.bodies.find((each) => each.name === name);
  if (!body || !info) return;
  const total = body.particles.length / 3;
  let ids = [...Array(total).keys()];
  if (what.startsWith("group ")) ids = info.groups[what.slice(6)] ?? [];
  else if (what !== "all") {
    const axis = "xyz".indexOf(what[0]!);
    const at = (id: number): number => body.rest[3 * id + axis]!;
    const end = what.endsWith("low end") ? Math.min(...ids.map(at)) : Math.max(...ids.map(at));
    ids = ids.filter((id) => Math.abs(at(id) - end) <= 0.1 * info.spacing);
  }
  app.store.set({ selection: ids.length ? { body: name, ids: new Set(ids) } : null });
}
