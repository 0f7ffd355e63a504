/** A body on the stage: drawn in one of several ways, moved by every frame. */

import * as THREE from "three";
import type { Frame } from "../protocol";
import type { Mode } from "../store";
import type { Colouring } from "./colours";
import { type Cells, cellOwners, dualCells, expand, NONE, shrunkTets, sides, tints } from "./geometry";
import { type Chosen, Highlight } from "./highlight";
import { Inside } from "./inside";
import { hideBeyond, type SectionPlane } from "./section";

export const PALETTE = [0xe2703a, 0x2f80c2, 0x4a9e63, 0xb0559b, 0xc9a227, 0x5b6bbf];

type Drawn = THREE.Mesh | THREE.LineSegments | THREE.Points;

export class BodyView {
  readonly group = new THREE.Group();
  mode: Mode = "surface";
  shrink = 0.82;
  points: Float32Array = new Float32Array(); // surface points
  particles: Float32Array = new Float32Array();
  readonly rest: Float32Array;
  colour: string | null = null; // the field that is shown
  section: SectionPlane | null = null;
  chosen: Chosen | null = null; // a dual cell or a face of one
  private values: Float32Array | null = null;
  private surfaceValues: Float32Array | null = null;
  private drawn: Drawn | null = null;
  private readonly origin: Uint32Array;
  private readonly corners: Uint32Array;
  readonly owner: Uint32Array;
  readonly tets: Uint32Array;
  private readonly edges: Uint32Array;
  private readonly cells: Cells | null;
  private readonly inside: Inside;
  private readonly highlight = new Highlight();

  constructor(
    readonly name: string,
    readonly number: number,
    readonly spacing: number,
    frame: Frame,
    private readonly colouring: Colouring,
    private readonly planes: THREE.Plane[],
  ) {
    const index = (what: string) => frame.indices.get(`${number}/${what}`) ?? new Uint32Array();
    this.origin = index("origin");
    this.corners = index("corners");
    this.owner = index("owner");
    this.tets = index("tets");
    this.edges = index("edges");
    const weights = frame.floats.get(`${number}/cell-weights`);
    this.cells = weights
      ? { weights, particles: index("cell-particles"), corners: index("cell-corners"), face: index("cell-face"), edges: index("cell-edges") }
      : null;
    this.rest = this.particles = frame.floats.get(`${number}/rest`) ?? new Float32Array();
    this.inside = new Inside(colouring);
    this.group.add(this.inside.group, this.highlight.mesh);
  }

  /** Whether it is there; not before it appears, nor once it is removed. */
  get shown(): boolean {
    return this.group.visible;
  }

  /** Around its particles. */
  bounds(): THREE.Box3 {
    return new THREE.Box3().setFromArray(this.particles);
  }

  get hasSurface(): boolean {
    return this.origin.length > 0;
  }

  /** Takes the positions and values of a frame. */
  update(frame: Frame): void {
    const own = (what: string) => frame.floats.get(`${this.number}/${what}`) ?? null;
    this.points = own("surface") ?? this.points;
    this.particles = own("particles") ?? this.particles;
    this.values = own(`values.${this.colour}`);
    this.surfaceValues = own(`surface-values.${this.colour}`);
    this.draw();
  }

  /** Unit normals of the points of the surface. */
  normals(): Float32Array {
    const out = new Float32Array(this.points.length);
    const [a, b, c] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    for (let t = 0; t < this.corners.length; t += 3) {
      const ids = [0, 1, 2].map((k) => this.origin[this.corners[t + k]!]!);
      a.fromArray(this.points, 3 * ids[0]!);
      b.fromArray(this.points, 3 * ids[1]!).sub(a);
      c.fromArray(this.points, 3 * ids[2]!).sub(a);
      b.cross(c);
      for (const id of ids) for (let k = 0; k < 3; k++) out[3 * id + k]! += b.getComponent(k);
    }
    for (let k = 0; k < out.length; k += 3) a.fromArray(out, k).normalize().toArray(out, k);
    return out;
  }

  /** Particles next to `ids`: along the edges of tets, or within a little more than the spacing. */
  grown(ids: Set<number>): Set<number> {
    const out = new Set(ids);
    for (let k = 0; k < this.edges.length; k += 2) {
      const [a, b] = [this.edges[k]!, this.edges[k + 1]!];
      if (ids.has(a)) out.add(b);
      if (ids.has(b)) out.add(a);
    }
    if (this.edges.length) return out;
    const near = (1.6 * this.spacing) ** 2;
    for (let b = 0; b < this.rest.length / 3; b++)
      for (const a of ids) if ([0, 1, 2].reduce((sum, c) => sum + (this.rest[3 * a + c]! - this.rest[3 * b + c]!) ** 2, 0) < near) out.add(b);
    return out;
  }

  /** The values that are coloured now. */
  shownValues(): Float32Array | null {
    return this.surfaceValues ?? this.values;
  }

  setMode(mode: Mode): void {
    if (mode === this.mode && this.drawn) return;
    this.mode = mode;
    if (this.drawn) {
      this.group.remove(this.drawn);
      this.drawn.geometry.dispose();
      (this.drawn.material as THREE.Material).dispose();
      this.drawn = null;
    }
    this.draw();
  }

  /** What can be hit by the pointer. */
  get target(): Drawn | null {
    return this.drawn;
  }

  /** The particle behind a hit of the pointer. */
  particleAt(hit: THREE.Intersection): number | null {
    if (this.drawn instanceof THREE.Points) return hit.index ?? null;
    if (this.drawn instanceof THREE.LineSegments) {
      const source = this.mode === "edges" ? this.edges : null;
      return hit.index === undefined || !source ? null : source[hit.index]!;
    }
    if (!hit.face) return null;
    if (this.mode === "tets" && hit.faceIndex !== undefined && hit.faceIndex !== null)
      return this.nearest(Array.from(this.tets.subarray(4 * Math.floor(hit.faceIndex / 4), 4 * Math.floor(hit.faceIndex / 4) + 4)), hit.point);
    if (this.mode === "cells" && this.cells && hit.faceIndex !== undefined && hit.faceIndex !== null)
      return this.cells.edges[2 * this.faceAt(hit.faceIndex) + (hit.faceIndex % 2)]!;
    const ids = [hit.face.a, hit.face.b, hit.face.c].map((corner) => this.owner[this.origin[corner]!]!);
    return ids.length ? this.nearest(ids, hit.point) : null;
  }

  /** Chooses the dual cell or face behind a hit of the pointer; null: none. */
  choose(kind: Chosen["kind"], hit: THREE.Intersection | null): void {
    const triangle = hit?.faceIndex;
    if (this.mode !== "cells" || !this.cells || triangle === undefined || triangle === null) this.chosen = null;
    else this.chosen = { kind, id: kind === "face" ? this.faceAt(triangle) : this.cells.edges[2 * this.faceAt(triangle) + (triangle % 2)]! };
    this.draw();
  }

  private faceAt(triangle: number): number {
    return this.cells!.face[Math.floor(triangle / 2)]!;
  }

  private nearest(ids: number[], point: THREE.Vector3): number {
    const far = (id: number) =>
      (this.particles[3 * id]! - point.x) ** 2 + (this.particles[3 * id + 1]! - point.y) ** 2 + (this.particles[3 * id + 2]! - point.z) ** 2;
    return ids.reduce((a, b) => (far(b) < far(a) ? b : a));
  }

  /** Brings what is drawn up to date. */
  draw(): void {
    const mode = this.fitting();
    this.inside.update(this.particles, this.tets, mode === "surface" ? this.section : null, this.values);
    this.highlight.mesh.visible = false;
    this.drawn ??= this.make(mode);
    const geometry = this.drawn.geometry;
    const position = geometry.getAttribute("position") as THREE.BufferAttribute;
    const value = geometry.getAttribute("aValue") as THREE.BufferAttribute;
    const out = position.array as Float32Array;
    const values = value.array as Float32Array;
    if (!(["surface", "wireframe"].includes(mode) ? this.surfaceValues : this.values)) values.fill(NONE);
    if (mode === "surface") {
      expand(this.points, this.origin, out);
      geometry.computeVertexNormals();
      if (this.surfaceValues) for (let i = 0; i < this.origin.length; i++) values[i] = this.surfaceValues[this.origin[i]!]!;
    } else if (mode === "wireframe") {
      out.set(this.points);
      if (this.surfaceValues) values.set(this.surfaceValues);
    } else if (mode === "tets") {
      shrunkTets(this.particles, this.tets, this.shrink, out);
      if (this.section) hideBeyond(out, 12, this.section);
      if (this.values)
        for (let t = 0; t < this.tets.length / 4; t++) {
          let mean = 0;
          for (let k = 0; k < 4; k++) mean += this.values[this.tets[4 * t + k]!]! / 4;
          values.fill(mean, 12 * t, 12 * t + 12);
        }
    } else if (mode === "cells" && this.cells) {
      dualCells(this.particles, this.cells, this.shrink, out);
      const owners = cellOwners(this.cells);
      if (this.values) for (let k = 0; k < owners.length; k++) values[k] = this.values[owners[k]!]!;
      this.paintCells(geometry, owners);
      this.highlight.update(this.cells, out, this.chosen);
      this.fade(this.chosen !== null);
    } else {
      out.set(this.particles);
      if (this.values) values.set(this.values);
    }
    position.needsUpdate = value.needsUpdate = true;
    geometry.computeBoundingSphere();
  }

  private paintCells(geometry: THREE.BufferGeometry, owners: Uint32Array): void {
    const colour = geometry.getAttribute("color") as THREE.BufferAttribute;
    const base = tints(this.particles.length / 3, 1);
    for (let k = 0; k < owners.length; k++) {
      const id = owners[k]!;
      colour.setXYZ(k, base[3 * id]!, base[3 * id + 1]!, base[3 * id + 2]!);
    }
    colour.needsUpdate = true;
  }

  private fade(on: boolean): void {
    const material = this.drawn!.material as THREE.Material;
    if (material.transparent === on) return;
    Object.assign(material, { transparent: on, opacity: on ? 0.16 : 1, depthWrite: !on, needsUpdate: true });
    this.drawn!.castShadow = !on;
  }

  /** The mode, or what comes nearest where the body cannot be drawn so. */
  private fitting(): Mode {
    if (this.mode === "cells" && !this.cells) return this.tets.length ? "tets" : "particles";
    if (["tets", "edges"].includes(this.mode) && !this.tets.length) return "particles";
    if (["surface", "wireframe"].includes(this.mode) && !this.hasSurface) return "particles";
    return this.mode;
  }

  private make(mode: Mode): Drawn {
    const geometry = new THREE.BufferGeometry();
    const tint = PALETTE[this.number % PALETTE.length]!;
    const clip = mode === "tets" ? {} : { clippingPlanes: this.planes }; // tets stay whole
    const sized = (count: number) => {
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setAttribute("aValue", new THREE.BufferAttribute(new Float32Array(count), 1).setUsage(THREE.DynamicDrawUsage));
    };
    let made: Drawn;
    if (mode === "surface") {
      sized(this.origin.length);
      geometry.setIndex(new THREE.BufferAttribute(this.corners, 1));
      const material = new THREE.MeshStandardMaterial({ color: tint, roughness: 0.62, metalness: 0, side: THREE.DoubleSide, ...clip });
      made = new THREE.Mesh(geometry, this.colouring.teach(material, true));
    } else if (mode === "tets" || mode === "cells") {
      const count = mode === "tets" ? 3 * this.tets.length : 6 * this.cells!.face.length;
      sized(count);
      const own = mode === "tets" ? tints(this.tets.length / 4, 12) : new Float32Array(3 * count);
      geometry.setAttribute("color", new THREE.BufferAttribute(own, 3));
      const material = new THREE.MeshStandardMaterial({ vertexColors: true, flatShading: true, roughness: 0.7, side: THREE.DoubleSide, ...clip });
      made = new THREE.Mesh(geometry, this.colouring.teach(material, false));
    } else if (mode === "particles") {
      sized(this.particles.length / 3);
      const material = new THREE.PointsMaterial({ color: tint, size: 0.45 * this.spacing, ...clip });
      made = new THREE.Points(geometry, this.colouring.teach(material, false));
    } else {
      sized(mode === "edges" ? this.particles.length / 3 : this.points.length / 3);
      geometry.setIndex(new THREE.BufferAttribute(mode === "edges" ? this.edges : sides(this.corners, this.origin), 1));
      const material = new THREE.LineBasicMaterial({ color: tint, ...clip });
      made = new THREE.LineSegments(geometry, this.colouring.teach(material, false));
    }
    made.castShadow = made instanceof THREE.Mesh;
    made.receiveShadow = mode === "surface";
    made.frustumCulled = false;
    this.group.add(made);
    return made;
  }

  dispose(): void {
    this.drawn?.geometry.dispose();
    (this.drawn?.material as THREE.Material | undefined)?.dispose();
    this.inside.dispose();
    this.highlight.dispose();
  }
}
