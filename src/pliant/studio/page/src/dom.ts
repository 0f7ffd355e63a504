/** Elements without ceremony. */

type Child = Node | string | null | undefined | false;
type Props = Record<string, unknown>;

/** An element; `on...` are listeners, `class`, `style` and other names are attributes or properties. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name in element && name !== "list" && typeof value !== "string") Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Puts `children` in place of what an element holds. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)));
}

const PATHS: Record<string, string> = {
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  step: "M6 5l9 7-9 7zM18 5v14",
  reset: "M4 4v6h6M4.5 10a8 8 0 1 1-.5 4",
  replay: "M17 2l4 4-4 4M21 6H8a5 5 0 0 0-5 5M7 22l-4-4 4-4M3 18h13a5 5 0 0 0 5-5",
  undo: "M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6",
  redo: "M15 7l5 5-5 5M20 12H10a6 6 0 0 0-6 6",
  open: "M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  save: "M5 3h11l5 5v13H5zM8 3v6h7V3M8 21v-7h9v7",
  help: "M9.5 9a2.5 2.5 0 1 1 3.5 2.3c-.8.4-1 .9-1 1.7M12 17h.01M12 22a10 10 0 1 0 0-20 10 10 0 0 0 0 20z",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 16a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  film: "M4 4h16v16H4zM8 4v16M16 4v16M4 12h16",
  frame: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  orbit: "M12 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0M3 12c0-2.5 4-4.500 9-4.500s9 2 9 4.500-4 4.500-9 4.500-9-2-9-4.500z",
  pull: "M12 21V8M7 13l5-5 5 5M5 3h14",
  pick: "M5 3l14 8-6 2-3 6z",
  box: "M4 4h3M10 4h4M17 4h3v3M20 10v4M20 17v3h-3M14 20h-4M7 20H4v-3M4 14v-4M4 7V4",
  paint: "M4 20c3 0 5-1 5-4a2.500 2.500 0 0 0-5 0c0 2 0 3-2 4zM9 14L19 3l2 2-10 11",
  tool: "M12 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM12 16v5",
  add: "M12 5v14M5 12h14",
  remove: "M6 6l12 12M18 6L6 18",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  key: "M12 4l8 8-8 8-8-8z",
  pin: "M12 3v10M8 3h8M7 13h10M12 13v8",
  knife: "M4 20l6-6M10 14L20 4c1 3-1 8-4 10l-3 1z",
  stiff: "M5 4v16M19 4v16M5 8h14M5 12h14M5 16h14",
  soft: "M3 9c3-4 6 4 9 0s6 4 9 0M3 15c3-4 6 4 9 0s6 4 9 0",
  glue: "M8 3h8l-1 6H9zM10 9v4a2 2 0 0 0 4 0V9M12 16v5",
  lump: "M9 20a6 6 0 1 1 4-10M17 4v8M13 8h8M9 20h7a4 4 0 0 0 2-7",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  body: "M12 3l8 4.500v9L12 21l-8-4.500v-9zM12 12l8-4.500M12 12v9M12 12L4 7.500",
};

/** A line drawing of 18 pixels. */
export function icon(name: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name] ?? "");
  svg.append(path);
  return svg;
}

/** A button with an icon, a text, or both; `hint` is its tooltip and its name for screen readers. */
export function button(props: {
  icon?: string;
  text?: string;
  hint: string;
  id?: string;
  kind?: string;
  disabled?: boolean;
  pressed?: boolean;
  click: (event: MouseEvent) => void;
}): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      id: props.id,
      class: `button ${props.kind ?? ""}`,
      title: props.hint,
      "aria-label": props.hint,
      "aria-pressed": props.pressed === undefined ? null : String(props.pressed),
      disabled: props.disabled ?? false,
      onclick: props.click,
    },
    props.icon ? (icon(props.icon) as unknown as Node) : null,
    props.text ?? null,
  );
}
