/** The bar at the top: name, open, save, undo, redo, build, pictures, theme, help. */

import { type App, edit } from "../app";
import { screenshot } from "../capture";
import { button, fill, h } from "../dom";
import { dialog } from "./dialogs";
import { exportDialog } from "./export";
import { helpDialog } from "./help";
import { openDialog } from "./open";

export function topbar(app: App): HTMLElement {
  const bar = h("header", { class: "topbar" });
  app.store.on(["table", "name", "undo", "redo", "version", "built", "status", "theme", "connected", "progress"], (state) => {
    const stale = state.table.bodies.length > 0 && state.built !== state.version;
    const title = h("input", { class: "scene-title", "aria-label": "title", id: "title", spellcheck: "false" });
    if (document.activeElement?.id === "title") return;
    title.value = state.table.title ?? "";
    title.placeholder = "Untitled";
    title.addEventListener("change", () => edit(app, ["title"], title.value));
    fill(
      bar,
      h("div", { class: "brand" }, h("img", { src: "icon.svg", alt: "", width: "22", height: "22" }), h("b", {}, "pliant")),
      button({ icon: "open", text: "Open", hint: "Open an example, a scene, a run or a mesh (O)", id: "open", click: () => openDialog(app) }),
      button({ icon: "save", text: "Save", hint: "Save the scene or the take (S)", id: "save", click: () => saveDialog(app) }),
      h("div", { class: "group" },
        button({ icon: "undo", hint: "Undo (Ctrl Z)", id: "undo", disabled: !state.undo, click: () => app.say({ do: "undo" }) }),
        button({ icon: "redo", hint: "Redo (Ctrl Shift Z)", id: "redo", disabled: !state.redo, click: () => app.say({ do: "redo" }) })),
      title,
      state.table.bodies.length ? h("span", { class: "file-name faint", id: "file-name", title: state.name ? "The file of this scene" : "This scene has no file yet: Save gives it one" }, state.name || "not saved") : null,
      state.connected ? null : h("span", { class: "badge warn", id: "offline" }, "connecting ..."),
      button({ icon: "body", text: state.progress ? "Building" : stale || !state.table.bodies.length ? "Build" : "Built", hint: stale ? "Make particles of the bodies (B)" : "The simulation is up to date (B builds again)", id: "build", kind: stale ? "primary" : "", disabled: !state.table.bodies.length || state.progress !== null, click: () => buildNow(app) }),
      button({ icon: "film", text: "Export", hint: "Export a movie, pictures or files of another program (M)", id: "export", click: () => exportDialog(app) }),
      h("div", { class: "group" },
        button({ icon: "camera", hint: "Picture of what is on screen (C)", id: "screenshot", click: () => void screenshot(app) }),
        button({ icon: "theme", hint: "Light or dark (D)", id: "theme", click: () => app.store.set({ theme: state.theme === "dark" ? "light" : "dark" }) }),
        button({ icon: "help", hint: "Keys and help (?)", id: "help", click: () => helpDialog() })),
    );
  });
  return bar;
}

export function buildNow(app: App): void {
  app.store.set({ live: new Map(), following: true, replaying: false });
  app.say({ do: "build", open_end: app.store.state.openEnd });
}

/** Asks for a name; the scene, or the take with everything hands did. */
export function saveDialog(app: App): void {
  const { name, table, status } = app.store.state;
  const stem = (name || table.title || "scene").replace(/\.toml$/, "").replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40) || "scene";
  const input = h("input", { type: "text", id: "save-name", "aria-label": "file name" });
  input.value = stem;
  const save = (take: boolean): void => {
    const plain = input.value.trim().replace(/\.toml$/, "");
    app.say({ do: "save", name: take ? plain : `${plain}.toml`, take });
    close();
  };
  const close = dialog("Save", "save-dialog", h("form", { class: "save", onsubmit: (event: Event) => { event.preventDefault(); save(false); } },
    h("label", { class: "inner" }, "name", input),
    h("p", { class: "faint" }, "The scene is a small text file that the command pliant run accepts. The take adds all that hands did, and its recorded frames: it replays to the byte."),
    h("footer", {}, button({ text: "Save the take", hint: "Save the take and its run folder", id: "save-take", disabled: !status.built || status.frame < 1, click: () => save(true) }), button({ text: "Save the scene", hint: "Save the scene file", id: "save-scene", kind: "primary", click: () => save(false) }))));
  input.select();
}
