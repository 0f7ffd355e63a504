/** The bar at the bottom: run, pause, step, reset, speed; the frames so far, to scrub and replay; keys. */

import { type App, toggleRun } from "../app";
import { button, fill, h } from "../dom";
import { short, si } from "../numbers";
import type { Table } from "../protocol";
import type { State } from "../store";
import { choose } from "./fields";

const SPEEDS: [string, number][] = [["1/10 ×", 0.1], ["1/4 ×", 0.25], ["1/2 ×", 0.5], ["1 ×", 1], ["2 ×", 2], ["fastest", 0]];

const THUMB = 16; // pixels of the slider's handle, which keep it from the ends

/** Frames of the time axis: the duration of the scene, or more where more has been computed. */
export function axisFrames(state: State): number {
  const time = (state.table.time ?? {}) as Table;
  const planned = state.status.replay ? state.status.frames - 1 : Math.round(si(time["duration"], 1) * si(time["fps"], 50));
  return Math.max(planned, lastFrame(state), 1);
}

/** The last frame that has been computed. */
export const lastFrame = (state: State): number => Math.max(state.frame?.last ?? 0, state.status.frame, 0);

export function timeline(app: App): HTMLElement {
  const run = h("div", { class: "transport", role: "group", "aria-label": "simulation" });
  const slider = h("input", { type: "range", id: "scrub", min: "0", max: "0", step: "1", value: "0", "aria-label": "frame" });
  const computed = h("div", { class: "computed", id: "computed", title: "What has been computed" });
  const clock = h("div", { class: "clock", id: "clock" });
  const info = h("div", { class: "clock faint", id: "pace" });
  slider.addEventListener("input", () => {
    const frame = Math.min(Number(slider.value), lastFrame(app.store.state)); // the store's listeners move the slider
    slider.value = String(frame);
    app.store.set({ following: false, replaying: false });
    app.say({ do: "show", frame });
  });
  let shown = ""; // what the buttons say: made anew with every frame, they could not be pressed while it runs
  const buttons = (state: State): void => {
    const { status, loop, replaying } = state;
    const can = state.table.bodies.length > 0 && !status.replay;
    const busy = state.progress !== null;
    const failed = state.failed !== null;
    const recorded = (state.frame?.last ?? 0) > 0;
    const now = [status.playing, status.built, can, busy, failed, replaying, loop, recorded].join();
    if (now === shown) return;
    shown = now;
    fill(
      run,
      button({ icon: status.playing ? "pause" : "play", text: status.playing ? "Pause" : "Run", hint: status.playing ? "Pause (space)" : "Run the simulation (space)", id: "run", kind: "primary", disabled: !can || busy || failed, click: () => toggleRun(app) }),
      button({ icon: "step", hint: "One frame (.)", id: "step", disabled: !can || failed, click: () => stepOnce(app) }),
      button({ icon: "reset", hint: "Back to the start (R)", id: "reset", disabled: !status.built, click: () => resetRun(app) }),
      button({ icon: "replay", hint: "Replay the recorded frames (P)", id: "replay", pressed: replaying, disabled: !recorded, click: () => toggleReplay(app) }),
      button({ text: "Loop", hint: "Replay over and over", id: "loop", kind: "small", pressed: loop, click: () => app.store.set({ loop: !loop }) }),
    );
  };
  app.store.on(["status", "table", "progress", "replaying", "loop", "failed", "frame"], buttons);
  app.store.on(["frame", "status", "following", "table"], (state) => {
    const frame = state.frame;
    slider.max = String(axisFrames(state));
    computed.style.width = `${(100 * lastFrame(state)) / axisFrames(state)}%`;
    if (state.following || state.replaying || document.activeElement !== slider) slider.value = String(frame?.frame ?? 0);
    const planned = state.status.frames > 1 ? ` / ${state.status.frames - 1}` : "";
    fill(clock, h("b", {}, `${(frame?.time ?? 0).toFixed(3)} s`), ` frame ${frame?.frame ?? 0}${planned}`);
    const factor = frame?.factor;
    fill(info, state.status.playing && factor ? `${short(Number(factor.toPrecision(2)))} × real time` : state.status.playing ? "running" : "");
  });
  const speed = choose("1 ×", SPEEDS.map(([name]) => name), "speed", (name) => app.say({ do: "speed", speed: SPEEDS.find(([each]) => each === name)![1] }));
  speed.id = "speed";
  speed.title = "Speed: slow motion, real time, or as fast as it goes";
  startReplay(app);
  const align = (): void => {
    const area = slider.getBoundingClientRect();
    document.documentElement.style.setProperty("--axis-left", `${area.left + THUMB / 2}px`);
    document.documentElement.style.setProperty("--axis-width", `${Math.max(area.width - THUMB, 0)}px`);
  };
  new ResizeObserver(align).observe(slider);
  return h("footer", { class: "timeline" }, run, h("div", { class: "track" }, slider, h("div", { class: "computed-track" }, computed)), h("div", { class: "clocks" }, clock, info), speed);
}

export function stepOnce(app: App): void {
  const { status, built, version, openEnd } = app.store.state;
  app.store.set({ replaying: false, following: true });
  if (!status.built || (built !== version && status.frame === 0)) app.say({ do: "build", open_end: openEnd });
  app.say({ do: "step" });
}

export function resetRun(app: App): void {
  app.store.set({ following: true, replaying: false, live: new Map(), failed: null });
  app.say({ do: "build", open_end: app.store.state.openEnd });
}

export function toggleReplay(app: App): void {
  const { replaying, frame } = app.store.state;
  if (!replaying) {
    app.say({ do: "pause" });
    if (frame && frame.frame >= frame.last) app.say({ do: "show", frame: 0 });
  }
  app.store.set({ replaying: !replaying, following: false });
}

/** Shows recorded frames at their pace while replaying. */
function startReplay(app: App): void {
  let next = 0;
  let since = 0;
  let ticking = false; // a page at rest asks for no pictures
  const tick = (now: number): void => {
    const { replaying, frame, scene, loop, table } = app.store.state;
    if (replaying && frame && scene) {
      const pace = 1000 / (scene.fps || si((table.time as Table | undefined)?.["fps"], 50));
      if (now - since >= pace) {
        since = now;
        next = frame.frame + 1;
        if (next > frame.last) {
          if (loop) next = 0;
          else app.store.set({ replaying: false });
        }
        if (next <= frame.last) app.say({ do: "show", frame: next });
      }
    }
    ticking = app.store.state.replaying;
    if (ticking) requestAnimationFrame(tick);
  };
  app.store.on(["replaying"], (state) => {
    if (!state.replaying || ticking) return;
    ticking = true;
    requestAnimationFrame(tick);
  });
}
