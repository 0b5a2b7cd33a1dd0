#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports and the live page in headless Chromium: pages.py PATH-OF-TAMIS [FOLDER-FOR-SCREENSHOTS]

Needs Debian's chromium and Playwright from PyPI (pip install playwright); status 77 without.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TAMIS = os.path.abspath(sys.argv[1])
SHOTS = sys.argv[2] if len(sys.argv) > 2 else None
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None
if not CHROMIUM or not sync_playwright:
    print("skipped: %s was not found" %
          ("chromium" if not CHROMIUM else "Playwright (pip install playwright)"))
    sys.exit(77)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHAIN = "bilateral=sigma_space=1.5:sigma_color=50,bilateral=sigma_space=1.5:sigma_color=25"
problems = []


def check(ok, what):
    if not ok or not what.startswith("console"):
        print(("ok    " if ok else "FAILED") + " " + what)
    if not ok:
        problems.append(what)


def tamis(*args, code=0):
    run = subprocess.run([TAMIS, *args], capture_output=True, check=False)
    assert run.returncode == code, (args, run.stderr)
    return run.stdout


def watch(page, ended=()):
    """Nothing may go wrong or leave this machine; words put in `ended` may be said from then on."""
    page.on("pageerror", lambda e: check(False, "script: %s" % e))
    answers = ("409", "422")
    page.on("console",
            lambda m: check(m.type != "error" or any(a in m.text for a in (*answers, *ended)),
                            "console: " + m.text))
    page.on("request",
            lambda r: check(r.url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:")),
                                       "request: " + r.url[:80])
            if not r.url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:")) else None)


def shots(browser, url, name, prepare=None):
    if not SHOTS:
        return
    for look, size, scheme in (("light", (1280, 900), "light"), ("dark", (1280, 900), "dark"),
                               ("phone", (390, 844), "light")):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]},
                                      color_scheme=scheme,
                                      device_scale_factor=1 if size[0] > 400 else 2)
        page = context.new_page()
        page.goto(url)
        page.wait_for_timeout(1500)
        if prepare:
            prepare(page)
        page.screenshot(path="%s/%s_%s.png" % (SHOTS, name, look), full_page=True)
        context.close()


def wait(page, function, argument=None):
    """Playwright's own way of waiting needs eval(), which the pages forbid."""
    deadline = time.monotonic() + 60
    while not page.evaluate(function, argument):
        assert time.monotonic() < deadline, (function, argument)
        page.wait_for_timeout(30)


def drag(page, x0, y0, x1, y1):
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
    page.mouse.move(x1, y1)
    page.mouse.up()


def test_report(browser, folder):
    noisy, clean = ROOT + "/demo/portrait_noisy.png", ROOT + "/demo/portrait.png"
    out, html = folder + "/out.png", folder + "/report.html"
    tamis("run", CHAIN, noisy, "-o", out, "--report", html, "--original", clean)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    watch(page)
    page.goto("file://" + html)
    page.wait_for_selector(".world canvas")
    # Values are those of the JSON, which are those of tamis compare.
    want = json.loads(tamis("compare", clean, out, "--json"))
    data = page.evaluate("window.tamis.data")
    got = [c for c in data["comparisons"] if c["sides"] == ["original", "after"]][0]
    check(got["psnr"] == want["psnr"] and got["ssim"] == want["ssim"],
          "PSNR and SSIM are those of compare")
    check("%.2f" % want["psnr"] in page.inner_text("dl.figures"), "PSNR is shown")
    check(CHAIN in page.inner_text("main"), "the chain is shown")
    # The slider: mouse, keys.
    slider = page.get_by_role("slider", name="Divider between the two pictures")
    now = lambda: int(slider.get_attribute("aria-valuenow"))
    box = page.locator(".stage").bounding_box()
    middle = box["y"] + box["height"] / 2
    check(now() == 50, "the divider begins in the middle")
    drag(page, box["x"] + box["width"] / 2, middle, box["x"] + box["width"] / 4, middle)
    check(abs(now() - 25) <= 1, "the mouse moves the divider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    check(now() in (26, 27, 28), "a key moves the divider")
    page.keyboard.press("Home")
    check(now() == 0, "Home moves it to the edge")
    # Zoom and pan.
    scale = lambda: page.evaluate("window.tamis.viewer.scale")
    left = lambda: page.evaluate("window.tamis.viewer.x")
    before = scale()
    page.locator(".stage").focus()
    page.keyboard.press("+")
    check(scale() > before, "+ zooms")
    page.mouse.move(box["x"] + box["width"] * .6, middle)
    page.mouse.wheel(0, -400)
    check(scale() > 1.5 * before, "the wheel zooms")
    at = left()
    drag(page, box["x"] + box["width"] * .6, middle, box["x"] + box["width"] * .4, middle)
    check(left() > at, "the mouse moves the picture")
    page.keyboard.press("0")
    check(abs(scale() - before) < 1e-9, "0 fits")
    # Maps.
    page.select_option("#right", "difference")
    wait(page, "() => document.querySelector('.pane.right .name').textContent === 'Difference'")
    check(page.locator(".legend").count() == 1, "a map has a legend")
    page.close()
    # What cannot be measured is said.
    small, other = folder + "/small.png", folder + "/other.html"
    tamis("run", "resize=size=40x30", clean, "-o", small)
    tamis("report", noisy, out, "--original", small, "-o", other)
    page = browser.new_page()
    watch(page)
    page.goto("file://" + other)
    check("original differs" in page.inner_text("main"), "an original of another size is named")
    page.close()
    # A finger.
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True,
                                  is_mobile=True)
    page = context.new_page()
    watch(page)
    page.goto("file://" + html)
    page.wait_for_selector(".world canvas")
    check(page.evaluate("document.documentElement.scrollWidth") <= 390,
          "a phone shows all of the width")
    page.locator(".stage").scroll_into_view_if_needed()
    box = page.locator(".stage").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] * .8, box["y"] + box["height"] / 2)
    value = int(page.locator(".divider").get_attribute("aria-valuenow"))
    check(abs(value - 80) <= 1, "a finger moves the divider")
    context.close()
    shots(browser, "file://" + html, "report")


def wait_view(page, chain):
    """Until what is seen is the result of the chain."""
    wait(page, "(chain) => window.tamis.state.last && window.tamis.state.last.chain === chain",
         chain)


def seen(page):
    """Place, size and samples of the newest result."""
    return page.evaluate("""() => {
        const part = window.tamis.layers.after.part, n = part.node;
        const d = n.getContext('2d').getImageData(0, 0, n.width, n.height).data;
        const rgb = [];
        for (let i = 0; i < d.length; i += 4) rgb.push(d[i], d[i + 1], d[i + 2]);
        return {said: part.said, rgb};
    }""")


def test_live(browser, folder):
    noisy = ROOT + "/demo/portrait_noisy.png"
    server = subprocess.Popen([TAMIS, "serve", noisy], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    url = server.stdout.readline().decode().strip()
    if not url:
        check(b"libmicrohttpd" in server.stderr.read(), "the live page is left out")
        return
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    watch(page)
    page.goto(url)
    # Controls are made from the tables.
    listed = json.loads(tamis("list", "--json"))["filters"]
    filters = page.evaluate("window.tamis.data.filters")
    check([f["name"] for f in filters] == [f["name"] for f in listed],
          "the filters are those of tamis list")
    wait_view(page, "bilateral")
    page.get_by_label("Filter 1").select_option("gaussian")
    wait_view(page, "gaussian")
    page.get_by_role("button", name="One pixel of the picture for one of the screen").click()
    for value in ("1.5", "4"):
        slider = page.get_by_label("sigma", exact=True)
        slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", value)
        chain = page.evaluate("window.tamis.chainText()")
        wait_view(page, chain)
        page.wait_for_timeout(300)
        out = folder + "/live.ppm"
        tamis("run", chain, noisy, "-o", out, "--overwrite")
        with open(out, "rb") as f:
            want = f.read()[-512 * 512 * 3:]
        view = seen(page)
        s = view["said"]
        rows = [want[3 * ((s["y"] + y) * 512 + s["x"]):][:3 * s["width"]]
                for y in range(s["height"])]
        check(s["whole_width"] == 512 and bytes(view["rgb"]) == b"".join(rows),
              "%s: the view has the samples that the command writes" % chain)
        check(chain in page.inner_text("#command"), "the command is shown")
    count = page.evaluate("window.tamis.state.number")
    page.wait_for_timeout(500)
    check(page.evaluate("window.tamis.state.number") == count,
          "nothing is asked for while nothing changes")
    with page.expect_download() as download:
        page.click("#save")
    tamis("run", chain, noisy, "-o", folder + "/saved.png")
    with open(folder + "/saved.png", "rb") as a, open(download.value.path(), "rb") as b:
        check(a.read() == b.read(), "what is saved has the bytes that the command writes")
    # Where a view takes long, a part of it comes first, and what is seen in the end is the newest
    # wish.
    page.get_by_label("Filter 1").select_option("bilateral")
    wait_view(page, "bilateral")
    slow = page.get_by_label("sigma_space", exact=True)
    for value in (1, 2, 3, 4, 3.5):
        slow.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", str(value))
        page.wait_for_timeout(20)
    wait_view(page, page.evaluate("window.tamis.chainText()"))
    check(page.evaluate("window.tamis.layers.after.quick") is None,
          "the newest wish is seen as a whole")
    check(page.evaluate("(() => { const p = document.querySelector('.panel');"
                        " return p.scrollWidth <= p.clientWidth; })()"),
          "the controls are as wide as their panel")
    for name in ("low_light", "portrait"):
        page.get_by_label("Start from a preset").select_option(name)
        chain = page.evaluate("window.tamis.chainText()")
        check(chain == tamis("presets", name).decode().strip(), "a preset's chain is put in")
        wait_view(page, chain)
    page.get_by_label("Filter 1").select_option("gaussian")
    wait_view(page, "gaussian")
    box = page.get_by_label("sigma, exact")
    box.fill("-3")
    page.wait_for_selector(".problem")
    check("sigma" in page.inner_text(".problem"), "a wrong value is explained")
    box.fill("2")
    page.wait_for_selector(".problem", state="detached")
    page.locator("input[type=file]").set_input_files(ROOT + "/demo/portrait.png")
    wait(page,
         "() => window.tamis.state.picture && window.tamis.state.picture.name === 'portrait.png'")
    wait_view(page, "gaussian=sigma=2")
    check(page.evaluate("window.tamis.state.picture.uploaded"),
          "a picture is taken from the browser")
    page.evaluate("""() => {
      const picker = document.getElementById("picture");
      for (const id of [0, 1, 0, 1, 0]) {
        picker.value = id;
        picker.dispatchEvent(new Event("change"));
      }
    }""")
    wait(page, "() => window.tamis.state.id === 0")
    page.wait_for_timeout(500)
    state = page.evaluate("[window.tamis.state.id, window.tamis.state.picture.name, "
                          "window.tamis.state.problem]")
    check(state == [0, "portrait_noisy.png", ""], "of pictures chosen quickly the last one is seen")
    page.close()
    shots(browser, url, "live")
    server.send_signal(signal.SIGINT)
    check(server.wait(timeout=60) == 0, "Ctrl-C ends it")


def test_keys(browser):
    """Without a picture the page says what to do; all of it can be had by keys alone."""
    server = subprocess.Popen([TAMIS, "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    url = server.stdout.readline().decode().strip()
    if not url:
        return
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
    ended = []
    watch(page, ended)
    page.goto(url)
    chosen, chain = "document.activeElement.dataset.key", "window.tamis.chainText()"
    colors = page.get_by_role("button", name="Choose a file").evaluate(
        "(b) => [getComputedStyle(b).color, getComputedStyle(b).backgroundColor]")
    check(contrast(*colors) >= 4.5, "the button for a first picture can be read")
    check(page.is_disabled("#save") and not page.locator(".divider").is_visible(),
          "nothing to save or to divide is offered before there is a picture")
    check(page.locator("select option", has_text="remap").count() == 0,
          "filters that need a second picture are not offered")
    shots(browser, url, "empty")
    page.locator("input[type=file]").set_input_files(ROOT + "/demo/portrait.png")
    wait_view(page, "bilateral")
    check(page.is_enabled("#save") and page.locator(".divider").is_visible(),
          "with a picture they are")
    page.get_by_label("Filter 1").focus()
    page.keyboard.press("ArrowDown")
    check(page.evaluate(chain) == "box" and page.evaluate(chosen) == "filter",
          "a filter that was changed by keys has the focus still")
    page.get_by_label("Use box").focus()
    for what in ("box", ""):
        check(page.evaluate(chain) == what and page.evaluate(chosen) == "use",
              "one that is switched, too (%s)" % (what or "off"))
        page.keyboard.press("Space")
    page.get_by_label("Add a filter").focus()
    page.keyboard.press("ArrowDown")
    check(page.evaluate(chain) == "box", "an arrow adds no filter at once")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    check(page.evaluate(chain) == "box,alpha", "it opens the list of filters")
    page.get_by_label("Earlier").last.focus()
    page.keyboard.press("Enter")
    check(page.evaluate(chain) == "alpha,box", "a button moves a filter")
    check(page.evaluate("document.activeElement.ariaLabel") == "Filter 1", "which keeps the focus")
    page.get_by_label("Remove").last.focus()
    page.keyboard.press("Enter")
    check(page.evaluate(chosen) == "Remove", "of one that is removed it goes to its neighbor")
    page.get_by_label("Filter 1").select_option("gaussian")
    box = page.get_by_label("sigma, exact")
    box.fill("7")
    check(page.get_by_label("sigma", exact=True).get_attribute("aria-valuetext") == "7",
          "a slider says what is typed beside it")
    ended.append("net::ERR_")  # a connection is refused, or reset while it waits for an answer
    server.send_signal(signal.SIGINT)
    check(server.wait(timeout=60) == 0, "Ctrl-C ends it")
    box.fill("8")
    page.wait_for_selector(".problem")
    check("start tamis serve again" in page.inner_text(".problem"), "then the page says so")
    page.close()


def luminance(color):
    """Of WCAG, for a color such as "rgb(1, 2, 3)"."""
    linear = []
    for v in re.findall(r"[0-9]+", color)[:3]:
        v = int(v) / 255
        linear.append(v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4)
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def check_samples(page, source, chain, side, folder, what):
    """What is seen has the samples that the command writes for the chain and the level."""
    out = folder + "/want.ppm"
    view = seen(page)
    s = view["said"]
    small = ",resize=scale=%r:interp=area" % 0.5 ** s["level"] if s["level"] else ""
    tamis("run", chain + small, source, "-o", out, "--overwrite")
    side >>= s["level"]
    with open(out, "rb") as f:
        want = f.read()[-side * side * 3:]
    rows = [want[3 * ((s["y"] + y) * side + s["x"]):][:3 * s["width"]] for y in range(s["height"])]
    check(s["whole_width"] == side and bytes(view["rgb"]) == b"".join(rows), what)


def test_preview(browser, folder):
    """Where the result takes long, something is seen before, and said to be a preview."""
    large, chain = folder + "/large.ppm", "nlmeans=search=15"
    tamis("run", "resize=scale=4", ROOT + "/demo/portrait_noisy.png", "-o", large)
    server = subprocess.Popen([TAMIS, "serve", large], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    url = server.stdout.readline().decode().strip()
    if not url:
        return
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    watch(page)
    page.goto(url)
    wait_view(page, "bilateral")
    page.evaluate("""() => {
      const said = window.said = [], status = document.getElementById("exactness");
      const name = document.querySelector(".pane.right .name");
      new MutationObserver(() => said.push([name.textContent, status.textContent]))
        .observe(document.querySelector(".look"),
                 {childList: true, characterData: true, subtree: true});
    }""")

    def choose():
        page.evaluate("window.said.length = 0")
        page.get_by_label("Filter 1").select_option("nlmeans")
        page.get_by_label("search, exact").fill("15")
        wait_view(page, chain)
        return page.evaluate("window.said")

    said = choose()
    check(any(name == "After (preview)" and words.startswith("Preview at 1/")
              for name, words in said), "a preview is seen, and said to be one")
    check(said[-1] == ["After", "Exact pixels"], "it is said when the pixels are exact")
    check_samples(page, large, chain, 2048, folder, "small, the view is the shrunk result")
    page.get_by_role("button", name="One pixel of the picture for one of the screen").click()
    wait(page, "() => window.tamis.layers.after.part?.said.level === 0 && "
               "!window.tamis.layers.after.quick")
    for keys in ("", "ArrowRight ArrowDown", "ArrowLeft"):
        page.locator(".stage").focus()
        for key in keys.split():
            page.keyboard.press(key)
        page.wait_for_timeout(50)
        wait(page, "() => !document.querySelector('.busy').classList.contains('on')")
        check_samples(page, large, chain, 2048, folder,
                      "pixel by pixel, moved by %s, it is the result" % (keys or "nothing"))
    page.close()
    server.send_signal(signal.SIGINT)
    check(server.wait(timeout=60) == 0, "Ctrl-C ends it")


def main():
    folder = tempfile.mkdtemp(prefix="tamis-browser-")
    try:
        with sync_playwright() as p:
            browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            test_report(browser, folder)
            test_live(browser, folder)
            test_preview(browser, folder)
            test_keys(browser)
            browser.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d failed" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
