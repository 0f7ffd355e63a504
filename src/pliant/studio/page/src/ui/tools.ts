/** The tools over the picture, facts about the frame, and progress. */

import type { App } from "../app";
import { button, fill, h } from "../dom";
import { count, volume } from "../numbers";
import type { Lump, Tool } from "../store";
import { choose } from "./fields";
import { selectMenu } from "./selection";

const TOOLS: [Tool, string, string][] = [
  ["orbit", "orbit", "View: turn, move, zoom (V)"],
  ["pull", "pull", "Grab and pull the body (G)"],
  ["pick", "pick", "Pick a particle (K)"],
  ["box", "box", "Select with a box (X)"],
  ["paint", "paint", "Select with a brush (N)"],
  ["tool", "tool", "Move a tool or obstacle (T)"],
  ["knife", "knife", "Cut: draw a line across a body (L)"],
  ["add", "lump", "Add material to a body (E)"],
];

/** What to do with a tool, said under it. */
const USE: Record<Tool, string> = {
  orbit: "Drag to turn, right button to move, wheel to zoom.",
  pull: "Drag a body: a spring pulls it while it runs; the number is the force.",
  pick: "Click a particle. Shift adds, Alt takes away.",
  box: "Draw a box around particles. Shift adds, Alt takes away.",
  paint: "Brush over particles. Shift adds, Alt takes away.",
  tool: "Drag a tool or an obstacle of the scene (add one under Actions); the number is what it feels.",
  knife: "Draw a line across a body: it is cut along the line.",
  add: "Click on a body to add material. Bodies of elements grow; others get a body of their own that sticks to them.",
};

/** A line that says how the chosen tool is used; nothing for the view, whose use people know soon. */
export function toolHint(app: App): HTMLElement {
  const line = h("div", { class: "tool-hint", id: "tool-hint" });
  app.store.on(["tool", "scene", "selection"], ({ tool, scene, selection }) => {
    line.hidden = !scene || Boolean(selection) || tool === "orbit";
    line.textContent = USE[tool];
  });
  return line;
}

export function toolbar(app: App): HTMLElement {
  const bar = h("div", { class: "tools", role: "toolbar", "aria-label": "tools" });
  const menu = selectMenu(app);
  app.store.on(["tool", "through", "strength", "brush", "lump"], (state) => {
    const through = h("input", { type: "checkbox", checked: state.through, id: "through", onchange: () => app.store.set({ through: through.checked }) });
    const slide = (label: string, value: number, low: number, high: number, change: (value: number) => void): HTMLElement => {
      const input = h("input", { type: "range", min: String(low), max: String(high), step: "any", "aria-label": label, title: label, onchange: () => change(Number(input.value)) });
      input.value = String(value);
      return h("label", { class: "check" }, label, input);
    };
    const stick = h("input", { type: "checkbox", checked: state.lump.stick, id: "stick", onchange: () => app.store.set({ lump: { ...state.lump, stick: stick.checked } }) });
    const lumpShape = (): HTMLElement => {
      const chosen = choose(state.lump.shape, ["ball", "cube"], "shape to add", (shape) => app.store.set({ lump: { ...state.lump, shape: shape as Lump["shape"] } }));
      chosen.classList.add("adder");
      return chosen;
    };
    fill(
      bar,
      ...TOOLS.map(([tool, icon, hint]) => button({ icon, hint, id: `tool-${tool}`, pressed: state.tool === tool, click: () => app.store.set({ tool }) })),
      button({ icon: "frame", hint: "Look at everything and keep it in view, or at the selection (F)", id: "frame", click: () => app.viewer.frame() }),
      menu,
      state.tool === "box" || state.tool === "paint" ? h("label", { class: "check" }, through, "through") : null,
      state.tool === "paint" ? slide("size", state.brush, 6, 80, (brush) => app.store.set({ brush })) : null,
      state.tool === "add" ? lumpShape() : null,
      state.tool === "add" ? slide("size", state.lump.size, 0.05, 0.5, (size) => app.store.set({ lump: { ...state.lump, size } })) : null,
      state.tool === "add" ? h("label", { class: "check", title: "Whether a body that is added sticks to the one it was put on" }, stick, "stick") : null,
      state.tool === "pull" ? slide("strength", Math.log10(state.strength), -2, 1, (power) => app.store.set({ strength: 10 ** power })) : null,
    );
  });
  return bar;
}

export function facts(app: App): HTMLElement {
  const box = h("div", { class: "facts", id: "facts" });
  app.store.on(["frame", "scene"], (state) => {
    const { frame, scene } = state;
    box.hidden = !scene || !frame;
    if (!scene || !frame) return;
    const rest = scene.bodies.reduce((sum, body) => sum + body.volume, 0);
    const change = rest ? (100 * (frame.volume - rest)) / rest : 0;
    const line = (name: string, value: string): HTMLElement => h("div", { class: "fact" }, h("span", { class: "faint" }, name), h("span", {}, value));
    fill(
      box,
      line("particles", count(scene.bodies.reduce((sum, body) => sum + body.particles, 0))),
      line("step", count(frame.frame * scene.per_frame)),
      line("time", `${frame.time.toFixed(3)} s`),
      line("volume", volume(frame.volume)),
      line("volume change", `${change >= 0 ? "+" : "−"}${Math.abs(change).toFixed(2)} %`),
    );
  });
  return box;
}

const PATIENCE = 4; // seconds after which it is said why it takes long

export function progressCover(app: App): HTMLElement {
  const cover = h("div", { class: "progress", id: "progress", role: "status" });
  const clock = h("span", { class: "faint" });
  const why = h("p", { class: "faint" }, "A model that is used for the first time is compiled, which can take a minute. After that it starts at once.");
  let since = 0;
  const tick = (): void => {
    const seconds = Math.floor((performance.now() - since) / 1000);
    clock.textContent = seconds ? ` ${seconds} s` : "";
    why.hidden = seconds < PATIENCE || !(app.store.state.progress?.text ?? "").startsWith("preparing");
  };
  setInterval(() => app.store.state.progress && tick(), 250);
  app.store.on(["progress"], ({ progress }, before) => {
    cover.hidden = !progress;
    document.body.classList.toggle("working", progress !== null);
    if (!progress) return;
    if (!before.progress || progress === before.progress) since = performance.now();
    tick();
    const bar = h("div", { class: progress.share === null ? "bar unknown" : "bar" }, h("div", {}));
    if (progress.share !== null) (bar.firstElementChild as HTMLElement).style.width = `${100 * progress.share}%`;
    fill(cover, h("div", {}, progress.text || "working", clock), bar, why, button({ text: "Cancel", hint: "Stop building", kind: "small", click: () => { app.say({ do: "cancel" }); app.store.set({ progress: null }); } }));
  });
  return cover;
}
