/** Open: examples, files of the workspace, a mesh from this computer. */

import type { App } from "../app";
import type { State } from "../store";
import { button, h } from "../dom";
import { dialog } from "./dialogs";
import { lookOver, upload } from "./mesh";

export function openDialog(app: App): void {
  const { catalogue, examples, files, folder } = app.store.state;
  app.say({ do: "list" });
  const open = (kind: string, name: string): void => {
    app.store.set({ live: new Map(), selection: null, following: true, replaying: false, activeAction: null, activeBody: 0 });
    app.say({ do: "open", kind, name });
    close();
  };
  const row = (kind: string, name: string, title: string, about: string): HTMLElement =>
    h("button", { class: "row", type: "button", "data-name": name, onclick: () => open(kind, name) }, h("b", {}, title), about ? h("span", { class: "faint" }, about) : null);
  const example = (one: State["examples"][number]): HTMLElement => row("example", one.name, one.title, one.name);
  const subject = (title: string, chosen: State["examples"]): HTMLElement | null => (chosen.length ? h("div", { class: "subject" }, h("h4", {}, title), ...chosen.map(example)) : null);
  const [first, ...others] = examples;
  const headed = (each: State["examples"][number]): string => catalogue?.models[each.model]?.subject ?? "Others";
  const subjects = [...new Set([...Object.values(catalogue?.models ?? {}).map((model) => model.subject), "Others"])];
  const shown = h("div", { class: "rows" },
    first ? subject("Start here", [first]) : null,
    ...subjects.map((title) => subject(title, others.filter((each) => headed(each) === title))));
  const about = (each: HTMLElement): string => `${each.textContent} ${each.parentElement!.firstElementChild!.textContent}`.toLowerCase();
  const none = h("p", { class: "faint" }, "No example has these words.");
  none.hidden = true;
  const find = h("input", { type: "text", id: "find-example", placeholder: "Find: clay, cut, ball ...", "aria-label": "Find an example", spellcheck: "false", oninput: () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...shown.querySelectorAll<HTMLElement>(".row")];
    for (const each of rows) each.hidden = !words.every((word) => about(each).includes(word));
    for (const each of shown.children) (each as HTMLElement).hidden = !each.querySelector(".row:not([hidden])");
    none.hidden = rows.some((each) => !each.hidden);
  } });
  const listed = (title: string, rows: HTMLElement[], empty: string): HTMLElement =>
    h("section", {}, h("h3", {}, title), rows.length ? h("div", { class: "rows" }, ...rows) : h("p", { class: "faint" }, empty));
  const input = h("input", { type: "file", id: "mesh-file", class: "hidden", onchange: () => { if (input.files?.[0]) { void upload(app, input.files[0]); close(); } } });
  const close = dialog(
    "Open",
    "open-dialog",
    h(
      "div",
      { class: "columns" },
      h("section", {}, h("h3", {}, "Examples"), find, none, shown),
      h(
        "div",
        {},
        h("section", {}, h("h3", {}, "A mesh from this computer"),
          h("p", { class: "faint" }, "OBJ, STL, PLY, GLB, OFF, SURF, MSH, VTU ... Drop a file anywhere in the window, or"),
          button({ text: "Choose a file", hint: "Choose a mesh file", click: () => input.click() }), input),
        listed(`Scenes in ${folder}`, files.scenes.map((name) => row("scene", name, name, "")), "No scenes here yet."),
        listed("Recorded runs", files.runs.map((name) => row("run", name, name, "")), "No runs here yet."),
        listed("Meshes", files.meshes.map((name) => h("button", { class: "row", type: "button", "data-name": name, onclick: () => { lookOver(app, name); close(); } }, h("b", {}, name))), "No meshes here yet."),
        h("section", {}, button({ text: "Empty scene", hint: "Start with an empty scene", click: () => open("new", "") })),
      ),
    ),
    true,
  );
}
