/** The help sheet: what the keys and the pointer do. */

import { h } from "../dom";
import { dialog } from "./dialogs";

export const SHORTCUTS: [string, string][] = [
  ["Space", "run or pause"],
  [".", "one frame"],
  ["R", "back to the start"],
  ["P", "replay the recorded frames"],
  ["← →", "one recorded frame back or on"],
  ["B", "build"],
  ["1 – 6", "surface, wireframe, tet edges, tets, particles, dual cells"],
  ["V G K X N T L E", "tools: view, grab, pick, box, brush, move a tool, knife, add"],
  ["A", "select all of a body"],
  ["F", "look at everything, or at the selection"],
  ["H", "hold (fix) the selected particles"],
  ["U", "free the selected particles"],
  ["Esc", "select nothing"],
  ["Ctrl Z, Ctrl Shift Z", "undo, redo"],
  ["O, S, C, M", "open, save, picture, movie"],
  ["D", "light or dark"],
  ["?", "this sheet"],
];

export function helpDialog(): void {
  const rows = SHORTCUTS.map(([keys, what]) => h("div", { class: "fact" }, h("kbd", {}, keys), h("span", {}, what)));
  dialog("Keys and pointer", "help-dialog", h("div", {}, ...rows,
    h("h3", {}, "In the picture, when it has the focus"),
    h("p", { class: "faint" }, "Arrows turn the view, with Shift they move it; + and − go nearer and farther. “select …” above the picture selects ends, groups or everything without a pointer."),
    h("h3", {}, "Pointer"),
    h("p", { class: "faint" }, "Left button: what the tool does; with the view tool, or beside the body, it turns the view. Right button: moves the view. Wheel: nearer and farther. With selections, Shift adds and Alt takes away."),
    h("p", { class: "faint" }, "Grab a body while it runs: a spring pulls it, the number beside the pointer is its force. Everything you do is logged, so the take can be saved and run again from the command line, byte for byte.")));
}
