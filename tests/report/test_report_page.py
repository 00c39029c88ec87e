"""report.html in a browser: drawn, quiet, offline; on a phone, in the dark, on paper.

Needs Debian's chromium (``apt-get install chromium``) or any other, and playwright.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sympy

from wgsindy import Generator, Trajectories, WGSINDy, zoo
from wgsindy.model import named_fields
from wgsindy.report import write_report
from wgsindy.zoo import demo_data

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

    from wgsindy.diagnostics import Diagnostics

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 740}
NARROWEST = {"width": 320, "height": 568}
PATIENCE = 60_000  # milliseconds; pages are drawn in 1 to 2 seconds on a quiet machine
TITLE = "<img src=x onerror=alert(1)> & co"

pytestmark = pytest.mark.slow


def ornstein_uhlenbeck(dimension: int) -> Trajectories:
    rng = np.random.default_rng(0)
    x = np.zeros((8, 601, dimension))
    for n in range(600):
        x[:, n + 1] = 0.97 * x[:, n] + rng.normal(0, 0.1, (8, dimension))
    return Trajectories(list(x), dt=0.01)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM:
        pytest.skip("there is no chromium on this machine; apt-get install chromium")
    with sync_api.sync_playwright() as driver:
        # Root has no sandbox, and containers little shared memory.
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Reports of processes of 1, 2 and 3 coordinates."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for dimension in (1, 2, 3):
        data = demo_data() if dimension == 2 else ornstein_uhlenbeck(dimension)
        fitted = WGSINDy("poly3" if dimension == 2 else "poly1", "sharp").fit(data)
        found[dimension] = folder / f"report-{dimension}.html"
        write_report(
            found[dimension], fitted.generator_, data, fitted.diagnostics_, title=TITLE, command="x"
        )
    return found


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Diagnostics]:
    """A report of a fit with findings: observation noise, and a drift too weak to see."""
    rng = np.random.default_rng(1)
    x = np.zeros((6, 1001, 2))
    for n in range(1000):
        pull = np.stack([-2 * x[:, n, 0], np.zeros(6)], axis=1)
        x[:, n + 1] = x[:, n] + pull * 0.02 + rng.normal(0, 0.1, (6, 2))
    data = Trajectories(list(x + rng.normal(0, 0.03, x.shape)), dt=0.02, names=("mx", "my"))
    fitted = WGSINDy("poly1", "sharp").fit(data)
    path = tmp_path_factory.mktemp("doubtful") / "report.html"
    write_report(
        path, fitted.generator_, data, fitted.diagnostics_, time_unit="s", mapped=fitted.generator_
    )
    return path, fitted.diagnostics_


class Visit:
    """An open page, with everything it asked for and complained about."""

    def __init__(self, browser: Browser, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": DESKTOP, **options})
        self.page: Page = self.context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-drawn]", timeout=PATIENCE)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    def undrawn(self) -> list[str]:
        """Pictures without a mark of any size, or wider than their place."""
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll(".picture")].filter((plot) => {
              const marks = plot.querySelectorAll(".marks path, .marks image");
              const drawn = [...marks].some((mark) => {
                const box = mark.getBoundingClientRect();
                return box.width > 5; // a field that is zero is a flat line
              });
              const svg = plot.querySelector("svg");
              return !drawn || !svg || svg.getBoundingClientRect().width > plot.clientWidth + 1;
            }).map((plot) => plot.id)"""
        )
        return found

    def widths(self) -> tuple[int, int]:
        """Of the page and of the window: equal if nothing needs sideways scrolling."""
        wide, view = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        return wide, view

    def hidden_sections(self) -> list[str]:
        found: list[str] = self.page.evaluate(
            """() => [...document.querySelectorAll("section")]
              .filter((section) => section.getBoundingClientRect().height < 40)
              .map((section) => section.id)"""
        )
        return found


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_page_is_drawn_without_complaints_and_without_a_network(
    browser: Browser, reports: dict[int, Path], dimension: int
) -> None:
    with Visit(browser, reports[dimension]) as visit:
        assert visit.page.get_attribute("html", "data-drawn") == "yes"
        assert visit.complaints == []
        asked = [url for url in visit.requests if not url.startswith(("data:", "blob:"))]
        assert asked == [reports[dimension].as_uri()]
        assert visit.page.locator(".picture").count() > 8
        assert visit.undrawn() == []
        assert visit.hidden_sections() == []
        assert visit.page.locator("h1").inner_text() == TITLE


def test_an_empty_picture_would_be_seen(browser: Browser, reports: dict[int, Path]) -> None:
    with Visit(browser, reports[1]) as visit:
        visit.page.evaluate("() => document.querySelector('.picture .marks').replaceChildren()")
        assert len(visit.undrawn()) == 1
        visit.page.evaluate("() => fetch('data:,').catch(() => console.error('kept from it'))")
        visit.page.wait_for_timeout(100)
        assert visit.complaints  # the page's own policy forbids every request


def test_pointing_at_a_field_reads_its_value(browser: Browser, reports: dict[int, Path]) -> None:
    with Visit(browser, reports[2]) as visit:
        for name, expected in (("field-b2", "b[y] = "), ("arrows-0-1", "drift (")):
            plot = visit.page.locator(f"#{name}")
            plot.scroll_into_view_if_needed()
            # Arrows answer at their feet; the middle of 15 x 15 cells is one.
            box = plot.locator(".plane").bounding_box()
            assert box is not None
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            visit.page.mouse.move(x + 1, y)
            visit.page.mouse.move(x, y)
            shown = plot.locator(".hover")
            shown.first.wait_for(timeout=PATIENCE)
            assert expected in (shown.first.text_content() or "")


def test_a_finger_reads_a_curve_and_a_bar(browser: Browser, reports: dict[int, Path]) -> None:
    with Visit(browser, reports[1], viewport=PHONE, is_mobile=True, has_touch=True) as visit:
        for name, expected in (("residual-histogram-0", "residuals"), ("field-b1", "b[x]")):
            plot = visit.page.locator(f"#{name}")
            plot.scroll_into_view_if_needed()
            plot.locator(".plane").tap()  # its middle, through which the drift of a centre passes
            label = plot.locator(".hover")
            label.wait_for(timeout=PATIENCE)
            box, place = label.bounding_box(), plot.bounding_box()
            assert box
            assert place
            assert expected in label.inner_text()
            assert re.search(r": \u2212?\d", label.inner_text())
            assert place["x"] <= box["x"]
            assert box["x"] + box["width"] <= place["x"] + place["width"] + 1


def test_the_contents_work_by_mouse_and_by_keyboard(
    browser: Browser, reports: dict[int, Path]
) -> None:
    with Visit(browser, reports[2], reduced_motion="reduce") as visit:
        page = visit.page
        for name in ("residuals", "equations", "reproduce"):
            page.click(f"nav a[href='#{name}']")
            assert page.url.endswith(f"#{name}")
            assert page.locator(f"#{name}-title").is_visible()
        page.click("nav a[href='#fields']")
        page.wait_for_selector("nav a[href='#fields'][aria-current]", timeout=PATIENCE)
        page.goto(reports[2].as_uri())
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.hash") == "#verdict"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.url.endswith("#equations")
        summary = page.locator("#equations summary")
        summary.focus()
        page.keyboard.press("Enter")
        assert page.locator("#equations pre").first.is_visible()


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_phone_needs_no_sideways_scrolling(
    browser: Browser, reports: dict[int, Path], dimension: int
) -> None:
    with Visit(
        browser, reports[dimension], viewport=PHONE, is_mobile=True, has_touch=True
    ) as visit:
        for size in (PHONE, NARROWEST):
            visit.page.set_viewport_size({"width": size["width"], "height": size["height"]})
            visit.page.wait_for_timeout(1000)
            assert visit.widths() == (size["width"], size["width"])
        assert visit.undrawn() == []


def test_the_cards_tell_what_to_do_on_every_screen(
    browser: Browser, doubtful: tuple[Path, Diagnostics]
) -> None:
    page, diagnostics = doubtful
    assert len(diagnostics.findings) >= 2
    for size in (DESKTOP, PHONE):
        with Visit(browser, page, viewport=size) as visit:
            summary, cards = visit.page.locator(".summary"), visit.page.locator(".finding")
            assert summary.inner_text() == named_fields(diagnostics.summary, ("mx", "my"))
            assert size_of(summary) > 1.25 * size_of(cards.first)
            shown = cards.all_inner_texts()
            for text, finding in zip(shown, diagnostics.findings, strict=True):
                assert str(finding.limitation).lower() in text.lower()
                assert named_fields(finding.sentence[1:], ("mx", "my")) in text
                assert named_fields(finding.advice, ("mx", "my")) in text
                assert ("the fit allows for it" in text) == finding.handled
            boxes = [card.bounding_box() for card in cards.all()]
            columns = {round(box["x"]) for box in boxes if box}
            assert len(columns) == (2 if size is DESKTOP else 1)
            assert visit.widths() == (size["width"], size["width"])


def size_of(place: Locator) -> float:
    """Height of its letters, in pixels."""
    return float(place.evaluate("(element) => parseFloat(getComputedStyle(element).fontSize)"))


def test_the_table_of_checks_is_read_without_scrolling(
    browser: Browser, doubtful: tuple[Path, Diagnostics]
) -> None:
    for size in (DESKTOP, PHONE):
        with Visit(browser, doubtful[0], viewport=size) as visit:
            rows = visit.page.locator("#checks tbody tr")
            assert rows.count() == 17
            for row in rows.all():
                box = row.bounding_box()
                assert box
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= size["width"]
                # On a phone the name has a line of its own.
                name, value = row.locator("th").bounding_box(), row.locator("td").first
                other = value.bounding_box()
                assert name
                assert other
                beside = other["y"] < name["y"] + name["height"] / 2
                assert beside == (size is DESKTOP)
            odd = visit.page.locator("#checks .outside")
            assert odd.count() >= 1
            weight = odd.first.evaluate("(element) => getComputedStyle(element).fontWeight")
            assert int(weight) >= 600


def test_a_formula_wider_than_a_phone_scrolls_by_itself(browser: Browser, tmp_path: Path) -> None:
    x, y = sympy.symbols("x y")
    wide = sympy.sin(
        1.234567 * x + 2.345678 * y + 3.456789 * x**2 + 4.56789 * y**2 + 5.6789 * x * y
    )
    generator = Generator.from_sympy(("x", "y"), [-x, wide], [[1, 0], [0, 1]])
    data = zoo.get("rotational_ou").simulate(0, trajectories=8, steps=200)
    diagnostics = WGSINDy("poly1", "paper").fit(data).diagnostics_
    write_report(tmp_path / "report.html", generator, data, diagnostics)
    with Visit(browser, tmp_path / "report.html", viewport=PHONE, is_mobile=True) as visit:
        assert visit.widths() == (PHONE["width"], PHONE["width"])
        inside = (
            "[...document.querySelectorAll('.right')].some((e) => e.scrollWidth > e.clientWidth)"
        )
        assert visit.page.evaluate(inside)


def test_a_term_wider_than_a_page_wraps(browser: Browser, tmp_path: Path) -> None:
    system = zoo.get("mueller_brown")  # its drift is one term of 600 letters
    data = system.simulate(0, trajectories=8, steps=200)
    diagnostics = WGSINDy("poly1", "paper").fit(data).diagnostics_
    write_report(tmp_path / "report.html", system.generator, data, diagnostics)
    for size in (DESKTOP, PHONE):
        with Visit(browser, tmp_path / "report.html", viewport=size) as visit:
            beyond = (
                "[...document.querySelectorAll('.right')].map((e) => e.scrollWidth > e.clientWidth)"
            )
            assert visit.page.evaluate(beyond) == [False] * 5
            assert visit.widths() == (size["width"], size["width"])


def test_pictures_follow_the_width_of_the_window(
    browser: Browser, reports: dict[int, Path]
) -> None:
    with Visit(browser, reports[1]) as visit:
        before = visit.page.locator(".picture svg").first.bounding_box()
        visit.page.set_viewport_size({"width": 700, "height": 900})
        visit.page.wait_for_timeout(1500)
        after = visit.page.locator(".picture svg").first.bounding_box()
        assert before
        assert after
        assert before["width"] != after["width"]
        assert visit.undrawn() == []


def test_dark_pages_have_light_writing_in_pictures_too(
    browser: Browser, reports: dict[int, Path]
) -> None:
    script = """() => [getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector(".picture .xtick text")).fill]"""
    brightness = {}
    for scheme in ("light", "dark"):
        with Visit(browser, reports[1], color_scheme=scheme) as visit:
            colours = visit.page.evaluate(script)
            brightness[scheme] = [
                sum(map(int, colour[4:-1].split(","))) / 765 for colour in colours
            ]
    assert brightness["light"][0] > 0.9
    assert brightness["light"][1] < 0.3
    assert brightness["dark"][0] < 0.2
    assert brightness["dark"][1] > 0.7


@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, {"viewport": PHONE}])
def test_paper_is_white_complete_and_wide_enough(
    browser: Browser, reports: dict[int, Path], options: dict[str, Any], tmp_path: Path
) -> None:
    with Visit(browser, reports[2], **options) as visit:
        page = visit.page
        page.evaluate(
            """() => addEventListener("beforeprint", () => {
              const seen = [...document.querySelectorAll(".picture svg")];
              window.printed = {
                paper: document.documentElement.classList.contains("paper"),
                ink: getComputedStyle(document.querySelector(".picture .xtick text")).fill,
                widest: Math.max(...seen.map((svg) => svg.getBoundingClientRect().width)),
              };
            })"""
        )
        content = page.pdf(prefer_css_page_size=True)
        printed = page.evaluate("window.printed")
        assert printed["paper"]
        assert printed["ink"] == "rgb(29, 35, 48)"
        assert printed["widest"] == 680  # A4 less its margins
        assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") >= 5
        assert not page.evaluate("document.documentElement.classList.contains('paper')")
        page.emulate_media(media="print")
        assert visit.hidden_sections() == []
        assert not page.locator("nav").is_visible()
        assert page.locator(".summary").is_visible()
        assert page.locator("#checks thead").is_visible()


def test_without_javascript_the_words_and_numbers_are_there(
    browser: Browser, reports: dict[int, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports[2].as_uri())
    assert page.locator("noscript").inner_text().startswith("The pictures need JavaScript")
    assert page.locator("#coefficients tbody tr").count() >= 6
    assert page.locator("#equations .equation").count() == 6
    context.close()


def test_a_browser_that_cannot_draw_says_so(browser: Browser, reports: dict[int, Path]) -> None:
    context = browser.new_context()
    context.add_init_script("delete window.SVGElement.prototype.style")
    page = context.new_page()
    page.goto(reports[1].as_uri())
    page.wait_for_selector("html[data-drawn='no']", timeout=PATIENCE)
    assert page.locator("#trouble").is_visible()
    context.close()


def test_the_first_print_needs_no_script(
    browser: Browser, reports: dict[int, Path], tmp_path: Path
) -> None:
    """Printed right after loading by a browser that tells no script of it, from a dark phone."""
    options: dict[str, Any] = {"viewport": PHONE, "color_scheme": "dark"}
    context = browser.new_context(**options)
    context.add_init_script(
        """const own = window.addEventListener;
        window.addEventListener = (kind, ...more) =>
          kind === "beforeprint" ? undefined : own.call(window, kind, ...more);"""
    )
    page = context.new_page()
    page.goto(reports[2].as_uri())
    page.pdf(prefer_css_page_size=True)  # the first; nothing was waited for
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 900})
    seen = page.evaluate(
        """() => [...document.querySelectorAll(".picture svg")].map((svg) => {
          const box = svg.getBoundingClientRect();
          const marks = [...svg.querySelectorAll(".marks path")];
          return {
            fits: box.width > 100 && box.width <= svg.parentElement.clientWidth + 1,
            drawn: marks.some((mark) => mark.getBoundingClientRect().width > 5),
            ink: getComputedStyle(svg.querySelector("text")).fill,
            images: svg.querySelectorAll("image").length, // decoded later: not in a first print
          };
        })"""
    )
    assert len(seen) == page.locator(".picture").count() > 8
    for picture in seen:
        assert picture == {"fits": True, "drawn": True, "ink": "rgb(29, 35, 48)", "images": 0}
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    context.close()


def painted(pdf: bytes) -> int:
    """Paths that the pages of a PDF file paint."""
    count = 0
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            content = zlib.decompress(stream)
        except zlib.error:
            continue  # a font, or an image
        count += len(re.findall(rb"(?m)^(?:f\*?|S|B)\s*$", content))
    return count


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_printed_by_a_command_right_after_loading_all_pictures_are_there(
    reports: dict[int, Path], dimension: int, tmp_path: Path
) -> None:
    if not CHROMIUM:
        pytest.skip("there is no chromium on this machine; apt-get install chromium")
    whole = reports[dimension].read_text()
    silent = tmp_path / "silent.html"  # the same page, on which nothing is ever drawn
    silent.write_text(whole.replace("start();", ";"))
    counts = {}
    for name, page in {"whole": reports[dimension], "silent": silent}.items():
        pdf = tmp_path / f"{name}.pdf"
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        profile = f"--user-data-dir={tmp_path / name}"
        command = [CHROMIUM, *quiet, profile, f"--print-to-pdf={pdf}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        counts[name] = painted(pdf.read_bytes())
    pictures = whole.count('class="picture"')
    # Each has a grid, ticks and marks: ten paths at the least.
    assert counts["whole"] - counts["silent"] > 10 * pictures


def test_the_data_of_a_picture_can_be_saved(browser: Browser, reports: dict[int, Path]) -> None:
    with Visit(browser, reports[2]) as visit:
        page = visit.page
        specs = json.loads(page.locator("#pictures").text_content() or "")
        tables = {}
        assert page.locator("[data-saves]").count() == len(specs)
        kinds = ("arrows-0-1", "ellipses-0-1", "field-b2", "coverage-0-1", "drift-error-0-1")
        for name in (*kinds, "residual-memory-0", "residual-mean-0", "simulated-density-0"):
            # One after the other: a browser refuses many at once.
            page.wait_for_timeout(300)
            with page.expect_download() as started:
                page.click(f"[data-saves='{name}']")
            assert started.value.suggested_filename == f"{name}.csv"
            tables[name] = list(csv.reader(started.value.path().read_text().splitlines()))
            width = max(map(len, tables[name]))
            assert len(tables[name][0]) == width, name  # every column has a name
            assert len(tables[name]) > 10, name
        assert visit.complaints == []
    image, table = specs["field-b2"]["data"][0], tables["field-b2"]
    assert table[0] == ["series", "x", "y", "b[y]", "half width of the 95 % band"]
    np.testing.assert_array_equal(
        [float(row[3]) for row in table[1:]], [z for row in image["z"] for z in row]
    )
    assert {row[0] for row in tables["simulated-density-0"][1:]} == {
        "simulated, upper",
        "simulated, lower",
        "observed",
    }


def test_equations_are_copied_as_latex_text_and_python(
    browser: Browser, reports: dict[int, Path]
) -> None:
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    with Visit(browser, reports[2], **allowed) as visit:
        page = visit.page
        for kind, sign in (
            ("LaTeX", "\\begin{aligned}"),
            ("text", "b[x] = "),
            ("Python", "def drift"),
        ):
            page.click(f"#equations button:text-is('{kind}')")
            page.wait_for_function(
                "(kind) => document.querySelector('.copies [role=status]').textContent"
                " === `${kind} copied`",
                arg=kind,
            )
            copied = page.evaluate("navigator.clipboard.readText()")
            assert sign in copied
            assert copied == page.locator(f"#equations-{kind}").text_content()


def test_a_table_that_is_wider_than_a_phone_says_so(
    browser: Browser, reports: dict[int, Path]
) -> None:
    said = """() => [...document.querySelectorAll(".scroll")].map((region) => [
      region.scrollWidth > region.clientWidth + 1,
      getComputedStyle(region, "::before").content.includes("scroll sideways")])"""
    with Visit(browser, reports[2], viewport={"width": 390, "height": 800}) as visit:
        found = visit.page.evaluate(said)
        assert any(wide for wide, _ in found)
        assert all(wide == told for wide, told in found)
    with Visit(browser, reports[2]) as visit:
        assert not any(told for _, told in visit.page.evaluate(said))


def test_no_number_is_broken_across_lines(browser: Browser, reports: dict[int, Path]) -> None:
    broken = """() => [...document.querySelectorAll(".whole, td.number data")]
      .filter((number) => number.offsetParent && number.getClientRects().length > 1)
      .map((number) => number.textContent)"""
    for size in (DESKTOP, {"width": 390, "height": 800}, NARROWEST):
        with Visit(browser, reports[3], viewport=size) as visit:
            assert visit.page.evaluate(broken) == []
    with Visit(browser, reports[3], viewport=NARROWEST) as visit:
        style = "* { white-space: normal !important; overflow-wrap: anywhere !important; }"
        visit.page.add_style_tag(content=style + " .whole { display: inline; } td { width: 2em; }")
        assert visit.page.evaluate(broken) != []  # it would be seen
