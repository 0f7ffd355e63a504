/** Puts the page together and connects it with the server. */

import "uplot/dist/uPlot.min.css";
import "./studio.css";
import { addAction, addBodyLike, type App } from "./app";
import { Connection } from "./connection";
import { h } from "./dom";
import type { Failure, Frame, Health, LiveAction, Pace, Vec3 } from "./protocol";
import { type State, Store } from "./store";
import { listen } from "./shortcuts";
import { actionsPanel } from "./ui/actions";
import { bodiesPanel } from "./ui/bodies";
import { emptyState } from "./ui/empty";
import { heardExport } from "./ui/export";
import { failedBanner } from "./ui/failed";
import { lanes } from "./ui/lanes";
import { colourBar, lookPanel } from "./ui/look";
import { notices, notify } from "./ui/notices";
import { healthDialog, lookOver, upload } from "./ui/mesh";
import { Plots } from "./ui/plots";
import { selectionBar } from "./ui/selection";
import { timePanel } from "./ui/timing";
import { timeline } from "./ui/timeline";
import { facts, progressCover, toolbar, toolHint } from "./ui/tools";
import { topbar } from "./ui/topbar";
import { Hands } from "./viewer/hands";
import { Viewer } from "./viewer/viewer";

const parameters = new URLSearchParams(location.search);
const token = takeToken();
const store = new Store();
const stored = localStorage.getItem("pliant-theme");
const dark = stored ? stored === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
store.set({ theme: dark ? "dark" : "light" });
store.set({ plain: localStorage.getItem("pliant-plain") === "yes" });
store.on(["plain"], ({ plain }) => localStorage.setItem("pliant-plain", plain ? "yes" : "no"));
store.on(["theme"], ({ theme }) => {
  document.documentElement.dataset["theme"] = theme;
  localStorage.setItem("pliant-theme", theme);
});

let connection: Connection | null = null;
const say = (message: Record<string, unknown>): void => connection?.say(message);
const picture = h("main", { class: "picture" });
const viewer = new Viewer(picture, store, () => say({ do: "ack" }));
const app: App = { store, viewer, say, token };
const plots = new Plots(app);
picture.append(h("div", { class: "bars" }, toolbar(app), toolHint(app), selectionBar(app)), facts(app), colourBar(app), progressCover(app), emptyState(app), failedBanner(app), notices());
const hands = new Hands(viewer, store, say, picture, (table) => addAction(app, table), (...lump) => addBodyLike(app, ...lump));
const embedded = parameters.has("embedded");
document.body.classList.toggle("embedded", embedded);
document.getElementById("app")!.append(
  topbar(app),
  h("aside", { class: "left", "aria-label": "scene" }, bodiesPanel(app), actionsPanel(app), timePanel(app)),
  picture,
  h("aside", { class: "right", "aria-label": "look" }, lookPanel(app), plots.panel),
  lanes(app),
  timeline(app),
);
listen(app);

store.on(["look", "tool"], (state, before) => {
  const needs = (each: State): string => JSON.stringify([each.look.colour, each.look.mode === "cells"]);
  if (state === before || needs(state) !== needs(before)) sendLook();
});

function sendLook(): void {
  const { look } = store.state;
  say({ do: "look", colour: look.colour, particles: true, cells: look.mode === "cells" });
}

/** The token: from the address, which forgets it, or from this tab's memory. */
function takeToken(): string {
  const given = parameters.get("token");
  if (given === null) return sessionStorage.getItem("pliant-token") ?? "";
  parameters.delete("token");
  history.replaceState(null, "", `${location.pathname}${parameters.size ? `?${parameters.toString()}` : ""}`);
  try {
    sessionStorage.setItem("pliant-token", given);
  } catch {
    // a frame without storage: a reload asks for the address again
  }
  return given;
}

type Message = Record<string, unknown> & { event?: string };

function hear(message: Message): void {
  const { event, ...rest } = message;
  switch (event) {
    case "hello":
      store.set(rest as Partial<State>);
      sendLook();
      if (rest["offer"] && !store.state.table.bodies.length) lookOver(app, String(rest["offer"]));
      else if (rest["autosave"] && !store.state.table.bodies.length && !rest["run"])
        notify("info", "There is work from last time.", null, { text: "Restore", click: () => say({ do: "open", kind: "autosave" }) });
      break;
    case "document":
      store.set(rest as Partial<State>);
      if (embedded && !store.state.scene && store.state.built < 0 && store.state.table.bodies.length) say({ do: "build", open_end: false });
      break;
    case "status":
      store.set({ status: { ...store.state.status, ...(rest as Partial<State["status"]>) } });
      if (!store.state.status.built && !store.state.status.replay) nothing();
      break;
    case "files":
      store.set({ files: rest as unknown as State["files"] });
      break;
    case "building":
      store.set({ built: Number(rest["version"]), progress: { share: null, text: "building" }, live: new Map(), failed: null, pace: null, targets: [] });
      break;
    case "progress":
      store.set({ progress: rest["share"] === 1 ? null : (rest as unknown as State["progress"]) });
      break;
    case "notice":
      notify(rest["level"] as "info" | "error", String(rest["message"]), rest["hint"] as string | null);
      break;
    case "held":
      hands.taken(rest["id"] as number | null, (rest["at"] as Vec3 | undefined) ?? null);
      break;
    case "live": {
      const live = new Map(store.state.live);
      if (rest["table"]) live.set(Number(rest["id"]), rest as unknown as LiveAction);
      else live.delete(Number(rest["id"]));
      store.set({ live });
      break;
    }
    case "series":
      plots.all(rest["columns"] as string[], rest["rows"] as (number | null)[][]);
      break;
    case "saved":
      notify("done", rest["take"] ? `Saved “${String(rest["name"])}” and its ${String(rest["frames"])} frames.` : `Saved “${String(rest["name"])}”.`, `In a terminal: pliant run ${String(rest["name"])}`);
      break;
    case "health":
      store.set({ progress: null });
      healthDialog(app, String(rest["name"]), rest["health"] as Health);
      break;
    case "estimate":
      store.set({ estimates: rest["bodies"] as State["estimates"] });
      break;
    case "export":
      heardExport(app, rest as unknown as Parameters<typeof heardExport>[1]);
      break;
    case "targets":
      store.set({ targets: rest["targets"] as State["targets"] });
      break;
    case "pace":
      store.set({ pace: rest as unknown as Pace });
      break;
    case "failed":
      store.set({ failed: rest as unknown as Failure, following: false });
      break;
  }
}

/** Nothing is built: there is nothing to see. */
function nothing(): void {
  store.set({ live: new Map(), scene: null, frame: null, selection: null, failed: null });
  viewer.clear();
}

function show(frame: Frame): void {
  const { header } = frame;
  if (header.scene) store.set({ scene: header.scene, selection: keepSelection(header.scene.bodies.filter((body) => body.present).map((body) => body.name)) });
  viewer.show(frame);
  plots.add(header.rows);
  store.set({ frame: header });
}

function keepSelection(bodies: string[]): State["selection"] {
  const { selection } = store.state;
  return selection && bodies.includes(selection.body) ? selection : null;
}

const scheme = location.protocol === "https:" ? "wss" : "ws";
if (!token) notify("error", "This page does not know its token.", "Open the address that pliant studio printed in the terminal.");
else connection = new Connection(`${scheme}://${location.host}/socket?token=${encodeURIComponent(token)}`, {
  text: hear,
  frame: show,
  state: (connected) => {
    if (!connected && store.state.connected) notify("error", "The connection was lost.", "Trying again; the scene is safe with the studio.");
    store.set({ connected });
  },
});

addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const file = event.dataTransfer?.files[0];
  if (file) void upload(app, file);
});

Object.assign(window, { studio: { app, hands, drop: () => connection?.drop() } });
