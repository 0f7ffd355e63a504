/** Export: pictures and movies at scene time, files of other programs; made by the server, then downloaded. */

import type { App } from "../app";
import { download } from "../capture";
import { button, fill, h } from "../dom";
import { short, si } from "../numbers";
import type { Table } from "../protocol";
import type { Look } from "../store";
import { dialog } from "./dialogs";
import { choose, row } from "./fields";
import { notify } from "./notices";

const DRAWN = [".mp4", ".gif", ".png"];
const SIZES = ["960 × 540", "1280 × 720", "1920 × 1080", "3840 × 2160", "1080 × 1080"];
const RATES = ["24", "25", "30", "50", "60"];
const SPEEDS: Record<string, number> = { "real time": 1, "1/2": 0.5, "1/4": 0.25, "1/10": 0.1, "2 ×": 2 };
const STYLES: Record<Look["mode"], string> = { surface: "surface", wireframe: "edges", edges: "wireframe", tets: "tets", particles: "particles", cells: "cells" };
const UNIT_FREE = [".glb", ".csv"]; // formats that say themselves in which unit and axes they are
let mine = false; // whether this page asked for the export that is under way

/** Seconds and pictures of a movie of the frames `first` to `last`. */
export function movieLength(first: number, last: number, fps: number, rate: number, speed: number): { seconds: number; pictures: number } {
  const pictures = Math.max(1, Math.round(((last - first) / fps / speed) * rate));
  return { seconds: pictures / rate, pictures };
}

/** The present look as options of the renderer. */
export function drawnLook(app: App): Table {
  const { look, theme, table } = app.store.state;
  const { box } = app.viewer;
  const levels = look.colour === "level";
  const style = levels ? "levels" : STYLES[look.mode];
  const [low, high] = app.viewer.range;
  const cut = look.section !== "off" && ["surface", "tets", "particles", "levels"].includes(style);
  const axis = "xyz".indexOf(look.section);
  const at = cut ? box.min.getComponent(axis) + look.cut * (box.max.getComponent(axis) - box.min.getComponent(axis)) : 0;
  return {
    style,
    ...(look.colour && !levels ? { colour: look.colour, map: look.map, ...(high > low ? { range: [low, high] } : {}) } : {}),
    ...(cut ? { section: `${look.section}=${at}` } : {}),
    background: theme,
    shadow: look.shadow,
    title: table.title ?? "",
  };
}

export function exportDialog(app: App, format = ".mp4"): void {
  const { catalogue, frame, scene, table } = app.store.state;
  if (!catalogue || !scene || !frame || frame.last < 1) {
    notify("error", "Nothing has been recorded yet.", "Run the simulation first.");
    return;
  }
  const fps = scene.fps || si((table.time as Table | undefined)?.["fps"], 50);
  const labels = catalogue.formats.map(({ suffix, about }) => `${suffix.slice(1)} – ${about}`);
  const chosen = { format, size: "1280 × 720", rate: "30", speed: "real time", frames: "all", view: "this view", units: "m", up: table.up ?? "z", first: 0, last: frame.last };
  const host = h("div", { class: "export-options" });
  const told = h("p", { class: "faint", id: "export-told" });
  const bar = h("div", { class: "bar" }, h("div", {}));
  const text = h("span", { class: "faint", id: "export-progress" });
  const progress = h("div", { class: "export-running" }, bar, text);
  const range = (): [number, number] => (chosen.frames === "all" ? [0, frame.last] : chosen.frames === "the one shown" ? [frame.frame, frame.frame] : [chosen.first, chosen.last]);
  const tell = (): void => {
    const [first, last] = range();
    const { seconds, pictures } = movieLength(first, last, fps, Number(chosen.rate), SPEEDS[chosen.speed]!);
    if ([".mp4", ".gif"].includes(chosen.format)) told.textContent = `${short(seconds)} s, ${pictures} pictures, of ${short((last - first) / fps)} s of the scene`;
    else told.textContent = chosen.format === ".png" ? `One picture, at ${short(frame.time)} s` : chosen.format === ".csv" ? "All series" : `${last - first + 1} frames`;
  };
  const pick = (key: "size" | "rate" | "speed" | "frames" | "view" | "units" | "up", label: string, choices: string[], hint = ""): HTMLElement => {
    const select = choose(chosen[key], choices, label, (value) => {
      Object.assign(chosen, { [key]: value });
      if (key === "frames") draw();
      tell();
    });
    select.id = `export-${key}`;
    return row(label, select, hint);
  };
  const number = (key: "first" | "last"): HTMLInputElement => {
    const input = h("input", { type: "text", class: "short", id: `export-${key}`, "aria-label": `${key} frame`, onchange: () => {
      const value = Math.round(Number(input.value));
      if (Number.isFinite(value)) chosen[key] = Math.min(Math.max(value, key === "last" ? chosen.first : 0), frame.last);
      input.value = String(chosen[key]);
      tell();
    } });
    input.value = String(chosen[key]);
    return input;
  };
  const draw = (): void => {
    const drawn = DRAWN.includes(chosen.format);
    const movie = drawn && chosen.format !== ".png";
    fill(
      host,
      drawn ? pick("size", "size", SIZES, "Pixels; sides of movies are rounded to multiples of 16") : null,
      movie ? pick("rate", "pictures a second", RATES) : null,
      movie ? pick("speed", "speed", Object.keys(SPEEDS), "Real time: a second of the scene is a second of the movie") : null,
      drawn ? pick("view", "camera", ["this view", table.camera ? "the scene's camera" : "automatic"], "The scene's camera is set under Look") : null,
      chosen.format === ".png" || chosen.format === ".csv" ? null : pick("frames", "frames", movie ? ["all", "from – to"] : ["all", "the one shown", "from – to"]),
      chosen.frames === "from – to" && chosen.format !== ".png" ? row("from, to", h("span", { class: "vector" }, number("first"), number("last"))) : null,
      drawn || UNIT_FREE.includes(chosen.format) ? null : pick("units", "lengths in", ["m", "cm", "mm", "in"]),
      drawn || UNIT_FREE.includes(chosen.format) ? null : pick("up", "up is", ["x", "y", "z"]),
    );
  };
  const select = choose(labels[catalogue.formats.findIndex((each) => each.suffix === format)]!, labels, "format", (label) => {
    chosen.format = catalogue.formats[labels.indexOf(label)]!.suffix;
    draw();
    tell();
  });
  select.id = "export-format";
  const start = button({ text: "Export", hint: "Write the file and download it", id: "export-start", kind: "primary", click: () => {
    const [first, last] = range();
    const [width, height] = chosen.size.split(" × ").map(Number);
    const drawn = DRAWN.includes(chosen.format);
    const plain = UNIT_FREE.includes(chosen.format);
    mine = true;
    app.say({
      do: "export", format: chosen.format, size: [width, height], rate: Number(chosen.rate), speed: SPEEDS[chosen.speed],
      ...(drawn ? { look: drawnLook(app) } : plain ? {} : { units: chosen.units, up: chosen.up }),
      ...(drawn && chosen.view === "this view" ? { camera: app.viewer.stage.shot() } : {}),
      ...(chosen.format === ".png" ? { frame: frame.frame } : chosen.frames === "all" ? {} : { first, last }),
    });
  } });
  const cancel = button({ text: "Cancel", hint: "Stop the export", id: "export-cancel", click: () => app.say({ do: "cancel-export" }) });
  draw();
  tell();
  const close = dialog("Export", "export-dialog", h("div", {}, row("format", select), host, told, progress, h("footer", {}, cancel, start)));
  app.store.on(["exporting"], ({ exporting }) => {
    const running = exporting !== null;
    progress.hidden = cancel.hidden = !running;
    start.disabled = running;
    bar.classList.toggle("unknown", running && exporting.share === null);
    (bar.firstElementChild as HTMLElement).style.width = running && exporting.share !== null ? `${100 * exporting.share}%` : "";
    text.textContent = running ? (exporting.share === null ? "preparing" : `${Math.round(100 * exporting.share)} %`) : "";
  });
  closeDialog = close;
}

let closeDialog: () => void = () => undefined;

/** What the server says of an export: how far it is, that it is there, or what went wrong. */
export function heardExport(app: App, said: { state: string; share?: number | null; text?: string; hint?: string | null; id?: string; name?: string }): void {
  app.store.set({ exporting: said.state === "running" ? { share: said.share ?? null } : null });
  if (said.state === "running" || !mine) return;
  mine = false;
  if (said.state === "failed") notify("error", said.text ?? "The export failed.", said.hint ?? null);
  else if (said.state === "cancelled") notify("info", "The export was cancelled.");
  else void fetched(app, said.id!, said.name!);
}

async function fetched(app: App, id: string, name: string): Promise<void> {
  const answer = await fetch(`download/${id}`, { headers: { "X-Pliant-Token": app.token } });
  if (!answer.ok) return notify("error", `${name} could not be downloaded.`, "Export it again.");
  download(await answer.blob(), name);
  closeDialog();
  notify("done", `${name} is in your downloads.`);
}
