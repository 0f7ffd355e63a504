/** Keys: everything that the pointer can do often. */

import { actOnSelection, type App, freeSelection, toggleRun } from "./app";
import { screenshot } from "./capture";
import type { Mode, Tool } from "./store";
import { exportDialog } from "./ui/export";
import { helpDialog } from "./ui/help";
import { openDialog } from "./ui/open";
import { selectBy } from "./ui/selection";
import { resetRun, stepOnce, toggleReplay } from "./ui/timeline";
import { buildNow, saveDialog } from "./ui/topbar";

const MODES: Mode[] = ["surface", "wireframe", "edges", "tets", "particles", "cells"];
const TOOLS: Record<string, Tool> = { v: "orbit", g: "pull", k: "pick", x: "box", n: "paint", t: "tool", l: "knife", e: "add" };

/** What a key press means; null where it is for a field or a dialog. */
export function listen(app: App): void {
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault(); // in a field too; the browser would save its page
      if (document.querySelector("dialog[open]")) return;
      target.blur();
      return saveDialog(app);
    }
    if (document.querySelector("dialog[open]")) return;
    if (target.matches("input[type=text], input:not([type]), textarea, select") && event.key !== "Escape") return;
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && key === "z") app.say({ do: event.shiftKey ? "redo" : "undo" });
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (!act(app, key, target)) return;
    event.preventDefault();
  });
}

function act(app: App, key: string, target: HTMLElement): boolean {
  const tool = TOOLS[key];
  const mode = MODES[Number(key) - 1];
  if (tool) app.store.set({ tool });
  else if (mode) app.store.look({ mode });
  else if (key === " " && target.tagName !== "BUTTON") toggleRun(app);
  else if (key === ".") stepOnce(app);
  else if (key === "r") resetRun(app);
  else if (key === "p") toggleReplay(app);
  else if (key === "b") buildNow(app);
  else if (key === "f") app.viewer.frame();
  else if (key === "h") actOnSelection(app, "Fix");
  else if (key === "u") freeSelection(app);
  else if (key === "escape") {
    if (target.matches("input, select")) target.blur();
    else app.store.set({ selection: null });
  } else if (key === "a") selectAll(app);
  else if (key === "m") exportDialog(app);
  else if (key === "o") openDialog(app);
  else if (key === "s") saveDialog(app);
  else if (key === "c") void screenshot(app);
  else if (key === "d") app.store.set({ theme: app.store.state.theme === "dark" ? "light" : "dark" });
  else if (key === "?") helpDialog();
  else if ((key === "arrowleft" || key === "arrowright") && !target.matches("input[type=range]")) {
    const frame = app.store.state.frame?.frame ?? 0;
    app.store.set({ following: false, replaying: false });
    app.say({ do: "show", frame: Math.max(0, frame + (key === "arrowleft" ? -1 : 1)) });
  } else return false;
  return true;
}

/** All particles of the body that is selected from, or of the first. */
function selectAll(app: App): void {
  const { selection, scene } = app.store.state;
  const name = selection?.body ?? scene?.bodies[0]?.name;
  if (name) selectBy(app, name, "all");
}
