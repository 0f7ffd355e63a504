"""Makes the pictures of docs/studio.md, all or those named (needs playwright and Chromium)."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "studio"))
from serving import FLAGS, SIZE, start
from steps import STATE, enter, particles, pause, places, wait
from test_studio_hands import CLAY, TOOL

OUT = Path(__file__).parent / "pictures"
GROUND = '[[actions]]\ntype = "gravity"\n[[actions]]\ntype = "ground"\nlevel = -0.01\n'


def keep(page: Any, name: str) -> None:
    """A screenshot in 256 colours, which keeps it small."""
    from PIL import Image

    page.wait_for_timeout(600)
    page.screenshot(path=OUT / name)
    with Image.open(OUT / name) as image:
        palette = image.convert("RGB").quantize(256, kmeans=1, dither=Image.Dither.NONE)
    palette.save(OUT / name, optimize=True)


def open_file(page: Any, name: str) -> None:
    page.click("#open")
    page.click(f"[data-name='{name}']")
    wait(page, f"{STATE}.scene && {STATE}.frame && {STATE}.frame.frame === 0 && !{STATE}.progress")


def show(page: Any, frame: int) -> None:
    """Go to a recorded frame, however far the simulation has come on this machine."""
    page.evaluate(f"() => studio.app.say({{do: 'show', frame: {frame}}})")
    wait(page, f"{STATE}.frame.frame === {frame}")


def stress(page: Any) -> None:
    """A section through the gummy bear on its shaking plate."""
    open_file(page, "hello")
    page.select_option("#colour", "stress")
    page.click("#run")
    wait(page, f"{STATE}.frame.frame >= 12")
    pause(page)
    page.select_option("select[aria-label=section]", "y")
    keep(page, "studio.png")
    page.select_option("select[aria-label=section]", "off")
    page.select_option("#colour", "")


def pull(page: Any) -> None:
    open_file(page, "hello")
    page.click("#tool-pull")
    x, y = places(page)[int(np.argmax(particles(page)[:, 2]))]
    y += 30  # into its head
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y - 10, steps=3)
    before = page.evaluate(f"() => {STATE}.frame.frame")
    wait(page, f"{STATE}.frame.frame >= {before + 14}")
    keep(page, "studio-pull.png")
    page.mouse.up()
    pause(page)


def keys(page: Any) -> None:
    open_file(page, "tool.toml")
    page.click("#tool-orbit")
    page.click(".action[data-type=tool] .title")
    page.select_option("#add-lane", "position")
    for place, height in ((0.3, 0.11), (0.6, 0.11), (0.95, 0.2)):
        page.wait_for_selector(".lane-track")
        track = page.locator(".lane-track").bounding_box()
        page.mouse.click(track["x"] + place * track["width"], track["y"] + 8)
        page.wait_for_selector("[aria-label='key value z']")
        page.fill("[aria-label='key value z']", str(height))
        page.keyboard.press("Tab")
        page.wait_for_timeout(400)
    wait(page, f"{STATE}.built === {STATE}.version && !{STATE}.progress")
    page.click("#run")
    wait(page, f"{STATE}.frame.time >= 0.8")
    pause(page)
    show(page, 20)
    keep(page, "studio-keys.png")
    page.click(".action[data-type=tool] .title")


def cut(page: Any) -> None:
    open_file(page, "clay.toml")
    page.click("#run")
    wait(page, f"{STATE}.frame.frame > 2")
    page.select_option("#select-by", "clay: z high end")
    for number, deed in enumerate(("stiffen", "glue"), 1):
        page.click(f"#do-{deed}")
        wait(page, f"{STATE}.live.size === {number}")
    page.keyboard.press("Escape")
    page.click("#tool-knife")
    spots = places(page, "jelly")
    middle, low = spots.mean(axis=0), spots[:, 1].min() - 25
    page.mouse.move(middle[0] + 60, low)
    page.mouse.down()
    page.mouse.move(middle[0] + 5, middle[1], steps=3)
    page.mouse.up()
    wait(page, f"{STATE}.frame.topology > 0")
    before = page.evaluate(f"() => {STATE}.frame.frame")
    wait(page, f"{STATE}.frame.frame >= {before + 5}")
    pause(page)
    show(page, before + 5)
    page.select_option("#select-by", "clay: z high end")
    keep(page, "studio-cut.png")


def add(page: Any) -> None:
    """The add tool over clay that was added to already."""
    open_file(page, "clay.toml")
    page.click("#run")
    wait(page, f"{STATE}.frame.frame > 2")
    page.click("#tool-add")
    before, spots = len(particles(page, "clay")), places(page, "clay")
    page.mouse.click(*spots[np.argmin(particles(page, "clay") @ [1.0, 0.3, -1.0])])
    wait(page, f"studio.app.viewer.body('clay').particles.length > {3 * before}")
    pause(page)
    high = particles(page, "clay") @ [1.0, -0.3, 1.0]
    page.mouse.move(*places(page, "clay")[int(np.argmax(high))])
    keep(page, "studio-add.png")
    page.click("#tool-orbit")


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    (folder / "tool.toml").write_text(TOOL.replace("duration = 40.0", "duration = 2.0"))
    (folder / "clay.toml").write_text(CLAY.replace("divisions = [2, 2, 2]", "divisions = [4, 4, 4]") + GROUND)
    served = start(folder)
    try:
        with sync_playwright() as driver:
            chromium = os.environ.get("PLIANT_CHROMIUM") or shutil.which("chromium")
            browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
            page: Any = browser.new_page(viewport=SIZE, bypass_csp=True)
            page.problems = []
            page.set_default_timeout(200_000)
            enter(page, served, quick=False)
            for picture in (stress, pull, keys, cut, add):
                if len(sys.argv) == 1 or picture.__name__ in sys.argv[1:]:
                    picture(page)
            browser.close()
    finally:
        served.process.terminate()


if __name__ == "__main__":
    main()
