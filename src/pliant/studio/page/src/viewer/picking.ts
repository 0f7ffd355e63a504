/** From the pointer to particles: rays, boxes, brushes; hidden ones are found out by a depth picture. */

import * as THREE from "three";
import type { BodyView } from "./body";
import type { Viewer } from "./viewer";

export interface Hit {
  body: BodyView;
  particle: number;
  point: THREE.Vector3;
  where: THREE.Intersection;
}

export class Picking {
  private readonly ray = new THREE.Raycaster();

  constructor(private readonly viewer: Viewer) {}

  private get canvas(): HTMLCanvasElement {
    return this.viewer.stage.renderer.domElement;
  }

  /** Aims the ray at a place on the page. */
  aim(x: number, y: number): THREE.Ray {
    const area = this.canvas.getBoundingClientRect();
    const place = new THREE.Vector2((2 * (x - area.left)) / area.width - 1, 1 - (2 * (y - area.top)) / area.height);
    this.ray.setFromCamera(place, this.viewer.stage.camera);
    return this.ray.ray;
  }

  /** The body and particle under the pointer. */
  hit(x: number, y: number): Hit | null {
    this.aim(x, y);
    let best: (Hit & { distance: number }) | null = null;
    for (const body of this.viewer.bodies) {
      if (!body.target || !body.shown) continue;
      this.ray.params.Points.threshold = 0.35 * body.spacing;
      this.ray.params.Line.threshold = 0.1 * body.spacing;
      const clip = body.target.material as THREE.Material;
      const hits = this.ray.intersectObject(body.target, false);
      const found = hits.find((each) => !(clip.clippingPlanes ?? []).some((plane) => plane.distanceToPoint(each.point) < 0));
      const particle = found && body.particleAt(found);
      if (found && particle !== null && particle !== undefined && (!best || found.distance < best.distance))
        best = { body, particle, point: found.point, where: found, distance: found.distance };
    }
    return best;
  }

  /** The obstacle under the pointer: its number among the actions. */
  obstacle(x: number, y: number): { number: number; point: THREE.Vector3 } | null {
    this.aim(x, y);
    const found = this.ray.intersectObjects(this.viewer.obstacles.targets, false)[0];
    return found ? { number: Number(found.object.userData["number"]), point: found.point } : null;
  }

  /** Where the pointer meets the plane through `through` that faces the camera. */
  onPlane(x: number, y: number, through: THREE.Vector3): THREE.Vector3 {
    const camera = this.viewer.stage.camera;
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new THREE.Vector3()), through);
    return this.aim(x, y).intersectPlane(plane, new THREE.Vector3()) ?? through.clone();
  }

  /** Particles of each body whose place on the page fulfils `inside`; only visible ones unless `through`. */
  inside(test: (x: number, y: number) => boolean, through: boolean): Map<BodyView, Set<number>> {
    const area = this.canvas.getBoundingClientRect();
    const camera = this.viewer.stage.camera;
    const depth = through ? null : this.depths();
    const found = new Map<BodyView, Set<number>>();
    const place = new THREE.Vector3();
    for (const body of this.viewer.bodies.filter((each) => each.shown)) {
      const ids = new Set<number>();
      const outer = !through && body.hasSurface ? new Set(body.owner) : null;
      for (let id = 0; id < body.particles.length / 3; id++) {
        if (outer && !outer.has(id)) continue;
        place.fromArray(body.particles, 3 * id);
        const away = place.distanceTo(camera.position);
        place.project(camera);
        if (place.z > 1) continue;
        const [x, y] = [area.left + ((place.x + 1) / 2) * area.width, area.top + ((1 - place.y) / 2) * area.height];
        if (!test(x, y)) continue;
        if (depth && away > depth.at(place.x, place.y) + 0.75 * body.spacing) continue;
        ids.add(id);
      }
      if (ids.size) found.set(body, ids);
    }
    return found;
  }

  /** A small picture of distances to the camera. */
  private depths(): { at: (x: number, y: number) => number } {
    const { renderer, scene, camera } = this.viewer.stage;
    const [w, h] = [256, 192];
    const target = new THREE.WebGLRenderTarget(w, h, { type: THREE.FloatType });
    const material = new THREE.ShaderMaterial({
      side: THREE.DoubleSide,
      vertexShader: "varying vec3 p; void main() { vec4 q = modelViewMatrix * vec4(position, 1.0); p = q.xyz; gl_Position = projectionMatrix * q; }",
      fragmentShader: "varying vec3 p; void main() { gl_FragColor = vec4(length(p), 0.0, 0.0, 1.0); }",
    });
    const hidden = scene.children.filter((child) => !this.viewer.bodies.some((body) => body.group === child) && child.visible);
    const background = scene.background;
    for (const child of hidden) child.visible = false;
    scene.overrideMaterial = material;
    scene.background = null;
    renderer.setRenderTarget(target);
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    renderer.render(scene, camera);
    const data = new Float32Array(4 * w * h);
    renderer.readRenderTargetPixels(target, 0, 0, w, h, data);
    renderer.setRenderTarget(null);
    scene.overrideMaterial = null;
    scene.background = background;
    for (const child of hidden) child.visible = true;
    target.dispose();
    material.dispose();
    const at = (x: number, y: number): number => {
      const [i, j] = [Math.round(((x + 1) / 2) * w - 0.5), Math.round(((y + 1) / 2) * h - 0.5)];
      let nearest = Infinity;
      for (const [di, dj] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]] as const) {
        const k = 4 * (Math.min(Math.max(j + dj, 0), h - 1) * w + Math.min(Math.max(i + di, 0), w - 1));
        const value = data[k + 3] ? data[k]! : Infinity;
        if (value < nearest) nearest = value;
      }
      return nearest;
    };
    return { at };
  }
}
