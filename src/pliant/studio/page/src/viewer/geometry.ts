/** Arrays of corners from arrays of points: pure functions, tested without a screen. */

/** Stands for the value of a body that has none; the shader leaves it plain. */
export const NONE = 1e37;

/** Surface points doubled along sharp edges: row i of `out` is row origin[i] of `points`. */
export function expand(points: Float32Array, origin: Uint32Array, out: Float32Array): void {
  for (let i = 0; i < origin.length; i++) {
    const from = 3 * origin[i]!;
    out[3 * i] = points[from]!;
    out[3 * i + 1] = points[from + 1]!;
    out[3 * i + 2] = points[from + 2]!;
  }
}

const SIDES = [1, 2, 3, 0, 3, 2, 0, 1, 3, 0, 2, 1];

/** Tets drawn towards their centres: 12 corners each. */
export function shrunkTets(x: Float32Array, tets: Uint32Array, shrink: number, out: Float32Array): void {
  const corner = new Float64Array(12);
  for (let t = 0; t < tets.length / 4; t++) {
    for (let c = 0; c < 3; c++) {
      let mean = 0;
      for (let k = 0; k < 4; k++) mean += x[3 * tets[4 * t + k]! + c]! / 4;
      for (let k = 0; k < 4; k++) corner[3 * k + c] = mean + shrink * (x[3 * tets[4 * t + k]! + c]! - mean);
    }
    for (let s = 0; s < 12; s++)
      for (let c = 0; c < 3; c++) out[36 * t + 3 * s + c] = corner[3 * SIDES[s]! + c]!;
  }
}

/** A friendly colour for each of `count` things, `times` corners each; the golden ratio keeps neighbours apart. */
export function tints(count: number, times: number): Float32Array {
  const out = new Float32Array(3 * count * times);
  for (let n = 0; n < count; n++) {
    const hue = (n * 0.61803398875) % 1;
    const [s, v] = [0.35 + 0.2 * ((n * 0.37) % 1), 0.82 + 0.14 * ((n * 0.73) % 1)];
    for (let c = 0; c < 3; c++) {
      const k = (((5 - 2 * c) % 6) + 6 * hue) % 6;
      const value = v - v * s * Math.max(0, Math.min(k, 4 - k, 1));
      for (let t = 0; t < times; t++) out[3 * (n * times + t) + c] = value * value;
    }
  }
  return out;
}

/** The distinct sides of triangles, as pairs. */
export function sides(corners: Uint32Array, origin: Uint32Array): Uint32Array {
  const seen = new Set<number>();
  const out: number[] = [];
  let most = 0;
  for (const o of origin) most = Math.max(most, o + 1);
  for (let k = 0; k < corners.length; k += 3)
    for (let s = 0; s < 3; s++) {
      const a = origin[corners[k + s]!]!;
      const b = origin[corners[k + ((s + 1) % 3)]!]!;
      const key = Math.min(a, b) * most + Math.max(a, b);
      if (!seen.has(key)) {
        seen.add(key);
        out.push(a, b);
      }
    }
  return new Uint32Array(out);
}

export interface Cells {
  particles: Uint32Array;
  weights: Float32Array;
  corners: Uint32Array;
  face: Uint32Array;
  edges: Uint32Array;
}

/** Dual cells drawn towards their particles: each triangle twice, once for either cell; 18 numbers each. */
export function dualCells(x: Float32Array, cells: Cells, shrink: number, out: Float32Array): void {
  const fixed = cells.particles.length / 4;
  const vertex = new Float32Array(3 * (fixed + cells.edges.length / 2));
  for (let k = 0; k < fixed; k++)
    for (let c = 0; c < 3; c++) {
      let sum = 0;
      for (let w = 0; w < 4; w++) sum += cells.weights[4 * k + w]! * x[3 * cells.particles[4 * k + w]! + c]!;
      vertex[3 * k + c] = sum;
    }
  for (let e = 0; e < cells.edges.length / 2; e++)
    for (let c = 0; c < 3; c++)
      vertex[3 * (fixed + e) + c] = 0.5 * (x[3 * cells.edges[2 * e]! + c]! + x[3 * cells.edges[2 * e + 1]! + c]!);
  for (let t = 0; t < cells.face.length; t++)
    for (let side = 0; side < 2; side++) {
      const centre = 3 * cells.edges[2 * cells.face[t]! + side]!;
      for (let k = 0; k < 3; k++) {
        const from = 3 * cells.corners[3 * t + (side ? 2 - k : k)]!;
        for (let c = 0; c < 3; c++) {
          const middle = x[centre + c]!;
          out[18 * t + 9 * side + 3 * k + c] = middle + shrink * (vertex[from + c]! - middle);
        }
      }
    }
}

/** The particle of each corner that `dualCells` makes. */
export function cellOwners(cells: Cells): Uint32Array {
  const out = new Uint32Array(6 * cells.face.length);
  for (let t = 0; t < cells.face.length; t++)
    for (let side = 0; side < 2; side++)
      for (let k = 0; k < 3; k++) out[6 * t + 3 * side + k] = cells.edges[2 * cells.face[t]! + side]!;
  return out;
}
