"""Makes the pictures of docs/studio.md (needs playwright and Chromium)."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "studio"))
from serving import FLAGS, SIZE, start

OUT = Path(__file__).parent / "pictures"
STATE = "studio.app.store.state"


def small(path: Path) -> None:
    """256 colours: screenshots stay small."""
    from PIL import Image

    with Image.open(path) as image:
        palette = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    palette.save(path, optimize=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    served = start(Path(tempfile.mkdtemp()))
    try:
        with sync_playwright() as driver:
            chromium = os.environ.get("PLIANT_CHROMIUM") or shutil.which("chromium")
            browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport=SIZE, bypass_csp=True)
            page.set_default_timeout(200_000)
            page.goto(served.url)
            page.wait_for_function(f"() => window.studio && {STATE}.catalogue")
            page.click("#open")
            page.click("[data-name=hello]")
            page.wait_for_function(f"() => {STATE}.scene && !{STATE}.progress", polling=100)
            page.select_option("#colour", "stress")
            page.click("#run")
            page.wait_for_function(f"() => {STATE}.frame.frame >= 12", polling=50)
            page.click("#run")
            page.wait_for_timeout(1500)
            page.screenshot(path=OUT / "studio.png")
            small(OUT / "studio.png")
            page.select_option("#colour", "")
            page.click("#tool-pull")
            area = page.evaluate("() => studio.app.viewer.stage.host.getBoundingClientRect().toJSON()")
            x, y = area["x"] + 0.52 * area["width"], area["y"] + 0.3 * area["height"]
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 120, y - 10, steps=3)
            before = page.evaluate(f"() => {STATE}.frame.frame")
            page.wait_for_function(f"() => {STATE}.frame.frame >= {before + 14}", polling=50)
            page.wait_for_timeout(300)
            page.screenshot(path=OUT / "studio-pull.png")
            small(OUT / "studio-pull.png")
            browser.close()
    finally:
        served.process.terminate()


if __name__ == "__main__":
    main()
