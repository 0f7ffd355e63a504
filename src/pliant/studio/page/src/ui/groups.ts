/** The named groups of a body: select, remove. */

import { type App, edit } from "../app";
import { button, h } from "../dom";
import { count } from "../numbers";
import type { Table } from "../protocol";
import { selectBy } from "./selection";

export function groupList(app: App, body: Table, number: number): HTMLElement | null {
  const name = String(body["name"] ?? "body");
  const all = app.store.state.scene?.bodies.find((each) => each.name === name)?.groups ?? {};
  const own = (body["groups"] as Record<string, number[]> | undefined) ?? {};
  const names = [...new Set([...Object.keys(own), ...Object.keys(all)])];
  if (!names.length) return null;
  const remove = (group: string): void => {
    const left = Object.fromEntries(Object.entries(own).filter(([each]) => each !== group));
    edit(app, ["bodies", number, "groups"], Object.keys(left).length ? left : null);
  };
  return h(
    "div",
    { class: "groups" },
    h("span", { class: "faint" }, "groups"),
    ...names.map((group) =>
      h("span", { class: "group-chip" },
        h("button", { class: "chip", type: "button", title: `Select the group ${group}`, onclick: () => selectBy(app, name, `group ${group}`) }, `${group} (${count((own[group] ?? all[group] ?? []).length)})`),
        own[group] ? button({ icon: "remove", hint: `Remove the group ${group}`, kind: "ghost small", click: () => remove(group) }) : null),
    ),
  );
}
