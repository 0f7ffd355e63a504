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
  ["O, S, C, M", "open, save, picture, export"],
  ["D", "light or dark"],
  ["?", "this sheet"],
];

export function helpDialog(): void {
  const rows = SHORTCUTS.map(([keys, what]) => h("div", { class: "shortcut" }, h("kbd", {}, keys), h("span", {}, what)));
  const about = (title: string, ...texts: string[]): HTMLElement => h("section", {}, h("h3", {}, title), ...texts.map((text) => h("p", { class: "faint" }, text)));
  dialog("Keys and help", "help-dialog", h("div", { class: "columns" }, h("div", {}, ...rows), h("div", {},
    about("Pointer", "Left button: what the tool does; with the view tool, or beside the body, it turns the view. Right button: moves the view. Wheel: nearer and farther. With selections, Shift adds and Alt takes away."),
    about("By keys alone", "When the picture has the focus, arrows turn the view, with Shift they move it; + and − go nearer and farther. “select …” above the picture selects ends, groups or everything."),
    about("Takes", "Grab a body while it runs: a spring pulls it, and the number beside the pointer is its force. Everything you do is logged as an action. Save the take, and the command pliant run makes the same frames again, byte for byte."),
    about("Numbers", "Fields take metres, seconds and pascals, or a unit of your own: 6 mm, 0.2 MPa, 15 ms."))), true);
}
