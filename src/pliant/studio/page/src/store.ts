/** The state of the page, in one place; parts of the page listen to what they show. */

import type { Catalogue, Estimate, Failure, FrameHeader, LiveAction, Pace, SceneInfo, Scenery, SceneTable, Target } from "./protocol";

export type Mode = "surface" | "wireframe" | "edges" | "tets" | "particles" | "cells";
export type Tool = "orbit" | "pull" | "pick" | "box" | "paint" | "tool" | "knife" | "add";
export type RangeKind = "auto" | "percentile" | "fixed";

export interface Look {
  mode: Mode;
  colour: string | null;
  range: RangeKind;
  low: number;
  high: number;
  map: string;
  section: "off" | "x" | "y" | "z";
  cut: number;
  flip: boolean;
  ground: boolean;
  shadow: boolean;
  loads: boolean; // whether pins, forces and pressure are drawn
  shrink: number;
  inside: boolean; // whether a section shows the tets that it cuts
  highlight: "cell" | "face";
}

/** What the add tool adds: a ball of this radius, or a cube of twice that side, in shares of the body's size. */
export interface Lump {
  shape: "ball" | "cube";
  size: number;
  stick: boolean;
}

export interface Selection {
  body: string;
  ids: Set<number>;
}

export interface State {
  connected: boolean;
  catalogue: Catalogue | null;
  examples: { name: string; title: string; model: string }[];
  files: { scenes: string[]; runs: string[]; meshes: string[] };
  folder: string;
  autosave: boolean;
  table: SceneTable;
  scenery: (Scenery | null)[]; // of the actions of the table
  name: string;
  version: number;
  built: number;
  undo: number;
  redo: number;
  status: { playing: boolean; built: boolean; replay: boolean; frame: number; frames: number; speed: number };
  progress: { share: number | null; text: string } | null;
  scene: SceneInfo | null;
  frame: FrameHeader | null;
  following: boolean;
  replaying: boolean;
  loop: boolean;
  openEnd: boolean;
  look: Look;
  tool: Tool;
  through: boolean;
  strength: number;
  brush: number;
  lump: Lump;
  selection: Selection | null;
  live: Map<number, LiveAction>;
  plots: string[];
  theme: "light" | "dark";
  activeBody: number | null; // whose card is open
  activeAction: number | null;
  activeKey: { name: string; time: number } | null; // of the open action
  estimates: Estimate[];
  targets: Target[][]; // of the actions that are built, what they act on
  pace: Pace | null; // of what is built; null until it was measured
  failed: Failure | null;
  exporting: { share: number | null } | null;
  plain: boolean; // materials by softness and strength, without units
}

export const initialState: State = {
  connected: false,
  catalogue: null,
  examples: [],
  files: { scenes: [], runs: [], meshes: [] },
  folder: "",
  autosave: false,
  table: { bodies: [], actions: [], measures: [] },
  scenery: [],
  name: "",
  version: 0,
  built: -1,
  undo: 0,
  redo: 0,
  status: { playing: false, built: false, replay: false, frame: 0, frames: 0, speed: 1 },
  progress: null,
  scene: null,
  frame: null,
  following: true,
  replaying: false,
  loop: false,
  openEnd: false,
  look: {
    mode: "surface",
    colour: null,
    range: "percentile",
    low: 0,
    high: 1,
    map: "viridis",
    section: "off",
    cut: 0.5,
    flip: false,
    ground: true,
    shadow: true,
    loads: true,
    shrink: 0.82,
    inside: true,
    highlight: "cell",
  },
  tool: "orbit",
  through: false,
  strength: 1,
  brush: 24,
  lump: { shape: "ball", size: 0.15, stick: true },
  selection: null,
  live: new Map(),
  plots: ["volume"],
  theme: "light",
  activeBody: 0,
  activeAction: null,
  activeKey: null,
  estimates: [],
  targets: [],
  pace: null,
  failed: null,
  exporting: null,
  plain: false,
};

type Listener = (state: State, before: State) => void;

export class Store {
  private listeners: { keys: (keyof State)[]; listener: Listener }[] = [];

  constructor(public state: State = { ...initialState }) {}

  /** Changes some of the state and tells those who listen to it. */
  set(changes: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...changes };
    const changed = (Object.keys(changes) as (keyof State)[]).filter((key) => before[key] !== this.state[key]);
    if (!changed.length) return;
    for (const { keys, listener } of this.listeners)
      if (keys.some((key) => changed.includes(key))) listener(this.state, before);
  }

  look(changes: Partial<Look>): void {
    this.set({ look: { ...this.state.look, ...changes } });
  }

  /** Calls `listener` now and whenever one of `keys` changes. */
  on(keys: (keyof State)[], listener: Listener): void {
    this.listeners.push({ keys, listener });
    listener(this.state, this.state);
  }
}
