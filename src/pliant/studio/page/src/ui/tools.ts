/** The tools over the picture, facts about the frame, and progress. */

import type { App } from "../app";
import { button, fill, h } from "../dom";
import { count, short } from "../numbers";
import type { Tool } from "../store";
import { selectMenu } from "./selection";

const TOOLS: [Tool, string, string][] = [
  ["orbit", "orbit", "View: turn, move, zoom (V)"],
  ["pull", "pull", "Grab and pull the body (G)"],
  ["pick", "pick", "Pick a particle (K)"],
  ["box", "box", "Select with a box (X)"],
  ["paint", "paint", "Select with a brush (N)"],
  ["tool", "tool", "Move a tool or obstacle (T)"],
  ["knife", "knife", "Cut: draw a line across a body (L)"],
];

export function toolbar(app: App): HTMLElement {
  const bar = h("div", { class: "tools", role: "toolbar", "aria-label": "tools" });
  const menu = selectMenu(app);
  app.store.on(["tool", "through", "strength", "brush"], (state) => {
    const through = h("input", { type: "checkbox", checked: state.through, id: "through", onchange: () => app.store.set({ through: through.checked }) });
    const slide = (label: string, value: number, low: number, high: number, change: (value: number) => void): HTMLElement => {
      const input = h("input", { type: "range", min: String(low), max: String(high), step: "any", "aria-label": label, title: label, onchange: () => change(Number(input.value)) });
      input.value = String(value);
      return h("label", { class: "check" }, label, input);
    };
    fill(
      bar,
      ...TOOLS.map(([tool, icon, hint]) => button({ icon, hint, id: `tool-${tool}`, pressed: state.tool === tool, click: () => app.store.set({ tool }) })),
      button({ icon: "frame", hint: "Look at everything (F)", id: "frame", click: () => app.viewer.frame() }),
      menu,
      state.tool === "box" || state.tool === "paint" ? h("label", { class: "check" }, through, "through") : null,
      state.tool === "paint" ? slide("size", state.brush, 6, 80, (brush) => app.store.set({ brush })) : null,
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
      line("volume", `${short(1e6 * frame.volume)} cm³`),
      line("change", `${change >= 0 ? "+" : "−"}${Math.abs(change).toFixed(2)} %`),
    );
  });
  return box;
}

export function progressCover(app: App): HTMLElement {
  const cover = h("div", { class: "progress", id: "progress" });
  app.store.on(["progress"], ({ progress }) => {
    cover.hidden = !progress;
    if (!progress) return;
    const bar = h("div", { class: progress.share === null ? "bar unknown" : "bar" }, h("div", {}));
    if (progress.share !== null) (bar.firstElementChild as HTMLElement).style.width = `${100 * progress.share}%`;
    fill(cover, h("div", {}, progress.text || "working"), bar, button({ text: "Cancel", hint: "Stop building", kind: "small", click: () => { app.say({ do: "cancel" }); app.store.set({ progress: null }); } }));
  });
  return cover;
}
