/** The stage: renderer, camera, light, ground; draws only when something changed. */

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Vec3 } from "../protocol";

export type Up = "x" | "y" | "z";
const FOV = 38; // degrees from the bottom to the top of the picture
const UPS: Record<Up, [number, number, number]> = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(FOV, 1, 0.001, 1000);
  readonly renderer: THREE.WebGLRenderer;
  readonly overlay = new THREE.Group(); // drawn on top, never clipped
  controls: OrbitControls;
  up: Up = "z";
  onDrawn: (() => void)[] = [];
  private dirty = false;
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.1);
  private readonly ground = new THREE.Group();
  private shade: THREE.Mesh;
  private size = 1;
  keeping = true; // whether the view follows what it looks at, until somebody turns or moves it

  constructor(readonly host: HTMLElement) {
    const quick = new URLSearchParams(location.search).has("quick"); // for software rendering: coarse pixels
    this.renderer = new THREE.WebGLRenderer({ antialias: !quick, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(quick ? 0.5 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.localClippingEnabled = true;
    host.append(this.renderer.domElement);
    this.renderer.domElement.tabIndex = 0;
    this.renderer.domElement.setAttribute("aria-label", "3D view: arrows turn it, shift and arrows move it, plus and minus zoom");
    this.renderer.domElement.setAttribute("role", "application");
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa0a8, 1.35), this.sun, this.sun.target, this.overlay, this.ground);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(quick ? 256 : 1024);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.01;
    this.shade = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.22 }));
    this.shade.receiveShadow = true;
    this.camera.up.set(...UPS[this.up]);
    this.controls = this.makeControls();
    this.renderer.domElement.addEventListener("keydown", (event) => {
      if (this.steer(event.key, event.shiftKey)) event.preventDefault();
    });
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.renderer.domElement);
    controls.enableDamping = false;
    controls.zoomToCursor = true;
    controls.addEventListener("change", () => this.invalidate());
    controls.addEventListener("start", () => (this.keeping = false));
    return controls;
  }

  /** Turns, moves or zooms the view by a key; false for other keys. */
  steer(key: string, shift: boolean): boolean {
    const sides: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const zoom = { "+": 1 / 1.15, "=": 1 / 1.15, "-": 1.15 }[key];
    const side = sides[key];
    const target = this.controls.target;
    const away = this.camera.position.clone().sub(target);
    const up = this.camera.up.clone();
    const right = up.clone().cross(away).normalize();
    if (zoom) away.multiplyScalar(zoom);
    else if (side && shift) {
      const step = 0.05 * away.length();
      target.addScaledVector(right, step * side[0]).addScaledVector(up, step * side[1]);
    } else if (side) {
      const steep = away.angleTo(up) - 0.12 * side[1];
      away.applyAxisAngle(up, 0.12 * side[0]);
      if (steep > 0.05 && steep < Math.PI - 0.05) away.applyAxisAngle(up.clone().cross(away).normalize(), -0.12 * side[1]);
    } else return false;
    this.keeping = false;
    this.camera.position.copy(target).add(away);
    this.controls.update();
    this.invalidate();
    return true;
  }

  setUp(up: Up): void {
    if (up === this.up) return;
    this.up = up;
    const target = this.controls.target.clone();
    this.controls.dispose();
    this.camera.up.set(...UPS[up]);
    this.controls = this.makeControls();
    this.controls.target.copy(target);
  }

  resize(): void {
    const { clientWidth: w, clientHeight: h } = this.host;
    if (!w || !h) return;
    this.renderer.setSize(w, h);
    this.camera.aspect = w / h;
    this.camera.updateProjectionMatrix();
    this.render(); // at once: a canvas of another size is empty
  }

  /** Asks for a picture at the next chance. */
  invalidate(): void {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => this.render());
  }

  render(): void {
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
    for (const done of this.onDrawn) done();
  }

  /** Colours of the background for a theme. */
  theme(dark: boolean): void {
    this.scene.background = new THREE.Color(dark ? 0x1b1f24 : 0xeef1f4);
    this.buildGround(dark);
    this.invalidate();
  }

  private buildGround(dark: boolean): void {
    const grid = new THREE.GridHelper(1, 20, dark ? 0x59626d : 0xb4bcc6, dark ? 0x323941 : 0xd5dae0);
    (grid.material as THREE.Material).depthWrite = false;
    grid.rotation.x = Math.PI / 2; // a plane across z, like the shade
    this.ground.clear();
    this.ground.add(grid, this.shade);
  }

  /** Puts ground and light around a box. */
  arrange(box: THREE.Box3, level: number | null, ground: boolean, shadow: boolean): void {
    const centre = box.getCenter(new THREE.Vector3());
    const reach = Math.max(box.getSize(new THREE.Vector3()).length(), 1e-6);
    this.size = reach;
    const axis = new THREE.Vector3(...UPS[this.up]);
    const foot = level ?? Math.min(box.min.dot(axis), 0);
    const ground_at = centre.clone().addScaledVector(axis, foot - centre.dot(axis));
    this.ground.position.copy(ground_at);
    this.ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), axis);
    const step = 10 ** Math.floor(Math.log10(reach));
    this.ground.scale.setScalar(Math.max(20 * step * (reach / step > 4 ? 0.5 : 0.25), 4 * reach));
    this.ground.visible = ground;
    this.shade.visible = shadow;
    const side = new THREE.Vector3(0.55, -0.8, 0.6).applyQuaternion(this.ground.quaternion);
    this.sun.position.copy(centre).addScaledVector(axis, 1.9 * reach).addScaledVector(side, 0.9 * reach);
    this.sun.target.position.copy(centre);
    this.sun.castShadow = shadow;
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -1.3 * reach;
    camera.right = camera.top = 1.3 * reach;
    camera.near = 0.05 * reach;
    camera.far = 6 * reach;
    camera.updateProjectionMatrix();
    this.camera.near = 0.005 * reach;
    this.camera.far = 60 * reach;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  /** Looks at all of a box. */
  frame(box: THREE.Box3, keepDirection: boolean): void {
    const centre = box.getCenter(new THREE.Vector3());
    const radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 1e-6);
    let direction = this.camera.position.clone().sub(this.controls.target);
    if (!keepDirection) this.camera.fov = FOV;
    this.camera.updateProjectionMatrix();
    if (!keepDirection || direction.lengthSq() < 1e-12)
      direction = new THREE.Vector3(0.62, -1, 0.42).applyQuaternion(
        new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...UPS[this.up])),
      );
    const half = THREE.MathUtils.degToRad(this.camera.fov / 2);
    const fit = radius / Math.sin(half) / Math.min(1, this.camera.aspect);
    this.keeping = true;
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction.normalize(), 1.02 * fit);
    this.controls.update();
    this.invalidate();
  }

  /** Goes after a box that is leaving the picture: a little with every picture, and never nearer. */
  keep(box: THREE.Box3): void {
    if (!this.keeping || box.isEmpty() || !Number.isFinite(box.max.lengthSq() + box.min.lengthSq())) return;
    const out = this.beyond(box);
    if (out <= 0) return;
    const target = this.controls.target;
    const away = this.camera.position.clone().sub(target);
    const share = Math.min(1, 0.1 + 3 * out);
    target.lerp(box.getCenter(new THREE.Vector3()), share);
    this.camera.position.copy(target).add(away);
    const still = this.beyond(box);
    if (still > 0) this.camera.position.copy(target).addScaledVector(away, Math.min(1 + share * still, 40 * (this.size / away.length())));
    this.controls.update();
  }

  /** How far the corners of a box are out of the picture, in halves of it; none: 0 or less. */
  private beyond(box: THREE.Box3): number {
    this.camera.updateMatrixWorld();
    let out = -1;
    for (let corner = 0; corner < 8; corner++) {
      const place = new THREE.Vector3(...([0, 1, 2].map((c) => ((corner >> c) & 1 ? box.max : box.min).getComponent(c)) as [number, number, number]));
      const behind = place.clone().applyMatrix4(this.camera.matrixWorldInverse).z > -this.camera.near;
      place.project(this.camera);
      out = Math.max(out, behind ? 1 : Math.max(Math.abs(place.x), Math.abs(place.y)) - 0.97);
    }
    return Math.min(out, 2);
  }

  /** The camera as scenes have it. */
  shot(): { position: Vec3; target: Vec3; angle: number } {
    const round = (value: number): number => Number(value.toPrecision(6));
    return { position: this.camera.position.toArray().map(round) as Vec3, target: this.controls.target.toArray().map(round) as Vec3, angle: this.camera.fov };
  }

  /** Looks as a camera of a scene does; the view stays there. */
  shoot(position: Vec3, target: Vec3, angle: number): void {
    this.keeping = false;
    this.camera.fov = angle;
    this.camera.updateProjectionMatrix();
    this.controls.target.set(...target);
    this.camera.position.set(...position);
    this.controls.update();
    this.invalidate();
  }

  get reach(): number {
    return this.size;
  }
}
