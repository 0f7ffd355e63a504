/** What the server says: texts with `event`, and binary frames of a JSON header and arrays. */

export type Vec3 = [number, number, number];
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type Table = { [key: string]: Json };

export interface KeyInfo {
  name: string;
  kind: "number" | "vector" | "choice" | "flag" | "whole" | "text" | "select" | "body" | "axes" | "table";
  unit: string;
  default: Json;
  keyed: boolean;
  choices?: string[];
  length?: number;
  label?: string; // where it differs from the name
  about?: string;
}

export interface Entry {
  about: string;
  keys: KeyInfo[];
}

export interface ActionInfo extends Entry {
  main: string | null;
  live: boolean;
  steered: string | null;
  holds: boolean; // supports the selected particles
  mark: "pin" | "moved" | "arrow" | "pressure" | null; // how it is drawn where it acts
  tools: SelectionTool[];
}

/** A button that applies an action to the selected particles. */
export interface SelectionTool {
  name: string;
  icon: string;
  hint: string;
  group: "hold" | "shape";
  target: "particles" | "body" | "nearest";
  table: Table;
  needs: boolean; // whether the body's model has to be able to take it
}

export interface ModelInfo extends Entry {
  subject: string; // the heading of its examples
}

export interface MaterialInfo {
  note: string;
  source: string;
  young_range: [number, number];
  values: Record<string, number>;
}

export interface Catalogue {
  models: Record<string, ModelInfo>;
  integrators: Record<string, Entry>;
  shapes: Record<string, Entry>;
  actions: Record<string, ActionInfo>;
  materials: Record<string, MaterialInfo>;
  formats: { suffix: string; about: string }[]; // of exports
  body: { model: string; material: string }; // of a new body
}

/** Particles of a body that an action acts on. */
export interface Target {
  body: string;
  ids: number[];
}

/** A rigid shape of the scene: half sizes [m], axes as the columns of `frame`, where its centre is. */
export interface Scenery {
  kind: "plane" | "sphere" | "box" | "capsule" | "mesh";
  role: "ground" | "table" | "obstacle" | "tool";
  size: Vec3;
  frame: number[];
  path: Json;
  mesh?: SceneryMesh;
}

/** The surface of a mesh obstacle: points at times, and a turn by an angle about an axis. */
export interface SceneryMesh {
  times: number[];
  points: number[][];
  triangles: number[];
  axis: Vec3;
  angle: Json;
}

/** An action that has come while the simulation runs. */
export interface LiveAction {
  table: Table;
  scenery: Scenery | null;
}

export interface SceneTable {
  title?: string;
  up?: "x" | "y" | "z";
  camera?: Table;
  time?: Table;
  bodies: Table[];
  actions: Table[];
  measures: Table[];
}

export interface BodyInfo {
  name: string;
  model: string;
  particles: number;
  cells: number;
  mass: number;
  volume: number;
  spacing: number;
  low: Vec3;
  high: Vec3;
  fields: string[];
  can: string[];
  present: boolean; // false before it appears and once it is removed
  groups: Record<string, number[]>;
}

/** How large a body will be, before it is built. */
export interface Estimate {
  name: string;
  edge: number;
  particles: number;
}

/** How long the scene that is built will take: computing time over simulated time, as measured over its first part. */
export interface Pace {
  ratio: number;
  covered: number; // simulated seconds that were measured
  uncounted: string[]; // what may make the rest slower
  explicit: boolean; // whether steps shrink with the edge
}

/** What a mesh file is like. */
export interface Health {
  volume_mesh: boolean;
  vertices: number;
  triangles?: number;
  tets?: number;
  box_min: number[];
  box_max: number[];
  volume?: number | null;
  components?: number;
  closed?: boolean;
  unfillable?: string | null; // why it cannot be filled with tets
  problems: string[];
}

/** Why a simulation stopped, and where. */
export interface Failure {
  message: string;
  hint: string | null;
  frame: number;
  body?: string;
  what?: "particle" | "tet";
  number?: number;
}

export interface SceneInfo {
  bodies: BodyInfo[];
  columns: string[];
  fps: number;
  step: number;
  per_frame: number;
  reason: string;
  frames: number;
}

export interface Hand {
  id: number;
  at: Vec3;
  force: Vec3;
  to?: Vec3;
}

export interface FrameHeader {
  kind: "frame";
  frame: number;
  time: number;
  last: number;
  rows: (number | null)[][];
  factor: number | null;
  load: number | null;
  volume: number;
  pulls: Hand[];
  barriers: Hand[];
  units: Record<string, string>;
  topology: number;
  playing: boolean;
  scene?: SceneInfo;
}

interface ArrayInfo {
  name: string;
  type: "f32" | "u32";
  columns: number;
  offset: number;
  count: number;
}

export interface Frame {
  header: FrameHeader;
  floats: Map<string, Float32Array>;
  indices: Map<string, Uint32Array>;
}

const MAGIC = 0x31464c50; // "PLF1"

/** The header and the arrays of a binary message; arrays are views, nothing is copied. */
export function decode(data: ArrayBuffer): Frame {
  const view = new DataView(data);
  if (data.byteLength < 8 || view.getUint32(0, true) !== MAGIC) throw new Error("not a frame");
  const length = view.getUint32(4, true);
  const text = new TextDecoder().decode(new Uint8Array(data, 8, length));
  const header = JSON.parse(text) as FrameHeader & { arrays: ArrayInfo[] };
  const floats = new Map<string, Float32Array>();
  const indices = new Map<string, Uint32Array>();
  for (const { name, type, offset, count } of header.arrays) {
    const start = 8 + length + offset;
    if (type === "f32") floats.set(name, new Float32Array(data, start, count));
    else indices.set(name, new Uint32Array(data, start, count));
  }
  return { header, floats, indices };
}
