/** What a section plane lays open in a body made of tets: the cut tets with their outlines. */

import * as THREE from "three";
import type { Colouring } from "./colours";
import { tints } from "./geometry";
import { crossSection, type SectionPlane } from "./section";

export class Inside {
  readonly group = new THREE.Group();
  private readonly faces: THREE.Mesh;
  private readonly lines: THREE.LineSegments;
  private colours: Float32Array = new Float32Array();

  constructor(colouring: Colouring) {
    const fill = new THREE.MeshStandardMaterial({ vertexColors: true, flatShading: true, roughness: 0.8, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    this.faces = new THREE.Mesh(new THREE.BufferGeometry(), colouring.teach(fill, false));
    this.lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x26303a, transparent: true, opacity: 0.65 }));
    for (const each of [this.faces, this.lines]) {
      each.frustumCulled = false;
      this.group.add(each);
    }
  }

  /** Cuts anew; without a plane nothing is shown. */
  update(x: Float32Array, tets: Uint32Array, plane: SectionPlane | null, values: Float32Array | null): void {
    this.group.visible = plane !== null && tets.length > 0;
    if (!plane || !tets.length) return;
    if (this.colours.length !== (3 * tets.length) / 4) this.colours = tints(tets.length / 4, 1);
    const cut = crossSection(x, tets, plane, values);
    const colour = new Float32Array(cut.points.length);
    cut.tet.forEach((t, k) => colour.set(this.colours.subarray(3 * t, 3 * t + 3), 3 * k));
    const geometry = this.faces.geometry;
    geometry.dispose();
    geometry.setAttribute("position", new THREE.BufferAttribute(cut.points, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colour, 3));
    geometry.setAttribute("aValue", new THREE.BufferAttribute(cut.values, 1));
    this.lines.geometry.dispose();
    this.lines.geometry.setAttribute("position", new THREE.BufferAttribute(cut.lines, 3));
  }

  dispose(): void {
    for (const each of [this.faces, this.lines]) {
      each.geometry.dispose();
      (each.material as THREE.Material).dispose();
    }
  }
}
