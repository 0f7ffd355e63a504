/** How things look: drawing, colours and their range, section, ground. */

import { type App, edit } from "../app";
import { button, fill, h } from "../dom";
import { short } from "../numbers";
import type { Look, Mode, RangeKind } from "../store";
import { gradient, LEVELS, MAPS } from "../viewer/colours";
import { choose } from "./fields";

const MODES: [Mode, string][] = [["surface", "Surface"], ["wireframe", "Wireframe"], ["edges", "Tet edges"], ["tets", "Tets"], ["particles", "Particles"], ["cells", "Dual cells"]];

export function lookPanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "look" });
  app.store.on(["look", "scene", "table"], (state, before) => {
    if (state !== before && state.look === before.look && state.scene === before.scene && state.table.camera === before.table.camera) return;
    const { look, scene } = state;
    const set = (changes: Partial<Look>): void => app.store.look(changes);
    const fields = [...new Set(scene?.bodies.flatMap((body) => body.fields) ?? [])].filter((name) => name !== "stress-tensor");
    const slide = (label: string, value: number, low: number, high: number, change: (value: number) => void): HTMLElement => {
      const input = h("input", { type: "range", min: String(low), max: String(high), step: "0.01", "aria-label": label, oninput: () => change(Number(input.value)) });
      input.value = String(value);
      return h("div", { class: "slider" }, h("label", {}, label), input);
    };
    const number = (label: string, value: number, change: (value: number) => void): HTMLElement => {
      const input = h("input", { type: "text", "aria-label": label, onchange: () => Number.isFinite(Number(input.value)) && change(Number(input.value)) });
      input.value = short(value);
      return input;
    };
    const check = (label: string, value: boolean, change: (value: boolean) => void): HTMLElement => {
      const input = h("input", { type: "checkbox", checked: value, onchange: () => change(input.checked) });
      return h("label", { class: "check" }, input, label);
    };
    const line = (label: string, ...controls: HTMLElement[]): HTMLElement => h("div", { class: "field" }, h("label", {}, label), h("div", { class: "control" }, ...controls));
    const colour = choose(look.colour ?? "", ["", ...fields], "colour by", (name) => set({ colour: name || null }));
    colour.id = "colour";
    colour.options[0]!.text = "plain";
    fill(
      panel,
      h("h2", {}, "Look"),
      h("div", { class: "segments wrap", role: "group", "aria-label": "drawing" }, ...MODES.map(([mode, label]) => button({ text: label, hint: `Draw ${label.toLowerCase()}`, id: `mode-${mode}`, kind: "small", pressed: look.mode === mode, click: () => set({ mode }) }))),
      look.mode === "tets" || look.mode === "cells" ? slide("shrink", look.shrink, 0.3, 1, (shrink) => set({ shrink })) : null,
      look.mode === "cells" ? line("highlight", choose(look.highlight, ["cell", "face"], "highlight", (highlight) => set({ highlight: highlight as Look["highlight"] }))) : null,
      look.mode === "cells" ? h("p", { class: "faint" }, `Pick (K) a ${look.highlight} to see it alone; click beside the body to see all.`) : null,
      line("colour by", colour),
      look.colour && look.colour !== "level" ? line("range", choose(look.range, ["auto", "percentile", "fixed"], "range", (range) => {
        const [low, high] = app.viewer.range;
        set({ range: range as RangeKind, low, high });
      })) : null,
      look.colour && look.colour !== "level" && look.range === "fixed" ? line("from, to", number("lowest", look.low, (low) => set({ low })), number("highest", look.high, (high) => set({ high }))) : null,
      look.colour && look.colour !== "level" ? line("map", choose(look.map, Object.keys(MAPS), "colour map", (map) => set({ map }))) : null,
      line("section", choose(look.section, ["off", "x", "y", "z"], "section", (section) => set({ section: section as Look["section"], flip: app.viewer.seenFromLow(section) }))),
      look.section !== "off" ? slide("place", look.cut, 0, 1, (cut) => set({ cut })) : null,
      look.section !== "off" ? h("div", { class: "checks" }, check("other side", look.flip, (flip) => set({ flip })), check("tets inside", look.inside, (inside) => set({ inside }))) : null,
      h("div", { class: "checks" }, check("ground", look.ground, (ground) => set({ ground })), check("shadow", look.shadow, (shadow) => set({ shadow })), check("loads", look.loads, (loads) => set({ loads }))),
      line("camera",
        button({ text: state.table.camera ? "Replace" : "Keep this view", hint: "Keep this view as the camera of the scene: for pictures, movies, RIB, USD and GLB files", id: "keep-camera", kind: "small", disabled: !scene, click: () => edit(app, ["camera"], app.viewer.stage.shot()) }),
        ...(state.table.camera ? [
          button({ text: "Look", hint: "Look through the camera of the scene", id: "look-camera", kind: "small", click: () => void app.viewer.lookThrough() }),
          button({ icon: "remove", hint: "Remove the camera of the scene", id: "remove-camera", kind: "ghost small", click: () => edit(app, ["camera"], null) }),
        ] : [])),
    );
  });
  return panel;
}

/** The colour bar beside the picture. */
export function colourBar(app: App): HTMLElement {
  const bar = h("div", { class: "colourbar", id: "colourbar" });
  const draw = (): void => {
    const { look, frame } = app.store.state;
    const unit = look.colour ? frame?.units[look.colour] : undefined;
    bar.hidden = unit === undefined;
    if (bar.hidden) return;
    const name = h("div", { class: "name" }, look.colour === "plastic" ? "plastic strain" : look.colour!, unit ? ` [${unit}]` : "");
    if (look.colour === "level") {
      const swatches = LEVELS.map((_, level) => level).filter((level) => level <= app.viewer.highest).map((level) => {
        const dot = h("span", { class: "swatch" });
        dot.style.background = `rgb(${LEVELS[level]!.join(",")})`;
        return h("div", { class: "level" }, dot, `level ${level}`);
      });
      fill(bar, name, ...swatches);
      return;
    }
    const [low, high] = app.viewer.range;
    const strip = h("div", { class: "strip" });
    strip.style.background = gradient(look.map);
    fill(bar, name, h("div", { class: "scale" }, strip, h("div", { class: "ticks" }, ...[1, 0.75, 0.5, 0.25, 0].map((s) => h("span", {}, short(low + s * (high - low)))))));
  };
  app.store.on(["frame", "look"], draw);
  return bar;
}
