"""Make docs/images/report.png: the top of the demo's report, as a browser shows it.

Needs chromium and playwright, like the tests in tests/report:

    python docs/screenshot_report.py [FILE.png]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from wgsindy import WGSINDy, zoo
from wgsindy.report import write_report
from wgsindy.zoo import DEMO_SYSTEM, demo_data

SIZE = {"width": 1400, "height": 1120}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000  # milliseconds


def screenshot(page: Path, picture: Path) -> None:
    """Show a report in a window and keep what is seen of it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as driver:
        # Root has no sandbox, and containers little shared memory.
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        window = driver.chromium.launch(executable_path=browser, args=options)
        tab = window.new_page(viewport=SIZE)
        tab.goto(page.as_uri())
        tab.wait_for_selector("html[data-drawn='yes']", timeout=PATIENCE)
        tab.screenshot(path=picture)
        window.close()


def main() -> None:
    """Fit the bundled data, write the report, take the picture."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/report.png")
    system, data = zoo.get(DEMO_SYSTEM), demo_data()
    fitted = WGSINDy(system.library, "sharp").fit(data)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        title = f"{system.title}, the bundled data"
        write_report(
            page, fitted.generator_, data, fitted.diagnostics_, title=title, command="wgsindy demo"
        )
        screenshot(page, picture)


if __name__ == "__main__":
    main()
